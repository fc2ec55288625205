"""Architectures as data, networks in one batch, and the straight lines between them (chapters 44, 45, 50, 62, part 5).

- :mod:`~lmc_helpers.networks.model`: what every architecture can do, and N networks of one as a stack, those with
  layers F + D ⊙ W (Bürgin et al., eq. (2)) among them.
- :mod:`~lmc_helpers.networks.permutations`: which axes of which parameters a permutation of hidden units moves, and a
  check that runs the network.
- ``layers``: layers of N perceptrons at once, parts of convolutional networks, laws of initial
  weights.
- :mod:`~lmc_helpers.networks.mlp`, :mod:`~lmc_helpers.networks.cnn`, :mod:`~lmc_helpers.networks.resnet` and
  :mod:`~lmc_helpers.networks.vit`: the architectures of Zhan, Li & Wu (Figs. 7, 14, 15) and of Bürgin et al. (App. F.1,
  F.2, G.4).
- :mod:`~lmc_helpers.networks.segments`: losses and accuracies on the lines between stacks of any architecture, and the
  barriers by their names.
"""
