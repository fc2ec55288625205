"""Distances from orbits against SciPy's minimiser and autograd."""

import math

import numpy as np
import pytest
import torch
from oracles.orbits import SHAPES, factorisation, lower_bound
from scipy.optimize import minimize

from lmc_helpers.orbits.distance import orbit_distance, stationarity


@pytest.mark.parametrize("shape", SHAPES)
def test_minimiser_against_scipy_and_the_bounds(shape):
    W1, W2 = factorisation(*shape, seed=3)
    U, V = factorisation(*shape, seed=4)
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
    assert lower_bound(U, V, A) <= foot.distance.item() + 1e-9
    torch.testing.assert_close(foot.X @ foot.Z, A, rtol=1e-8, atol=1e-8)
    assert math.hypot((U - foot.X).norm(), (V - foot.Z).norm()) == pytest.approx(foot.distance.item(), rel=1e-12)


def test_stationarity_is_the_derivative():
    U, V = factorisation(3, 2, 3)
    X, Z = factorisation(3, 2, 3, seed=5)
    X, Z = X.clone(), Z.clone()
    eta = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    value = (U - X @ torch.matrix_exp(-eta)).square().sum() + (V - torch.matrix_exp(eta) @ Z).square().sum()
    (slope,) = torch.autograd.grad(value, eta)
    scale = math.hypot(X.norm(), Z.norm()) * math.hypot((U - X).norm(), (V - Z).norm())
    assert stationarity(U, V, X, Z).item() == pytest.approx(slope.norm().item() / 2 / scale, rel=1e-12)
