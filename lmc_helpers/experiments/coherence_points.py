"""Points of the coherence experiment: students of one U and one law of masks, in pairs (Bürgin et al., App. F.5).

A point has G masks and r pairs of students for each of them. Pairs that share a mask are not independent, masks are
(:func:`lmc_helpers.error_bars.over_clusters`). All points of one call train on the same latents, and the g-th mask of
each has the same seeds of students, so that differences between points are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.data.coherence_inputs import latents
from lmc_helpers.experiments.coherence_students import F5, line_losses, train_students
from lmc_helpers.experiments.visibility import ranks
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.ensemble import Recipe

__all__ = ["PLACES", "TEST", "TRAINING", "Point", "measure_points", "student_seeds"]

TRAINING, TEST = 1024, 2048  # examples, App. F.5
PLACES = (1.0, 0.5, 0.0)  # λ of the two ends and the middle; λ = 1 is the first student


@dataclass(frozen=True)
class Point:
    """Losses on the lines between the students of one point.

    Attributes
    ----------
    test : torch.Tensor
        (G, r, L), loss on unseen examples at the places λ.
    train : torch.Tensor
        (G, r, 3), loss on the training examples at λ = 1, ½ and 0.
    both : float
        neurons that see both latents (rank 2), mean over the masks.
    """

    test: torch.Tensor
    train: torch.Tensor
    both: float


def student_seeds(G: int, pairs: int, seed: int) -> list[list[int]]:
    """Seeds of 2 ``pairs`` students for each of G masks.

    Parameters
    ----------
    G, pairs : int
        masks, pairs of students a mask.
    seed : int
        seed of the seeds.

    Returns
    -------
    list of list of int
        (G, 2 pairs); students 2i and 2i + 1 are a pair.

    Examples
    --------
    >>> [len(group) for group in student_seeds(3, 2, seed=1)]
    [4, 4, 4]
    """
    expect.integer(G, "G", least=1)
    expect.integer(pairs, "pairs", least=1)
    rng = numpy_generator(seed, "seeds of students")
    return rng.integers(2**32, size=(G, 2 * pairs)).tolist()


def measure_points(
    cells: Sequence[tuple[torch.Tensor, torch.Tensor]],
    pairs: int,
    seed: int,
    lambdas: Sequence[float] = PLACES,
    recipe: Recipe = F5,
    dtype: torch.dtype = torch.float32,
) -> list[Point]:
    """Train the students of several points, each at its own U and masks, and measure the lines between them.

    Parameters
    ----------
    cells : sequence of (torch.Tensor, torch.Tensor)
        U and D of each point: D (G, m, d) masks, U (d, 2) for all of them or (G, d, 2).
    pairs : int
        pairs of students a mask.
    seed : int
        seed of the latents and of the students.
    lambdas : sequence of float
        places on the line for the test loss.
    recipe : Recipe
        epochs, batch, rate and decay.
    dtype : torch.dtype
        of the training; losses on the lines are computed in float32.

    Returns
    -------
    list of Point
        one a cell.

    Examples
    --------
    >>> from lmc_helpers.data.coherence_inputs import exact_copy
    >>> masks = torch.ones(2, 8, 4)
    >>> short = Recipe(epochs=1, batch=512)
    >>> one, two = measure_points([(exact_copy(k, d=4), masks) for k in (1, 2)], 3, seed=1, recipe=short)
    >>> one.test.shape, two.both
    (torch.Size([2, 3, 3]), 8.0)
    """
    if not isinstance(cells, (list, tuple)):
        raise ValueError(f"cells is {type(cells).__name__}; allowed: a list of U and D")
    expect.integer(pairs, "pairs", least=1)
    expect.array(lambdas, "lambdas", "L")
    if not isinstance(recipe, Recipe):
        raise ValueError(f"recipe is {type(recipe).__name__}; allowed: Recipe")
    expect.floating(dtype, "dtype")
    sizes = sorted({len(D) for _, D in cells})
    if len(sizes) != 1:
        raise ValueError(f"{len(cells)} cells of {sizes} masks; allowed: one or more cells, equal numbers of masks")
    G = sizes[0]
    U = torch.cat([U.expand(G, -1, -1) for U, _ in cells])
    D = torch.cat([D for _, D in cells])
    z, unseen = latents(TRAINING, seed, "training latents"), latents(TEST, seed, "test latents")
    students = train_students(U, D, z, student_seeds(G, pairs, seed) * len(cells), recipe, dtype)
    two = torch.arange(2 * pairs).view(-1, 2)
    shape = (len(cells), G, pairs, -1)
    test = line_losses(students, two, unseen, lambdas).view(shape)
    train = line_losses(students, two, z, PLACES).view(shape)
    both = (ranks(U, D) == 2).sum(dim=1).double().view(len(cells), G)
    return [Point(*found) for found in zip(test, train, both.mean(dim=1).tolist(), strict=True)]
