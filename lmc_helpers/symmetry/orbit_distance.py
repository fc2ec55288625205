"""How far a point lies from the orbit of a factorisation under GL_h (Zhao, Dehmamy, Walters & Yu, Prop. 5.5).

The orbit of (W_1, W_2), W_1 (m, h) and W_2 (h, n) of rank h, is

    S = {(X, Z) : X Z = W_1 W_2} = {(W_1 g⁻¹, g W_2) : g in GL_h}.

The distance of (U, V) is the minimum over S of (``‖U − X‖² + ‖V − Z‖²``)^{1/2}, equation (23), with Frobenius norms.

*Bounds.* The distance to the cone {X Z = 0} has a closed form,

    d_0(U, V)² = ½ (``‖U‖² + ‖V‖² − ‖UᵀU − VVᵀ‖_*``).

For one Γ of spectral norm at most 1 the function ``‖U − X‖² + ‖V − Z‖²`` + 2 ⟨Γ, X Z⟩ is convex in (X, Z) and least at
the nearest point of the cone. For the midpoints (c W_1, c W_2), c = (β + 1/β)/2, of the paper's proof this gives

    (c² − 2) d_0(W_1, W_2)²  <=  dist²  <=  (c − 1/c)² d_0(W_1, W_2)²,

and if W_1ᵀ W_1 = W_2 W_2ᵀ the distance is known for all c.

*Minimisation.* :func:`orbit_distance` looks for the nearest point by Newton's method on the group. It satisfies

    Xᵀ(U − X) = (V − Z) Zᵀ.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import torch

from lmc_helpers import expect
from lmc_helpers.general_linear import rank_tolerance

__all__ = [
    "Foot",
    "balanced_distance",
    "balanced_factorisation",
    "distance_to_zero_product",
    "midpoint_bounds",
    "orbit_distance",
    "stationarity",
]


def distance_to_zero_product(U: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """d_0, the distance of (U, V) to all (X, Z) with X Z = 0.

    d_0² = ½ (``‖U‖² + ‖V‖² − ‖UᵀU − VVᵀ‖_*``); the foot is (U (I − Π), Π V) with the projector Π on the eigenvectors of
    UᵀU − VVᵀ with negative eigenvalues.

    Parameters
    ----------
    U, V : torch.Tensor
        (..., m, h) and (..., h, n), float64.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> U = torch.tensor([[3.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    >>> distance_to_zero_product(U, U.flip(0, 1))
    tensor(1.4142, dtype=torch.float64)
    """
    _require_matrices(U=U, V=V)
    _require_factors(U, V)
    values = torch.linalg.eigvalsh(U.mT @ U - V @ V.mT)
    squares = U.square().sum(dim=(-2, -1)) + V.square().sum(dim=(-2, -1))
    return ((squares - values.abs().sum(dim=-1)) / 2).clamp(min=0).sqrt()


def midpoint_bounds(W1: torch.Tensor, W2: torch.Tensor, c: float | torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Bounds on the distance of (c W_1, c W_2) from the orbit of (W_1, W_2): d_0 (c² − 2)^{1/2} and (c − 1/c) d_0.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (..., m, h) and (..., h, n), float64.
    c : float or torch.Tensor
        finite and >= 1; it broadcasts with (...).

    Returns
    -------
    torch.Tensor, torch.Tensor
        the lower bound, 0 where c² < 2, and the upper one.

    Examples
    --------
    >>> midpoint_bounds(*torch.ones(2, 1, 1, dtype=torch.float64), 2.0)
    (tensor(1.4142, dtype=torch.float64), tensor(1.5000, dtype=torch.float64))
    """
    c = _require_stretch(c, least=1)
    near = distance_to_zero_product(W1, W2)
    return (c.square() - 2).clamp(min=0).sqrt() * near, (c - 1 / c) * near


def balanced_factorisation(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The factorisation W_1 = P D^{1/2}, W_2 = D^{1/2} Qᵀ from the singular values A = P D Qᵀ; W_1ᵀ W_1 = W_2 W_2ᵀ = D.

    Parameters
    ----------
    A : torch.Tensor
        (..., n, n), invertible, float64.

    Returns
    -------
    torch.Tensor, torch.Tensor
        W_1 and W_2, each (..., n, n).

    Examples
    --------
    >>> W1, W2 = balanced_factorisation(torch.tensor([[0.0, 4.0], [1.0, 0.0]], dtype=torch.float64))
    >>> round(W1.norm().item() ** 2, 12), (W1 @ W2).tolist()
    (5.0, [[0.0, 4.0], [1.0, 0.0]])
    """
    _require_matrices(A=A)
    if A.shape[-1] != A.shape[-2]:
        raise ValueError(f"A has shape {tuple(A.shape)}; allowed: (..., n, n)")
    _require_full_rank("A", A)
    P, values, Qh = torch.linalg.svd(A)
    root = values.sqrt()
    return P * root[..., None, :], root[..., None] * Qh


def balanced_distance(c: float | torch.Tensor, A: torch.Tensor) -> torch.Tensor:
    """The distance of (c W_1, c W_2) from the orbit of a balanced factorisation of A, exactly.

    With W_1ᵀ W_1 = W_2 W_2ᵀ = D the squared distance to (W_1 g⁻¹, g W_2) is
    (c² − 2) tr D + ``‖(g + g⁻ᵀ − cI) D^{1/2}‖²``, and g + g⁻ᵀ has singular values >= 2. So the least one is
    (c² − 2) ``‖A‖_*`` for c >= 2 and 2 (c − 1)² ``‖A‖_*`` for 0 <= c <= 2.

    Parameters
    ----------
    c : float or torch.Tensor
        (...), finite and >= 0.
    A : torch.Tensor
        (n, n), invertible, float64.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> balanced_distance(3.0, torch.eye(1, dtype=torch.float64)) ** 2
    tensor(7.0000, dtype=torch.float64)
    """
    c = _require_stretch(c, least=0)
    balanced_factorisation(A)  # checks A
    square = torch.where(c < 2, 2 * (c - 1).square(), c.square() - 2)
    return (square * torch.linalg.matrix_norm(A, "nuc")).sqrt()


def _require_stretch(c: float | torch.Tensor, least: float) -> torch.Tensor:
    expect.reals(c, "c")
    c = torch.as_tensor(c, dtype=torch.float64)
    bad = c[~((c >= least) & torch.isfinite(c))]
    if bad.numel():
        raise ValueError(f"c = {bad.flatten()[0].item()}; allowed: finite numbers >= {least}")
    return c


def _require_matrices(**matrices: torch.Tensor) -> None:
    """Raise ValueError unless each is a finite matrix (..., p, q) of float64; the name is in the message."""
    for name, M in matrices.items():
        expect.tensor(M, name, finite=False)
        if M.ndim < 2 or min(M.shape[-2:]) < 1 or M.dtype != torch.float64:
            raise ValueError(f"{name} has shape {tuple(M.shape)} and {M.dtype}; allowed: matrices of torch.float64")
        if not torch.isfinite(M).all():
            raise ValueError(f"{name} holds values that are not finite; allowed: finite matrices")


def _require_factors(U: torch.Tensor, V: torch.Tensor) -> None:
    """Raise ValueError unless U (..., m, h) and V (..., h, n) fit together."""
    if U.shape[-1] != V.shape[-2] or U.shape[:-2] != V.shape[:-2]:
        raise ValueError(f"shapes {tuple(U.shape)} and {tuple(V.shape)}; allowed: (..., m, h) and (..., h, n)")


def _require_full_rank(name: str, M: torch.Tensor) -> None:
    """Raise ValueError if the least singular value of a matrix is rounding."""
    values = torch.linalg.svdvals(M)
    if not (values[..., -1] > rank_tolerance(max(M.shape[-2:])) * values[..., 0]).all():
        raise ValueError(f"{name} is singular to rounding; allowed: full rank")


class Foot(NamedTuple):
    """The nearest point of an orbit that was found, the foot of a perpendicular.

    X (..., m, h) and Z (..., h, n) are the point, ``distance`` (...) is its distance from (U, V), and ``residual``
    (...) its :func:`stationarity`, 0 but for rounding.
    """

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

    Examples
    --------
    (1, 1) is the foot of (3/2, 3/2) on the hyperbola xz = 1, (2, ½) is not:

    >>> U = torch.tensor([[1.5]], dtype=torch.float64)
    >>> [round(stationarity(U, U, x + 0 * U, 1 / x + 0 * U).item(), 3) for x in (1.0, 2.0)]
    [0.0, 0.651]
    """
    _require_matrices(U=U, V=V, X=X, Z=Z)
    _require_factors(U, V)
    _require_factors(X, Z)
    if U.shape[-2:] != X.shape[-2:] or V.shape[-2:] != Z.shape[-2:]:
        raise ValueError(f"U, V have shapes {tuple(U.shape)}, {tuple(V.shape)}, X, Z others; allowed: those of X and Z")
    slope = torch.linalg.matrix_norm(X.mT @ (U - X) - (V - Z) @ Z.mT)
    return slope / (_squares(X, Z) * _squares(U - X, V - Z)).sqrt().clamp(min=1e-300)


def orbit_distance(
    U: torch.Tensor, V: torch.Tensor, W1: torch.Tensor, W2: torch.Tensor, steps: int = 100, tol: float = 1e-11
) -> Foot:
    """The distance of (U, V) from the orbit of (W_1, W_2), by Newton's method on GL_h from many starts.

    The starts are g = I and s Π + (I − Π)/s for each of the 2^h spectral projectors Π of UᵀU − VVᵀ, with s the size of
    V W_2⁺ and W_1⁺ U; each also with the other sign of det g. A step replaces (X, Z) by (X e^{−η}, e^{η} Z), in whose
    coordinates the derivatives of the squared distance are explicit; the signs of negative curvatures are turned, and
    steps are halved until the distance falls. A start is done where rounding stops it, too. The result is the nearest
    point that was found, an upper bound on the distance; of several that differ in rounding, the most stationary.

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

    Examples
    --------
    The foot of (3, 3) on the hyperbola xz = 1 has x + z = 3:

    >>> U, one = torch.full((1, 1), 3.0, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    >>> foot = orbit_distance(U, U, one, one)
    >>> round(foot.distance.item() ** 2, 9), round((foot.X + foot.Z).item(), 9)
    (7.0, 3.0)
    """
    expect.integer(steps, "steps")
    expect.number(tol, "tol")
    _require_matrices(U=U, V=V, W1=W1, W2=W2)
    h = W1.shape[-1]
    if W1.ndim != 2 or W2.ndim != 2 or U.shape[-2:] != W1.shape or V.shape[-2:] != W2.shape:
        shapes = [tuple(t.shape) for t in (U, V, W1, W2)]
        raise ValueError(f"shapes {shapes}; allowed: (..., m, h), (..., h, n), (m, h) and (h, n)")
    _require_factors(U, V)
    if h > 6:
        raise ValueError(f"h = {h}; allowed: h <= 6, as 2^h starts are tried")
    if min(W1.shape[0], W2.shape[1]) < h:
        raise ValueError(f"W1 {tuple(W1.shape)} and W2 {tuple(W2.shape)}; allowed: (m, h) and (h, n) with m, n >= h")
    _require_full_rank("W1", W1)
    _require_full_rank("W2", W2)
    if steps < 1 or not 0 < tol < math.inf:
        raise ValueError(f"steps = {steps}, tol = {tol}; allowed: steps >= 1 and 0 < tol < inf")
    shape = U.shape[:-2]
    U, V = U.reshape(-1, *W1.shape), V.reshape(-1, *W2.shape)  # (B, m, h), (B, h, n)
    g = _starts(U, V, W1, W2)  # (s, B, h, h)
    X, Z = W1 @ torch.linalg.inv(g), g @ W2
    U_all, V_all, X, Z = (t.flatten(0, 1) for t in (U.expand_as(X), V.expand_as(Z), X, Z))
    X, Z = _newton(U_all, V_all, X, Z, steps, tol)
    X, Z = X.unflatten(0, g.shape[:2]), Z.unflatten(0, g.shape[:2])
    distance = _squares(U - X, V - Z).sqrt()  # (s, B)
    residual = stationarity(U_all.unflatten(0, g.shape[:2]), V_all.unflatten(0, g.shape[:2]), X, Z)
    nearest = distance <= distance.amin(dim=0) * (1 + 1e-12)  # the same distance but for rounding
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
