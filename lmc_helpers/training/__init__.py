"""Recipes, networks trained as one computation, checkpoints, and runs as files (chapters 44, 45, 50, 62; part 5).

A training run is data → one digest → one file:

- :mod:`~lmc_helpers.training.recipes`: how to descend, as data: optimiser, rate from epoch to epoch, augmentation.
- ``examples``: batches of each network, normalised, flipped, cropped.
- :mod:`~lmc_helpers.training.fit`: N networks of any architecture at once; those that diverge are left out.
- :mod:`~lmc_helpers.training.cached`: a result that is computed once: its dependencies, its digest, its file.
- :mod:`~lmc_helpers.training.runs`: training runs as such results.
- ``run_files``: storage of these files, detection of damage, one process at a time.
- :mod:`~lmc_helpers.training.prices`: hours and memory of a run before it runs.
- ``description``: frozen dataclasses as canonical text.
- ``_checkpoints``: the state of a run in one npz file, which another run refuses.
"""
