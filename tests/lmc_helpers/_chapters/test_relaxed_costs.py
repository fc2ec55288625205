"""Relaxed realization costs against stacked least squares, eq. (257) as printed, and proven bounds."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from lmc_helpers._chapters import relaxed_costs as chapter


def problem(d, rank, seed=0, n=40):
    rng = np.random.default_rng([seed, d, rank])
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    X = np.concatenate([X, -X])
    u, f = rng.standard_normal((2, d))
    mask = (rng.random(d) < 0.7) * rng.uniform(0.5, 2, d)
    return tuple(torch.tensor(x) for x in (X, u, f, mask, X.T @ X / len(X)))


CASES = [(1, 1), (4, 4), (6, 2), (9, 5)]


@pytest.mark.parametrize(("d", "rank"), CASES)
@pytest.mark.parametrize("beta", [1e-3, 0.3, 20.0])
@pytest.mark.parametrize("lipschitz", [1.0, 1.7])
def test_surrogate_is_ridge_regression(d, rank, beta, lipschitz):
    X, u, f, mask, Sigma = problem(d, rank)
    best = chapter.quadratic_surrogate(u, f, mask, Sigma, beta, lipschitz)
    x, n = X.numpy(), len(X)
    scale = lipschitz / math.sqrt(beta * n)
    A = np.vstack([scale * x * mask.numpy(), np.eye(d)])
    b = np.concatenate([scale * x @ (u - f).numpy(), np.zeros(d)])
    w, *_ = np.linalg.lstsq(A, b, rcond=None)
    np.testing.assert_allclose(best.w.numpy(), w, rtol=1e-8, atol=1e-10)
    assert best.value.item() == pytest.approx(((A @ w - b) ** 2).sum(), rel=1e-9)
    alpha, D, r = lipschitz**2 / beta, torch.diag(mask), u - f
    middle = torch.linalg.inv(torch.eye(d).double() + alpha * D @ Sigma @ D)
    printed = alpha * r @ Sigma @ r - alpha**2 * r @ Sigma @ D @ middle @ D @ Sigma @ r  # eq. (257)
    assert best.value.item() == pytest.approx(printed.item(), rel=1e-7)


@pytest.mark.parametrize(("d", "rank"), CASES)
def test_direct_minimum_of_a_linear_neuron_and_its_ridgeless_limit(d, rank):
    X, u, f, mask, Sigma = problem(d, rank)
    found = chapter.relaxed_cost(X @ u, X, f, mask, 0.2, lambda s: s, starts=torch.zeros(1, d))
    expected = chapter.quadratic_surrogate(u, f, mask, Sigma, 0.2)
    assert found.value.item() == pytest.approx(expected.value.item(), rel=1e-8)
    torch.testing.assert_close(found.w, expected.w, rtol=1e-4, atol=1e-5)
    inside = f + mask * u  # a function of the class
    limit = chapter.ridgeless_limit(inside, f, mask, Sigma)
    near = chapter.quadratic_surrogate(inside, f, mask, Sigma, 1e-9).value
    assert limit.isfinite() and near.item() == pytest.approx(limit.item(), rel=1e-6) and near <= limit * (1 + 1e-12)
    w, *_ = np.linalg.lstsq(X.numpy() * mask.numpy(), (X @ (inside - f)).numpy(), rcond=1e-10)
    assert limit.item() == pytest.approx((w**2).sum(), rel=1e-8)


@pytest.mark.parametrize(("d", "rank"), CASES)
@pytest.mark.parametrize("beta", [0.01, 1.0])
def test_relu_lies_between_two_surrogates_on_symmetric_inputs(d, rank, beta):
    X, u, f, mask, Sigma = problem(d, rank, seed=1)
    low = chapter.quadratic_surrogate(u, f, mask, Sigma, beta, 0.5)
    high = chapter.quadratic_surrogate(u, f, mask, Sigma, beta, math.sqrt(0.5))
    starts = torch.stack([low.w, high.w, torch.zeros(d).double()])
    found = chapter.relaxed_cost((X @ u).relu(), X, f, mask, beta, torch.relu, starts)
    assert low.value <= found.value * (1 + 1e-9) and found.value <= high.value * (1 + 1e-9)
    at = chapter.relaxed_objective(found.w, (X @ u).relu(), X, f, mask, beta, torch.relu)
    assert at.item() == pytest.approx(found.value.item())


@pytest.mark.parametrize("seed", range(6))
def test_cost_of_a_relu_function_by_constrained_minimisation(seed):
    d, n = 3, 5
    X = torch.randn(n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).abs()
    u, f, weight = torch.randn(3, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed + 50))
    scale = weight.abs() + 0.2
    found = chapter.relu_function_cost(u, f, scale, X)
    on = (X @ u > 0).numpy()
    gap = lambda w: (X @ (f + scale * torch.tensor(w) - u)).numpy()[on]  # noqa: E731
    room = lambda w: -(X @ (f + scale * torch.tensor(w))).numpy()[~on]  # noqa: E731
    rules = [{"type": "eq", "fun": gap}] * bool(on.any()) + [{"type": "ineq", "fun": room}] * bool((~on).any())
    best = minimize(lambda w: w @ w, ((u - f) / scale).numpy(), constraints=rules, method="SLSQP", tol=1e-12)
    assert best.success or on.sum() >= d
    assert found.value.item() == pytest.approx(best.fun, rel=1e-5, abs=1e-8)
    torch.testing.assert_close((X @ (f + scale * found.w)).relu(), (X @ u).relu(), rtol=0, atol=1e-8)


def test_outside_the_class_costs_diverge_and_impossible_functions_cost_infinitely():
    X, one = torch.eye(2).double(), torch.ones(2).double()
    blind = torch.tensor([1.0, 0.0]).double()
    assert chapter.relu_function_cost(one, 0 * one, blind, X).value.item() == math.inf
    assert chapter.relu_function_cost(-one, 0 * one, blind, X).value.item() == 0
    assert chapter.relu_function_cost(-one, one, blind, X).value.item() == math.inf  # its fixed part stays active
    Sigma, u, f, mask = torch.eye(2), torch.tensor([1.0, 3.0]), torch.zeros(2), torch.tensor([1.0, 0.0])
    assert chapter.ridgeless_limit(u, f, mask, Sigma).item() == math.inf
    assert 1e-9 * chapter.quadratic_surrogate(u, f, mask, Sigma, 1e-9).value.item() == pytest.approx(9)


def test_tail_energy():
    X, *_, Sigma = problem(6, 2)
    tails = chapter.tail_energy(Sigma)
    assert tails.shape == (7,) and tails[0].item() == pytest.approx(Sigma.trace().item())
    assert tails[2:].eq(0).all() and tails[1] > 0
    _, vectors = np.linalg.eigh(Sigma.numpy())
    top = vectors[:, -1:]
    left = X.numpy() - X.numpy() @ top @ top.T
    assert tails[1].item() == pytest.approx((left**2).sum(axis=1).mean())
