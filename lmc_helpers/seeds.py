"""Random numbers: every one comes from a generator keyed by ``(seed, purpose)``.

Two purposes never share a stream, and nothing depends on global state, on the order of calls or on the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lmc_helpers._typing import Shape, checked, short

__all__ = ["normal", "normal_stream", "numpy_generator", "torch_generator"]


def seed_sequence(seed: int, purpose: str) -> np.random.SeedSequence:
    """The entropy that belongs to a seed in [0, 2³²) and a purpose: the seed, followed by the purpose's bytes."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise ValueError(f"seed = {seed!r}; allowed: an integer in [0, 2**32)")
    if not isinstance(purpose, str) or not purpose:
        raise ValueError(f"purpose = {short(purpose)}; allowed: words that name what the random numbers are for")
    return np.random.SeedSequence(np.array([seed, *purpose.encode()], dtype=np.uint32))  # its words of 32 bits


def numpy_generator(seed: int, purpose: str) -> np.random.Generator:
    """A new NumPy generator keyed by ``(seed, purpose)``."""
    return np.random.default_rng(seed_sequence(seed, purpose))


def torch_generator(seed: int, purpose: str) -> torch.Generator:
    """A new torch generator keyed by ``(seed, purpose)``; it lives on the CPU, hence a GPU gets the same numbers.

    Examples
    --------
    >>> torch.rand(2, generator=torch_generator(1, "a")).equal(torch.rand(2, generator=torch_generator(1, "b")))
    False
    """
    word = int(seed_sequence(seed, purpose).generate_state(1, np.uint64)[0])
    return torch.Generator().manual_seed(word >> 1)  # manual_seed takes 63 bits


def drawn_seeds(seed: int, purpose: str, n: int) -> tuple[int, ...]:
    """n seeds in [0, 2³²), the first ones of the stream ``(seed, purpose)``."""
    return tuple(numpy_generator(seed, purpose).integers(0, 2**32, n).tolist())


@checked
def normal(shape: Shape, seed: Any, purpose: str) -> torch.Tensor:
    """Independent standard normal numbers, float64, the first ones of the stream ``(seed, purpose)``."""
    return torch.randn(shape, dtype=torch.float64, generator=torch_generator(seed, purpose))


def normal_stream(seed: int, purpose: str) -> Callable[..., torch.Tensor]:
    """Independent N(0, 1) numbers, float64, of one shape after the other from the stream of ``(seed, purpose)``."""
    generator = torch_generator(seed, purpose)
    return lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)
