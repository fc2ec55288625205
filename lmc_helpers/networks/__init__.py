"""Architectures as data, many networks in one batch, and the straight lines between them (chapters 44, 45, 50).

- :mod:`~lmc_helpers.networks.stacked_mlp`: multilayer perceptrons with layers F + D ⊙ W (Bürgin et al., eq. (2)), N
  networks of one architecture as one object: outputs, inputs of every layer, permuted neurons, and batch norm as an
  affine map; chapters 44 and 50.
- :mod:`~lmc_helpers.networks.lines`: losses and accuracies of λ a + (1 − λ) b for many pairs at once, and the barriers
  by their names; chapters 44, 45 and 50.
"""
