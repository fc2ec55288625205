"""How far a chord is from a curve of bounded curvature: Theorem 6.2 of Zhao, Dehmamy, Walters & Yu, and its repair.

Let a curve of length ℓ and curvature at most κ join two points at distance D. The paper bounds the distance of every
point of the chord from the curve's level set by

    d_max = (1/κ) (1 − √(1 − (κD/2)²)),                                                                (8)

the height of a circular arc over its chord (:func:`arc_height`). That is real for D <= 2/κ only, and true if besides
ℓ <= π/κ (the chapter on curvature proves it, and that neither hypothesis can go). Two bounds hold for any curve: D/2,
the distance from the nearer end, and √(ℓ² − D²)/2, the height of the ellipse ``|z − w_1| + |z − w_2| = ℓ``.
:func:`chord_bound` is the least that holds; :func:`random_plane_curves` are curves on which to try it.

*Counterexamples to the theorem as printed* are curves in a level set that return close to where they began. Two
families have a neck of width 2e, with curvature bounded as e → 0, where the midpoint of the chord across the neck has
the distance e = D/2 from the whole level set:

- the minimum u·v = δ of the linear network f(x) = (u·v) x with two hidden neurons and target δ = e²/2, in R⁴
  (:func:`network_neck`);
- the closed curve y² = (e + x²)² (1 − x²) in the plane (:func:`planar_neck`), which can be drawn.

Both return points, velocities and accelerations, so that :func:`curvature` applies.

Curves are points (..., steps, p); κ, D and ℓ are float64 tensors (...) or numbers.
"""

from __future__ import annotations

import math

import torch

from lmc_helpers import expect
from lmc_helpers.seeds import torch_generator

__all__ = [
    "arc_height",
    "chord_bound",
    "curvature",
    "curvature_bound",
    "distance_between_ends",
    "distance_to_curve",
    "lipschitz_loss",
    "network_neck",
    "planar_neck",
    "random_plane_curves",
]

Number = torch.Tensor | float
Jet = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def curvature(velocity: torch.Tensor, acceleration: torch.Tensor) -> torch.Tensor:
    """κ = ``√(‖γ'‖²‖γ''‖² − ⟨γ', γ''⟩²) / ‖γ'‖³``, which is ``‖T'‖/‖γ'‖`` with ``T = γ'/‖γ'‖``, in any parametrisation.

    Computed as the norm of the part of γ'' normal to γ', over ``‖γ'‖²``, which loses no digits where the two are nearly
    parallel.

    Parameters
    ----------
    velocity, acceleration : torch.Tensor
        γ' and γ'', (..., p).

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    A circle of radius 2, at any speed:

    >>> curvature(torch.tensor([0.0, 6.0]).double(), torch.tensor([-18.0, 5.0]).double())
    tensor(0.5000, dtype=torch.float64)
    """
    expect.tensor(velocity, "velocity", "... p")
    expect.tensor(acceleration, "acceleration", "... p")
    expect.same({"velocity": velocity, "acceleration": acceleration}, shape=False)
    if velocity.shape != acceleration.shape:
        raise ValueError(
            f"γ' has shape {tuple(velocity.shape)} and γ'' {tuple(acceleration.shape)}; allowed: one shape"
        )
    square = velocity.square().sum(dim=-1, keepdim=True)
    if not (square > 0).all():
        raise ValueError("a velocity is 0; allowed: regular curves, γ' ≠ 0")
    along = (velocity * acceleration).sum(dim=-1, keepdim=True) / square
    return torch.linalg.vector_norm(acceleration - along * velocity, dim=-1) / square[..., 0]


def arc_height(kappa: Number, chord: Number) -> torch.Tensor:
    """d_max of equation (8), in the form κ (D/2)² / (1 + √(1 − (κD/2)²)), which does not cancel.

    Parameters
    ----------
    kappa : torch.Tensor or float
        κ > 0, largest curvature.
    chord : torch.Tensor or float
        D >= 0, distance of the ends; D <= 2/κ.

    Returns
    -------
    torch.Tensor
        float64.

    Examples
    --------
    Half a circle of radius 2, and a flat arc, for which d_max ≈ κD²/8:

    >>> arc_height(0.5, 4.0).item(), round(arc_height(1.0, 1e-4).item() * 8e8, 6)
    (2.0, 1.0)
    """
    expect.reals(kappa, "kappa")
    expect.reals(chord, "chord")
    k, D = _tensors(kappa=kappa, chord=chord)
    x = k * D / 2
    if (x > 1).any():
        bad_k, bad_D = (y[x > 1][0].item() for y in torch.broadcast_tensors(k, D))
        raise ValueError(f"D = {bad_D:.6g} > 2/κ = {2 / bad_k:.6g}, so that d_max is no real number; allowed: D <= 2/κ")
    return k * (D / 2).square() / (1 + (1 - x.square()).sqrt())


