"""Costs of the functions of neurons, by a least-squares solver."""

import math

import numpy as np
import scipy.linalg


def cost(a, f, d, U):
    """Least squared norm of w with Uᵀ(f + d ⊙ w) = a, infinite if there is none."""
    a, f, d, U = map(np.asarray, (a, f, d, U))
    w = scipy.linalg.lstsq(U.T * d, a - U.T @ f, cond=1e-10)[0]
    left = np.linalg.norm(U.T @ (f + d * w) - a)
    return w @ w if left < 1e-9 * (1 + np.linalg.norm(a)) else math.inf


def swap(F, D, W, U, i, j):
    """Cost of the neurons i and j if each computes the function of the other, less that of their own."""
    A = (F + D * W) @ U
    orders = (1, i, j), (1, j, i), (-1, i, i), (-1, j, j)
    return sum(sign * cost(A[b], F[a], D[a], U) for sign, a, b in orders)
