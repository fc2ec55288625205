"""Where results of runs lie: one npz file each, named by its digest, made by one process at a time.

A file holds every tensor, the run's description and where it came from. It is written whole or not at all, read without
pickles, and refused where it is damaged or belongs to another run.
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
from lmc_helpers.training.checkpoints import load_checkpoint, save_checkpoint

__all__ = ["alone", "folder", "read", "unreadable", "write"]

PROVENANCE = "provenance"  # name of the provenance among the tensors: the bytes of its JSON


def folder() -> Path:
    """The folder of the results of runs.

    Returns
    -------
    pathlib.Path
        ``$LMC_RUNS`` where it is set; else ``build/runs`` of the checkout that the package lies in; else the user's
        cache, for an installed package.

    Examples
    --------
    >>> folder().name
    'runs'
    """
    if named := os.environ.get("LMC_RUNS"):
        return Path(named)
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").exists():
        return root / "build" / "runs"
    return (cache() or Path.home() / ".cache" / "lmc-companion") / "runs"


def write(path: Path, run: dict, provenance: dict, tensors: dict[str, torch.Tensor]) -> None:
    """Write a result; a reader sees the whole file or none.

    Parameters
    ----------
    path : path
        the npz file; its folder is made where it is missing.
    run, provenance : dict
        what was run, and where, when and with what, of values that JSON can hold.
    tensors : dict of torch.Tensor
        named tensors.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write(Path(place) / "a.npz", {"seed": 1}, {"seconds": 0.5}, {"w": torch.ones(2)})
    ...     read(Path(place) / "a.npz", {"seed": 1})
    ({'seconds': 0.5}, {'w': tensor([1., 1.])})
    """
    if not isinstance(path, (str, Path)):
        raise ValueError(f"path is {type(path).__name__}; allowed: a path")
    if not isinstance(run, dict):
        raise ValueError(f"run is {type(run).__name__}; allowed: dict")
    if not isinstance(provenance, dict):
        raise ValueError(f"provenance is {type(provenance).__name__}; allowed: dict")
    if not isinstance(tensors, dict):
        raise ValueError(f"tensors is {type(tensors).__name__}; allowed: dict")
    if PROVENANCE in tensors:
        raise ValueError(f"a tensor is called {PROVENANCE!r}; allowed: any other name")
    text = bytearray(json.dumps(provenance, sort_keys=True).encode())
    save_checkpoint(path, run, tensors | {PROVENANCE: torch.frombuffer(text, dtype=torch.uint8)})


def read(path: Path, run: dict) -> tuple[dict, dict[str, torch.Tensor]]:
    """The provenance and the tensors of a result.

    Parameters
    ----------
    path : path
        the npz file.
    run : dict
        what was run.

    Returns
    -------
    dict, dict of torch.Tensor
        as they were written.

    Examples
    --------
    >>> read(Path("missing.npz"), {})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the result missing.npz cannot be read (...); allowed: a file that its run wrote; delete it ...
    """
    if not isinstance(path, (str, Path)):
        raise ValueError(f"path is {type(path).__name__}; allowed: a path")
    if not isinstance(run, dict):
        raise ValueError(f"run is {type(run).__name__}; allowed: dict")
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
def alone(path: Path) -> Iterator[None]:
    """Hold a lock file, which one process at a time can; it is free when its process ends, also when that is killed.

    Parameters
    ----------
    path : path
        the lock file, which stays.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, alone(Path(place) / "a.lock"):
    ...     (Path(place) / "a.lock").exists()
    True
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        yield
