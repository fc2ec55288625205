"""What chapter *barrier rate* computes: minima and their matched mass; power laws against numpy; the limit law."""

import numpy as np
import pytest
import torch
from oracles.notebooks import on_the_page

from lmc_helpers._chapters.barrier_rate import minima_with_matched_share, power_law
from lmc_helpers.barrier import GRID
from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student import population_loss


@pytest.mark.parametrize(("gamma", "M"), [(0.75, 4), (0.8, 2), (0.99, 6), (1.0, 2)])
def test_a_matched_share_that_algorithm_1_leaves(gamma, M):
    a, b = minima_with_matched_share(gamma, M)
    assert population_loss(torch.stack([a, b]), M).abs().max() < 1e-14
    assert algorithm_1(a, b, tol=0).tolist() == list(range(3 * M // 2))
    matched = ((a > 0) & (b > 0)).any(dim=1)  # rows of one type at both ends
    masses = torch.stack([W[matched].sum(dim=0) for W in (a, b)])  # (2, M)
    torch.testing.assert_close(masses.mean(dim=0), torch.full((M,), gamma, dtype=torch.float64))
    assert (masses.amax(dim=0) == 1).all()


def test_a_power_law_is_found_with_its_error():
    rng = np.random.default_rng(4)
    x, n = np.array([10.0, 20.0, 80.0]), 400
    spread = np.array([0.1, 0.5, 0.3])[:, None]
    draws = 1 + spread * rng.normal(size=(2000, 3, n))
    found = np.array([power_law(x, 3 * x[:, None] ** -1.5 * draw) for draw in draws])
    assert found[:, 0].mean() == pytest.approx(-1.5, abs=4 * found[:, 0].std() / np.sqrt(2000) + 1e-3)
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.06)
    y = rng.uniform(1, 2, size=(3, 5))  # numpy's weighted fit, which takes 1/σ
    weights = y.mean(axis=1) * np.sqrt(5) / y.std(axis=1, ddof=1)
    fit, covariance = np.polyfit(np.log(x), np.log(y.mean(axis=1)), 1, w=weights, cov="unscaled")
    assert power_law(x, y) == pytest.approx((fit[0], np.sqrt(covariance[0, 0])))


@pytest.mark.parametrize("D", [(1.5, 0.5, -2.0), (1.0, 1.5, -0.5, -2.0)])
def test_the_limit_law_is_the_loss_of_many_leftovers_that_meet_at_random(D):
    """Of type p |D_p| n leftovers k/n, 1/n apart, at places that a random permutation joins."""
    (law,) = on_the_page("14_barrier_rate", "law", torch=torch, GRID=GRID)
    rng, n, M = np.random.default_rng(5), 600, len(D)
    x = rng.standard_normal((1500, M))
    left = [(np.arange(round(abs(s) * n)) / n, np.full(round(abs(s) * n), p)) for p, s in enumerate(D)]
    (a, up), (b, down) = (np.hstack([one for one, s in zip(left, D, strict=True) if (s > 0) == u]) for u in (1, 0))
    order = rng.permutation(len(b))
    u, v = x[:, up.astype(int)], x[:, down.astype(int)[order]]  # (1500, places)
    losses = []
    for t in GRID:
        lost = np.maximum(0, t * a * u) + np.maximum(0, (1 - t) * b[order] * v)
        lost -= np.maximum(0, t * a * u + (1 - t) * b[order] * v)
        losses.append(M**4 * np.mean((lost.sum(axis=1) / n) ** 2))
    assert law(torch.tensor(D).double(), torch.from_numpy(x)) == pytest.approx(max(losses), rel=0.02)


def test_the_direct_barrier_of_two_teachers_tends_to_its_limit():
    """D_2 = (4 − π)/16π: two inputs of opposite signs, half of the circle, (uv/(u + v))² in polar coordinates."""
    rng, m = np.random.default_rng(6), 40_000
    angle = 2 * np.pi * (np.arange(512) + 0.5) / 512
    x = np.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)])  # |x|² = d

    def minimum():
        W = np.zeros((m, 2))
        W[np.arange(m), rng.integers(2, size=m)] = rng.exponential(size=m)
        return W / W.sum(axis=0)

    lacks = np.maximum(0, (minimum() + minimum()) / 2 @ x).sum(axis=0) - np.maximum(0, x).sum(axis=0)
    assert np.mean(lacks**2) == pytest.approx((4 - np.pi) / (16 * np.pi), rel=0.05)
    (limit,) = on_the_page("14_barrier_rate", "limit", torch=torch)  # over M² = 36
    assert 9 * limit(torch.from_numpy(x.T)).mean().item() == pytest.approx((4 - np.pi) / (16 * np.pi), rel=1e-3)


@pytest.mark.parametrize("largest", [True, False])
def test_zero_rows_meet_the_largest_leftovers(largest):
    (spared,) = on_the_page("14_barrier_rate", "spared", torch=torch, pad_sequence=torch.nn.utils.rnn.pad_sequence)
    one = [(0, 0.5), (0, 0.4), (0, 0.1), (1, 0.3), (1, 0.7), (2, 0.6), (2, 0.4)]  # types and entries
    two = [(0, 1.0), (1, 0.2), (2, 0.1), (1, 0.3), (1, 0.5), (2, 0.2), (2, 0.7)]
    W1, W2 = (torch.stack([torch.eye(3)[j] * a for j, a in rows]) for rows in (one, two))
    A, B = spared(W1, W2, 0.5, largest)
    met = [tuple(sorted(zip(*W[(W > 0).any(1)].max(1), strict=True))) for W in (A, B)]
    assert [[round(a.item(), 6) for a, _ in of] for of in met] == [sorted(a for _, a in rows) for rows in (one, two)]
    apart = ((A > 0) & (B == 0)).any(1) & (B > 0).any(1)  # places of two types
    left = [sorted(round(a, 6) for a in W[apart].max(1).values.tolist()) for W in (A, B)]
    assert left == ([[0.1], [0.2]] if largest else [[0.4], [0.2]])  # the row of 0.1 of the other network is left alone
