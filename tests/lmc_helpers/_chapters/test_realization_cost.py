"""What chapter *realization cost* computes: ranks of masked bases; rank and linear programs agree."""

from itertools import permutations

import numpy as np
import pytest
import torch
from oracles.draws import normal as gaussian

from lmc_helpers._chapters import realization_cost as chapter


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 3), (6, 3), (10, 4)])
def test_rank_and_linear_programs_agree(n, k):
    for C in (gaussian(n, k), gaussian(n, k, seed=1).abs()):
        neurons = gaussian(8, k, seed=2)
        for a, unique in zip(neurons, chapter.determined(neurons, C).tolist(), strict=True):
            assert (chapter.twin_distance(a, C) < 1e-9) == unique


def test_a_twin_is_a_twin():
    C = gaussian(8, 3).abs()
    a = torch.tensor([-1.0, -0.5, -0.2]).double()
    assert not chapter.determined(a, C) and chapter.twin_distance(a, C) == pytest.approx(1.0)
    assert (C @ a).relu().eq((C @ (2 * a)).relu()).all()
    C = gaussian(4, 4)
    assert chapter.determined(gaussian(50, 4, seed=1), torch.cat([C, -C])).all()


@pytest.mark.parametrize(("d", "k", "masked"), [(6, 3, 0), (6, 3, 4), (6, 1, 6), (3, 3, 1)])
def test_class_dimension(d, k, masked):
    D = torch.ones(2, d).double()
    D[1, :masked] = 0
    assert chapter.class_dimension(D, torch.linalg.qr(gaussian(d, k)).Q).tolist() == [k, min(k, d - masked)]


def test_a_start_that_hides_F_is_an_ordinary_network_without_decay():
    x, y = gaussian(200, 6), torch.arange(200) % 10
    hidden, plain = (chapter.train_syre(x, y, [(s, 1.0, 0.0)], 2, [0, 40], seed=3, hidden=5)[0] for s in (2.0, 0.0))
    torch.testing.assert_close(hidden, plain, rtol=0, atol=1e-9)
    assert (plain[1] - plain[0]).abs().max() > 0.02  # it moves


def test_weights_without_moves_are_those_of_the_theorem():
    x, y = torch.zeros(20, 6).double(), torch.arange(20) % 10  # no gradients
    decayed, steps = 1 - chapter.RATE * 4, 30
    cases = [(2.0, 0.25, 4.0), (2.0, 1.0, 0.0), (2.0, 0.0, 0.0)]
    (start, end), _ = chapter.train_syre(x, y, cases, 3, [0, steps], 3, hidden=5)
    Z, F = start[1], start[2] - start[1]
    expected = (1 - 0.25 * decayed**steps) * F + decayed**steps * Z
    torch.testing.assert_close(end[0], expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(F[:, 0], F[:, 1], rtol=1e-12, atol=1e-12)  # both networks share it


def test_way_to_best_by_all_permutations():
    weights, x = gaussian(2, 4, 6), gaussian(300, 6, seed=1)
    first, second = (np.maximum(x.numpy() @ w.numpy().T, 0) for w in weights)
    S = np.corrcoef(first.T, second.T)[:4, 4:]
    matched = {p: np.mean([S[i, p[i]] for i in range(4)]) for p in permutations(range(4))}
    mean = np.mean(list(matched.values()))
    expected = (matched[0, 1, 2, 3] - mean) / (max(matched.values()) - mean)
    assert chapter.way_to_best(weights, x) == pytest.approx(expected, abs=1e-9)
