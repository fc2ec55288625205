"""Sparsity and sharpness against their definitions and against the full Hessian."""

import itertools
import math

import pytest
import torch

from lmc_helpers import teacher_student as ts


@pytest.mark.parametrize(("p", "q", "n"), [(0.5, 1, 7), (1, 2, 4), (0.3, 3, 1)])
def test_pq_index_of_the_paper_s_examples(p, q, n):
    first = torch.zeros(n, dtype=torch.float64)
    first[0] = -3
    assert ts.pq_index(first, p, q).item() == pytest.approx(1 - n ** (1 / q - 1 / p))
    assert ts.pq_index(5 * torch.ones(n, dtype=torch.float64), p, q).item() == pytest.approx(0, abs=1e-12)


def test_pq_index_is_the_formula_and_ignores_scale_and_order():
    w = torch.randn(3, 11, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    naive = [1 - 11 ** (1 - 2) * sum(abs(x) ** 0.5 for x in v) ** 2 / sum(abs(x) for x in v) for v in w.tolist()]
    torch.testing.assert_close(ts.pq_index(w), torch.tensor(naive, dtype=torch.float64))
    torch.testing.assert_close(ts.pq_index(1e-200 * w.flip(-1)), ts.pq_index(w))
    W = torch.tensor([[[0.3, 0.4], [0.0, 0.0]], [[1e-4, 0.0], [1e-9, 1e-9]]])
    assert ts.zero_rows(W).tolist() == [1, 2] and ts.zero_rows(W, 1.0).tolist() == [2, 2]
    assert ts.zero_rows(W, 1e-6).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("m", "M", "a", "law"), [(12, 6, 1.0, "exponential"), (9, 2, 3.5, ("dirichlet", 3.5)), (5, 5, 1.0, "exponential")]
)
def test_expected_pq_is_the_mean_over_sampled_minima(m, M, a, law):
    sampled = ts.pq_index(torch.linalg.vector_norm(ts.sample_minima(m, M, M, 20_000, seed=3, law=law), dim=-1))
    stderr = sampled.std().item() / math.sqrt(len(sampled))
    assert abs(ts.expected_pq(m, M, a) - sampled.mean().item()) < 4.5 * stderr + 1e-12


@pytest.mark.parametrize(("m", "M"), [(1, 1), (4, 1), (4, 2), (7, 3)])
def test_expected_pq_of_equal_entries_by_enumeration(m, M):
    values = []
    for types in itertools.product(range(M), repeat=m - M):
        counts = [1 + types.count(j) for j in range(M)]
        values.append(1 - sum(math.sqrt(n) for n in counts) ** 2 / (m * M))
    assert ts.expected_pq(m, M, math.inf) == pytest.approx(sum(values) / len(values), abs=1e-12)
    assert ts.expected_pq(m, M, 1e9) == pytest.approx(ts.expected_pq(m, M, math.inf), abs=1e-6)


@pytest.mark.parametrize(("m", "M", "d"), [(1, 1, 1), (5, 1, 3), (7, 2, 2), (12, 6, 8), (9, 4, 4)])
def test_sharpness_is_the_largest_hessian_eigenvalue(m, M, d):
    W = ts.sample_minima(m, M, d, 4, seed=1)
    counts = (W > 0).sum(dim=1)[:, :M]
    largest = torch.linalg.eigvalsh(ts.population_hessian(W, M))[:, -1]
    torch.testing.assert_close(ts.sharpness(counts, d), largest, rtol=1e-10, atol=0)


@pytest.mark.parametrize(("M", "d"), [(1, 1), (2, 2), (2, 5), (5, 5), (7, 20)])
def test_even_counts_are_the_least_sharp(M, d):
    k = 4 * M
    even = ts.even_sharpness(k, M, d)
    assert ts.sharpness(torch.full((M,), 4), d).item() == pytest.approx(even, rel=1e-12)
    uneven = (ts.sample_minima(k, M, d, 50, seed=3) > 0).sum(dim=1)[:, :M]
    assert (ts.sharpness(uneven, d) >= even * (1 - 1e-12)).all()
