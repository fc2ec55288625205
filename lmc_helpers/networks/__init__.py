"""Architectures as data, networks in one batch, and the straight lines between them (chapters 44, 45, 50, 62, part 5).

- :mod:`~lmc_helpers.networks.stacked_mlp`: multilayer perceptrons with layers F + D ⊙ W (Bürgin et al., eq. (2)), N
  networks of one architecture as one object: outputs, inputs of every layer, permuted neurons, and batch norm as an
  affine map; chapters 44, 50 and 62.
- :mod:`~lmc_helpers.networks.lines`: losses and accuracies of λ a + (1 − λ) b for many pairs at once, and the barriers
  by their names; chapters 44, 45, 50, 55 and 62.
- :mod:`~lmc_helpers.networks.model`: what every architecture can do, and N networks of one as a stack, asymmetric ones
  (eq. (2)) among them; part 5.
- :mod:`~lmc_helpers.networks.permutations`: which axes of which parameters a permutation of hidden units moves, and a
  check that runs the network; part 5.
- :mod:`~lmc_helpers.networks.layers`: linear maps, convolutions, norms and attention of N networks at once.
- :mod:`~lmc_helpers.networks.mlp`, :mod:`~lmc_helpers.networks.cnn`, :mod:`~lmc_helpers.networks.resnet` and
  :mod:`~lmc_helpers.networks.vit`: the architectures of Zhan, Li & Wu (Figs. 7, 14, 15) and of Bürgin et al. (App. F.1,
  F.2, G.4).
- :mod:`~lmc_helpers.networks.segments`: losses and accuracies on the lines between stacks of any architecture.
"""
