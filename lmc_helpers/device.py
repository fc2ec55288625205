"""Where a computation runs, with how many threads, and which random numbers it sees.

Every random number comes from a generator keyed by ``(seed, purpose)``. Two purposes never share a stream, and
nothing depends on global state, on the order of calls or on the number of cores.
"""

from __future__ import annotations

import numpy as np
import torch


def device(name: str = "auto") -> torch.device:
    """The device to compute on.

    Parameters
    ----------
    name : str
        ``"auto"`` takes the GPU when there is one and the CPU otherwise; any other name is a torch device.

    Raises
    ------
    RuntimeError
        if a GPU is asked for and none is usable.
    ValueError
        if torch knows no device of that name.

    Examples
    --------
    >>> device("cpu")
    device(type='cpu')
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
    """A device in words, for execution statistics."""
    where = device() if where is None else where
    return torch.cuda.get_device_name(where) if where.type == "cuda" else f"CPU, {torch.get_num_threads()} thread(s)"


def fix_threads(count: int = 1) -> None:
    """Let torch use ``count`` threads, so that rounding does not depend on the machine's core count."""
    torch.set_num_threads(count)


def seed_sequence(seed: int, purpose: str) -> np.random.SeedSequence:
    """The entropy that belongs to ``(seed, purpose)``: the seed, followed by the purpose's bytes.

    Raises
    ------
    ValueError
        if the seed is not an integer in [0, 2³²) or the purpose is empty.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise ValueError(f"seed = {seed!r} is not allowed; allowed: an integer in [0, 2**32)")
    if not purpose:
        raise ValueError("purpose is empty; allowed: a word that names what the random numbers are for")
    return np.random.SeedSequence([int(seed), *purpose.encode()])


def numpy_generator(seed: int, purpose: str) -> np.random.Generator:
    """NumPy generator keyed by ``(seed, purpose)``.

    Examples
    --------
    >>> a, b = numpy_generator(1, "types"), numpy_generator(1, "types")
    >>> bool((a.random(3) == b.random(3)).all())
    True
    """
    return np.random.default_rng(seed_sequence(seed, purpose))


def torch_generator(seed: int, purpose: str) -> torch.Generator:
    """Torch generator keyed by ``(seed, purpose)``; it lives on the CPU, so that a GPU sees the same numbers.

    Examples
    --------
    >>> torch.rand(2, generator=torch_generator(1, "a")).equal(torch.rand(2, generator=torch_generator(1, "b")))
    False
    """
    word = int(seed_sequence(seed, purpose).generate_state(1, np.uint64)[0])
    return torch.Generator().manual_seed(word >> 1)  # manual_seed takes 63 bits
