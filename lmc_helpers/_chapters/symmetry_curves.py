"""What chapter *symmetry curves* computes and no other part of the package needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from lmc_helpers.symmetry.group_actions import PseudoInverse, Weights

# ---------- trained maps
#
# Two-layer networks trained for the map (6) of Zhao, Dehmamy, Walters & Yu: those of their Fig. 3 (chapter 35).
#
# Each is a :class:`lmc_helpers.symmetry.group_actions.PseudoInverse`, the map with the network's activation and
# inputs,
# and weights (W_1, W_2) after full-batch gradient descent on the squared error ``‖W_2 σ(W_1 X) − Y‖²/(2k)`` of k
# samples
# with normal data. Random numbers come one after the other from the stream ``normal(*shape)``, such as
# :func:`lmc_helpers.seeds.normal_stream`.


INPUTS, HIDDEN, OUTPUTS = 16, 32, 64  # of Fig. 3b, c
RATE, MOMENTUM = 0.02, 0.9
Normal = Callable[..., torch.Tensor]


def leaky_relu(slope: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Leaky ReLU, z for z > 0 and slope · z elsewhere."""
    return lambda z: torch.where(z > 0, z, slope * z)


def sigmoid_network(sizes: Sequence[int], steps: int, normal: Normal) -> tuple[PseudoInverse, Weights]:
    """A network of Fig. 3a: sigmoid activation, gradient descent at the rates 1/h and 1/h for the two layers."""
    m, h, n, k = (int(size) for size in sizes)
    X, Y = normal(n, k), normal(m, k)
    W_1, W_2 = normal(h, n) / math.sqrt(n), normal(m, h) / math.sqrt(h)
    for _ in range(steps):
        s = torch.sigmoid(W_1 @ X)
        residual = (W_2 @ s - Y) / k
        first = ((W_2.T @ residual) * s * (1 - s)) @ X.T
        W_2 = W_2 - residual @ s.T / h
        W_1 = W_1 - first / h
    return PseudoInverse(torch.sigmoid, X), (W_1, W_2)


def leaky_minimum(
    samples: int, slope: float, steps: int, normal: Normal
) -> tuple[PseudoInverse, Weights, torch.Tensor]:
    """A network of Fig. 3b, c: leaky ReLU, 16 inputs, 32 hidden neurons, 64 outputs, gradient descent with momentum."""
    sigma = leaky_relu(slope)
    X, Y = normal(INPUTS, samples), normal(OUTPUTS, samples)
    w = normal(HIDDEN, INPUTS) / math.sqrt(INPUTS), normal(OUTPUTS, HIDDEN) / math.sqrt(HIDDEN)
    first, second = (torch.zeros_like(W) for W in w)  # velocities
    for _ in range(steps):
        z = w[0] @ X
        residual = (w[1] @ sigma(z) - Y) / samples
        inner = (w[1].T @ residual) * torch.where(z > 0, 1.0, slope)
        first = MOMENTUM * first - RATE * (inner @ X.T)
        second = MOMENTUM * second - RATE * (residual @ sigma(z).T)
        w = w[0] + first, w[1] + second
    return PseudoInverse(sigma, X), w, Y


def least_singular_value(s: torch.Tensor) -> torch.Tensor:
    """The least of the min(h, k) singular values, from the smaller Gram matrix."""
    gram = s.mT @ s if s.shape[-1] <= s.shape[-2] else s @ s.mT
    return torch.linalg.eigvalsh(gram)[..., 0].clamp(min=0).sqrt()
