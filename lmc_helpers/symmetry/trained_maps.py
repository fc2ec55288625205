"""Two-layer networks trained for the map (6) of Zhao, Dehmamy, Walters & Yu: those of their Fig. 3 (chapter 35).

Each is a :class:`lmc_helpers.symmetry.group_actions.PseudoInverse`, the map with the network's activation and inputs,
and weights (W_1, W_2) after full-batch gradient descent on the squared error ``‖W_2 σ(W_1 X) − Y‖²/(2k)`` of k samples
with normal data. Random numbers come one after the other from the stream ``normal(*shape)``, such as
:func:`lmc_helpers.seeds.normal_stream`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from lmc_helpers import expect
from lmc_helpers.symmetry.group_actions import PseudoInverse, Weights

__all__ = ["leaky_minimum", "leaky_relu", "least_singular_value", "sigmoid_network"]

INPUTS, HIDDEN, OUTPUTS = 16, 32, 64  # of Fig. 3b, c
RATE, MOMENTUM = 0.02, 0.9
Normal = Callable[..., torch.Tensor]


def leaky_relu(slope: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Leaky ReLU, z for z > 0 and slope · z elsewhere.

    Parameters
    ----------
    slope : float
        slope on the negative side.

    Returns
    -------
    callable
        σ, entry by entry.

    Examples
    --------
    >>> leaky_relu(0.5)(torch.tensor([-2.0, 3.0]))
    tensor([-1.,  3.])
    """
    expect.number(slope, "slope")
    return lambda z: torch.where(z > 0, z, slope * z)


def sigmoid_network(sizes: Sequence[int], steps: int, normal: Normal) -> tuple[PseudoInverse, Weights]:
    """A network of Fig. 3a: sigmoid activation, gradient descent at the rates 1/h and 1/h for the two layers.

    Parameters
    ----------
    sizes : sequence of int
        outputs m, hidden neurons h, inputs n and samples k.
    steps : int
        steps of gradient descent, >= 0.
    normal : callable
        ``normal(*shape)``, the stream of its data and then of its weights.

    Returns
    -------
    PseudoInverse, tuple of torch.Tensor
        the map, and the weights W_1 (h, n) and W_2 (m, h).

    Examples
    --------
    >>> from lmc_helpers.seeds import normal_stream
    >>> net, w = sigmoid_network((2, 5, 3, 4), steps=10, normal=normal_stream(1, "example"))
    >>> net.output(w).shape
    torch.Size([2, 4])
    """
    expect.sizes(sizes, "sizes", least=0)
    if len(sizes) != 4:
        raise ValueError(f"sizes = {sizes!r}; allowed: four, m, h, n and k")
    expect.integer(steps, "steps")
    expect.function(normal, "normal")
    m, h, n, k = (int(size) for size in sizes)
    if min(m, h, n, k) < 1 or steps < 0:
        raise ValueError(f"sizes = {(m, h, n, k)}, steps = {steps}; allowed: sizes >= 1, steps >= 0")
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
    """A network of Fig. 3b, c: leaky ReLU, 16 inputs, 32 hidden neurons, 64 outputs, gradient descent with momentum.

    Parameters
    ----------
    samples : int
        k, >= 1; 8 in the paper.
    slope : float
        slope of leaky ReLU on the negative side, which the paper does not state.
    steps : int
        steps of gradient descent at the rate 0.02 with momentum 0.9, >= 0.
    normal : callable
        ``normal(*shape)``, the stream of its data and then of its weights.

    Returns
    -------
    PseudoInverse, tuple of torch.Tensor, torch.Tensor
        the map, the weights W_1 (32, 16) and W_2 (64, 32), and the targets Y (64, k).

    Examples
    --------
    >>> from lmc_helpers.seeds import normal_stream
    >>> net, w, Y = leaky_minimum(8, slope=0.1, steps=500, normal=normal_stream(1, "example"))
    >>> bool((net.output(w) - Y).norm() < 1e-3 * Y.norm())
    True
    """
    expect.integer(samples, "samples")
    expect.integer(steps, "steps")
    expect.number(slope, "slope")
    expect.function(normal, "normal")
    if samples < 1 or steps < 0:
        raise ValueError(f"samples = {samples}, steps = {steps}; allowed: samples >= 1, steps >= 0")
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
    """The least of the min(h, k) singular values, from the smaller Gram matrix.

    Values below about 10⁻⁸ of the largest one are rounding errors.

    Parameters
    ----------
    s : torch.Tensor
        matrices (..., h, k).

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> least_singular_value(torch.tensor([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    tensor(2.)
    """
    expect.tensor(s, "s", "... h k")
    gram = s.mT @ s if s.shape[-1] <= s.shape[-2] else s @ s.mT
    return torch.linalg.eigvalsh(gram)[..., 0].clamp(min=0).sqrt()