def chord_bound(kappa: Number, chord: Number, length: Number) -> torch.Tensor:
    """The least of D/2, √(ℓ² − D²)/2 and, where ℓ <= π/κ and D <= 2/κ, d_max; the corrected Theorem 6.2.

    Every point of the chord has at most this distance from the curve.

    Parameters
    ----------
    kappa, chord, length : torch.Tensor or float
        largest curvature κ > 0, distance D >= 0 of the ends, length ℓ >= D of the curve.

    Returns
    -------
    torch.Tensor
        float64.

    Examples
    --------
    A minor arc, and the major arc with the same ends, on the unit circle:

    >>> chord_bound(1.0, 2 * math.sin(1.0), 2.0).item() == 1 - math.cos(1.0)
    True
    >>> chord_bound(1.0, 2 * math.sin(1.0), 2 * math.pi - 2).item() == math.sin(1.0)
    True
    """
    expect.reals(kappa, "kappa")
    expect.reals(chord, "chord")
    expect.reals(length, "length")
    k, D, ell = torch.broadcast_tensors(*_tensors(kappa=kappa, chord=chord, length=length))
    if (ell < D * (1 - 1e-12)).any():
        raise ValueError("a length is smaller than the distance of the ends; allowed: length >= chord")
    bound = torch.minimum(D, (ell.square() - D.square()).clamp(min=0).sqrt()) / 2
    valid = (k * ell <= math.pi) & (k * D <= 2)
    arc = arc_height(k, torch.where(valid, D, 0.0))
    return torch.where(valid, torch.minimum(arc, bound), bound)


def distance_between_ends(path: torch.Tensor) -> torch.Tensor:
    """D = ``‖γ(1) − γ(0)‖``.

    Parameters
    ----------
    path : torch.Tensor
        curves (..., steps, p).

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> distance_between_ends(torch.tensor([[0.0, 0.0], [5.0, 5.0], [3.0, 4.0]]))
    tensor(5.)
    """
    expect.tensor(path, "path", "... steps p")
    return torch.linalg.vector_norm(path[..., -1, :] - path[..., 0, :], dim=-1)


def distance_to_curve(points: torch.Tensor, curve: torch.Tensor) -> torch.Tensor:
    """Distance of points from the polygon through the points of a curve.

    A polygon with edges of length ε is within κε²/8 of a curve of curvature at most κ.

    Parameters
    ----------
    points : torch.Tensor
        (..., q, p).
    curve : torch.Tensor
        (..., steps, p), steps >= 2.

    Returns
    -------
    torch.Tensor
        (..., q).

    Examples
    --------
    >>> corner = torch.tensor([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    >>> distance_to_curve(torch.tensor([[0.5, 0.2], [2.0, 0.0]]), corner)
    tensor([0.2000, 1.0000])
    """
    expect.tensor(points, "points", "... q p")
    expect.tensor(curve, "curve", "... steps p")
    expect.same({"points": points, "curve": curve}, shape=False)
    if curve.ndim < 2 or curve.shape[-2] < 2 or points.ndim < 2 or points.shape[-1] != curve.shape[-1]:
        raise ValueError(
            f"points {tuple(points.shape)} and curve {tuple(curve.shape)}; allowed: (..., q, p), (..., steps >= 2, p)"
        )
    start, edge = curve[..., :-1, :], curve.diff(dim=-2)
    square = edge.square().sum(dim=-1)[..., None, :]  # (..., 1, steps − 1)
    shift = points @ edge.mT - (start * edge).sum(dim=-1)[..., None, :]  # ⟨point − start, edge⟩
    place = (shift / square.clamp(min=torch.finfo(curve.dtype).tiny)).clamp(0, 1)
    from_start = torch.cdist(points, start, compute_mode="donot_use_mm_for_euclid_dist").square()
    return (from_start + place * (place * square - 2 * shift)).clamp(min=0).amin(dim=-1).sqrt()


