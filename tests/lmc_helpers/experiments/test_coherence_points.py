"""Points of the coherence experiment against students trained one at a time and losses written out."""

import pytest
import torch

from lmc_helpers.data.coherence_inputs import exact_copy, latents, random_frame, sample_frame, target
from lmc_helpers.experiments.coherence_points import PLACES, TEST, TRAINING, measure_points, student_seeds
from lmc_helpers.experiments.coherence_students import train_students
from lmc_helpers.training.ensemble import Recipe

RECIPE = Recipe(epochs=2, batch=512, rate=0.01)
DOUBLE = torch.float64


def masks(G, m, d, seed=0):
    return (torch.rand(G, m, d, generator=torch.Generator().manual_seed(seed)) < 0.4).double()


def test_points_are_those_of_students_trained_one_at_a_time():
    G, m, d, pairs, seed = 2, 6, 8, 2, 5
    frames = torch.stack([random_frame(2, sample_frame(g, d)) for g in range(G)])
    cells = [(exact_copy(3, d), masks(G, m, d)), (frames, masks(G, m, d, seed=1))]
    lambdas = [1.0, 0.75, 0.5, 0.0]
    points = measure_points(cells, pairs, seed, lambdas, RECIPE, DOUBLE)
    z, unseen = latents(TRAINING, seed, "training latents"), latents(TEST, seed, "test latents")
    seeds = student_seeds(G, pairs, seed)
    for point, (U, D) in zip(points, cells, strict=True):
        assert point.test.shape == (G, pairs, 4) and point.train.shape == (G, pairs, 3)
        seen = 0
        for g in range(G):
            u = U if U.ndim == 2 else U[g]
            seen += sum(int(torch.linalg.matrix_rank(row[:, None] * u) == 2) for row in D[g])
            for i in range(pairs):
                ends = [
                    train_students(u[None], D[g][None], z, [[s]], RECIPE, DOUBLE) for s in seeds[g][2 * i : 2 * i + 2]
                ]
                for data, places, found in (
                    (unseen, lambdas, point.test),
                    (z, PLACES, point.train),
                ):
                    for lam, loss in zip(places, found[g, i].tolist(), strict=True):
                        W = lam * ends[0].W[0, 0] + (1 - lam) * ends[1].W[0, 0]
                        b = lam * ends[0].b[0, 0] + (1 - lam) * ends[1].b[0, 0]
                        f = (data @ u.T @ (D[g] * W).T + b).relu().sum(dim=1)
                        assert loss == pytest.approx((f - target(data)).square().mean().item(), rel=1e-5)
        assert point.both == pytest.approx(seen / G)


def test_points_do_not_depend_on_each_other():
    cells = [(exact_copy(k, 6), masks(2, 5, 6)) for k in (1, 3)]
    together = measure_points(cells, 1, 3, recipe=RECIPE)
    for point, cell in zip(together, cells, strict=True):
        (alone,) = measure_points([cell], 1, 3, recipe=RECIPE)
        assert alone.test.equal(point.test) and alone.train.equal(point.train) and alone.both == point.both


def test_seeds_differ_within_a_point_and_depend_on_the_seed():
    seeds = [s for group in student_seeds(5, 10, seed=1) for s in group]
    assert len(set(seeds)) == 100 and all(0 <= s < 2**32 for s in seeds)
    assert student_seeds(5, 10, seed=1) == student_seeds(5, 10, seed=1) != student_seeds(5, 10, seed=2)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([], r"0 cells of \[\] masks"),
        ([(exact_copy(1, 4), masks(1, 3, 4)), (exact_copy(1, 4), masks(2, 3, 4))], r"2 cells of \[1, 2\] masks"),
        ([(2 * exact_copy(1, 4), masks(1, 3, 4))], "not orthonormal"),
    ],
)
def test_bad_input_is_named(cells, message):
    with pytest.raises(ValueError, match=message):
        measure_points(cells, 1, 1, recipe=RECIPE)
