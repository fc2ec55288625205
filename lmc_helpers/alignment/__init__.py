"""Matchers: permutations of hidden units that bring one network near another, and the symmetries that there are.

- :mod:`~lmc_helpers.alignment.assignment`: linear assignment for a batch of matrices, and the check of the two ends.
- :mod:`~lmc_helpers.alignment.weight_matching`: coordinate descent over the groups of units, with restarts (Ainsworth,
  Hayase & Srinivasa 2023, Algorithm 1).
- :mod:`~lmc_helpers.alignment.activation_matching`: correlations of activations, from sums over batches, and the
  objective of optimal, identical and random permutations (Bürgin et al., section 6 and F.4).
- ``pairs``: pairs of networks of one training run, measured along their lines, unmatched and matched.
- ``midpoint``: the loss halfway as a function of parameters, and the best permutations seen.
- ``straight_through``: the loss halfway, its gradient passed through the projection
  (Ainsworth et al., Algorithm 2).
- ``sinkhorn``: soft permutations by Sinkhorn's iterations (Peña et al. 2023).
"""
