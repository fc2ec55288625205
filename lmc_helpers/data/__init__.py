"""Data sets.

- :mod:`~lmc_helpers.data.digits`: handwritten digits of 8 × 8 pixels, from scikit-learn; chapters 24, 46, 61 and 62.
- :mod:`~lmc_helpers.data.images`: digits, MNIST and CIFAR-10 as one thing: splits, subsets, normalised inputs, and what
  a chapter says where a data set is missing; for the chapters on real networks, as are the four files below it.
- ``_mnist``, ``_cifar10``: their files, checksums and formats.
- ``files``: where files are found, and whether they are the published ones;
  ``_download``: several mirrors, resumed, checked.
"""
