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


@pytest.mark.parametrize("c", [0.0, 0.6])
def test_agreement_of_simulated_rows(c):
    """The recursion itself, with moves that are an autoregressive process of uneven size in five directions."""
    rng, rows, d, rate, decay, sigma = np.random.default_rng(7), 40_000, 5, 0.02, 2.0, 0.7
    Q = np.diag([3.0, 1.0, 0.5, 0.5, 0.0])  # of trace d
    fixed, spread = rng.normal(size=(rows, d)) * sigma, np.array([2.0, 1.0, 0.5, 1.5, 1.0])
    W = rng.normal(size=(2, rows, d)) / d**0.5 - fixed
    move = spread * rng.normal(size=W.shape)
    found = []
    for step in range(1, 61):
        W = (1 - rate * decay) * W - rate * move
        move = c * move + (1 - c**2) ** 0.5 * spread * rng.normal(size=W.shape)
        if step in (20, 60):
            seen = (fixed + W) * np.diag(Q) ** 0.5
            found.append(2 * (seen[0] * seen[1]).sum() / (seen**2).sum())
            by_chapter = chapter.rows_agree(torch.tensor(fixed + W), torch.tensor(Q))
            assert by_chapter.item() == pytest.approx(found[-1], rel=1e-9)
    memory = (np.diag(Q) * spread**2).sum() / d * (1 + c) / (1 - c)
    K = chapter.sum_of_moves(rate, decay, d, memory)
    taus = [-n * np.log1p(-rate * decay) for n in (20, 60)]
    most = d * rate**2 * (memory / (1 + c) * (1 - c)) * 2 * c / (1 - c) ** 2  # α² d G
    for tau, rho in zip(taus, found, strict=True):
        low, high = (
            chapter.agreement(tau, sigma, d, K + sign * most / (1 - np.exp(-2 * tau))).item() for sign in (1, -1)
        )
        assert low - 0.01 < rho < high + 0.01 and high - low < 0.12
        assert abs(rho - chapter.agreement(tau, sigma, d, 0.0).item()) > 0.03  # without moves
        assert chapter.moves_seen(tau, chapter.agreement(tau, sigma, d, K).item(), sigma, d) == pytest.approx(K)


@pytest.mark.parametrize(("sigma", "d", "K"), [(1.0, 64, 0.0), (1.0, 64, 9.0), (0.1, 9, 0.08), (2.0, 1, 3.9)])
def test_rows_come_halfway_when_the_theorem_says(sigma, d, K):
    size = sigma**2 * d
    k = K / size
    grown = (1 + np.sqrt(k**2 + (1 - k) / size)) / (1 - k)
    assert chapter.agreement(np.log(grown), sigma, d, K).item() == pytest.approx(0.5, abs=1e-12)
    assert chapter.agreement(30.0, sigma, d, K).item() == pytest.approx(1 / (1 + k), abs=1e-9)
    assert chapter.agreement(30.0, sigma, d, 1.01 * size) < 0.5


def test_redrawn_labels_are_random():
    x, y = gaussian(200, 6), torch.zeros(200, dtype=torch.long)
    accuracy = [chapter.train_syre(x, y, [(0.0, 0.0, 0.0)], 2, [60], 3, 5, p, 0.02)[1].item() for p in (0.0, 1.0)]
    assert accuracy[0] > 0.9 > accuracy[1] + 0.3


def test_at_half():
    assert chapter.at_half(np.array([1.0, 2, 4]), np.array([0.1, 0.4, 0.6])) == pytest.approx(3)
    assert chapter.at_half(np.array([1.0, 2, 4]), np.array([0.1, 0.2, 0.3])) == 4
    assert chapter.at_half(np.array([1.0, 2, 4]), np.array([0.6, 0.7, 0.9])) == 1
