"""Networks of many widths, in pairs, and the lines between them: Zhan, Li & Wu, Figs. 7, 8 and 14.

A pair is two networks of one width that were trained with different seeds. The line between them is taken as they are
(*direct*), and after a matcher has put the hidden units of the second in another order (*permuted*). Barriers are
those of the negative log-likelihood (NLL).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import load
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

__all__ = ["Lines", "lines_of", "width_runs"]

PIXELS = {"digits": 64, "mnist": 784, "cifar10": 3072}


def width_runs(
    *,
    dataset: str,
    widths: Sequence[int],
    depths: Sequence[int],
    pairs: int,
    epochs: Sequence[int],
    images: int | None = None,
    rate: float = 0.05,
    batch: int = 100,
    seed: int = 0,
) -> list[Run]:
    """The runs of a sweep over widths and depths: 2P networks each, by the recipe of App. B.1.

    ReLU, Kaiming–He initial weights, SGD at a constant rate.

    Parameters
    ----------
    dataset : str
        ``"digits"``, ``"mnist"`` or ``"cifar10"``.
    widths, depths : sequence of int
        of the hidden layers, and numbers of linear maps.
    pairs : int
        P.
    epochs : sequence of int
        when the networks are kept; the largest is the end.
    images : int, optional
        training images; all of them if not given.
    rate, batch : float, int
        of SGD.
    seed : int
        of all.

    Returns
    -------
    list of Run
        one for each depth and width, in this order.

    Examples
    --------
    >>> runs = width_runs(dataset="digits", widths=[4, 8], depths=[2], pairs=3, epochs=[1, 5])
    >>> [run.model.sizes for run in runs], len(runs[0].seeds), runs[0].keep
    ([(64, 4, 10), (64, 8, 10)], 6, (1,))
    """
    runs = []
    for depth in depths:
        for width in widths:
            drawn = numpy_generator(seed, f"pairs of depth {depth} and width {width}").integers(0, 2**32, 2 * pairs)
            model = MLP((PIXELS[dataset], *[width] * (depth - 1), 10), init="he")
            descent = Descent(max(epochs), batch, "sgd", rate)
            data = DataSpec(dataset, n=images, seed=seed)
            keep = tuple(epoch for epoch in epochs if epoch < max(epochs))
            runs.append(Run(model, descent, data, tuple(drawn.tolist()), keep=keep))
    return runs


@dataclass(frozen=True)
class Lines:
    """NLL along the lines of P pairs at L places, (P, L) each, and the values of the matcher's restarts."""

    direct: torch.Tensor
    permuted: torch.Tensor
    restarts: torch.Tensor
    accuracy: torch.Tensor


def lines_of(
    stack: Stack, lambdas: Sequence[float], x: torch.Tensor, y: torch.Tensor, restarts: int, seed: int
) -> Lines:
    """Lines of the pairs (0, 1), (2, 3), … of a stack, direct and after weight matching.

    Parameters
    ----------
    stack : Stack
        2P networks.
    lambdas : sequence of float
        L places, λ = 1 is the first network of a pair.
    x, y : torch.Tensor
        inputs (n, …) and labels (n,).
    restarts : int
        of the matcher.
    seed : int
        of the matcher.

    Returns
    -------
    Lines
        NLL and accuracy.
    """
    a, b = stack.ordinary(range(0, len(stack), 2)), stack.ordinary(range(1, len(stack), 2))
    found = weight_matching(a.params, b.params, stack.model.symmetry(), restarts, seed)
    direct = along_segments(a, b, x, y, lambdas)
    permuted = along_segments(a, b.permuted(found.permutations), x, y, lambdas)
    return Lines(direct.loss, permuted.loss, found.values, permuted.accuracy)
