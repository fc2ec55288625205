"""Matchings against transcriptions and brute force in plain Python."""

import itertools
import re

import numpy as np
import pytest
import torch
from oracles.draws import normal as gaussian

from lmc_helpers import matching
from lmc_helpers.teacher_student import sample_minima

LEFTOVERS = ["order", "in place", "sorted", "opposed"]


def random_permutations(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)).argsort(dim=-1)


def rows(*entries, d=3):
    """One network from (type, entry) pairs; type None is a zero row."""
    W = torch.zeros(len(entries), d, dtype=torch.float64)
    for i, (j, entry) in enumerate(entries):
        if j is not None:
            W[i, j] = entry
    return W


def random_pairs(seed, n=60):
    """Pairs with ties (entries are multiples of ¼), zero rows and missing types, in every size 1 … 9."""
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        m, d = (int(torch.randint(1, top, (1,), generator=g)) for top in (10, 5))
        types = torch.randint(-1, d, (2, m), generator=g)
        entries = torch.randint(1, 5, (2, m), generator=g).double() / 4
        W = torch.zeros(2, m, d + 1, dtype=torch.float64).scatter_(2, (types % (d + 1))[..., None], entries[..., None])
        yield W[0, :, :d], W[1, :, :d]


def transcription(W1, W2, sort=True, leftovers="order"):
    """Algorithm 1 with its loops over i and j and its counters num[j]."""
    W1, W2 = W1.tolist(), W2.tolist()
    m, d = len(W1), len(W1[0])

    def sorted_columns(W):  # row order in which the non-zero elements of each column descend
        order = list(range(m))
        for j in range(d):
            places = [i for i in range(m) if W[i][j] != 0]
            for place, i in zip(places, sorted(places, key=lambda i: (-W[i][j], i)), strict=True):
                order[place] = i
        return order

    order1, order2 = (sorted_columns(W) if sort else list(range(m)) for W in (W1, W2))
    num, p = [0] * d, [None] * m
    for i in order2:
        for j in range(d):
            if W2[i][j] != 0:
                num[j] += 1
                seen = 0
                for k in order1:
                    seen += W1[k][j] != 0
                    if W1[k][j] != 0 and seen == num[j]:
                        p[k] = i
    empty = [k for k in range(m) if p[k] is None]
    unassigned = [i for i in range(m) if i not in p]
    if leftovers == "in place":  # in the order of the sorted matrices
        empty.sort(key=order1.index)
        unassigned.sort(key=order2.index)
    elif leftovers != "order":
        empty.sort(key=lambda k: -max(W1[k]))
        unassigned.sort(key=lambda i: max(W2[i]) * (-1 if leftovers == "sorted" else 1))
    for k, i in zip(empty, unassigned, strict=True):
        p[k] = i
    return p


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("leftovers", LEFTOVERS)
def test_algorithm_1_is_its_transcription(leftovers, sort):
    for W1, W2 in random_pairs(seed=1):
        p = matching.algorithm_1(W1, W2, sort=sort, leftovers=leftovers)
        assert p.dtype == torch.long and p.tolist() == transcription(W1, W2, sort, leftovers)


def test_algorithm_1_by_hand():
    W1 = rows((0, 0.2), (None, 0), (0, 0.8), (1, 1), (2, 0.4), (2, 0.6))
    W2 = rows((1, 0.2), (1, 0.7), (0, 1), (1, 0.1), (None, 0), (2, 1))
    # places 0, 1, 4 stay empty (norms 0.2, 0, 0.4); rows 0, 3, 4 are left over (norms 0.2, 0.1, 0)
    assert matching.algorithm_1(W1, W2).tolist() == [0, 3, 2, 1, 4, 5]
    assert matching.algorithm_1(W1, W2, leftovers="sorted").tolist() == [3, 4, 2, 1, 0, 5]
    assert matching.algorithm_1(W1, W2, leftovers="opposed").tolist() == [3, 0, 2, 1, 4, 5]
    assert matching.algorithm_1(W1, W2, sort=False).tolist() == [2, 1, 3, 0, 5, 4]
    W1, W2 = sample_minima(12, 4, 5, 2, seed=2)
    noise = 1e-11 * gaussian(2, 12, 5)
    assert matching.algorithm_1(W1 + noise[0], W2 + noise[1]).equal(matching.algorithm_1(W1, W2))


def test_row_types():
    W = rows((2, 0.1), (None, 0), (0, 3), (1, 1e-200))
    assert matching.row_types(W).tolist() == [2, -1, 0, -1]
    assert matching.row_types(W, tol=0).tolist() == [2, -1, 0, 1]
    assert matching.row_types(W.expand(2, 3, 4, 3)).shape == (2, 3, 4)
    W[0] += torch.tensor([3e-4, -4e-4, 0])  # 5e-4 from the ray of e_2
    W[1] -= 5e-4 / 3**0.5  # 5e-4 from zero
    assert matching.row_types(W, tol=5.001e-4).tolist() == [2, -1, 0, -1]
    with pytest.raises(ValueError, match=re.escape("row W[0] is at distance 0.0005")):
        matching.row_types(W, tol=4.999e-4)
    assert matching.row_types(torch.tensor([[-1e-3, -2e-3]]), tol=1e-2).tolist() == [-1]
    W = torch.stack([rows((0, 1), (1, 2)), rows((0, 1), (None, 0)), rows((2, 1), (1, 1))])
    W[0, 0, 1], W[1, 1, 2], W[2, 1, 0] = 0.019, -0.02, 0.03
    assert matching.has_types(W, tol=0.02).tolist() == [True, True, False] and matching.has_types(W, tol=0.03).all()
    for w, fine in zip(W, matching.has_types(W, tol=0.02), strict=True):
        if fine:
            matching.row_types(w, tol=0.02)
        else:
            with pytest.raises(ValueError, match="nearest ray"):
                matching.row_types(w, tol=0.02)
    assert matching.has_types(W[:0]).shape == (0,) and matching.has_types(W[0, :1], tol=0).shape == ()


