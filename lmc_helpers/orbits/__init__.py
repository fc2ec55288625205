"""Symmetry groups of networks, their orbits and curves: Zhao, Dehmamy, Walters & Yu, sections 5 and 6.

- :mod:`~lmc_helpers.orbits.group_actions`: GL_h and rescalings of neurons (chapters 35, 36).
- :mod:`~lmc_helpers.orbits.curves`: curves exp(tM)·w, their chords, derivatives, lengths and curvatures; eqs. (4) and
  (5) (chapters 35, 36).
- ``distance``: the distance from an orbit of GL_h, Prop. 5.5 (chapters 34, 36).
- ``homogeneous``: the last two layers of a network with a homogeneous activation, rescaled (chapters 33, 37).
"""
