"""Statistics of networks that have arrived, against the full Hessian, single pairs and enumeration."""

import math

import numpy as np
import pytest
import torch

from lmc_helpers._chapters import step_size as chapter
from lmc_helpers.barrier import loss_barrier
from lmc_helpers.error_bars import share
from lmc_helpers.matching import best_permutation
from lmc_helpers.teacher_student import population_hessian, population_loss, sample_minima


def test_statistics_of_one_network_at_a_time():
    m, M, d, rate = 6, 2, 3, 0.7
    W = sample_minima(m, M, d, 5, seed=1)
    W[3, W[3, :, 0].argmax()] *= 2  # off the manifold
    W = torch.cat([W, torch.zeros(5, 1, d, dtype=W.dtype)], dim=1)  # one zero row each
    arrived = torch.tensor([True, True, True, False, True])
    found = chapter.statistics_of_arrived(W, arrived, M, rate)
    assert found["barrier"].shape == (2,)
    for i in range(5):
        values = [found[name][i] for name in ("zeros", "pq", "edge")]
        if not arrived[i]:
            assert np.isnan(values).all()
            continue
        entries = W[i].flatten().tolist()
        pq = 1 - sum(math.sqrt(x) for x in entries) ** 2 / (len(entries) * sum(entries))
        edge = rate / 2 * torch.linalg.eigvalsh(population_hessian(W[i, :m], M))[-1].item()
        assert values == pytest.approx([1, pq, edge])
    values = np.random.default_rng(0).normal(size=(4, 9))
    values[np.random.default_rng(1).random(size=(4, 9)) < 0.4] = math.nan
    values[2] = math.nan
    found = chapter.mean_of_arrived(values)
    for row, mean in zip(values, found, strict=True):
        known = [x for x in row if not math.isnan(x)]
        assert math.isnan(mean) if not known else mean == pytest.approx(sum(known) / len(known))


@pytest.mark.parametrize(("m", "M", "d"), [(1, 1, 1), (5, 1, 3), (9, 4, 6)])
def test_type_counts_are_those_that_were_sampled(m, M, d):
    W = sample_minima(m, M, d, 5, seed=1)
    W = torch.cat([W, torch.full((5, 2, d), 1e-5, dtype=W.dtype)], dim=1)  # two rows that count as 0
    found = chapter.type_counts(W.expand(2, -1, -1, -1), M)
    assert found.shape == (2, 5, M)
    for network, counts in zip(W.tolist(), found[0].tolist(), strict=True):
        assert counts == [sum(row[j] == max(row) and row[j] > 1e-3 for row in network) for j in range(M)]
    assert (found.sum(dim=-1) == m).all()


def test_barriers_of_pairs_after_the_permutation_of_algorithm_1():
    """Minima whose entries are equal within a type: Algorithm 1 finds the best of all permutations."""
    M, d = 2, 2
    W = sample_minima(4, M, d, 6, seed=2, law="equal")
    found = chapter.pair_barriers(W, torch.ones(6, dtype=torch.bool), M)

    def height(a, b):
        return loss_barrier(lambda V: population_loss(V, M), a.expand_as(b), b)

    for i in range(3):
        p = best_permutation(W[i], W[i + 3], height)
        best = height(W[i], W[i + 3][p][None]).item()
        assert found[i] >= best - 1e-12
        if (W[i] > 0).sum(dim=0).equal((W[i + 3] > 0).sum(dim=0)):
            assert found[i] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 4])
def test_nobody_arrives(n):
    W = torch.full((n, 3, 2), math.nan, dtype=torch.float64)
    found = chapter.statistics_of_arrived(W, torch.zeros(n, dtype=torch.bool), 2, 0.1)
    shapes = {"zeros": (n,), "pq": (n,), "edge": (n,), "barrier": (n // 2,)}
    assert {name: values.shape for name, values in found.items()} == shapes
    assert all(np.isnan(values).all() for values in found.values())


def test_a_crossing_lies_in_the_cell_whose_shares_are_sure():
    """Against binomial tail probabilities: a share is surely above ½ if its successes are rarer than 1/2000 at ½."""
    n, hits = 40, [0, 3, 17, 31, 40]
    x = np.arange(5.0)
    rows = np.array([[1.0] * k + [0.0] * (n - k) for k in hits])
    rows[:, ::7] = np.where(np.arange(5)[:, None] == 1, math.nan, rows[:, ::7])
    place, low, high = chapter.crossing_interval(x, rows)

    def tail(k, size):  # P(X >= k), X ~ Binomial(size, 1/2)
        return sum(math.comb(size, j) for j in range(k, size + 1)) / 2**size

    known = np.isfinite(rows).sum(axis=1)
    above = [tail(int(np.nansum(row)), size) < 5e-4 for row, size in zip(rows, known.tolist(), strict=True)]
    below = [tail(int(size - np.nansum(row)), size) < 5e-4 for row, size in zip(rows, known.tolist(), strict=True)]
    assert high == x[above.index(True)]
    assert low == x[max(i for i in range(5) if below[i])]
    assert low < place < high
    hits = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    assert chapter.crossing_interval(np.array([1.0, 2.0, 3.0]), hits) == (2.0, 1.0, 3.0)
    x = np.linspace(0, 2, 9)
    assert chapter.first_crossing(x, 3 * x - 1, level=0.8) == pytest.approx(0.6)
    y = np.array([0.0, 0.2, np.nan, 0.6, 0.4, 0.9, 1.0, np.nan, 0.3])
    assert chapter.first_crossing(x, y) == pytest.approx(0.25 + 0.5 * 0.75)  # the first of two, across the gap


def test_a_difference_of_shares_is_inside_its_interval():
    one, other = share(9, 10), share(2, 10)
    value, low, high = chapter.difference_of_shares(one, other)
    corners = [a - b for a in one[1:] for b in other[1:]]
    assert (low, high) == pytest.approx((min(corners), max(corners)))
    assert value == pytest.approx(0.7)


def test_bootstrap_errors_are_the_spread_over_repeated_samples():
    rng = np.random.default_rng(4)
    samples = rng.exponential(size=(200, 1, 80))
    found = np.array([chapter.bootstrap(np.median, sample, seed=1, resamples=100) for sample in samples])
    assert found[:, 0].tolist() == [np.median(sample) for sample in samples]
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.15)
    row = np.random.default_rng(5).normal(size=30)
    assert chapter.bootstrap(lambda x: float((x[0] - x[1]).mean()), np.stack([row, row - 2]), seed=1) == pytest.approx(
        (2, 0)
    )
    assert (
        chapter.bootstrap(np.mean, row, seed=1)
        == chapter.bootstrap(np.mean, row, seed=1)
        != chapter.bootstrap(np.mean, row, seed=2)
    )
