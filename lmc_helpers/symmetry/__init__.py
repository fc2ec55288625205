"""Symmetry groups of networks, their orbits and curves: Zhao, Dehmamy, Walters & Yu, sections 5 and 6.

- :mod:`~lmc_helpers.symmetry.rescaling`: the rescaling of the last two layers and the exact barrier on the line to it,
  also after the best permutation; eqs. (14), (18) and (22), Props. 5.3, 5.4 and 5.6 (chapters 33, 37).
- :mod:`~lmc_helpers.symmetry.homogeneous_net`: networks with loss 0 on which that barrier is measured, and the network
  of Fig. 4 (chapters 33, 37).
- :mod:`~lmc_helpers.symmetry.group_actions`: GL_h, rescalings of neurons, and the map (6), which is no action
  (chapters 35, 36).
- :mod:`~lmc_helpers.symmetry.matrix_logarithm`: which elements of GL_h have a real logarithm, and how many have none
  (chapter 35).
- :mod:`~lmc_helpers.symmetry.curves`: curves exp(tM)·w, their chords, derivatives and lengths; eqs. (4) and (5)
  (chapters 35, 36).
- :mod:`~lmc_helpers.symmetry.chord_bound`: curvature, the distance of a chord from its curve, Theorem 6.2 with eq. (8)
  and its repair, and curves that contradict it (chapters 35, 36).
"""
