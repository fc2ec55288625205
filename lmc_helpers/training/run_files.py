"""Storage of runs: one npz file each, named by its digest, made by one process at a time.

A file holds every tensor, the run's description and its provenance. It is written completely or not at all, read
without pickles, and refused where it is damaged or belongs to another run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from filelock import FileLock

from lmc_helpers.data.files import cache
from lmc_helpers.training._checkpoints import load_checkpoint, save_checkpoint

__all__ = ()  # what packages of ours lend each other

PROVENANCE = "provenance"  # name of the provenance among the tensors: the bytes of its JSON


def folder() -> Path:
    """The folder of the results of runs.

    That is ``$LMC_RUNS`` where it is set; else ``build/runs`` of the checkout that the package lies in; else the user's
    cache, for an installed package.
    """
    if named := os.environ.get("LMC_RUNS"):
        return Path(named)
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").exists():
        return root / "build" / "runs"
    return (cache() or Path.home() / ".cache" / "lmc") / "runs"


def write(path: Path, run: dict, provenance: dict, tensors: dict[str, torch.Tensor]) -> None:
    """Write the description, the provenance and the tensors of a run; a reader sees the complete file or none."""
    text = bytearray(json.dumps(provenance, sort_keys=True).encode())
    save_checkpoint(path, run, tensors | {PROVENANCE: torch.frombuffer(text, dtype=torch.uint8)})


def read(path: Path, run: dict) -> tuple[dict, dict[str, torch.Tensor]]:
    """The provenance and the tensors of a result."""
    try:
        tensors = load_checkpoint(path, run)
        return json.loads(tensors.pop(PROVENANCE).numpy().tobytes()), tensors
    except Exception as error:  # zipfile, numpy and json each have their own for damaged bytes
        raise unreadable(path, error) from error


def unreadable(path: Path, reason: object) -> ValueError:
    """The error for a file that is damaged or does not fit its run."""
    return ValueError(
        f"the result {path} cannot be read ({reason}); allowed: a file that its run wrote; delete it and run again"
    )


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold a lock file, as only one process at a time can; it is freed when its process ends, even if killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        yield