def test_a_permuted_network_is_the_same_function():
    W, a, x = gaussian(30, 6), gaussian(30, 1, seed=1), gaussian(200, 6, seed=2)
    p = random_permutations(30)

    def f(W, a):
        return torch.relu(x @ W.T) @ a  # (200, 1)

    torch.testing.assert_close(f(matching.permute(W, p), matching.permute(a, p)), f(W, a), rtol=1e-12, atol=1e-12)
    assert (f(matching.permute(W, p), a) - f(W, a)).abs().max() > 1


@pytest.mark.parametrize("m", range(1, 7))
def test_weight_matching_against_brute_force(m):
    for W1, W2 in zip(gaussian(5, m, 3), gaussian(5, m, 3, seed=1), strict=True):
        best = max(float((W1 * W2[list(p)]).sum()) for p in itertools.permutations(range(m)))
        p = matching.weight_matching(W1, W2)
        matching.check_permutation(p)
        assert float((W1 * matching.permute(W2, p)).sum()) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(("m", "M"), [(1, 1), (4, 2), (6, 3), (6, 6)])
def test_pair_matching_minimises_the_mean_error_halfway(m, M):
    x = torch.randn(2000, M, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for a, b in zip(sample_minima(m, M, M, 5, 1), sample_minima(m, M, M, 5, 2), strict=True):
        everything = (a + b[matching.all_permutations(m)]) / 2  # (m!, m, d)
        error = [(torch.relu(x @ w.T).sum(-1) - torch.relu(x).sum(-1)).abs().mean() for w in everything]
        middle = (a + b[matching.pair_matching(a, b)]) / 2
        ours = (torch.relu(x @ middle.T).sum(-1) - torch.relu(x).sum(-1)).abs().mean()
        # the inputs are sampled, the matching knows only the law: allow the sampling error of the difference
        assert ours <= min(error) * 1.05 + 1e-14


@pytest.mark.parametrize("m", [1, 2, 5])
def test_matched_activations_are_the_best_permutation(m):
    a, b = gaussian(3, 12, m).float(), gaussian(3, 12, m, seed=m).float()
    for i, p in enumerate(matching.match_activations(a, b)):
        S = np.corrcoef(a[i].numpy().T, b[i].numpy().T)[:m, m:]
        assert np.allclose(matching._correlations(a, b)[i], S, atol=1e-12)
        best = max(itertools.permutations(range(m)), key=lambda p: sum(S[r, p[r]] for r in range(m)))
        assert tuple(p.tolist()) == best
    constant = torch.full((31, m), 0.1, dtype=torch.float64)  # no multiple of 2⁻ⁿ: its mean is rounded
    assert not matching._correlations(constant, constant).any()


def test_all_permutations():
    for m in range(1, 8):
        assert matching.all_permutations(m).tolist() == [list(p) for p in itertools.permutations(range(m))]
    P = matching.all_permutations(9)
    assert P.shape == (362_880, 9) and P[-1].tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def midpoint_loss(W1, W2):
    """Mean square of f₁ − f at the midpoint: no linear assignment problem."""
    x = gaussian(50, W1.shape[-1], seed=9)
    f1, f = (torch.relu(x @ W.mT).sum(dim=-1) for W in (W1, (W1 + W2) / 2))  # (50,), (B, 50)
    return (f - f1).square().mean(dim=-1)


@pytest.mark.parametrize("m", range(1, 6))
def test_best_permutation_against_brute_force(m):
    for W1, W2 in zip(gaussian(4, m, 3), gaussian(4, m, 3, seed=1), strict=True):
        best = min(itertools.permutations(range(m)), key=lambda p: float(midpoint_loss(W1, W2[list(p)][None])[0]))
        assert matching.best_permutation(W1, W2, midpoint_loss).tolist() == list(best)


def test_best_permutation_takes_the_first_of_ties():
    W = rows((0, 1), (1, 1), (0, 1), (1, 1), (1, 1))

    def distance(W1, W2):
        return 1 + (W1 - W2).square().sum(dim=(-2, -1))

    def rounded(W1, W2):  # rounding favours later permutations, by less than the slack
        return distance(W1, W2) - 1e-14 * torch.arange(len(W2))

    start = W[[1, 3, 4, 0, 2]]
    first = [3, 0, 4, 1, 2]  # type 0 from rows 3, 4 and type 1 from rows 0, 1, 2, each ascending
    assert matching.best_permutation(W, start, distance).tolist() == first
    assert matching.best_permutation(W, start, rounded).tolist() == first
    assert matching.best_permutation(W, start, lambda W1, W2: torch.zeros(len(W2))).tolist() == [0, 1, 2, 3, 4]
    sizes = []

    def objective(W1, W2):
        assert W1.shape == (8, 2) and W2.shape[1:] == (8, 2)
        sizes.append(len(W2))
        return (W1 - W2).square().sum(dim=(-2, -1))

    W, p = gaussian(8, 2), random_permutations(8)
    assert matching.best_permutation(W, W[p], objective).equal(p.argsort())
    assert sum(sizes) == 40_320 and max(sizes) <= 5040