def random_plane_curves(number: int, steps: int, seed: int, pieces: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Plane curves from the origin of lengths ℓ uniform in [0.1 π, 1.9 π], made of arcs with curvature at most 1.

    Each has ``pieces`` arcs of equal length and one curvature, 1 for half of the curves and uniform in [0, 1] for the
    others; an arc turns right with the probability 0.1 and else left.

    Parameters
    ----------
    number : int
        curves, >= 1.
    steps : int
        points of each, at equal distances along it, > pieces.
    seed : int
        seed of the random numbers.
    pieces : int
        arcs of each, >= 1.

    Returns
    -------
    torch.Tensor, torch.Tensor
        ℓ (number,) and points (number, steps, 2), float64.

    Examples
    --------
    >>> lengths, points = random_plane_curves(3, steps=13, seed=1)
    >>> points.shape, points[:, 0].tolist()
    (torch.Size([3, 13, 2]), [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    """
    expect.integer(number, "number")
    expect.integer(steps, "steps")
    expect.integer(pieces, "pieces")
    if number < 1 or pieces < 1 or steps <= pieces:
        raise ValueError(f"number = {number}, steps = {steps}, pieces = {pieces}; allowed: 1 <= pieces < steps, >= 1")
    generator = torch_generator(seed, "plane curves")

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, dtype=torch.float64, generator=generator)

    lengths = math.pi * (0.1 + 1.8 * uniform(number))
    strength = torch.where(uniform(number, 1) < 0.5, 1.0, uniform(number, 1))
    turn = strength * torch.where(uniform(number, pieces) < 0.9, 1.0, -1.0)  # κ of each arc, left > 0
    middles = torch.arange(steps - 1, dtype=torch.float64) + 0.5
    rate = turn[:, (middles * pieces / (steps - 1)).long()]  # (number, steps − 1)
    step = lengths[:, None] / (steps - 1)
    heading = (rate * step).cumsum(dim=1) - rate * step / 2
    moves = step[..., None] * torch.stack([heading.cos(), heading.sin()], dim=-1)
    return lengths, torch.cat([torch.zeros(number, 1, 2), moves], dim=1).cumsum(dim=1)


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

    Examples
    --------
    >>> w, *_ = network_neck(torch.tensor([0.0, 1.0, math.pi], dtype=torch.float64), delta=0.01)
    >>> (w[:, :2] * w[:, 2:]).sum(dim=-1)
    tensor([0.0100, 0.0100, 0.0100], dtype=torch.float64)
    >>> round((w[0] + w[-1]).norm().item(), 12)
    0.0
    """
    expect.tensor(phi, "phi")
    expect.number(delta, "delta")
    expect.number(size, "size")
    _check_positive(delta=delta, size=size)
    r, a = math.sqrt(delta), size
    s, c = phi.sin(), phi.cos()
    s2, c2 = (2 * phi).sin(), (2 * phi).cos()
    point = [r * c, r * s - a * s2 / 2, r * c + a * s**2, r * s]
    velocity = [-r * s, r * c - a * c2, -r * s + a * s2, r * c]
    acceleration = [-r * c, -r * s + 2 * a * s2, -r * c + 2 * a * c2, -r * s]
    return torch.stack(point, dim=-1), torch.stack(velocity, dim=-1), torch.stack(acceleration, dim=-1)


def curvature_bound(delta: float, size: float = 1.0) -> float:
    """(2a + e)/(a − e)² with e = √(2δ), which no curvature of :func:`network_neck` exceeds.

    ``‖γ''‖ <= 2a + e``, ``‖γ'‖ >= a − e`` and ``κ <= ‖γ''‖/‖γ'‖²``.

    Parameters
    ----------
    delta : float
        δ > 0, the target, with √(2δ) < a.
    size : float
        a > 0.

    Returns
    -------
    float
        the bound.

    Examples
    --------
    >>> round(curvature_bound(0.02), 12)
    3.4375
    """
    expect.number(delta, "delta")
    expect.number(size, "size")
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

    Examples
    --------
    >>> round(lipschitz_loss(torch.zeros(4, dtype=torch.float64), delta=0.02).item(), 12)
    -0.1
    """
    expect.tensor(w, "w", "... p")
    expect.number(delta, "delta")
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

    Examples
    --------
    >>> point, *_ = planar_neck(torch.tensor([0.0, math.pi / 2], dtype=torch.float64), e=0.1)
    >>> point.round(decimals=12).tolist()
    [[0.0, 0.1], [1.0, 0.0]]
    """
    expect.tensor(theta, "theta")
    expect.number(e, "e")
    if not 0 < e <= 1:
        raise ValueError(f"e = {e}; allowed: 0 < e <= 1")
    s, c = theta.sin(), theta.cos()
    p = e + s**2
    p1, p2 = 2 * s * c, 2 * (c**2 - s**2)
    y, y1, y2 = p * c, p1 * c - p * s, p2 * c - 2 * p1 * s - p * c
    return torch.stack((s, y), dim=-1), torch.stack((c, y1), dim=-1), torch.stack((-s, y2), dim=-1)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} = {value}; allowed: a finite number > 0")


def _tensors(**values: Number) -> list[torch.Tensor]:
    """float64 tensors; κ must be positive and lengths non-negative."""
    tensors = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in values.items()}
    for name, x in tensors.items():
        good = x.isfinite() & ((x > 0) if name == "kappa" else (x >= 0))
        if not good.all():
            allowed = "κ > 0, finite" if name == "kappa" else "finite numbers >= 0"
            raise ValueError(f"{name} = {x[~good].flatten()[0].item():g}; allowed: {allowed}")
    return list(tensors.values())
