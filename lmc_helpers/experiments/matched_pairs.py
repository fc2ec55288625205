"""Matchers side by side on the same pairs of trained MLPs (chapter 56).

Four kinds of MLPs with three hidden layers of ReLU units are trained by one recipe, that of Bürgin et al., App. F.1:
without norms, with layer norms, and with layer norms and fixed weights F of σ_F = 0 and 1. A pair is two networks with
different seeds; those with fixed weights share F and D, and each pair has its own. The first two kinds are trained once
more, wider. Small networks with two hidden layers, on digits, are for
:mod:`~lmc_helpers.experiments.every_permutation`.

What matchers make of them is measured by :mod:`~lmc_helpers.experiments.matches`.
"""

from __future__ import annotations

from dataclasses import replace

from lmc_helpers import expect
from lmc_helpers.data.images import choose
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

__all__ = ["KINDS", "NAMES", "SMALL", "WIDE", "runs"]

#: Kind of networks → norm, and σ_F of their fixed weights.
KINDS: dict[str, tuple[str, float | None]] = {
    "plain": ("none", None),
    "layer norm": ("layer", None),
    "σ_F = 0": ("layer", 0.0),
    "σ_F = 1": ("layer", 1.0),
}
WIDE = {"plain, wide": "plain", "layer norm, wide": "layer norm"}  #: wider networks, and the kind that they are of
NAMES = (*KINDS, *WIDE, "small")  #: of all runs
SMALL = 5  # neurons in a hidden layer of the small networks
SHARES = (64 / 784, 64 / 512, 64 / 512, 256 / 512)  # of fixed entries in a row of each map (Bürgin et al., F.1)
PIXELS = {"digits": 64, "mnist": 784}


def runs(
    *,
    dataset: str,
    width: int,
    pairs: int,
    images: int,
    epochs: int,
    wide: int,
    wide_pairs: int,
    small_pairs: int,
    small_epochs: int,
    seed: int,
) -> list[Run]:
    """The trainings of the chapter, two networks a pair.

    Parameters
    ----------
    dataset : str
        ``"digits"`` or ``"mnist"``; digits where MNIST cannot be had.
    width, pairs : int
        units in each of three hidden layers, and pairs of each of :data:`KINDS`.
    images, epochs : int
        training images, at most all that there are, and passes through them.
    wide, wide_pairs : int
        units and pairs of :data:`WIDE`.
    small_pairs, small_epochs : int
        pairs and passes of the small networks, on all digits.
    seed : int
        of all.

    Returns
    -------
    list of Run
        one for each of :data:`NAMES`.

    Examples
    --------
    >>> sizes = dict(width=8, pairs=2, images=100, epochs=1, wide=16, wide_pairs=1, small_pairs=3, small_epochs=1)
    >>> {name: len(run.seeds) for name, run in zip(NAMES, runs(dataset="digits", seed=1, **sizes), strict=True)}
    {'plain': 4, 'layer norm': 4, 'σ_F = 0': 4, 'σ_F = 1': 4, 'plain, wide': 2, 'layer norm, wide': 2, 'small': 6}
    """
    counts = {"width": width, "pairs": pairs, "images": images, "wide": wide, "wide_pairs": wide_pairs}
    for name, number in (counts | {"small_pairs": small_pairs}).items():
        expect.integer(number, name, least=1)
    expect.integer(epochs, "epochs", least=0)
    expect.integer(small_epochs, "small_epochs", least=0)
    source, _ = choose((dataset, "digits"))
    data = DataSpec(source, n=min(images, DataSpec(source).size), seed=seed)
    descent = Descent(epochs, 128, "adamw", 1e-3, weight_decay=1e-2)

    def seeds(of: str, number: int) -> tuple[int, ...]:
        return tuple(numpy_generator(seed, f"matched pairs, {of}").integers(0, 2**32, number).tolist())

    def pairs_of(kind: str, units: int, number: int, drawn_for: str) -> Run:
        norm, sigma = KINDS[kind]
        sizes = (PIXELS[source], units, units, units, 10)
        run = Run(MLP(sizes, norm=norm), descent, data, seeds(drawn_for, 2 * number))
        if sigma is None:
            return run
        fixed = [max(1, round(share * inputs)) for share, inputs in zip(SHARES, sizes[:-1], strict=True)]
        scheme = {f"{k}.weight": WAsymmetric(entries, sigma) for k, entries in enumerate(fixed)}
        return replace(run, scheme=scheme, mask_seeds=seeds(f"masks of {drawn_for}", number))

    narrow = [pairs_of(kind, width, pairs, kind) for kind in KINDS]
    wider = [pairs_of(kind, wide, wide_pairs, name) for name, kind in WIDE.items()]
    small = MLP((PIXELS["digits"], SMALL, SMALL, 10))
    descent_of_small = Descent(small_epochs, 128, "adamw", 1e-2, weight_decay=1e-2)
    return [*narrow, *wider, Run(small, descent_of_small, DataSpec("digits"), seeds("small", 2 * small_pairs))]
