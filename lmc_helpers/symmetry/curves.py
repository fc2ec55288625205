"""Curves γ(t) = exp(tM)·w that a group action draws through weights (Zhao, Dehmamy, Walters & Yu, eqs. (4) and (5)).

An action that keeps the loss keeps it along γ. If it is linear, with generator ρ(M)w = d/dt exp(tM)·w at t = 0, then

    γ'(t) = ρ(M) γ(t),    γ''(t) = ρ(M)² γ(t)    at every t,

for GL_h with (W_1, W_2) at γ(t): γ' = (M W_1, −W_2 M) and γ'' = (M² W_1, W_2 M²), which gives the length and, by
:func:`lmc_helpers.symmetry.chord_bound.curvature`, the curvature.

Actions are the objects of :mod:`lmc_helpers.symmetry.group_actions`; M is (..., h, h), or (..., h) for
rescalings; weights are (W_1, W_2) with the same leading dimensions. A point of the curve is one vector of R^p: the rows
of W_1, then of W_2.
"""

from __future__ import annotations

import numpy as np
import torch

from lmc_helpers import expect
from lmc_helpers.symmetry.group_actions import GeneralLinear, PseudoInverse, Rescaling, Weights
from lmc_helpers.symmetry.matrix_logarithm import two_exponentials

__all__ = ["chord", "curve", "derivatives", "flatten", "length", "two_factor_curve"]

Action = GeneralLinear | Rescaling | PseudoInverse
LinearAction = GeneralLinear | Rescaling


def flatten(w: Weights) -> torch.Tensor:
    """One vector for each (W_1, W_2): the rows of W_1, then those of W_2.

    Parameters
    ----------
    w : tuple of torch.Tensor
        (..., h, n) and (..., m, h).

    Returns
    -------
    torch.Tensor
        (..., h n + m h).

    Examples
    --------
    >>> flatten((torch.ones(5, 2, 3), torch.zeros(5, 1, 2))).shape
    torch.Size([5, 8])
    """
    expect.tensors(w, "w")
    if len(w) != 2 or w[0].ndim < 2 or w[1].ndim < 2 or w[0].shape[-2] != w[1].shape[-1]:
        raise ValueError(f"w has shapes {[tuple(W.shape) for W in w]}; allowed: (..., h, n) and (..., m, h)")
    if w[0].shape[:-2] != w[1].shape[:-2]:
        raise ValueError(f"w has shapes {[tuple(W.shape) for W in w]}; allowed: equal leading dimensions")
    return torch.cat([W.flatten(start_dim=-2) for W in w], dim=-1)


def curve(action: Action, M: torch.Tensor, w: Weights, t: torch.Tensor) -> Weights:
    """γ(t) = exp(tM)·w, equation (4); with M = log g and t in [0, 1], equation (5).

    Parameters
    ----------
    action : GeneralLinear, Rescaling or PseudoInverse
        for the last γ(0) is id·w, which need not be w.
    M : torch.Tensor
        (..., h, h) or, for rescalings, (..., h).
    w : tuple of torch.Tensor
        (W_1, W_2) of shapes (..., h, n) and (..., m, h).
    t : torch.Tensor
        (steps,).

    Returns
    -------
    tuple of torch.Tensor
        (..., steps, h, n) and (..., steps, m, h).

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> first, second = curve(GeneralLinear(), torch.diag(torch.tensor([1.0, 0.0]).double()), (W, W), torch.arange(3.0))
    >>> (first[:, 0, 0] * second[:, 0, 0]).tolist()
    [1.0, 1.0, 1.0]
    """
    if not isinstance(action, Action):
        raise ValueError(f"action = {type(action).__name__}; allowed: GeneralLinear, Rescaling or PseudoInverse")
    expect.tensors(w, "w")
    if len(w) != 2 or w[0].ndim < 2 or w[1].ndim < 2:
        raise ValueError(f"w has shapes {[tuple(W.shape) for W in w]}; allowed: (..., h, n) and (..., m, h)")
    expect.tensor(M, "M", "... h")
    expect.tensor(t, "t")
    if not t.numel():
        raise ValueError(f"t has shape {tuple(t.shape)}; allowed: a grid of one time or more")
    if t.ndim != 1:
        raise ValueError(f"t has shape {tuple(t.shape)}; allowed: a grid (steps,)")
    return action.act(action.exp(M, t), (w[0].unsqueeze(-3), w[1].unsqueeze(-3)))


