"""Costs against least-squares solvers, double loops and brute force."""

import itertools
import math

import numpy as np
import pytest
import torch
from oracles.costs import cost
from oracles.draws import basis

from lmc_helpers.identifiability import (
    cost_table,
    least_norm_weight,
    output_sensitivity,
    realization_cost,
    swap_costs,
    swap_terms,
)
from lmc_helpers.identifiability.input_subspace import _neuron_slices, grams


def random_layer(m, d, k, seed=0, p=0.3, lead=()):
    rng = np.random.default_rng([seed, m, d, k])
    D = (rng.random((*lead, m, d)) >= p).astype(float)
    F = (1 - D) * rng.standard_normal((*lead, m, d))
    return torch.tensor(F), torch.tensor(D), torch.tensor(rng.standard_normal((*lead, m, d))), basis(d, k, seed)


def naive_table(F, D, W, U):
    A = (F + D * W) @ U
    return torch.tensor([[cost(a, f, d, U) for a in A] for f, d in zip(F, D, strict=True)])


SIZES = [(1, 1, 1), (2, 1, 1), (2, 3, 1), (5, 4, 4), (6, 9, 3), (4, 30, 7)]


@pytest.mark.parametrize(("m", "d", "k"), SIZES)
@pytest.mark.parametrize("p", [0.0, 0.3, 0.8])
def test_costs_are_those_of_least_squares(m, d, k, p):
    F, D, W, U = random_layer(m, d, k, p=p)
    A = (F + D * W) @ U
    costs = realization_cost(A[None], F[:, None], D[:, None], U)
    expected = naive_table(F, D, W, U)
    torch.testing.assert_close(costs.square(), expected, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(cost_table(F, D, W, U), expected, rtol=1e-8, atol=1e-12)


def test_outside_the_class_is_infinite_and_never_zero():
    U, f = torch.eye(3).double(), torch.zeros(3).double()
    d = torch.tensor([1.0, 0.0, 0.0]).double()
    outside = torch.tensor([[0.0, 1.0, 0.0], [1.0, 1e-6, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]).double()
    assert realization_cost(outside, f, d, U).tolist() == [math.inf, math.inf, 0.0, 2.0]
    bare = outside[0] @ torch.linalg.pinv(grams(d[None], U)[0]) @ outside[0]
    assert bare.item() == 0.0  # what the bare pseudo-inverse returns
    assert realization_cost(f, f, torch.zeros(3), U).item() == 0.0  # a row of zeros: one function only
    assert realization_cost(outside[3], f, torch.zeros(3), U).item() == math.inf
    U, f, d = torch.eye(2).double(), torch.zeros(2).double(), torch.tensor([1.0, 0.0]).double()
    a = torch.tensor([[1.0, 0.5e-10], [1.0, 2e-10], [1e5, 0.5e-5], [1e5, 2e-5]]).double()
    assert realization_cost(a, f, d, U).isfinite().tolist() == [True, False, True, False]
    F, W = torch.zeros(2, 2), torch.ones(2, 2)
    D = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    assert swap_costs(F, D, W, torch.eye(2)).tolist() == [[0.0, math.inf], [math.inf, 0.0]]


def test_small_singular_values_are_not_lost():
    """Example 4.3 at a small ε: S_1 has the condition number 10¹², M_1 only 10⁶."""
    eps = 1e-6
    U = torch.tensor([[1, 0], [eps, 0], [0, 1], [0, eps]], dtype=torch.float64) / math.sqrt(1 + eps**2)
    D = torch.tensor([[1, 0, 0, 1], [0, 1, 1, 0]], dtype=torch.float64)
    F, W = torch.zeros(2, 4), torch.tensor([[0.3, 0.0, 0.0, 0.4], [0.0, 0.7, 0.2, 0.0]], dtype=torch.float64)
    by_hand = math.hypot(eps * 0.7, 0.2 / eps)
    a = (D[1] * W[1]) @ U
    assert realization_cost(a, F[0], D[0], U).item() == pytest.approx(by_hand, rel=1e-9)
    assert cost_table(F, D, W, U)[0, 1].item() == pytest.approx(by_hand**2, rel=1e-9)


def test_least_norm_weights_realise_the_function_in_any_basis_and_in_chunks(monkeypatch):
    F, D, W, U = random_layer(5, 8, 3)
    turn = basis(3, 3, seed=4)
    torch.testing.assert_close(cost_table(F, D, W, U @ turn), cost_table(F, D, W, U))
    torch.testing.assert_close(cost_table(F, -D, -W, U), cost_table(F, D, W, U))  # signs of D do not matter
    F, D, W, U = random_layer(4, 9, 3)
    A = (F + D * W) @ U
    w = least_norm_weight(A.flip(0), F, D, U)
    torch.testing.assert_close((F + D * w) @ U, A.flip(0))
    torch.testing.assert_close(torch.linalg.vector_norm(w, dim=-1), realization_cost(A.flip(0), F, D, U))
    assert least_norm_weight(torch.ones(2), torch.zeros(2), torch.tensor([1.0, 0.0]), torch.eye(2)).isnan().all()
    F, D, W, U = random_layer(5, 6, 2, lead=(2, 3), p=0.6)
    together = cost_table(F, D, W, U)
    monkeypatch.setattr("lmc_helpers.identifiability.input_subspace.CHUNK", 1)
    assert len(_neuron_slices(D, U)) == 5
    torch.testing.assert_close(cost_table(F, D, W, U), together)


@pytest.mark.parametrize(("m", "d", "k"), SIZES)
def test_swap_costs_pair_by_pair(m, d, k):
    F, D, W, U = random_layer(m, d, k, seed=1, p=0.0)
    D = D * torch.tensor(np.random.default_rng(7).uniform(0.5, 2, (m, d)))
    found = swap_costs(F, D, W, U)
    assert found.diagonal().eq(0).all() and found.equal(found.mT)
    A = (F + D * W) @ U
    for i, j in itertools.combinations(range(m), 2):
        own = cost(A[i], F[i], D[i], U) + cost(A[j], F[j], D[j], U)
        other = cost(A[j], F[i], D[i], U) + cost(A[i], F[j], D[j], U)
        assert found[i, j].item() == pytest.approx(other - own, rel=1e-9, abs=1e-9 * (own + other))


@pytest.mark.parametrize("m", [1, 2, 5])
def test_sensitivity_of_every_permutation(m):
    F, D, W, U = random_layer(m, 7, 3, seed=2)
    A = (F + D * W) @ U
    p = torch.tensor(list(itertools.permutations(range(m))))
    found = output_sensitivity(cost_table(F, D, W, U), p)
    own = sum(cost(A[i], F[i], D[i], U) for i in range(m))
    for value, order in zip(found, p.tolist(), strict=True):
        permuted = sum(cost(A[j], F[i], D[i], U) for i, j in enumerate(order))
        assert value.item() == pytest.approx(permuted - own, rel=1e-9, abs=1e-9 * permuted)


@pytest.mark.parametrize(("m", "d", "k"), [(2, 3, 1), (2, 1, 1), (4, 6, 6), (7, 12, 5)])
def test_three_terms_of_equation_16(m, d, k):
    rng = np.random.default_rng(m)
    F, W = (torch.tensor(rng.standard_normal((m, d))) for _ in range(2))
    D, U = torch.tensor(rng.uniform(0.5, 2, (m, d))), basis(d, k)
    terms = swap_terms(F, D, W, U)
    torch.testing.assert_close(sum(terms), swap_costs(F, D, W, U), rtol=1e-10, atol=1e-10)
    v, r, u = (F @ U).numpy(), ((D * W) @ U).numpy(), U.numpy()
    P = [np.linalg.inv(u.T @ np.diag(x**2) @ u) for x in D.numpy()]
    for i, j in itertools.permutations(range(m), 2):
        x = v[j] - v[i]
        constant = r[j] @ (P[i] - P[j]) @ r[j] + r[i] @ (P[j] - P[i]) @ r[i]
        literal = x @ (P[i] + P[j]) @ x, 2 * x @ (P[i] @ r[j] - P[j] @ r[i]), constant
        for term, expected in zip(terms, literal, strict=True):
            assert term[i, j].item() == pytest.approx(expected, rel=1e-8, abs=1e-8)
