"""Data sets, real and made.

- :mod:`~lmc_helpers.data.digits`: handwritten digits of 8 × 8 pixels, from scikit-learn; chapters 24, 46, 61 and 62.
- :mod:`~lmc_helpers.data.images`: digits, MNIST and CIFAR-10 as one thing: splits, subsets, normalised inputs, and what
  a chapter says where a data set is missing; for the chapters on real networks, as are the five files below it.
- :mod:`~lmc_helpers.data.mnist`, :mod:`~lmc_helpers.data.cifar10`: their files, checksums and formats;
  :mod:`~lmc_helpers.data.idx`: the format of the MNIST files.
- :mod:`~lmc_helpers.data.files`: where files are found, and whether they are the published ones;
  :mod:`~lmc_helpers.data.download`: several mirrors, resumed, checked.
- :mod:`~lmc_helpers.data.gaussian_mixture`: Gaussian mixtures on a subspace (Bürgin et al., eq. (278));
  chapters 44 and 50.
"""
