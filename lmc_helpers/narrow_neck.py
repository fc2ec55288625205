"""Curves in a level set that return close to where they began: counterexamples to Theorem 6.2 of Zhao et al.

Bounded curvature does not keep a level set near a chord. Two families with a neck of width 2e, with curvature bounded
as e → 0, where the midpoint of the chord across the neck has the distance e = D/2 from the whole level set:

- the minimum u·v = δ of the linear network f(x) = (u·v) x with two hidden neurons and target δ = e²/2, in R⁴
  (:func:`network_neck`);
- the closed curve y² = (e + x²)² (1 − x²) in the plane (:func:`planar_neck`), which can be drawn.

A function returns points, velocities and accelerations, so that :func:`lmc_helpers.chord_bound.curvature` applies.
"""

from __future__ import annotations

import math

import torch

__all__ = ["curvature_bound", "lipschitz_loss", "network_neck", "planar_neck"]

Jet = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def network_neck(phi: torch.Tensor, delta: float, size: float = 1.0) -> Jet:
    """The curve N(φ) = √δ R_φ + a sin φ R_φ E in {det N = δ}, φ from 0 to π, and two derivatives.

    R_φ is the rotation by φ and E = [[0, 1], [0, 0]]. With N = [[u_1, −u_2], [v_2, v_1]], det N = u·v and the norms of
    N and w = (u, v) agree. It runs from w to −w with w = (√δ, 0, √δ, 0); for δ → 0 it is a circle of diameter a.

    Parameters
    ----------
    phi : torch.Tensor
        (...), float64.
    delta : float
        δ > 0, the target.
    size : float
        a > 0.

    Returns
    -------
    tuple of torch.Tensor
        (u_1, u_2, v_1, v_2) and its derivatives by φ, (..., 4) each.

    Raises
    ------
    ValueError
        if δ or a is not positive.

    Examples
    --------
    >>> w, *_ = network_neck(torch.tensor([0.0, 1.0, math.pi], dtype=torch.float64), delta=0.01)
    >>> (w[:, :2] * w[:, 2:]).sum(dim=-1)
    tensor([0.0100, 0.0100, 0.0100], dtype=torch.float64)
    >>> round((w[0] + w[-1]).norm().item(), 12)
    0.0
    """
    _check_positive(delta=delta, size=size)
    r, a = math.sqrt(delta), size
    s, c = phi.sin(), phi.cos()
    s2, c2 = (2 * phi).sin(), (2 * phi).cos()
    point = [r * c, r * s - a * s2 / 2, r * c + a * s**2, r * s]
    velocity = [-r * s, r * c - a * c2, -r * s + a * s2, r * c]
    acceleration = [-r * c, -r * s + 2 * a * s2, -r * c + 2 * a * c2, -r * s]
    return tuple(torch.stack(x, dim=-1) for x in (point, velocity, acceleration))


def curvature_bound(delta: float, size: float = 1.0) -> float:
    """(2a + e)/(a − e)² with e = √(2δ), which no curvature of :func:`network_neck` exceeds.

    ``‖γ''‖ <= 2a + e``, ``‖γ'‖ >= a − e`` and ``κ <= ‖γ''‖/‖γ'‖²``.

    Examples
    --------
    >>> round(curvature_bound(0.02), 12)
    3.4375
    """
    _check_positive(delta=delta, size=size)
    e = math.sqrt(2 * delta)
    if not e < size:
        raise ValueError(f"√(2δ) = {e:g} and a = {size:g}; allowed: √(2δ) < a")
    return (2 * size + e) / (size - e) ** 2


def lipschitz_loss(w: torch.Tensor, delta: float) -> torch.Tensor:
    """``L(u, v) = (u·v − δ)/√(|u|² + |v|² + 2δ)``: smooth, 0 exactly where u·v = δ, Lipschitz with constant 3/2 on R⁴.

    With ``r² = |u|² + |v|²`` and s = r² + 2δ, ``|∇L| <= r/√s + |u·v − δ| r/s^(3/2)`` and ``|u·v − δ| <= s/2``.

    Parameters
    ----------
    w : torch.Tensor
        (u_1, u_2, v_1, v_2), (..., 4).
    delta : float
        δ > 0.

    Returns
    -------
    torch.Tensor
        (...), differentiable.

    Raises
    ------
    ValueError
        if the shape does not fit or δ is not positive.

    Examples
    --------
    >>> round(lipschitz_loss(torch.zeros(4, dtype=torch.float64), delta=0.02).item(), 12)
    -0.1
    """
    _check_positive(delta=delta)
    if w.shape[-1:] != (4,):
        raise ValueError(f"w has shape {tuple(w.shape)}; allowed: (..., 4)")
    inner = (w[..., :2] * w[..., 2:]).sum(dim=-1)
    return (inner - delta) / (w.square().sum(dim=-1) + 2 * delta).sqrt()


def planar_neck(theta: torch.Tensor, e: float) -> Jet:
    """The closed curve x = sin θ, y = (e + sin² θ) cos θ, and two derivatives; θ from 0 to π joins (0, e) and (0, −e).

    Parameters
    ----------
    theta : torch.Tensor
        (...), float64.
    e : float
        half the width of the neck, 0 < e <= 1; then no point of the curve is closer than e to the origin.

    Returns
    -------
    tuple of torch.Tensor
        (..., 2) each.

    Raises
    ------
    ValueError
        if e is out of range.

    Examples
    --------
    >>> point, *_ = planar_neck(torch.tensor([0.0, math.pi / 2], dtype=torch.float64), e=0.1)
    >>> point.round(decimals=12).tolist()
    [[0.0, 0.1], [1.0, 0.0]]
    """
    if not 0 < e <= 1:
        raise ValueError(f"e = {e}; allowed: 0 < e <= 1")
    s, c = theta.sin(), theta.cos()
    p = e + s**2
    p1, p2 = 2 * s * c, 2 * (c**2 - s**2)
    y, y1, y2 = p * c, p1 * c - p * s, p2 * c - 2 * p1 * s - p * c
    return tuple(torch.stack(x, dim=-1) for x in ((s, y), (c, y1), (-s, y2)))


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} = {value}; allowed: a finite number > 0")
