"""Chapter *input shifts*: reindexed inputs against least-norm weights and permutation matrices."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from oracles.draws import normal

from lmc_helpers._chapters import input_shifts as chapter


def layer(m, d, k, seed=0):
    F, W = normal(m, d, seed=seed), normal(m, d, seed=seed + 1)
    D = 0.5 + torch.rand(m, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed + 2))
    return F, D, W, torch.linalg.qr(normal(d, k, seed=seed + 3)).Q


def matrix(p):
    """P with P x = x[p]."""
    return torch.eye(len(p), dtype=torch.float64)[p]


@pytest.mark.parametrize(("m", "d", "k"), [(1, 2, 1), (3, 5, 2), (4, 6, 6)])
def test_shifts_and_metrics_by_permutation_matrices_and_of_all_transpositions(m, d, k):
    F, D, _, U = layer(m, d, k)
    p = torch.randperm(d, generator=torch.Generator().manual_seed(1))
    P = matrix(p)
    torch.testing.assert_close(chapter.input_shift(F, U, p), F @ (P - torch.eye(d).double()) @ U)
    naive = torch.stack([U.mT @ P.mT @ torch.diag(row).square() @ P @ U for row in D])
    torch.testing.assert_close(chapter.reindexed_metric(D, U, p), naive)
    F, _, _, U = layer(m, d, k, seed=30)
    shifts = chapter.transposition_shifts(F, U)
    every = []
    for a in range(d):
        for b in range(a + 1, d):
            size = chapter.input_shift(F, U, chapter.transposition(d, a, b)).norm()
            torch.testing.assert_close(shifts[a, b], size)
            every.append(size.item())
    assert chapter.input_gap(F, U).item() == pytest.approx(min(every))


@pytest.mark.parametrize(("m", "d", "k"), [(1, 2, 1), (3, 5, 2), (4, 6, 6), (2, 7, 3)])
def test_costs_are_least_norms_after_and_before(m, d, k):
    F, D, W, U = layer(m, d, k, seed=10)
    p = torch.randperm(d, generator=torch.Generator().manual_seed(2))
    X = normal(30, k, seed=20) @ U.mT  # inputs on the subspace
    moved, expected = X @ matrix(p).mT, [0.0, 0.0]  # P x
    for f, s, w in zip(F, D, W, strict=True):
        wanted = (X @ (f + s * w)).numpy()
        for which, inputs in enumerate((moved, X)):
            A, rest = (inputs * s).numpy(), wanted - (inputs @ f).numpy()
            best = np.linalg.lstsq(A, rest, rcond=1e-10)[0]
            assert np.allclose(A @ best, rest)
            expected[which] += float(best @ best)
    assert chapter.least_norm_costs(F, D, W, p, X) == pytest.approx(tuple(expected), rel=1e-9)
    assert chapter.input_cost(F, D, W, U, p).item() == pytest.approx(expected[0] - expected[1], rel=1e-9)
    assert chapter.input_cost(F, D, W, U, torch.arange(d)).item() == 0
    if k == d:  # every weight is seen
        assert expected[1] == pytest.approx(W.square().sum().item())


def test_costs_of_all_transpositions_by_least_norms():
    F, D, W, U = layer(3, 5, 2, seed=40)
    X = normal(12, 2, seed=44) @ U.mT
    found = chapter.transposition_costs(F, D, W, U)
    for (a, b), cost in zip(combinations(range(5), 2), found, strict=True):
        after, before = chapter.least_norm_costs(F, D, W, chapter.transposition(5, a, b), X)
        assert cost.item() == pytest.approx(after - before, abs=1e-8 * (after + before))
    F, _, _, U = layer(2, 4, 2, seed=40)
    size, p = chapter.least_shift(F, U)
    assert size == pytest.approx(chapter.input_shift(F, U, torch.tensor(p)).norm().item())
    assert size <= chapter.input_gap(F, U).item() * (1 + 1e-12)
    wide = torch.linalg.qr(normal(40, 4, seed=41)).Q  # F^T F = I
    assert chapter.least_shift(wide, U)[0] == pytest.approx(chapter.input_gap(wide, U).item())
    F, U = torch.tensor([[1.0, 2, 4]]), torch.tensor([[1.0], [3], [0]]) / 10**0.5  # no transposition does so well
    assert chapter.least_shift(F, U) == (pytest.approx(0, abs=1e-6), (1, 2, 0))


@pytest.mark.parametrize("seed", range(5))
def test_error_bound_of_the_theorem(seed):
    F, D, W, U = layer(4, 8, 3, seed=50 + seed)
    D, W = 1 + 0.1 * (D - 1), 0.05 * W
    p = torch.randperm(8, generator=torch.Generator().manual_seed(seed))
    delta, R = chapter.input_shift(F, U, p), (D * W) @ U
    S = torch.cat([chapter.reindexed_metric(D, U, p), chapter.reindexed_metric(D, U, torch.arange(8))])
    epsilon = torch.linalg.matrix_norm(S - torch.eye(3).double(), 2).max().item()
    off = abs(chapter.input_cost(F, D, W, U, p).item() / delta.square().sum().item() - 1)
    assert off <= chapter.relative_error_bound((R.norm() / delta.norm()).item(), epsilon)


def test_sampled_layers_have_their_laws():
    F, D, W, U, p = chapter.sample_layer(200, 30, 4, 0.3, torch.Generator().manual_seed(5))
    torch.testing.assert_close(U.mT @ U, torch.eye(4).double())
    assert p.sort().values.equal(torch.arange(30))
    assert 0.7 <= D.min().item() < 0.71 and 1.29 < D.max().item() <= 1.3
    assert D.square().mean().item() == pytest.approx(1 + 0.3**2 / 3, rel=0.02)
    assert (F.std().item(), W.std().item()) == pytest.approx((1.0, 0.3), rel=0.04)
    assert (chapter.sample_layer(3, 4, 2, 0.0, torch.Generator().manual_seed(5))[1] == 1).all()


def test_scaled_gaps_are_the_least_of_all_pairs_in_law():
    def one():
        U, F = np.linalg.qr(rng.standard_normal((4, 2)))[0], rng.standard_normal((3, 4))
        columns = [np.linalg.norm(F[:, a] - F[:, b]) for a, b in combinations(range(4), 2)]
        rows = [np.linalg.norm(U[a] - U[b]) for a, b in combinations(range(4), 2)]
        return min(c * r for c, r in zip(columns, rows, strict=True)) / min(rows) / math.sqrt(3)

    rng = np.random.default_rng(1)
    plain, sample = np.array([one() for _ in range(3000)]), chapter.sample_scaled_gaps(3, 4, 2, 3000, seed=3)
    spread = math.sqrt(plain.var() / 3000 + sample.var().item() / 3000)
    assert abs(plain.mean() - sample.mean().item()) < 4.5 * spread


def test_share_of_cheaper_permutations_by_brute_force():
    rng, count, n = np.random.default_rng(2), 0, 600
    for _ in range(n):
        U, F = np.linalg.qr(rng.standard_normal((4, 2)))[0], rng.standard_normal((1, 4))
        sizes = {p: np.linalg.norm(F @ (U[list(p)] - U)) for p in permutations(range(4))}
        swaps = [size for p, size in sizes.items() if sum(a != b for a, b in enumerate(p)) == 2]
        count += min(size for p, size in sizes.items() if p != (0, 1, 2, 3)) < min(swaps) * (1 - 1e-9)
    share, error = chapter.cheaper_share(1, 4, 2, n, seed=4)
    assert 0.02 < share < 0.98
    assert error == pytest.approx(math.sqrt(share * (1 - share) / n))
    assert abs(share - count / n) < 4.5 * math.sqrt(2) * error


@pytest.mark.parametrize("m", [1, 3, 50])
def test_column_distance_by_simulation(m):
    sample = (normal(50_000, m, seed=1) - normal(50_000, m, seed=2)).norm(dim=-1) * 3
    stderr = sample.std().item() / math.sqrt(len(sample))
    assert abs(chapter.expected_column_distance(m, 3.0) - sample.mean().item()) < 4.5 * stderr


def test_growth_exponent_of_powers_and_its_error():
    small = normal(40_000, seed=11).exp()
    large = 8 * normal(40_000, seed=12).exp()
    value, error = chapter.growth_exponent(small, large, 4.0)
    assert error == pytest.approx(math.sqrt(2 / 40_000) / math.log(4), rel=0.02)
    assert abs(value - 1.5) < 4.5 * error
    swapped, same = chapter.growth_exponent(large, small, 4.0)
    assert (swapped, same) == (-value, error)
