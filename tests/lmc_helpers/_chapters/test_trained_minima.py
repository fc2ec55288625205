"""Fresh entries on given types: the types stay, the teacher's function stays, the law is that of the simplex."""

import numpy as np
import pytest
import torch
from oracles.notebooks import on_the_page
from scipy import stats

from lmc_helpers._chapters.trained_minima import with_uniform_entries
from lmc_helpers.barrier import loss_barrier
from lmc_helpers.error_bars import ratio_of_means
from lmc_helpers.teacher_student import population_loss, sample_minima, snap


@pytest.mark.parametrize(("m", "M", "d"), [(1, 1, 1), (7, 3, 5), (12, 6, 8)])
def test_types_stay_and_the_teacher_is_computed(m, M, d):
    W = sample_minima(m, M, d, 6, seed=1, law="equal").reshape(2, 3, m, d)
    fresh = with_uniform_entries(W + 1e-9, M, seed=2)
    assert (fresh > 0).equal(W > 0) and fresh.equal(with_uniform_entries(W, M, seed=2))
    assert m == 1 or not fresh.equal(with_uniform_entries(W, M, seed=3))
    x = torch.randn(50, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    teacher = torch.relu(x[:, :M]).sum(dim=-1)
    student = torch.relu(x @ fresh.mT).sum(dim=-1)
    torch.testing.assert_close(student, teacher.expand_as(student), rtol=1e-12, atol=1e-12)


def test_entries_of_a_type_are_uniform_on_its_simplex():
    """One entry of n uniform ones on the simplex is Beta(1, n − 1), for 4 rows and for 2."""
    W = torch.zeros(4000, 6, 3, dtype=torch.float64)
    W[:, :4, 0], W[:, 4:, 1] = 0.9, 0.1
    fresh = with_uniform_entries(W, 2, seed=3)
    assert stats.kstest(fresh[:, 0, 0].numpy(), stats.beta(1, 3).cdf).pvalue > 1e-3
    assert stats.kstest(fresh[:, 5, 1].numpy(), stats.beta(1, 1).cdf).pvalue > 1e-3
    assert abs(stats.pearsonr(fresh[:, 0, 0], fresh[:, 5, 1])[0]) < 0.07


@pytest.mark.parametrize(("m", "M", "law", "ratio"), [(12, 3, "exponential", 1), (9, 1, ("dirichlet", 2), 10 / 19)])
def test_the_spread_is_that_of_dirichlet_laws(m, M, law, ratio):
    """One of n entries has the variance (n − 1)/(n²(na + 1)), and the chapter's two sums are of all rows."""
    (spread,) = on_the_page("17_trained_minima", "spread", torch=torch, np=np, snap=snap)
    W = sample_minima(m, M, 6, 4000, seed=5, law=law)
    found, uniform = spread(W, M).mean(axis=1)
    assert found / uniform == pytest.approx(ratio, rel=0.04)


def test_smallest_rows():
    """1 on the uniform simplex; n² · 1/n for n equal entries, types with one row left out."""
    (smallest,) = on_the_page("17_trained_minima", "smallest", torch=torch, snap=snap, ratio_of_means=ratio_of_means)
    value, error = smallest(sample_minima(14, 6, 8, 4000, seed=6).view(2, 2000, 14, 8))
    assert 0.002 < error < 0.02 and abs(value - 1) < 4 * error
    W = 3 * sample_minima(10, 6, 7, 60, seed=7, law="equal").view(2, 30, 10, 7)
    several = [n for n in np.count_nonzero(W.flatten(0, 1).numpy(), axis=1).ravel() if n > 1]
    assert smallest(W)[0] == pytest.approx(np.mean(several))


@pytest.mark.parametrize("q", [0.5, 1.7])
def test_the_barrier_is_quadratic_in_what_is_left_over(q):
    """Two pairs of minima that meet in the types 0/1, 1/2 and 2/0, entries there x and qx, y and qy."""
    heights = []
    entries = torch.tensor([0.2, 0.1, 0.3], dtype=torch.float64)
    for x in (entries, q * entries):
        W1, W2 = torch.zeros(2, 6, 4, dtype=torch.float64)
        rows, types = torch.arange(3), torch.tensor([0, 1, 2])
        W1[rows + 3, types], W2[rows + 3, types.roll(-1)] = x, x.flip(0)
        W1[rows, types], W2[rows, types] = 1 - W1.sum(dim=0)[:3], 1 - W2.sum(dim=0)[:3]
        heights.append(loss_barrier(lambda W: population_loss(W, 3), W1, W2).item())
    assert heights[0] > 1e-5 and heights[1] / heights[0] == pytest.approx(q**2, rel=1e-9)
