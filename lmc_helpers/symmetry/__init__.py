"""Symmetry groups of networks, their orbits and curves: Zhao, Dehmamy, Walters & Yu, sections 5 and 6.

- :mod:`~lmc_helpers.symmetry.rescaling`: the exact barrier on the line to a network whose last two layers are rescaled;
  eqs. (14) and (22), Props. 5.3 and 5.6 (chapter 33).
- :mod:`~lmc_helpers.symmetry.group_actions`: GL_h and rescalings of neurons (chapters 35, 36).
- :mod:`~lmc_helpers.symmetry.matrix_logarithm`: real logarithms in GL_h, or two factors that have them
  (chapter 35).
- :mod:`~lmc_helpers.symmetry.curves`: curves exp(tM)·w, their chords, derivatives and lengths; eqs. (4) and (5)
  (chapters 35, 36).
- :mod:`~lmc_helpers.symmetry.chord_bound`: curvature, the distance of a chord from its curve, Theorem 6.2 with eq. (8)
  and its repair (chapters 35, 36).
"""
