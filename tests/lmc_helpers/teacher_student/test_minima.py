"""Sampled minima: they compute the teacher's function, and their types and entries follow the stated laws."""

from collections import Counter

import numpy as np
import pytest
import torch
from scipy import stats

from lmc_helpers.teacher_student import sample_minima, snap
from lmc_helpers.teacher_student.minima import _types

LAWS = ["exponential", "equal", ("dirichlet", 0.5), ("dirichlet", 1e-3), ("dirichlet", 50)]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("m", "M", "d", "n"), [(1, 1, 1, 1), (5, 5, 5, 3), (7, 1, 4, 2), (30, 6, 8, 20)])
def test_they_are_the_teacher(m, M, d, n, law):
    W = sample_minima(m, M, d, n, seed=1, law=law)
    assert W.shape == (n, m, d) and W.dtype == torch.float64
    assert (W >= 0).all() and ((W > 0).sum(dim=-1) <= 1).all()
    x = torch.randn(100, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    student = torch.relu(x @ W.mT).sum(dim=-1)  # (n, 100)
    torch.testing.assert_close(student, torch.relu(x[:, :M]).sum(dim=-1).expand(n, -1), rtol=1e-12, atol=1e-12)


def test_rows_stand_in_random_order():
    types = _types(6, 2, 20_000, np.random.default_rng(0))  # (n, m)
    first = types[:, 0].mean()  # by symmetry ½ in every place
    assert abs(first - 0.5) < 4 * 0.5 / np.sqrt(len(types))
    assert abs(np.corrcoef(types[:, 0], types[:, 5])[0, 1] - np.corrcoef(types[:, 0], types[:, 1])[0, 1]) < 0.05
    m, M, n = 8, 3, 40_000
    W = sample_minima(m, M, M, n, seed=5, law="equal")
    seen = Counter(map(tuple, ((W > 0).sum(dim=1) - 1).tolist()))
    law = stats.multinomial(m - M, [1 / M] * M)
    cells = [(i, j, m - M - i - j) for i in range(m - M + 1) for j in range(m - M - i + 1)]
    assert set(seen) <= set(cells)
    assert stats.chisquare([seen[c] for c in cells], [n * law.pmf(c) for c in cells]).pvalue > 1e-3


@pytest.mark.parametrize(("law", "a"), [("exponential", 1.0), (("dirichlet", 0.3), 0.3), (("dirichlet", 4), 4.0)])
def test_entries_of_a_type_are_dirichlet(law, a):
    m = 5  # one teacher: all five entries lie on one simplex, each Beta(a, 4a)
    W = sample_minima(m, 1, 1, 5000, seed=2, law=law)[..., 0]  # (n, m)
    for column in (0, 4):
        assert stats.kstest(W[:, column].numpy(), stats.beta(a, (m - 1) * a).cdf).pvalue > 1e-3


def test_equal_entries():
    W = sample_minima(9, 2, 3, 50, seed=1, law="equal")
    counts = (W > 0).sum(dim=1, keepdim=True)  # (n, 1, d)
    torch.testing.assert_close(W.sum(dim=1, keepdim=True)[..., :2], torch.ones(50, 1, 2, dtype=torch.float64))
    assert torch.equal(W > 0, (W * counts - 1).abs() < 1e-12)
    a, b, other = (sample_minima(9, 3, 4, 5, seed=seed) for seed in (7, 7, 8))
    assert a.equal(b) and not a.equal(other)


def test_snap_is_the_nearest_point_of_the_rays():
    W = torch.randn(5, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    snapped = snap(W, 3)
    for w, s in zip(W.reshape(-1, 6), snapped.reshape(-1, 6), strict=True):
        candidates = [torch.zeros(6, dtype=torch.float64)]
        for j in range(3):
            ray = torch.zeros(6, dtype=torch.float64)
            ray[j] = max(float(w[j]), 0.0)
            candidates.append(ray)
        best = min(candidates, key=lambda c: float((w - c).norm()))
        torch.testing.assert_close(s, best)
    minima = sample_minima(7, 3, 5, 4, seed=1)
    assert snap(minima, 3).equal(minima)
