"""Recipes, ensembles trained as one batched computation, and checkpoints (chapters 44, 45, 50).

- :mod:`~lmc_helpers.training.ensemble`: a recipe (AdamW), the order of examples by seed and epoch, and the training of
  N stacked networks at once; each is the network that a plain loop trains.
- :mod:`~lmc_helpers.training.checkpoints`: the state of a run in one npz file, which another run refuses.
- :mod:`~lmc_helpers.training.progress`: a progress bar, where tqdm is installed.
"""
