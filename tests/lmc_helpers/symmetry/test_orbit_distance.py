"""Distances from orbits by minimisation: quartics, closed forms, SciPy's minimiser, automatic derivatives."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from lmc_helpers.seeds import torch_generator
from lmc_helpers.symmetry.orbit_distance import (
    balanced,
    balanced_distance,
    distance_to_zero_product,
    lower_bound,
    midpoint_bounds,
    orbit_distance,
    stationarity,
)

SHAPES = [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 2, 3)]  # m, h, n


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"orbits {shape}"))


def pair(m, h, n, seed=0):
    return normal(m, h, seed=seed), normal(h, n, seed=100 + seed)


def scalar_distance(u, v, a):
    """Distance of (u, v) from the hyperbola xz = a: real roots of x⁴ − u x³ + a v x − a²."""
    x = np.roots([1, -u, 0, a * v, -a * a])
    x = x[abs(x.imag) < 1e-9].real
    return min(math.hypot(u - t, v - a / t) for t in x)


@pytest.mark.parametrize("c", [1.0, 1.3, 2.0, 7.0])
def test_minimiser_agrees_with_the_quartic(c):
    for seed in range(5):
        w1, w2 = pair(1, 1, 1, seed)
        exact = scalar_distance(c * w1.item(), c * w2.item(), (w1 * w2).item())
        assert orbit_distance(c * w1, c * w2, w1, w2).distance.item() == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_balanced_distance_is_the_minimum(n):
    A = normal(n, n)
    W1, W2 = balanced(A)
    torch.testing.assert_close(W1 @ W2, A)
    torch.testing.assert_close(W1.mT @ W1, W2 @ W2.mT)
    c = torch.tensor([1.0, 1.4, 2.0, 2.3, 9.0], dtype=torch.float64)
    batch = c[:, None, None]
    foot = orbit_distance(batch * W1, batch * W2, W1, W2)
    torch.testing.assert_close(foot.distance, balanced_distance(c, A), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(foot.X @ foot.Z, A.expand(5, n, n), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_minimiser_against_scipy_and_the_bounds(shape):
    W1, W2 = pair(*shape, seed=3)
    U, V = pair(*shape, seed=4)
    A, h = W1 @ W2, shape[1]

    def value(g):
        g = g.reshape(h, h)
        if np.linalg.cond(g) > 1e12:
            return 1e12
        return (
            np.linalg.norm(U.numpy() - W1.numpy() @ np.linalg.inv(g)) ** 2
            + np.linalg.norm(V.numpy() - g @ W2.numpy()) ** 2
        )

    rng = np.random.default_rng(1)
    starts = [rng.normal(size=h * h) for _ in range(8)]
    found = min(minimize(value, start, method="BFGS").fun for start in starts)
    foot = orbit_distance(U, V, W1, W2)
    assert foot.residual.item() < 1e-9
    assert foot.distance.item() ** 2 <= found + 1e-6
    assert lower_bound(U, V, A).item() <= foot.distance.item() + 1e-9
    torch.testing.assert_close(foot.X @ foot.Z, A, rtol=1e-8, atol=1e-8)
    assert math.hypot((U - foot.X).norm(), (V - foot.Z).norm()) == pytest.approx(foot.distance.item(), rel=1e-12)


def test_bounds_sandwich_the_minimiser_for_random_factorisations():
    for shape, seed in itertools.product(SHAPES, range(3)):
        W1, W2 = pair(*shape, seed=seed)
        c = torch.tensor([1.2, 1.6, 4.0, 60.0], dtype=torch.float64)
        batch = c[:, None, None]
        distance = orbit_distance(batch * W1, batch * W2, W1, W2).distance
        low, high = midpoint_bounds(W1, W2, c)
        assert (low <= distance * (1 + 1e-10)).all() and (distance <= high * (1 + 1e-10)).all()
        assert (lower_bound(batch * W1, batch * W2, W1 @ W2) <= distance * (1 + 1e-10)).all()


def test_distances_are_invariant_under_rotations_of_the_hidden_space():
    U, V = pair(3, 2, 3, seed=4)
    W1, W2 = pair(3, 2, 3, seed=3)
    Q = torch.linalg.qr(normal(2, 2, seed=9)).Q
    rotated = orbit_distance(U @ Q.T, Q @ V, W1 @ Q.T, Q @ W2).distance
    torch.testing.assert_close(rotated, orbit_distance(U, V, W1, W2).distance, rtol=1e-9, atol=0)
    torch.testing.assert_close(distance_to_zero_product(U @ Q.T, Q @ V), distance_to_zero_product(U, V))


def test_stationarity_is_the_derivative():
    U, V = pair(3, 2, 3)
    X, Z = pair(3, 2, 3, seed=5)
    X, Z = X.clone(), Z.clone()
    eta = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    value = (U - X @ torch.matrix_exp(-eta)).square().sum() + (V - torch.matrix_exp(eta) @ Z).square().sum()
    (slope,) = torch.autograd.grad(value, eta)
    scale = math.hypot(X.norm(), Z.norm()) * math.hypot((U - X).norm(), (V - Z).norm())
    assert stationarity(U, V, X, Z).item() == pytest.approx(slope.norm().item() / 2 / scale, rel=1e-12)


I2 = torch.eye(2, dtype=torch.float64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: orbit_distance(I2, I2, I2, 0 * I2), "W2 is singular to rounding"),
        (lambda: orbit_distance(I2[:1], I2, I2[:1], I2), "with m, n >= h"),
        (lambda: orbit_distance(I2, I2, I2[:1], I2), "shapes"),
        (lambda: orbit_distance(I2, I2, I2, I2, steps=0), "steps = 0"),
        (lambda: orbit_distance(I2, I2, I2, I2, tol=0), "tol = 0; allowed"),
        (lambda: orbit_distance(*[torch.eye(7, dtype=torch.float64)] * 4), "h = 7; allowed: h <= 6"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
