"""Matchers side by side on the same pairs of trained MLPs (chapter 56).

Four kinds of MLPs with three hidden layers of ReLU units are trained by one recipe, that of Bürgin et al., App. F.1:
without norms, with layer norms, and with layer norms and fixed weights F of σ_F = 0 and 1. A pair is two networks with
different seeds; those with fixed weights share F and D, and each pair has its own. A fifth run, of small networks with
two hidden layers on digits, is for :mod:`~lmc_helpers.experiments.every_permutation`.

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

__all__ = ["KINDS", "SMALL", "runs"]

#: Kind of networks → norm, and σ_F of their fixed weights.
KINDS: dict[str, tuple[str, float | None]] = {
    "plain": ("none", None),
    "layer norm": ("layer", None),
    "σ_F = 0": ("layer", 0.0),
    "σ_F = 1": ("layer", 1.0),
}
SMALL = 5  # neurons in a hidden layer of the small networks
SHARES = (64 / 784, 64 / 512, 64 / 512, 256 / 512)  # of fixed entries in a row of each map (Bürgin et al., F.1)
PIXELS = {"digits": 64, "mnist": 784}


def runs(
    *, dataset: str, width: int, pairs: int, images: int, epochs: int, small_pairs: int, small_epochs: int, seed: int
) -> list[Run]:
    """The trainings of the chapter: 2P networks of each kind, and the small ones.

    Parameters
    ----------
    dataset : str
        ``"digits"`` or ``"mnist"``; digits where MNIST cannot be had.
    width : int
        units in each of three hidden layers.
    pairs : int
        P.
    images, epochs : int
        training images, at most all that there are, and passes through them.
    small_pairs, small_epochs : int
        the same of the small networks, on all digits.
    seed : int
        of all.

    Returns
    -------
    list of Run
        one for each of :data:`KINDS`, then the small one.

    Examples
    --------
    >>> sizes = dict(width=8, pairs=2, images=100, epochs=1, small_pairs=3, small_epochs=1)
    >>> [len(run.seeds) for run in runs(dataset="digits", seed=1, **sizes)]
    [4, 4, 4, 4, 6]
    """
    expect.integer(width, "width", least=1)
    expect.integer(pairs, "pairs", least=1)
    expect.integer(images, "images", least=1)
    expect.integer(small_pairs, "small_pairs", least=1)
    expect.integer(epochs, "epochs", least=0)
    expect.integer(small_epochs, "small_epochs", least=0)
    name, _ = choose((dataset, "digits"))

    def seeds(kind: str, number: int) -> tuple[int, ...]:
        return tuple(numpy_generator(seed, f"matched pairs, {kind}").integers(0, 2**32, number).tolist())

    data = DataSpec(name, n=min(images, DataSpec(name).size), seed=seed)
    sizes = (PIXELS[name], width, width, width, 10)
    descent = Descent(epochs, 128, "adamw", 1e-3, weight_decay=1e-2)
    found = []
    for kind, (norm, sigma) in KINDS.items():
        run = Run(MLP(sizes, norm=norm), descent, data, seeds(kind, 2 * pairs))
        if sigma is not None:
            fixed = [max(1, round(share * inputs)) for share, inputs in zip(SHARES, sizes[:-1], strict=True)]
            scheme = {f"{k}.weight": WAsymmetric(number, sigma) for k, number in enumerate(fixed)}
            run = replace(run, scheme=scheme, mask_seeds=seeds(f"masks of {kind}", pairs))
        found.append(run)
    small = MLP((PIXELS["digits"], SMALL, SMALL, 10))
    descent = Descent(small_epochs, 128, "adamw", 1e-2, weight_decay=1e-2)
    return [*found, Run(small, descent, DataSpec("digits"), seeds("small", 2 * small_pairs))]
