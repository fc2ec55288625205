"""The bound of Theorem 6.2 of Zhao, Dehmamy, Walters & Yu and curves that test it, for the chapter *curvature*.

For a curve of length ℓ and curvature at most κ between two points at distance D, the paper bounds the distance of the
chord from the curve's level set by the height of a circular arc,

    d_max = (1/κ) (1 − √(1 − (κD/2)²)).                                                                (8)

It is real only for D <= 2/κ, and true if moreover ℓ <= π/κ (the chapter proves this, and that both hypotheses are
needed). For any curve D/2, the distance from the nearer end, and √(ℓ² − D²)/2, the height of an ellipse about the ends,
are bounds.

Curves that return close to their start contradict the theorem as printed. Two have a neck of width 2e, with curvature
bounded as e → 0, and the midpoint of the chord across it is D/2 = e from the level set: :func:`network_neck`, in the
minimum u·v = δ = e²/2 of f(x) = (u·v) x, and :func:`planar_neck`, which can be drawn. Two are orbits
exp(tM)·(W_1, W_2) = (e^{tM} W_1, W_2 e^{−tM}), long and of small curvature: for :func:`turn` and :func:`loop` d_max is
of the order 1/r, but the chord's midpoint has one distance from the minimum for every r (:func:`midpoint_distance`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from lmc_helpers.orbits.curves import chord, curvature, curve, derivatives, distance_between_ends, flatten, length
from lmc_helpers.orbits.group_actions import GeneralLinear, Weights
from lmc_helpers.seeds import torch_generator

Scalars = torch.Tensor | float
Jet = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # points, velocities and accelerations


def random_plane_curves(number: int, steps: int, seed: int, pieces: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Plane curves from the origin of lengths ℓ uniform in [0.1 π, 1.9 π], made of arcs with curvature at most 1.

    Each has ``pieces`` arcs of equal length and one curvature, 1 for half of the curves and uniform in [0, 1] for the
    others; an arc turns right with the probability 0.1 and else left.
    """
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
    """
    r, a = math.sqrt(delta), size
    s, c = phi.sin(), phi.cos()
    s2, c2 = (2 * phi).sin(), (2 * phi).cos()
    point = [r * c, r * s - a * s2 / 2, r * c + a * s**2, r * s]
    velocity = [-r * s, r * c - a * c2, -r * s + a * s2, r * c]
    acceleration = [-r * c, -r * s + 2 * a * s2, -r * c + 2 * a * c2, -r * s]
    return torch.stack(point, dim=-1), torch.stack(velocity, dim=-1), torch.stack(acceleration, dim=-1)


def curvature_bound(delta: float) -> float:
    """(2 + e)/(1 − e)² with e = √(2δ), which no curvature of :func:`network_neck` of size 1 exceeds.

    ``‖γ''‖ <= 2 + e``, ``‖γ'‖ >= 1 − e`` and ``κ <= ‖γ''‖/‖γ'‖²``.
    """
    e = math.sqrt(2 * delta)
    return (2 + e) / (1 - e) ** 2


def lipschitz_loss(w: torch.Tensor, delta: float) -> torch.Tensor:
    """``L(u, v) = (u·v − δ)/√(|u|² + |v|² + 2δ)``: smooth, 0 exactly where u·v = δ, Lipschitz with constant 3/2 on R⁴.

    With ``r² = |u|² + |v|²`` and s = r² + 2δ, ``|∇L| <= r/√s + |u·v − δ| r/s^(3/2)`` and ``|u·v − δ| <= s/2``.
    """
    inner = (w[..., :2] * w[..., 2:]).sum(dim=-1)
    return (inner - delta) / (w.square().sum(dim=-1) + 2 * delta).sqrt()


def planar_neck(theta: torch.Tensor, e: float) -> Jet:
    """The closed curve x = sin θ, y = (e + sin² θ) cos θ, and two derivatives; it joins (0, e) and (0, −e)."""
    s, c = theta.sin(), theta.cos()
    p = e + s**2
    p1, p2 = 2 * s * c, 2 * (c**2 - s**2)
    y, y1, y2 = p * c, p1 * c - p * s, p2 * c - 2 * p1 * s - p * c
    return torch.stack((s, y), dim=-1), torch.stack((c, y1), dim=-1), torch.stack((-s, y2), dim=-1)


class OrbitChords(NamedTuple):
    """Chords of B curves, q points each, and the quantities of Theorem 6.2."""

    chord: Weights  #: points (W_1, W_2) of the chords, (B, q, h, n) and (B, q, m, h)
    kappa: torch.Tensor  #: largest curvature of each curve on its grid, (B,)
    length: torch.Tensor  #: ℓ, (B,)
    D: torch.Tensor  #: distance of the ends, (B,)
    distance: torch.Tensor  #: largest distance of a point of the chord from the curve, (B,)
    lipschitz: torch.Tensor  #: C_L, (B,)


def orbit_chords(
    w: Weights, M: torch.Tensor, X: torch.Tensor, times: torch.Tensor, chord_times: torch.Tensor
) -> OrbitChords:
    """Chords of the curves exp(tM)·w, their lengths, curvatures and Lipschitz constants.

    The loss on the chord is ``‖W_2 W_1 X − Y‖`` with Y = W_2 W_1 X at the ends.
    """
    action = GeneralLinear()
    path = curve(action, M, w, times)  # (B, steps, h, n), (B, steps, m, h)
    line = chord(path, chord_times)
    points = flatten(path)  # (B, steps, p)
    ends = torch.stack([_spectral_norm(path[0][:, i] @ X) for i in (0, -1)]).amax(dim=0)
    second = _spectral_norm(path[1]).amax(dim=1) * _spectral_norm(X)
    return OrbitChords(
        chord=line,
        kappa=curvature(*derivatives(action, M[:, None], path)).amax(dim=1),
        length=length(action, M, w),
        D=distance_between_ends(points),
        distance=distance_to_curve(flatten(line), points).amax(dim=1),
        lipschitz=(ends**2 + second**2).sqrt(),
    )


def _spectral_norm(A: torch.Tensor) -> torch.Tensor:
    return torch.linalg.matrix_norm(A, 2)


CLOSED = 0.01  # distance between the ends of the loop
LOOP = ((0, 1, -1, 0), (0, 1, -3, 2))  # coefficients of s and of s (1 − 2t), s = t − t²


def turn(r: torch.Tensor, a: float) -> tuple[Weights, torch.Tensor]:
    """W_1 = diag(r, r, e^{−a}), W_2 = diag(r, r, e^a) and M = 2πJ ⊕ (2a).

    Two neurons make a full turn, eq. (4), and the third is rescaled by e^{2a}; the ends are D = 2√2 sinh a apart.
    """
    ones = torch.ones_like(r)
    first, second = (torch.stack([r, r, math.exp(x) * ones], dim=-1).diag_embed() for x in (-a, a))
    M = torch.zeros(len(r), 3, 3, dtype=r.dtype)
    M[:, 1, 0], M[:, 0, 1], M[:, 2, 2] = 2 * math.pi, -2 * math.pi, 2 * a
    return (first, second), M


def loop(r: torch.Tensor, a: float) -> tuple[Weights, torch.Tensor]:
    """W_1 with columns (p(0), 0) and (0, e^{−a}), W_2 = (0, 0, 0, 0, e^a) and M = N ⊕ (2a), e^{tN} p(0) = p(t).

    The input weights of four neurons follow a polynomial in t that nearly closes, and the fifth is rescaled. N is
    nilpotent, so that M is the principal logarithm of exp M, eq. (5).
    """
    c = torch.zeros(len(r), 4, 4, dtype=r.dtype)  # columns c_0, …, c_3
    c[:, :2] = r[:, None, None] * torch.tensor(LOOP, dtype=r.dtype)
    c[:, 2, 0] = c[:, 3, 3] = CLOSED
    shift = torch.tensor([1.0, 2.0, 3.0], dtype=r.dtype).diag(-1)
    M = torch.zeros(len(r), 5, 5, dtype=r.dtype)
    M[:, :4, :4] = torch.linalg.solve(c, c @ shift, left=False)  # c shift c⁻¹
    M[:, 4, 4] = 2 * a
    first, second = torch.zeros(len(r), 5, 2, dtype=r.dtype), torch.zeros(len(r), 1, 5, dtype=r.dtype)
    first[:, :4, 0], first[:, 4, 1], second[:, 0, 4] = c[..., 0], math.exp(-a), math.exp(a)
    return (first, second), M


def midpoint_distance(a: float) -> float:
    """Distance √2 (cosh a − 1) of the chord's midpoint from all minima of the network, for both curves and every r."""
    return math.sqrt(2) * (math.cosh(a) - 1)


