"""Chapters and training runs carried out: here or on a cluster, only those that are stale.

=============  =====================================================================
build          what is stale, run: here or on a cluster
cluster        resources of jobs, and Snakemake's profile for SLURM
destination    where pages may be written
engine         papermill's engine that runs cells without a kernel
execution      one chapter
forkserver     the process that has imported everything, and forks one for each chapter and training run
graph          the command that runs the graph
jobs           a training run as a build sees it
listing        the list of training runs
prices         the cost of training runs
progress       the progress of a build
prose          new prose for a chapter whose code has not changed
runs           the training runs, listed or trained
targets        products of a build, and which of them are stale
variants       the same chapters again: seeds from a commit, settings of the machine
=============  =====================================================================
"""
