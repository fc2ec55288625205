"""What chapter *swap cost* computes: shifts of centres literally; random Gram matrices by all masks, quadrature."""

import itertools
import math

import numpy as np
import pytest
import torch
from oracles.draws import basis
from scipy.stats import mannwhitneyu

from lmc_helpers._chapters import swap_cost as chapter
from lmc_helpers._chapters.center_gap import centre_gap
from lmc_helpers.data.images import load
from lmc_helpers.identifiability import coherence, exact_copies
from lmc_helpers.networks.model import Stack
from lmc_helpers.training.fit import fit
from lmc_helpers.training.runs import DataSpec

SMALL = DataSpec("digits", n=128, seed=1)


def masks(d):
    return torch.tensor(list(itertools.product([0.0, 1.0], repeat=d)), dtype=torch.float64)


def deviations(U, p):
    """Of every mask its probability, the norm of S − (1 − p) I, and that matrix."""
    D = masks(len(U))
    weights = ((1 - D) * p + D * (1 - p)).prod(dim=1)
    gap = torch.einsum("lk,ml,lj->mkj", U, D, U) - (1 - p) * torch.eye(U.shape[1]).double()
    return weights, torch.linalg.matrix_norm(gap, 2), gap


@pytest.mark.parametrize("m", [1, 2, 5])
def test_shifts_of_the_centres(m):
    F, U = torch.tensor(np.random.default_rng(m).standard_normal((m, 7))), basis(7, 3)
    orders = torch.tensor(list(itertools.permutations(range(m))))
    for order in orders:
        P = torch.eye(m).double()[order]
        torch.testing.assert_close(chapter.centre_shift(F, U, order), (P - torch.eye(m).double()) @ F @ U)
    if m == 5:
        gaps = torch.stack([chapter.centre_shift(F, U, q).norm() for q in orders[1:]])
        assert centre_gap(F @ U).item() == pytest.approx(gaps.min().item())


@pytest.mark.parametrize(("d", "k"), [(1, 1), (2, 1), (5, 5), (7, 3)])
@pytest.mark.parametrize("p", [0.2, 0.5])
def test_moment_over_all_masks(d, k, p):
    U = basis(d, k)
    weights, _, gap = deviations(U, p)
    norm = np.linalg.norm(torch.einsum("m,mij,mjk->ik", weights, gap, gap).numpy(), 2)
    nu, v = coherence(U).item(), chapter.variance_parameter(U).item()
    assert p * (1 - p) * v == pytest.approx(norm)
    assert nu**2 <= v * (1 + 1e-12) and v <= nu * (1 + 1e-12)


