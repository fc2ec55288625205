"""Truncated Newton steps against closed minima and SciPy; the metric against a matrix formed entry by entry."""

import numpy as np
import pytest
import torch
from oracles.perceptrons import by_hand, inputs
from scipy.optimize import least_squares

from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.products import Local, local_squared_loss
from lmc_helpers.permutation_points.truncated import Metric, truncated_newton


def near(loss):
    """A loss of a few parameters as a Local, by autograd."""

    def local(theta):
        H = torch.autograd.functional.hessian(loss, theta)
        return Local(loss(theta), torch.autograd.functional.jacobian(loss, theta), lambda v: H @ v)

    return local


def double(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_a_quadratic_is_minimised_and_an_indefinite_start_is_left():
    form = double(1, 10, 1e4)
    end, norm, used = truncated_newton(near(lambda t: t @ (form * t) / 2 - t.sum()), torch.ones(3).double(), 90, 1e-9)
    torch.testing.assert_close(end, 1 / form)
    assert norm <= 1e-9 and used < 90
    wells = near(lambda t: (t[0] ** 2 - 1) ** 2 + t[1] ** 2)
    end, _, _ = truncated_newton(wells, double(0.1, 1.0), 100, 1e-10)
    torch.testing.assert_close(end, double(1, 0), atol=1e-8, rtol=0)
    rosenbrock = near(lambda t: (1 - t[0]) ** 2 + 100 * (t[1] - t[0] ** 2) ** 2)
    end, _, _ = truncated_newton(rosenbrock, double(-1.2, 1.0), 200, 1e-10)
    torch.testing.assert_close(end, double(1, 1))


def test_the_right_metric_needs_one_product_a_step():
    form = torch.logspace(0, 6, 30, dtype=torch.float64)
    local = near(lambda t: t @ (form * t) / 2)
    start = torch.ones(30).double()
    _, norm, used = truncated_newton(local, start, 200, 1e-6, lambda at: lambda v: v / form)
    assert norm <= 1e-6 and used <= 3
    assert truncated_newton(local, start, 3, 1e-6)[1] > 1e-6


def test_budgets():
    start = double(3, 4)
    end, norm, used = truncated_newton(near(lambda t: t.square().sum()), start, 0, 1e-9)
    assert end.equal(start) and norm == pytest.approx(10) and used == 0
    rosenbrock = near(lambda t: (1 - t[0]) ** 2 + 100 * (t[1] - t[0] ** 2) ** 2)
    assert truncated_newton(rosenbrock, double(-1.2, 1.0), 7, 1e-10)[2] <= 7


def test_a_network_ends_where_scipy_does():
    net = MLP((2, 2, 1), "tanh")
    x = inputs(net, 40)
    teacher = net.initial(1, seed=2, scale=2.0)[0]
    y = by_hand(net, teacher, x) + 0.1 * torch.sin(3 * x.sum(dim=1, keepdim=True))
    start = teacher + 0.1
    end, norm, _ = truncated_newton(lambda t: local_squared_loss(net, t, x, y, 0.5), start, 2000, 1e-8)
    found = least_squares(
        lambda t: (by_hand(net, torch.from_numpy(t), x) - y).numpy().ravel(),
        end.numpy() + 1e-3 * np.random.default_rng(0).normal(size=net.size),
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-14,
    )
    assert norm <= 1e-8
    assert found.cost == pytest.approx(float((by_hand(net, end, x) - y).square().sum()) / 2, rel=1e-6)


def test_the_metric_is_the_matrix_that_it_says():
    generator = torch.Generator().manual_seed(3)
    T, outputs, H, n, q, k, scale = 40, 3, 2, 4, 5, 1, 0.7
    b = torch.randn(T, outputs, H, dtype=torch.float64, generator=generator)
    rest = torch.randn(T, outputs, q, dtype=torch.float64, generator=generator)
    x = torch.randn(T, n, dtype=torch.float64, generator=generator)
    moments = x.square().mean(dim=0)
    p = H * n + H + q
    M = np.zeros((p, p))
    kept = [i * n + c for i in range(H) for c in range(n) if c < k] + list(range(H * n, p))
    for t in range(T):
        for o in range(outputs):
            row = np.concatenate([np.outer(b[t, o], x[t]).ravel(), b[t, o], rest[t, o]])
            M[np.ix_(kept, kept)] += 2 * np.outer(row[kept], row[kept]) / (T * scale)
            for i in range(H):
                for j in range(H):
                    for c in range(k, n):
                        M[i * n + c, j * n + c] += 2 * float(b[t, o, i] * b[t, o, j] * moments[c]) / (T * scale)
    metric = Metric.of(b, rest, x, moments, k, scale)
    v = torch.randn(p, dtype=torch.float64, generator=generator)
    found = metric.solve(v).numpy()
    assert np.linalg.norm(M @ found - v.numpy()) < 0.02 * np.linalg.norm(v)  # but for the shift of the diagonal
    whole = Metric.of(b, rest, x, moments, n, scale)
    assert whole.tail.numel() == 0 and whole.solve(v).shape == (p,)


def test_refusals():
    with pytest.raises(ValueError, match=r"allowed: \(p,\), torch.float64"):
        truncated_newton(near(lambda t: t.sum()), torch.ones(2), 1, 1e-9)
    with pytest.raises(ValueError, match="products = -1"):
        truncated_newton(near(lambda t: t.sum()), double(1, 1), -1, 1e-9)
    with pytest.raises(ValueError, match="allowed: a finite one"):
        truncated_newton(lambda t: Local(t.sum() / 0, t, torch.clone), double(1, 1), 1, 1e-9)
    b, x = torch.ones(4, 2, 2), torch.ones(4, 3)
    with pytest.raises(ValueError, match="leading = 4"):
        Metric.of(b, b, x, torch.ones(3), 4, 1.0)
    with pytest.raises(ValueError, match=r"allowed: \(T, n_d, H\)"):
        Metric.of(b, b, x, torch.ones(2), 1, 1.0)
