"""The structured loss against the dense one, and barriers of many pairs against one pair at a time."""

import pytest
import torch

from lmc_helpers import teacher_student as ts
from lmc_helpers.barrier import GRID, loss_barrier
from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student.between_minima import barrier_objective


@pytest.mark.parametrize(("m", "M", "d"), [(1, 1, 1), (4, 4, 4), (6, 1, 3), (30, 6, 8), (25, 20, 20)])
@pytest.mark.parametrize("law", ["exponential", "equal"])
@pytest.mark.parametrize("many", [0, 500])
def test_structured_loss_is_the_dense_loss(m, M, d, law, many, monkeypatch):
    monkeypatch.setattr("lmc_helpers.teacher_student.between_minima.MANY", many)
    for a, b in zip(ts.sample_minima(m, M, d, 4, 1, law), ts.sample_minima(m, M, d, 4, 2, law), strict=True):
        a = a.clone()
        a[m // 2] *= 0.7  # need not be minima
        dense = torch.stack([ts.population_loss(x * a + (1 - x) * b, M) for x in GRID])
        torch.testing.assert_close(ts.losses_between(a, b, M), dense, rtol=0, atol=1e-12)
        assert ts.minima_barriers(a, b, M) == pytest.approx(dense.max().item(), abs=1e-12)


def test_zero_rows_and_axes_beyond_the_teacher():
    a = torch.tensor([[0.0, 0, 2], [0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=torch.float64)
    b = torch.tensor([[0.5, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=torch.float64)
    dense = torch.stack([ts.population_loss(x * a + (1 - x) * b, 2) for x in GRID])
    torch.testing.assert_close(ts.losses_between(a, b, 2), dense, rtol=0, atol=1e-13)
    a, b = ts.sample_minima(5, 2, 3, 2, seed=1)
    x = torch.randn(200_000, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x = x / x.norm(dim=-1, keepdim=True)
    expected = max(sampled_loss(s / 10 * a + (1 - s / 10) * b, 2, x) for s in range(11))
    assert barrier_objective(2)(a, torch.stack([b, a])).tolist() == pytest.approx([expected, 0], rel=0.02, abs=1e-12)


@pytest.mark.parametrize("chunk", [1, 3, 50])
def test_pair_barriers_do_not_depend_on_the_chunks_and_agree_with_one_pair_at_a_time(chunk):
    W1, W2 = ts.sample_minima(8, 3, 4, 10, seed=4).split(5)
    noise = 1e-4 * torch.randn(5, 8, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = ts.permuted_and_direct(W1 + noise, W2 - noise, 3, chunk)
    for k in range(5):
        p = algorithm_1(W1[k], W2[k])
        a, b = (W1 + noise)[k], (W2 - noise)[k]
        for row, end in zip(found, (b[p], b), strict=True):
            torch.testing.assert_close(row[k], loss_barrier(lambda W: ts.population_loss(W, 3), a, end))


@pytest.mark.parametrize(("m", "M", "d", "n"), [(1, 1, 2, 1), (9, 4, 6, 3), (60, 21, 22, 2)])  # dense up to m + M = 80
def test_uniform_pairs_against_the_dense_loss_one_at_a_time(m, M, d, n):
    found = ts.uniform_barriers(m, M, d, n, seed=5)
    assert found.shape == (2, n)
    W = ts.sample_minima(m, M, d, 2 * n, seed=5)
    for k in range(n):
        a, b = W[k], W[n + k]
        for row, end in zip(found, (b[algorithm_1(a, b)], b), strict=True):
            expected = max(ts.population_loss(x * a + (1 - x) * end, M).item() for x in GRID)
            assert row[k] == pytest.approx(expected, abs=1e-12)


def sampled_loss(W, M, x):
    """The population loss at W (m, d) by inputs x (n, d) on the sphere."""
    return (torch.relu(x @ W.T).sum(dim=-1) - torch.relu(x[:, :M]).sum(dim=-1)).square().mean().item()
