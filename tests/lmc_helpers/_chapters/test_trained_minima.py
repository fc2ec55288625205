"""Fresh entries on given types: the types stay, the teacher's function stays, the law is that of the simplex."""

import numpy as np
import pytest
import torch
from oracles.notebooks import on_the_page
from scipy import stats

from lmc_helpers._chapters.trained_minima import with_uniform_entries
from lmc_helpers.teacher_student import sample_minima, snap


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
    spread, equal = on_the_page("17_trained_minima", "spread", "with_equal_entries", torch=torch, np=np, snap=snap)
    W = sample_minima(m, M, 6, 4000, seed=5, law=law)
    found, uniform = spread(W, M).mean(axis=1)
    assert found / uniform == pytest.approx(ratio, rel=0.04)
    assert abs(spread(equal(W), M)[0]).max() < 1e-12
    assert (equal(W) > 0).equal(W > 0)
