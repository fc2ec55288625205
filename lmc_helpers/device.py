"""The device of a computation and its number of threads."""

from __future__ import annotations

import torch


def device(name: str = "auto") -> torch.device:
    """The device to compute on, checked to be usable; ``"auto"`` takes the GPU if there is one and the CPU otherwise.

    Raises
    ------
    RuntimeError
        if a GPU is asked for and none is usable.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device {name!r} is unknown; allowed: 'auto', 'cpu', 'cuda', 'cuda:0', ...") from error
    if chosen.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (chosen.index or 0) >= count:
            raise RuntimeError(
                f"device {name!r} was asked for, but torch sees {count} GPUs; allowed here: 'cpu', 'auto'"
            )
    return chosen


def describe(where: torch.device | None = None) -> str:
    """A device in words, for execution statistics: the GPU's name, or the CPU with its number of threads."""
    where = device() if where is None else where
    return torch.cuda.get_device_name(where) if where.type == "cuda" else f"CPU, {torch.get_num_threads()} thread(s)"


def fix_threads(count: int = 1) -> None:
    """Let torch use ``count`` threads: rounding then does not depend on the machine's core count."""
    torch.set_num_threads(count)