def test_mask_moments_and_impossible_swaps():
    for p in (0.0, 0.3, 1.0):
        m = chapter.mask_moments(p)
        values, weights = np.array([0.0, 1.0]), np.array([p, 1 - p])
        assert m.mean == pytest.approx(weights @ values)
        assert m.variance == pytest.approx(weights @ (values - m.mean) ** 2)
        assert m.distance == pytest.approx(np.abs(values - m.mean)[weights > 0].max())
    p, cost = chapter.cheapest(torch.ones(1, 1))
    assert p.tolist() == [0] and cost == 0
    table = torch.full((3, 3), math.inf)
    table.diagonal().fill_(1.0)
    assert chapter.cheapest(table)[1] == 0 and chapter.cheapest_other(table)[1] == math.inf
    assert chapter.cheapest_other(table)[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("epsilon", [0.01, 0.4, 0.95])
def test_syre_moments_by_quadrature(epsilon):
    nodes, weights = np.polynomial.legendre.leggauss(200)
    square = 1 / (1 + epsilon * nodes)  # d² = 1/u
    mean, moments = weights @ square / 2, chapter.syre_moments(epsilon)
    assert moments.mean == pytest.approx(mean, rel=1e-10)
    assert moments.variance == pytest.approx(weights @ (square - mean) ** 2 / 2, rel=1e-8)
    assert moments.distance == pytest.approx(max(1 / (1 - epsilon) - mean, mean - 1 / (1 + epsilon)), rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_all_masks_and_their_probabilities(d):
    assert chapter.all_masks(d).equal(masks(d))
    for p in (0.0, 0.3, 1.0):
        found = chapter.mask_probabilities(chapter.all_masks(d), p)
        expected = [math.prod(1 - p if x else p for x in row) for row in masks(d).tolist()]
        assert found.tolist() == pytest.approx(expected) and found.sum().item() == pytest.approx(1)


@pytest.mark.parametrize(("copies", "k"), [(1, 1), (1, 3), (5, 1), (4, 3)])
@pytest.mark.parametrize("p", [0.0, 0.3, 0.5])
def test_law_of_exact_copies_over_all_masks(copies, k, p):
    U = exact_copies(copies * k, k, copies)
    weights, norm, _ = deviations(U, p)
    values, law = chapter.copies_law(copies, k, p)
    assert (np.diff(values) > 0).all() and law[-1] == pytest.approx(1)
    for value, probability in zip(values, law, strict=True):
        assert weights[norm <= value + 1e-9].sum().item() == pytest.approx(probability)
    assert chapter.copies_mean_square(copies, k, p) == pytest.approx((weights @ norm.square()).item(), abs=1e-12)
    assert chapter.variance_parameter(U).item() == pytest.approx(1 / copies)


@pytest.mark.parametrize(("d", "k"), [(8, 1), (10, 3)])
def test_bound_over_all_masks(d, k):
    U, p = basis(d, k), 0.3
    weights, size, _ = deviations(U, p)
    for delta in (0.9, 0.1, 0.01):
        assert weights[size > chapter.bernstein_bound(U, chapter.mask_moments(p), delta)].sum() <= delta
    nu, log = coherence(U).item(), math.log(2 * k / 0.1)
    bound = math.sqrt(2 * 0.21 * nu * log) + 2 / 3 * 0.7 * nu * log
    assert chapter.bernstein_bound(U, chapter.mask_moments(p), 0.1).item() == pytest.approx(bound)


def brute(table, others):
    costs = []
    for p in itertools.permutations(range(len(table))):
        if not others or any(i != j for i, j in enumerate(p)):
            costs.append(sum(float(table[i, j] - table[i, i]) for i, j in enumerate(p) if i != j))
    return min(costs)


@pytest.mark.parametrize("m", [2, 3, 5, 6])
@pytest.mark.parametrize("strong", [0.0, 3.0])
def test_against_all_permutations(m, strong):
    rng = np.random.default_rng([m, int(strong)])
    for _ in range(5):
        table = torch.tensor(rng.exponential(size=(m, m)) + strong * (1 - np.eye(m)))
        if m > 2:
            table[0, 1] = math.inf
        for call, others in ((chapter.cheapest, False), (chapter.cheapest_other, True)):
            p, cost = call(table)
            assert cost == pytest.approx(brute(table, others), abs=1e-12)
            by_hand = sum(float(table[i, j] - table[i, i]) for i, j in enumerate(p.tolist()))
            assert by_hand == pytest.approx(cost, abs=1e-12)
        assert not chapter.cheapest_other(table)[0].equal(torch.arange(m))


def test_areas_under_curves_are_those_of_mann_and_whitney():
    rng = np.random.default_rng(3)
    score, allowed = rng.integers(0, 4, (2, 7, 7)), rng.random((2, 7, 7)) < 0.5  # with ties
    allowed[0, 2] = False  # a neuron that does not count
    p = np.stack([rng.permutation(7) for _ in range(2)])
    found = chapter.auc(*map(torch.tensor, (score, p, allowed)))
    for k in range(2):
        shares, lifts = [], []
        for i in range(7):
            others = [score[k, i, j] for j in range(7) if allowed[k, i, j] and j != p[k, i]]
            shares += [mannwhitneyu([score[k, i, p[k, i]]], others).statistic / len(others)] if others else []
            lifts.append(score[k, i, p[k, i]] - score[k, i].mean())
        assert found[k].item() == pytest.approx(np.mean(shares))
        assert chapter.lift(torch.tensor(score[k]).double(), torch.tensor(p[k])).item() == pytest.approx(np.mean(lifts))


@pytest.mark.parametrize("tau", [0.0, 1.0])
def test_only_decay_tells_fixed_from_first_weights(tau):
    run, images = chapter.syre_pairs(SMALL, 8, 2, 3, tau, 5), load("digits", "train", 128, 1)
    stack = run.model.initial(run.seeds, torch.float32, run.fixed())
    as_start = {name: F.float().repeat_interleave(2, 0) for name, (F, _) in stack.fixed.items()}
    as_fixed = {name: (stack.params[name].double(), torch.ones_like(F).double()) for name, F in as_start.items()}
    exchanged = Stack(run.model, {**stack.params, **as_start}, as_fixed)
    weights = [
        fit(one, run.descent, images.inputs(flat=True), images.y, run.seeds).stack.effective()["0.weight"]
        for one in (stack, exchanged)
    ]
    gap = (weights[0] - weights[1]).abs().max().item()
    assert gap < 1e-4 if tau == 0 else gap > 0.1
    laws = stack.params["0.weight"].std().item(), stack.fixed["0.weight"][0].std().item()
    assert laws == pytest.approx((1 / 8, 1 / 8), rel=0.05)


@pytest.mark.parametrize("other", [0, 1])
def test_places_are_the_best_order_of_the_networks_meant(other):
    run, x = chapter.syre_pairs(SMALL, 4, 2, 3, 0.0, 5), load("digits", "train", 128, 1).inputs(flat=True)
    found = chapter.places(run, x, torch.eye(64).double(), other=other)
    last, start = (stack.effective()["0.weight"].double() for stack in (run.result().stack, run.result().kept[0]))
    for pair in range(2):
        a, b = 2 * pair, 2 * ((pair + other) % 2) + 1
        hidden = [
            torch.nn.functional.gelu(torch.nn.functional.layer_norm(x.double() @ last[n].T, (4,))) for n in (a, b)
        ]
        S = np.corrcoef(hidden[0].T, hidden[1].T)[:4, 4:]
        best = max(itertools.permutations(range(4)), key=lambda p: sum(S[i, j] for i, j in enumerate(p)))
        assert found.p[pair].tolist() == list(best)
        fixed = run.fixed()["0.weight"][0][b // 2]
        for part, wanted in ((found.a, last[a]), (found.v, fixed), (found.z, start[b] - fixed)):
            torch.testing.assert_close(part[pair], wanted)
