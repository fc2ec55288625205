"""Distance of a point from the orbit of a factorisation under GL_h (Zhao et al., Prop. 5.5; chapters 34 and 36).

The orbit of (W_1, W_2), W_1 (m, h) and W_2 (h, n) of rank h, is

    S = {(X, Z) : X Z = W_1 W_2} = {(W_1 g⁻¹, g W_2) : g in GL_h}.

The distance of (U, V) is the minimum over S of (``‖U − X‖² + ‖V − Z‖²``)^{1/2}, eq. (23), with Frobenius norms.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import torch

__all__ = ()  # what packages of ours lend each other


STEPS, TOLERANCE = 100, 1e-11  # Newton steps, and the stationarity at which they stop


class Foot(NamedTuple):
    """The nearest point (X, Z) of an orbit, the foot of a perpendicular."""

    X: torch.Tensor  # (..., m, h)
    Z: torch.Tensor  # (..., h, n)
    distance: torch.Tensor  # (...)
    residual: torch.Tensor  # (...), its :func:`stationarity`


def stationarity(U: torch.Tensor, V: torch.Tensor, X: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
    """Norm of Xᵀ(U − X) − (V − Z)Zᵀ relative to ``‖(X, Z)‖ ‖(U − X, V − Z)‖``: 0 where the distance is stationary."""
    slope = torch.linalg.matrix_norm(X.mT @ (U - X) - (V - Z) @ Z.mT)
    return slope / (_squares(X, Z) * _squares(U - X, V - Z)).sqrt().clamp(min=1e-300)


def orbit_distance(U: torch.Tensor, V: torch.Tensor, W1: torch.Tensor, W2: torch.Tensor) -> Foot:
    """The distance of (U, V) from the orbit of (W_1, W_2), by Newton's method on GL_h from many starts."""
    shape = U.shape[:-2]
    U, V = U.reshape(-1, *W1.shape), V.reshape(-1, *W2.shape)  # (B, m, h), (B, h, n)
    g = _starts(U, V, W1, W2)  # (s, B, h, h)
    X, Z = W1 @ torch.linalg.inv(g), g @ W2
    U_all, V_all, X, Z = (t.flatten(0, 1) for t in (U.expand_as(X), V.expand_as(Z), X, Z))
    X, Z = _newton(U_all, V_all, X, Z)
    X, Z = X.unflatten(0, g.shape[:2]), Z.unflatten(0, g.shape[:2])
    distance = _squares(U - X, V - Z).sqrt()  # (s, B)
    residual = stationarity(U_all.unflatten(0, g.shape[:2]), V_all.unflatten(0, g.shape[:2]), X, Z)
    nearest = distance <= distance.amin(dim=0) * (1 + 1e-12)  # equal to rounding
    best = torch.where(nearest, residual, torch.inf).argmin(dim=0)
    X, Z, distance, residual = (t[best, torch.arange(len(U))] for t in (X, Z, distance, residual))
    return Foot(*(t.reshape(shape + t.shape[1:]) for t in (X, Z, distance, residual)))


def _starts(U: torch.Tensor, V: torch.Tensor, W1: torch.Tensor, W2: torch.Tensor) -> torch.Tensor:
    """g (s, B, h, h): the identity and s Π + (I − Π)/s, with both signs of the determinant."""
    h = W1.shape[-1]
    eye = torch.eye(h, dtype=U.dtype, device=U.device)
    Q = torch.linalg.eigh(U.mT @ U - V @ V.mT).eigenvectors  # (B, h, h)
    fits = V @ torch.linalg.pinv(W2), torch.linalg.pinv(W1) @ U  # g with g W_2 ≈ V, g⁻¹ with W_1 g⁻¹ ≈ U
    size = 1 + sum(torch.linalg.matrix_norm(g, 2) for g in fits)[:, None, None] / 2
    starts = [eye.expand_as(Q)]
    for mask in itertools.product((0.0, 1.0), repeat=h):
        Pi = Q * torch.tensor(mask, dtype=U.dtype, device=U.device) @ Q.mT
        starts.append(Pi * size + (eye - Pi) / size)
    reflection = eye.clone()
    reflection[0, 0] = -1
    return torch.stack([*starts, *(reflection @ g for g in starts)])


def _newton(U: torch.Tensor, V: torch.Tensor, X: torch.Tensor, Z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Damped Newton steps on the squared distance in the coordinates η of (X e^{−η}, e^{η} Z), batched."""
    X, Z = X.clone(), Z.clone()
    h = X.shape[-1]
    basis = torch.eye(h * h, dtype=X.dtype, device=X.device).reshape(h * h, h, h)
    active = torch.arange(len(X), device=X.device)
    last = torch.full((len(X),), math.inf, dtype=X.dtype, device=X.device)  # stationarity before the last step
    rounding = torch.zeros(len(X), dtype=torch.bool, device=X.device)  # whether its decrease was below rounding
    for _ in range(STEPS):
        now = stationarity(U[active], V[active], X[active], Z[active])
        going = (now > TOLERANCE) & ~(rounding[active] & (now > last[active] / 2))
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
            new_x = x[waiting] @ torch.linalg.matrix_exp(-step[waiting])
            new_z = torch.linalg.matrix_exp(step[waiting]) @ z[waiting]
            after = _squares(U[active[waiting]] - new_x, V[active[waiting]] - new_z)
            good = after <= before[waiting] + slack[waiting]
            X[active[waiting[good]]], Z[active[waiting[good]]] = new_x[good], new_z[good]
            waiting = waiting[~good]
            if not len(waiting):
                break
            step[waiting] = step[waiting] / 2
    return X, Z


def _squares(E: torch.Tensor, F: torch.Tensor) -> torch.Tensor:
    return E.square().sum(dim=(-2, -1)) + F.square().sum(dim=(-2, -1))
