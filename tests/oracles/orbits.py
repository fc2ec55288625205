"""Oracles of the tests of orbits: factorisations, exact distances in one dimension, a lower bound, a forward pass."""

import math

import numpy as np
from oracles.linear import normal

SHAPES = [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 2, 3)]  # m, h, n


def factorisation(m, h, n, seed=0):
    return normal(m, h, seed=seed), normal(h, n, seed=100 + seed)


def scalar_distance(u, v, a):
    """Distance of (u, v) from the hyperbola xz = a: real roots of x⁴ − u x³ + a v x − a²."""
    x = np.roots([1, -u, 0, a * v, -a * a])
    x = x[abs(x.imag) < 1e-9].real
    return min(math.hypot(u - t, v - a / t) for t in x)


def lower_bound(U, V, A):
    """The larger of two lower bounds on the distance r of (U, V) from {X Z = A}, in NumPy.

    The first is r² >= d_0² − 2 ‖A‖_*, with d_0 the distance from {X Z = 0}. The second: X Z − U V = U F + E V + E F
    with E = X − U and F = Z − V, so ‖UV − A‖ <= ω r + r²/2 with ω² = ‖U‖₂² + ‖V‖₂² (spectral norms).
    """
    U, V, A = (np.asarray(M) for M in (U, V, A))
    miss = np.linalg.norm(U @ V - A)
    spectral = np.linalg.norm(U, 2) ** 2 + np.linalg.norm(V, 2) ** 2
    root = math.sqrt(spectral + 2 * miss) - math.sqrt(spectral)
    squares = np.square(U).sum() + np.square(V).sum() - np.linalg.norm(U.T @ U - V @ V.T, "nuc")
    return max(root, math.sqrt(max(squares / 2 - 2 * np.linalg.norm(A, "nuc"), 0)))


def forward(net, last, before):
    """W_l σ(W_{l−1} F) in NumPy."""
    z = before.numpy() @ net.F.numpy()
    return last.numpy() @ (np.where(z > 0, 1.0, np.where(z < 0, net.negative, 0.0)) * np.abs(z) ** net.k)
