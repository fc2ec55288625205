"""Checkpoints of a training run: one npz file, written completely or not at all, and refused by any other run.

A file holds named arrays and a description of the run. A run that continues from a file compares descriptions first; no
pickle is read or written.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lmc_helpers.files import replacing

__all__ = ["digest", "load_checkpoint", "save_checkpoint"]

RUN = "run"  # name of the description among the arrays


def digest(*tensors: torch.Tensor) -> str:
    """A short hash of the types, shapes and bytes of some tensors, 16 hexadecimal digits."""
    total = hashlib.sha256()
    for tensor in tensors:
        array = tensor.detach().cpu().contiguous().numpy()
        total.update(f"{array.dtype} {array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()[:16]


def save_checkpoint(path: Path | str, run: dict, state: dict[str, torch.Tensor]) -> None:
    """Write named arrays and the description of a run, of values that JSON can hold.

    A reader sees the old file or the new one, never a part of one.
    """
    path = Path(path)
    arrays: dict[str, Any] = {RUN: np.array(json.dumps(run, sort_keys=True))}
    arrays |= {name: value.detach().cpu().numpy() for name, value in state.items()}
    with replacing(path) as new, open(new, "wb") as file:
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())


def load_checkpoint(path: Path | str, run: dict) -> dict[str, torch.Tensor]:
    """The named arrays of a file that belongs to ``run``."""
    try:
        with open(path, "rb") as opened, np.lib.npyio.NpzFile(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        stored = json.loads(str(arrays.pop(RUN)))
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a checkpoint ({error}); allowed: a file that save_checkpoint wrote") from error
    mine = json.loads(json.dumps(run))
    differ = [key for key in sorted(mine.keys() | stored.keys()) if mine.get(key) != stored.get(key)]
    if differ:
        named = "; ".join(f"{key} {_short(stored.get(key))} there, {_short(mine.get(key))} here" for key in differ)
        raise ValueError(f"{path} belongs to another run: {named}; allowed: the same run, or a new file")
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _short(value) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "…"
