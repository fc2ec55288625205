"""What chapter *Algorithm 1* computes, against plain loops over all permutations and sampled inputs."""

import itertools
from functools import partial

import numpy as np
import pytest
import torch
from oracles.draws import normal

from lmc_helpers._chapters.algorithm_1 import compare_matchings, swap_search
from lmc_helpers.matching import check_permutation
from lmc_helpers.teacher_student import sample_minima
from lmc_helpers.teacher_student.between_minima import BEST


def barrier(a, b, M, d):
    """The barrier of one pair by the closed form of the two-dimensional angles, in plain Python."""

    def k(u, v):
        norms = np.linalg.norm(u) * np.linalg.norm(v)
        t = np.clip(u @ v / norms, -1, 1) if norms else 0.0
        return norms * ((np.pi - np.arccos(t)) * t + np.sqrt(1 - t * t)) / (2 * np.pi * d)

    heights = []
    for step in range(11):
        W = step / 10 * a + (1 - step / 10) * b
        signed = [(1, w) for w in W] + [(-1, e) for e in np.eye(d)[:M]]
        heights.append(sum(s * r * k(u, v) for s, u in signed for r, v in signed))
    return max(heights)


def test_barriers_of_all_matchings_by_plain_loops():
    m, M, n = 4, 2, 3
    W1, W2 = sample_minima(m, M, M, 2 * n, seed=3).split(n)
    found = compare_matchings(W1, W2, M)
    assert set(found.barriers) == set(found.same_types) and found.barriers[BEST].shape == (n,)
    for k in range(n):
        a, b = W1[k].numpy(), W2[k].numpy()
        heights = {p: barrier(a, b[list(p)], M, M) for p in itertools.permutations(range(m))}
        assert found.barriers[BEST][k] == pytest.approx(min(heights.values()), abs=1e-13)
        for name, values in found.barriers.items():
            assert values[k] >= 0
            assert min(abs(values[k] - height) for height in heights.values()) < 1e-13, name
            assert values[k] >= found.barriers[BEST][k] - 1e-13
        best = min(heights, key=lambda p: heights[p])
        types = [(a[i] > 0).argmax() == (b[best[i]] > 0).argmax() for i in range(m)]
        if sorted(heights.values())[1] > min(heights.values()) + 1e-12:  # the best one is alone
            assert found.same_types[BEST][k] == sum(types)


def test_misses_and_factors():
    W1, W2 = sample_minima(6, 2, 2, 16, seed=4).split(8)
    found = compare_matchings(W1, W2, 2)
    name, best = "without sorting", found.barriers[BEST]
    assert found.factor(BEST) == 1 and not found.misses(BEST).any()
    assert found.factor(name) == pytest.approx(sum(found.barriers[name]) / sum(best))
    heights = found.barriers[name].tolist()
    assert found.misses(name).tolist() == [h > b * (1 + 1e-9) + 1e-13 for h, b in zip(heights, best, strict=True)]
    assert found.misses(name, slack=1e9).sum() <= found.misses(name).sum()


def midpoint_norm(W1, W2, P):
    """The size of the network halfway to W2[p]: no linear assignment problem."""
    return (W1 + W2[P]).relu().sum(dim=-2).square().sum(dim=-1)


def single_swaps(p):
    for i, j in itertools.combinations(range(len(p)), 2):
        q = p.tolist()
        q[i], q[j] = q[j], q[i]
        yield q


@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_swap_search_descends_to_a_fixed_point(m):
    for seed in range(5):
        height = partial(midpoint_norm, *normal(2, m, 3, seed=seed))
        start = torch.tensor(np.random.default_rng(seed).permutation(m))
        kept = start.clone()
        p = swap_search(height, start)
        check_permutation(p)
        value = height(p[None])
        neighbours = [float(height(torch.tensor([q]))) for q in single_swaps(p)]
        assert value <= height(start[None])
        assert all(neighbour >= float(value) * (1 - 1e-9) for neighbour in neighbours)
        assert swap_search(height, p).equal(p) and start.equal(kept)


def test_swap_search_takes_the_best_swap_of_each_sweep():
    height = partial(midpoint_norm, *normal(2, 7, 3, seed=2))
    start = torch.arange(7)
    best = min(single_swaps(start), key=lambda q: float(height(torch.tensor([q]))))
    assert swap_search(height, start, sweeps=1).tolist() == best
    assert swap_search(height, start, sweeps=0).equal(start)
