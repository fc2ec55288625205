"""Permutation points and saddles of deep networks (Brea, Şimşek, Illing & Gerstner).

A permutation point is a network in which neurons of one layer coincide: it lies halfway between a network and its copy
with these neurons exchanged. The files, with sections and equations of the paper and the chapters that use them:

- :mod:`~lmc_helpers.permutation_points.mlp`, eq. (1): networks as flat vectors θ, many in one batch; where the
  parameter vectors ϑ_m and their outgoing columns are. Chapters 21, 22, 24, 52.
- :mod:`~lmc_helpers.permutation_points.hessian`: gradients, Hessians and their inertia. Chapters 21, 22, 24.
- :mod:`~lmc_helpers.permutation_points.newton`: trust-region Newton descent, many problems at once. Chapters 21,
  22, 61.
- :mod:`~lmc_helpers.permutation_points.pair`, section 4.1: coordinates in which two neurons become one. Chapters
  21, 24.
- ``continuation`` and ``merging``, section 4.1: branches of constrained minima on which two neurons merge, followed
  through their folds. Chapters 21, 22.
- :mod:`~lmc_helpers.permutation_points.doubling`, section 4.2: a neuron doubled, the matrices J and D that decide the
  Hessian, the plateau, the exchange of neurons at equal loss. Chapters 21, 22.
- :mod:`~lmc_helpers.permutation_points.counts`, section 4.3, Prop. 1: the number of permutation points T(K, n).
  Chapter 23.
- :mod:`~lmc_helpers.permutation_points.converged`, section 5: merge paths with a converged minimum at every distance.
  Chapter 24.
- :mod:`~lmc_helpers.permutation_points.classifiers`, section 5, Fig. 3: classifiers and their most similar neurons.
  Chapters 24, 52.
"""

from lmc_helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
