"""Relaxed swap costs against direct minimisation over all weights, closed forms and the hard costs."""

import pytest
import torch
from scipy.optimize import minimize
from torch.nn.functional import gelu

from lmc_helpers._chapters.relaxed_costs import quadratic_surrogate
from lmc_helpers.identifiability import pca_basis, ridge_swaps, swap_costs
from lmc_helpers.identifiability.relaxed_swaps import ridge_costs


def layer(m=4, d=6, k=3, n=40, seed=0):
    draw = torch.Generator().manual_seed(seed)
    F = torch.randn(m, d, generator=draw).double()
    D = (torch.rand(m, d, generator=draw) > 0.25).double()
    D[:, 0] = 1
    F = F * (D == 0)
    W = torch.randn(m, d, generator=draw).double()
    X = torch.randn(n, k, generator=draw).double() @ torch.randn(k, d, generator=draw).double()
    return F, D, W, X


ALL = torch.cartesian_prod(torch.arange(4), torch.arange(4))


@pytest.mark.parametrize("norms", [False, True])
def test_values_are_those_of_direct_minimisation(norms):
    F, D, W, X = layer()
    draw = torch.Generator().manual_seed(9)
    scale, shift = (torch.rand(4, generator=draw).double() + 0.5, torch.randn(4, generator=draw).double())
    if not norms:
        scale, shift = torch.ones(4).double(), torch.zeros(4).double()
    found = ridge_costs(F, D, W, X, ALL, 0.05, gelu, scale, shift)
    for (i, j), value, norm in zip(ALL.tolist(), found.value, found.norm, strict=True):
        target = gelu(scale[j] * (X @ (F[j] + D[j] * W[j])) + shift[j])

        def objective(w, i=i, target=target):
            w = torch.tensor(w, requires_grad=True)
            out = gelu(scale[i] * (X @ (F[i] + D[i] * w)) + shift[i])
            value = (out - target).square().mean() / 0.05 + w.square().sum()
            value.backward()
            return value.item(), w.grad.numpy()

        starts = [W[i].numpy(), W[j].numpy(), 0 * W[i].numpy()]
        best = min((minimize(objective, w, jac=True, method="BFGS") for w in starts), key=lambda r: r.fun)
        assert value.item() <= best.fun * (1 + 1e-5)
        if value.item() > best.fun * (1 - 1e-4):  # the same minimum
            assert norm.item() == pytest.approx((best.x**2).sum(), rel=1e-2)
        else:
            pytest.fail(f"{value.item()} is below a direct minimum {best.fun}")
    assert found.gradient.max() < 1e-5


def test_linear_neurons_have_the_surrogate_as_their_cost():
    F, D, W, X = layer(seed=3)
    found = ridge_costs(F, D, W, X, ALL, 0.01, lambda s: s)
    i, j = ALL.T
    exact = quadratic_surrogate((F + D * W)[j], F[i], D[i], X.T @ X / len(X), 0.01)
    assert torch.allclose(found.value, exact.value, rtol=1e-8)
    assert torch.allclose(found.norm, exact.w.square().sum(dim=1), rtol=1e-6)


def test_small_beta_gives_the_hard_swap_costs():
    F, D, W, X = layer(m=4, d=9, k=2, seed=5)
    pairs = torch.tensor([[0, 1], [2, 3], [1, 3]])
    hard = swap_costs(F, D, W, pca_basis(X, explained=1.0))[tuple(pairs.T)]
    for part in ridge_swaps(F, D, W, X, pairs, 1e-8, gelu):
        assert torch.allclose(part, hard, rtol=1e-3, atol=1e-3)


def test_relaxed_costs_are_below_hard_ones_and_grow_as_beta_falls():
    F, D, W, X = layer(m=4, d=9, k=2, seed=6)
    own = torch.arange(4)[:, None].expand(4, 2)
    values = [ridge_costs(F, D, W, X, own, beta, gelu).value for beta in (1.0, 0.1, 0.01)]
    assert (values[0] <= values[1]).all()
    assert (values[1] <= values[2]).all()
    assert (values[2] <= W.square().sum(dim=1)).all()
    F, D, W, X = layer(seed=8)
    one, _ = ridge_swaps(F, D, W, X, torch.tensor([[0, 1], [2, 2]]), 0.05, gelu)
    two, _ = ridge_swaps(F, D, W, X, torch.tensor([[1, 0], [2, 2]]), 0.05, gelu)
    assert torch.allclose(one, two, atol=1e-8)
    assert abs(one[1].item()) < 1e-9


def test_fixed_norms_separate_interchangeable_neurons():
    # the example of the chapter: 2 γ²/β whatever the weights
    F, D = torch.zeros(2, 1), torch.ones(2, 1)
    X, pair = torch.tensor([[1.0], [-1.0]]), torch.tensor([[0, 1]])
    for weights in ([0.3, -2.0], [1.0, 1.0]):
        W = torch.tensor(weights)[:, None]
        shift = torch.tensor([0.0, 0.7], dtype=torch.float64)
        value, norm = ridge_swaps(F, D, W, X, pair, 0.05, lambda s: s, torch.ones(2), shift)
        assert value.item() == pytest.approx(2 * 0.49 / 0.05, rel=1e-7)
        assert norm.item() == pytest.approx(0, abs=1e-6)
        plain, _ = ridge_swaps(F, D, W, X, pair, 0.05, lambda s: s)
        assert plain.item() == pytest.approx(0, abs=1e-6)