def arc_height(kappa: Scalars, chord: Scalars) -> torch.Tensor:
    """d_max of equation (8), in the form κ (D/2)² / (1 + √(1 − (κD/2)²)), which does not cancel."""
    k, D = (torch.as_tensor(x, dtype=torch.float64) for x in (kappa, chord))
    return k * (D / 2).square() / (1 + (1 - (k * D / 2).square()).sqrt())


def chord_bound(kappa: Scalars, chord: Scalars, length: Scalars) -> torch.Tensor:
    """The least of D/2, √(ℓ² − D²)/2 and, where ℓ <= π/κ and D <= 2/κ, d_max; the corrected Theorem 6.2.

    Every point of the chord has at most this distance from the curve.
    """
    k, D, ell = torch.broadcast_tensors(*(torch.as_tensor(x, dtype=torch.float64) for x in (kappa, chord, length)))
    bound = torch.minimum(D, (ell.square() - D.square()).clamp(min=0).sqrt()) / 2
    valid = (k * ell <= math.pi) & (k * D <= 2)
    arc = arc_height(k, torch.where(valid, D, 0.0))
    return torch.where(valid, torch.minimum(arc, bound), bound)


def distance_to_curve(points: torch.Tensor, curve: torch.Tensor) -> torch.Tensor:
    """Distance (..., q) of points from the polygon through the points of a curve.

    A polygon with edges of length ε is within κε²/8 of a curve of curvature at most κ.
    """
    start, edge = curve[..., :-1, :], curve.diff(dim=-2)
    square = edge.square().sum(dim=-1)[..., None, :]  # (..., 1, steps − 1)
    shift = points @ edge.mT - (start * edge).sum(dim=-1)[..., None, :]  # ⟨point − start, edge⟩
    fraction = (shift / square.clamp(min=torch.finfo(curve.dtype).tiny)).clamp(0, 1)
    from_start = torch.cdist(points, start, compute_mode="donot_use_mm_for_euclid_dist").square()
    return (from_start + fraction * (fraction * square - 2 * shift)).clamp(min=0).amin(dim=-1).sqrt()