def chord(path: Weights, t: torch.Tensor) -> Weights:
    """The straight line between a curve's ends, (1 − t) γ(0) + t γ(1), at the same t as the curve.

    Parameters
    ----------
    path : tuple of torch.Tensor
        points (W_1, W_2) of a curve, (..., steps, h, n) and (..., steps, m, h); its first and last are the ends.
    t : torch.Tensor
        (q,).

    Returns
    -------
    tuple of torch.Tensor
        (..., q, h, n) and (..., q, m, h).

    Examples
    --------
    >>> W_1 = torch.tensor([1.0, 5.0, 3.0]).reshape(3, 1, 1)
    >>> chord((W_1, 1 / W_1), torch.tensor([0.0, 0.5, 1.0]))[0].flatten().tolist()
    [1.0, 2.0, 3.0]
    """
    expect.tensor(t, "t")
    if not t.numel():
        raise ValueError(f"t has shape {tuple(t.shape)}; allowed: a grid of one time or more")
    if t.ndim != 1:
        raise ValueError(f"t has shape {tuple(t.shape)}; allowed: a grid (q,)")
    expect.tensors(path, "path")
    if len(path) != 2 or path[0].ndim < 3 or path[1].ndim < 3 or path[0].shape[-3:-1] != path[1].shape[-3::2]:
        raise ValueError(
            f"path has shapes {[tuple(W.shape) for W in path]}; allowed: (..., steps, h, n), (..., steps, m, h)"
        )
    expect.tensor(path[0], "path[0]", "... steps h n")
    expect.tensor(path[1], "path[1]", "... steps m h")
    t = t[:, None, None]
    first, second = ((1 - t) * W[..., :1, :, :] + t * W[..., -1:, :, :] for W in path)
    return first, second


def two_factor_curve(w: Weights, g: torch.Tensor, t: torch.Tensor) -> Weights:
    """exp(tA) exp(tB)·w for GL_h, with g = exp(A) exp(B): from w to g·w for every g of positive determinant.

    Parameters
    ----------
    w : tuple of torch.Tensor
        (W_1, W_2).
    g : torch.Tensor
        (..., h, h).
    t : torch.Tensor
        (steps,).

    Returns
    -------
    tuple of torch.Tensor
        (..., steps, h, n) and (..., steps, m, h).

    Examples
    --------
    >>> W, g = torch.eye(2, dtype=torch.float64), torch.diag(torch.tensor([-1.0, -2.0], dtype=torch.float64))
    >>> first, second = two_factor_curve((W, W), g, torch.linspace(0, 1, 3))
    >>> bool((second @ first - W).abs().max() < 1e-14), bool((first[-1] - g).abs().max() < 1e-14)
    (True, True)
    """
    expect.tensors(w, "w")
    if len(w) != 2 or w[0].ndim < 2 or w[1].ndim < 2:
        raise ValueError(f"w has shapes {[tuple(W.shape) for W in w]}; allowed: (..., h, n) and (..., m, h)")
    expect.tensor(g, "g", "... h h")
    expect.tensor(t, "t", "steps")
    action = GeneralLinear()
    A, B = two_exponentials(g)
    return action.act(action.exp(A, t) @ action.exp(B, t), (w[0].unsqueeze(-3), w[1].unsqueeze(-3)))


def derivatives(action: LinearAction, M: torch.Tensor, w: Weights) -> tuple[torch.Tensor, torch.Tensor]:
    """γ' and γ'' of γ(t) = exp(tM)·w at t = 0: ρ(M)w and ρ(M)²w.

    Parameters
    ----------
    action : GeneralLinear or Rescaling
        a linear action.
    M : torch.Tensor
        (..., h, h) or (..., h).
    w : tuple of torch.Tensor
        (W_1, W_2).

    Returns
    -------
    tuple of torch.Tensor
        (..., p) each.

    Examples
    --------
    >>> W = torch.ones(1, 1, dtype=torch.float64)
    >>> [x.tolist() for x in derivatives(GeneralLinear(), 3 * W, (W, W))]
    [[3.0, -3.0], [9.0, 9.0]]
    """
    if not isinstance(action, LinearAction):
        raise ValueError(
            f"the action is {type(action).__name__}; allowed: GeneralLinear or Rescaling, which are linear"
        )
    velocity = action.generator(M, w)
    return flatten(velocity), flatten(action.generator(M, velocity))


def length(action: LinearAction, M: torch.Tensor, w: Weights, nodes: int = 40) -> torch.Tensor:
    """Length of γ on [0, 1] by Gauss-Legendre quadrature of ``‖γ'‖``.

    Parameters
    ----------
    action, M, w
        as for :func:`derivatives`.
    nodes : int
        nodes >= 1.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    A rotation by 1 of a W_1 and a W_2 of norm 1, on a circle of radius √2:

    >>> M = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    >>> e = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    >>> round(length(GeneralLinear(), M, (e, e.T)).item() / 2**0.5, 12)
    1.0
    """
    expect.integer(nodes, "nodes")
    if not isinstance(action, LinearAction):
        raise ValueError(f"action = {type(action).__name__}; allowed: GeneralLinear or Rescaling, which are linear")
    expect.tensor(M, "M", "... h")
    if M.ndim < 2 and isinstance(action, GeneralLinear):
        raise ValueError(f"M has shape {tuple(M.shape)}; allowed: (..., h, h)")
    if nodes < 1:
        raise ValueError(f"nodes = {nodes}; allowed: nodes >= 1")
    x, weight = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(nodes))
    dims = 1 if isinstance(action, Rescaling) else 2
    velocity, _ = derivatives(action, M.unsqueeze(-1 - dims), curve(action, M, w, (x + 1) / 2))
    return torch.linalg.vector_norm(velocity, dim=-1) @ (weight / 2).to(velocity)
