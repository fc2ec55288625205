"""Oracles of the tests of linear networks, in NumPy: determinants by permutations, losses by products, minima."""

import functools
import itertools

import numpy as np
import torch

from lmc_helpers.seeds import torch_generator

EPS = [0.7, -1.3, 0.0]  # factors of the skip connection
SIZES = [(2, 1), (3, 1), (2, 2), (2, 5), (3, 3), (4, 2), (5, 8)]  # layers and width


def matrix(values):
    return torch.tensor(values, dtype=torch.float64)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"linear nets {shape}"))


def data(h, seed=0):
    X, Y = normal(2, h, h, seed=seed) + 2 * torch.eye(h, dtype=torch.float64)
    return X, Y


def minimum(layers, X, Y, seed, signs=None):
    """W_1, …, W_{l−1} by chance or with the signs, W_l by NumPy's inverse and a correction for its rounding."""
    h = len(X)
    inner = [normal(h, h, seed=100 * seed + i).numpy() for i in range(layers - 1)]
    if signs is not None:
        for i, sign in enumerate(signs):
            if leibniz(inner[i]) * (leibniz(X.numpy()) if i == 0 else 1) * sign < 0:
                inner[i][0] *= -1
    rest = X.numpy()
    for W in inner:
        rest = W @ rest
    inverse = np.linalg.inv(rest)
    last = Y.numpy() @ inverse
    last += (Y.numpy() - last @ rest) @ inverse
    return [torch.from_numpy(W) for W in (*inner, last)]


@functools.cache
def permutations(h):
    """All permutations of 0, …, h − 1 as rows, and their signs."""
    perms = np.array(list(itertools.permutations(range(h))))
    inversions = sum((perms[:, i] > perms[:, j]).astype(int) for i, j in itertools.combinations(range(h), 2))
    return perms, (-1.0) ** inversions


def leibniz(A):
    """The determinants of small matrices (..., h, h), summed over all permutations."""
    perms, signs = permutations(A.shape[-1])
    return A[..., np.arange(A.shape[-1]), perms].prod(axis=-1) @ np.broadcast_to(signs, len(perms))


def by_hand(weights, X, Y):
    """The losses of networks with weights (..., h, h)."""
    out = X.numpy()
    for W in weights:
        out = np.einsum("...ij,...jk->...ik", W.numpy(), out)
    return np.square(Y.numpy() - out).sum(axis=(-2, -1))


def residual_by_hand(weights, X, Y, eps):
    """The losses of residual networks with weights (..., h, h)."""
    W1, W2, W3 = (W.numpy() for W in weights)
    out = np.einsum("...ij,...jk,...kl->...il", W3, W2, W1) @ X.numpy() + eps * W3 @ X.numpy()
    return np.square(Y.numpy() - out).sum(axis=(-2, -1))


def at(path, *index):
    return [W[index] for W in path]


def rounding(path, X):
    """(1e-14 h ‖W_l‖ … ‖X‖)², the loss that the rounding of the product explains, at its largest."""
    norms = [torch.linalg.matrix_norm(A, ord=2) for A in path]
    size = torch.stack(torch.broadcast_tensors(*norms)).prod(dim=0) * torch.linalg.matrix_norm(X, ord=2)
    return (1e-14 * len(X) * size.max().item()) ** 2


I2 = torch.eye(2, dtype=torch.float64)
FLIP = torch.diag(matrix([1.0, -1.0]))
FLAT = matrix([[1.0, 2.0], [2.0, 4.0]])  # singular
ALMOST = matrix([[1.0, 1.0], [1.0, 1.0 + 2**-50]])  # singular to rounding
