"""Hessians against closed forms and a one-hidden-layer Hessian written out in NumPy; inertia; refusals."""

import numpy as np
import pytest
import torch

from lmc_helpers.permutation_points import MLP, NONLINEARITIES, gradient, inertia, squared_loss
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.seeds import torch_generator


def written_out(theta: np.ndarray, r: int, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of 1/(2T) Σ (Σ_i c_i tanh(w_i·x + b_i) + c − y)², parameters W, b, c_1 … c_r, c."""
    T, n = x.shape
    W, b, c = theta[: r * n].reshape(r, n), theta[r * n : r * (n + 1)], theta[r * (n + 1) : -1]
    p, g, H = len(theta), np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
    for sample, target in zip(x, y, strict=True):
        z = W @ sample + b
        h, h1 = np.tanh(z), 1 - np.tanh(z) ** 2
        h2 = -2 * h * h1
        off = c @ h + theta[-1] - target
        J, second = np.zeros(p), np.zeros((p, p))
        J[-1] = 1
        for i in range(r):
            into, place = np.append(sample, 1), [*range(i * n, i * n + n), r * n + i]
            J[place], J[r * (n + 1) + i] = c[i] * h1[i] * into, h[i]
            second[np.ix_(place, place)] = c[i] * h2[i] * np.outer(into, into)
            second[place, r * (n + 1) + i] = second[r * (n + 1) + i, place] = h1[i] * into
        g += off * J / T
        H += (np.outer(J, J) + off * second) / T
    return g, H


def toy(r: int, n: int, T: int, B: int):
    net, generator = MLP((n, r, 1), "tanh"), torch_generator(1, f"toy {r} {n} {T}")
    x, y = (torch.randn(T, k, dtype=torch.float64, generator=generator) for k in (n, 1))
    return squared_loss(net, x, y), net.initial(B, seed=1), x.numpy(), y.numpy()[:, 0]


@pytest.mark.parametrize(("r", "n", "T", "B"), [(1, 1, 1, 1), (5, 2, 30, 4), (3, 4, 7, 5)])
@pytest.mark.parametrize("chunk", [1, 3, 16])
def test_derivatives_are_those_written_out(r, n, T, B, chunk):
    loss, theta, x, y = toy(r, n, T, B)
    g, H = gradient(loss, theta), hessian(loss, theta, chunk)
    assert H.equal(H.mT)
    for i in range(B):
        expected = written_out(theta[i].numpy(), r, x, y)
        np.testing.assert_allclose(g[i], expected[0], rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(H[i], expected[1], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("activation", NONLINEARITIES)
@pytest.mark.parametrize("sizes", [(2, 1, 1), (1, 3, 2), (3, 4, 2, 3), (1, 2, 1, 3, 2)])
def test_closed_derivatives_are_those_of_autograd(sizes, activation):
    net = MLP(sizes, activation)
    generator = torch_generator(1, f"closed derivatives {sizes}")
    shapes = (9, sizes[0]), (2, 9, sizes[-1])
    x, y = (torch.randn(*shape, dtype=torch.float64, generator=generator) for shape in shapes)
    loss = squared_loss(net, x, y, torch.tensor([0.5, 2.0], dtype=torch.float64))
    theta = net.initial(6, seed=1).view(3, 2, -1)
    value, g = loss.value_and_gradient(theta)
    slope, H = loss.gradient_and_hessian(theta)
    torch.testing.assert_close(value, loss(theta), rtol=1e-13, atol=0)
    torch.testing.assert_close(g, gradient(lambda t: loss(t), theta), rtol=1e-12, atol=1e-13)
    assert slope.equal(g)
    for k in range(2):  # a batch of targets is taken as one
        one = squared_loss(net, x, y[k], loss.weight[k])
        torch.testing.assert_close(H[:, k], hessian(lambda t, one=one: one(t), theta[:, k]), rtol=1e-12, atol=1e-13)


def test_the_callers_tensors_and_modes_are_left_alone():
    loss, theta, _, _ = toy(2, 2, 5, 2)
    expected = hessian(loss, theta)
    with torch.no_grad():
        assert hessian(loss, theta).equal(expected)
    H = hessian(loss, theta.requires_grad_())
    assert H.equal(expected) and not H.requires_grad and theta.grad is None and theta.grad_fn is None
    theta = torch.ones(2, 3)
    assert hessian(lambda t: t.sum(dim=-1), theta).equal(torch.zeros(2, 3, 3))
    assert hessian(lambda t: torch.ones(t.shape[:-1]), theta).equal(torch.zeros(2, 3, 3))


@pytest.mark.parametrize("counts", [(0, 0, 4), (2, 0, 1), (1, 3, 2), (0, 5, 0), (1, 0, 0)])
def test_inertia_survives_a_change_of_basis(counts):
    """Sylvester's law: the inertia of AᵀDA is that of the diagonal D."""
    p, rng = sum(counts), np.random.default_rng(1)
    D = np.concatenate([-1 - np.arange(counts[0]), np.zeros(counts[1]), 1 + np.arange(counts[2])])
    A = rng.standard_normal((3, p, p)) + 3 * np.eye(p)
    found = inertia(torch.from_numpy(np.swapaxes(A, 1, 2) @ np.diag(D) @ A), tol=1e-10)
    assert [tuple(int(c[i]) for c in found) for i in range(3)] == [counts] * 3


def test_inertia_tolerance_is_relative_to_the_largest_eigenvalue_of_each_matrix():
    H = torch.diag_embed(torch.tensor([[-1e-3, 1e-3, 1.0], [-1e-3, 1e-3, 1e-2]], dtype=torch.float64))
    assert [count.tolist() for count in inertia(H, tol=1e-2)] == [[0, 1], [2, 0], [1, 2]]
