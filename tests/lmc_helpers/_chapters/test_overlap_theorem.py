"""What chapter *overlap theorem* computes, against independent oracles."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lmc_helpers._chapters import overlap_theorem as chapter
from lmc_helpers.teacher_student import overlap


@pytest.mark.parametrize(("m", "M"), [(2, 2), (5, 2), (4, 4), (7, 3), (6, 5)])
def test_free_choices_against_enumeration(m, M):
    counts = [choice.count(0) for choice in itertools.product(range(M), repeat=m) if len(set(choice)) == M]
    mean = Fraction(sum(counts), len(counts))
    variance = Fraction(sum(k * k for k in counts), len(counts)) - mean**2
    assert mean == Fraction(m, M)  # by symmetry
    assert chapter.free_choice_variance(m, M) == pytest.approx(float(variance), abs=1e-12)


def test_minimiser_follows_its_expansion():
    r, c = overlap.minimiser_limit(), chapter.minimiser_shift()
    sizes = np.unique(np.geomspace(2, 5000, 60).astype(int))
    gaps = np.array([chapter.minimiser(int(M)) - (r * M + c) for M in sizes])
    assert gaps.min() > -0.01 and gaps.max() < 1.01
    assert abs(chapter.minimiser(40_000) - (r * 40_000 + c) - 0.5) <= 0.5
    assert chapter.normal_overlap(2 * 10**6, 10**6) == pytest.approx(chapter.normal_limit(0.5), abs=1e-6)
    assert 1 - overlap.overlap_limit(1e6) == pytest.approx(1 - chapter.normal_limit(1e-6), rel=1e-5)
    assert chapter.free_choice_variance(400, 5) == pytest.approx(400 * 0.2 * 0.8, rel=1e-9)  # sizes beyond float64


@pytest.mark.parametrize("M", [2, 3, 7, 30])
def test_normal_approximation_is_a_strict_lower_bound(M):
    exact = [overlap.expected_overlap(m, M) for m in range(M, 30 * M)]
    np.testing.assert_allclose(chapter.all_overlaps(M, 30 * M - 1), exact, rtol=1e-12)
    for m in range(M + 1, 30 * M):
        assert chapter.normal_overlap(m, M) < exact[m - M]
    for t in np.linspace(0.01, 0.99, 99):
        assert chapter.normal_limit(t) < overlap.overlap_limit(1 / t)


@pytest.mark.parametrize("M", range(2, 26))
def test_minimiser_in_rational_arithmetic(M):
    values = {}
    spread, row = 0, {0: 1}  # E|D| and the law of D, times M^2n
    for n in range(4 * M):
        values[M + n] = 1 - Fraction(M * spread, 2 * (M + n) * M ** (2 * n))
        spread = M**2 * spread + 2 * (M - 1) * row[0]  # D goes up or down with probability (M − 1)/M² each
        row = {
            k: (M**2 - 2 * (M - 1)) * row.get(k, 0) + (M - 1) * (row.get(k - 1, 0) + row.get(k + 1, 0))
            for k in range(-n - 1, n + 2)
        }
    assert chapter.minimiser(M) == min(values, key=lambda m: (values[m], m))


@pytest.mark.parametrize("seed", range(12))
def test_zero_rows_that_remove_the_barrier_by_all_orders(seed):
    """Rows on the rays of any teachers, some of them opposite, and zero rows, as many as fill up; halfway on inputs."""
    rng = np.random.default_rng(seed)
    teachers = np.array([[1, 0.3], [-1, -0.3], [0.2, 1]]) if seed % 2 else np.eye(3)
    x = rng.standard_normal((teachers.shape[1], 40))
    types = [np.concatenate([np.arange(3), rng.integers(3, size=rng.integers(1, 3))]) for _ in range(2)]
    counts = [np.bincount(of, minlength=3) for of in types]
    needed = np.maximum(*counts).sum()
    for width in range(max(map(len, types)), 8):
        ends = []
        for of, number in zip(types, counts, strict=True):
            rows = teachers[of] * (rng.dirichlet(np.ones(len(of))) + 0.1)[:, None]
            total = np.bincount(of, np.linalg.norm(rows, axis=1)) / np.linalg.norm(teachers, axis=1)
            ends.append(np.pad(rows / total[of][:, None], ((0, width - number.sum()), (0, 0))))
        halfway = np.maximum((ends[0][:, None] + ends[1]) / 2 @ x, 0)  # (width, width, 40)
        orders = np.array(list(itertools.permutations(range(width))))
        lost = np.maximum(teachers @ x, 0).sum(axis=0) - halfway[np.arange(width), orders].sum(axis=1)
        assert (np.abs(lost).max(axis=1).min() < 1e-12) == (width >= needed)
