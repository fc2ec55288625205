"""How far a point lies from the orbit of a factorisation under GL_h, by minimisation (Zhao et al., Prop. 5.5).

The orbit of (W_1, W_2), W_1 (m, h) and W_2 (h, n) of rank h, is S = {(X, Z) : X Z = W_1 W_2} = {(W_1 g⁻¹, g W_2)}. The
distance of (U, V) is the minimum over S of (``‖U − X‖² + ‖V − Z‖²``)^{1/2}, equation (23), with Frobenius norms; the
nearest point satisfies Xᵀ(U − X) = (V − Z)Zᵀ. :mod:`lmc_helpers.orbit_bounds` has what is known exactly.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import torch

from lmc_helpers.orbit_bounds import check, check_product, check_rank

__all__ = ["Foot", "orbit_distance", "stationarity"]


class Foot(NamedTuple):
    """The nearest point (X, Z) of the orbit that was found, its distance and its :func:`stationarity`."""

    X: torch.Tensor
    Z: torch.Tensor
    distance: torch.Tensor
    residual: torch.Tensor


def stationarity(U: torch.Tensor, V: torch.Tensor, X: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
    """Norm of Xᵀ(U − X) − (V − Z)Zᵀ relative to ``‖(X, Z)‖ ‖(U − X, V − Z)‖``: 0 where the distance is stationary.

    Along (X e^{−tη}, e^{tη} Z) the squared distance has the derivative 2 ⟨Xᵀ(U − X) − (V − Z)Zᵀ, η⟩ at t = 0.

    Parameters
    ----------
    U, V, X, Z : torch.Tensor
        (..., m, h), (..., h, n), and a point of the orbit of the same shapes.

    Returns
    -------
    torch.Tensor
        (...), 0 also where the point lies on the orbit.

    Raises
    ------
    ValueError
        if the shapes do not fit, a matrix is not float64 or not finite.

    Examples
    --------
    (1, 1) is the foot of (3/2, 3/2) on the hyperbola xz = 1, (2, ½) is not:

    >>> U = torch.tensor([[1.5]], dtype=torch.float64)
    >>> [round(stationarity(U, U, x + 0 * U, 1 / x + 0 * U).item(), 3) for x in (1.0, 2.0)]
    [0.0, 0.651]
    """
    check(U=U, V=V, X=X, Z=Z)
    check_product(U, V)
    check_product(X, Z)
    slope = torch.linalg.matrix_norm(X.mT @ (U - X) - (V - Z) @ Z.mT)
    return slope / (_squares(X, Z) * _squares(U - X, V - Z)).sqrt().clamp(min=1e-300)


def orbit_distance(
    U: torch.Tensor, V: torch.Tensor, W1: torch.Tensor, W2: torch.Tensor, steps: int = 100, tol: float = 1e-11
) -> Foot:
    """The distance of (U, V) from the orbit of (W_1, W_2), by Newton's method on GL_h from many starts.

    The starts are g = I and s Π + (I − Π)/s for each of the 2^h spectral projectors Π of UᵀU − VVᵀ, with s the size of
    V W_2⁺ and W_1⁺ U; each also with the other sign of det g. A step replaces (X, Z) by (X e^{−η}, e^{η} Z), in whose
    coordinates the derivatives of the squared distance are explicit; the signs of negative curvatures are turned, and
    steps are halved until the distance falls. A start is done where rounding stops it, too. The result is the best
    stationary point that was found: an upper bound. :func:`lmc_helpers.orbit_bounds.lower_bound` bounds from below.

    Parameters
    ----------
    U, V : torch.Tensor
        (..., m, h) and (..., h, n), float64.
    W1, W2 : torch.Tensor
        (m, h) and (h, n), both of rank h; h <= 6.
    steps : int
        budget of Newton steps, >= 1.
    tol : float
        :func:`stationarity` at which a start is done, > 0.

    Returns
    -------
    Foot
        X (..., m, h), Z (..., h, n), distance and stationarity (...).

    Raises
    ------
    ValueError
        if the shapes do not fit, a matrix is not float64, not finite or not of rank h, h > 6, or a number is not
        allowed.

    Examples
    --------
    The foot of (3, 3) on the hyperbola xz = 1 has x + z = 3:

    >>> U, one = torch.full((1, 1), 3.0, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    >>> foot = orbit_distance(U, U, one, one)
    >>> round(foot.distance.item() ** 2, 9), round((foot.X + foot.Z).item(), 9)
    (7.0, 3.0)
    """
    check(U=U, V=V, W1=W1, W2=W2)
    h = W1.shape[-1]
    if W1.ndim != 2 or W2.ndim != 2 or U.shape[-2:] != W1.shape or V.shape[-2:] != W2.shape:
        shapes = [tuple(t.shape) for t in (U, V, W1, W2)]
        raise ValueError(f"shapes {shapes}; allowed: (..., m, h), (..., h, n), (m, h) and (h, n)")
    check_product(U, V)
    if h > 6:
        raise ValueError(f"h = {h}; allowed: h <= 6, as 2^h starts are tried")
    if min(W1.shape[0], W2.shape[1]) < h:
        raise ValueError(f"W1 {tuple(W1.shape)} and W2 {tuple(W2.shape)}; allowed: (m, h) and (h, n) with m, n >= h")
    check_rank("W1", W1)
    check_rank("W2", W2)
    if steps < 1 or not 0 < tol < math.inf:
        raise ValueError(f"steps = {steps}, tol = {tol}; allowed: steps >= 1 and 0 < tol < inf")
    shape = U.shape[:-2]
    U, V = U.reshape(-1, *W1.shape), V.reshape(-1, *W2.shape)  # (B, m, h), (B, h, n)
    g = _starts(U, V, W1, W2)  # (s, B, h, h)
    X, Z = W1 @ torch.linalg.inv(g), g @ W2
    flat = (t.flatten(0, 1) for t in (U.expand_as(X), V.expand_as(Z), X, Z))
    X, Z = _newton(*flat, steps, tol)
    X, Z = X.unflatten(0, g.shape[:2]), Z.unflatten(0, g.shape[:2])
    distance = _squares(U - X, V - Z).sqrt()  # (s, B)
    best = distance.argmin(dim=0)
    X, Z, distance = (t[best, torch.arange(len(U))] for t in (X, Z, distance))
    residual = stationarity(U, V, X, Z)
    return Foot(*(t.reshape(shape + t.shape[1:]) for t in (X, Z, distance, residual)))


def _starts(U: torch.Tensor, V: torch.Tensor, W1: torch.Tensor, W2: torch.Tensor) -> torch.Tensor:
    """g (s, B, h, h): the identity and s Π + (I − Π)/s, with both signs of the determinant."""
    h = W1.shape[-1]
    eye = torch.eye(h, dtype=U.dtype, device=U.device)
    Q = torch.linalg.eigh(U.mT @ U - V @ V.mT).eigenvectors  # (B, h, h)
    fits = V @ torch.linalg.pinv(W2), torch.linalg.pinv(W1) @ U  # g with g W_2 ≈ V, g⁻¹ with W_1 g⁻¹ ≈ U
    size = 1 + sum(torch.linalg.matrix_norm(g, 2) for g in fits)[:, None, None] / 2
    found = [eye.expand_as(Q)]
    for mask in itertools.product((0.0, 1.0), repeat=h):
        Pi = Q * torch.tensor(mask, dtype=U.dtype, device=U.device) @ Q.mT
        found.append(Pi * size + (eye - Pi) / size)
    turn = eye.clone()
    turn[0, 0] = -1
    return torch.stack([*found, *(turn @ g for g in found)])


def _newton(
    U: torch.Tensor, V: torch.Tensor, X: torch.Tensor, Z: torch.Tensor, steps: int, tol: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Damped Newton steps on the squared distance in the coordinates η of (X e^{−η}, e^{η} Z), batched."""
    X, Z = X.clone(), Z.clone()
    h = X.shape[-1]
    basis = torch.eye(h * h, dtype=X.dtype, device=X.device).reshape(h * h, h, h)
    active = torch.arange(len(X), device=X.device)
    last = torch.full((len(X),), math.inf, dtype=X.dtype, device=X.device)  # stationarity one step before
    rounding = torch.zeros(len(X), dtype=torch.bool, device=X.device)  # whether that step could not be seen
    for _ in range(steps):
        now = stationarity(U[active], V[active], X[active], Z[active])
        going = (now > tol) & ~(rounding[active] & (now > last[active] / 2))
        last[active] = now
        active = active[going]
        if not len(active):
            break
        x, z, R, T = X[active], Z[active], U[active] - X[active], V[active] - Z[active]
        slope = x.mT @ R - T @ z.mT  # (b, h, h): half the derivative
        P, Q, N = (M[:, None] for M in (x.mT @ x, z @ z.mT, x.mT @ R + T @ z.mT))
        images = P @ basis + basis @ Q - (N @ basis.mT + basis.mT @ N) / 2  # (b, h², h, h): half the second derivative
        values, vectors = torch.linalg.eigh(images.flatten(2))
        values = values.abs().clamp(min=1e-14 * values.abs().amax(dim=-1, keepdim=True))
        step = -(vectors @ ((vectors.mT @ slope.flatten(1)[..., None]) / values[..., None])).reshape(-1, h, h)
        step = step * (1.0 / torch.linalg.matrix_norm(step)).clamp(max=1.0)[:, None, None]
        before = _squares(R, T)
        slack = 1e-14 * before
        rounding[active] = -(slope * step).sum(dim=(-2, -1)) <= 1e-15 * before
        waiting = torch.arange(len(active), device=X.device)
        for _ in range(40):
            there_x = x[waiting] @ torch.linalg.matrix_exp(-step[waiting])
            there_z = torch.linalg.matrix_exp(step[waiting]) @ z[waiting]
            after = _squares(U[active[waiting]] - there_x, V[active[waiting]] - there_z)
            good = after <= before[waiting] + slack[waiting]
            X[active[waiting[good]]], Z[active[waiting[good]]] = there_x[good], there_z[good]
            waiting = waiting[~good]
            if not len(waiting):
                break
            step[waiting] = step[waiting] / 2
    return X, Z


def _squares(E: torch.Tensor, F: torch.Tensor) -> torch.Tensor:
    return E.square().sum(dim=(-2, -1)) + F.square().sum(dim=(-2, -1))
