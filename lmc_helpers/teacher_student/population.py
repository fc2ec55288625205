"""Two-layer teacher–student ReLU networks: exact loss, gradient and Hessian (Zhan, Li & Wu, sections 2–4).

The student f(x) = Σ_i σ(w_i·x), rows w_i of W (m, d), learns the teacher f*(x) = Σ_{j<=M} σ(e_j·x), M <= d, on inputs
x uniform on the unit sphere of R^d. With the kernel k(u, v) = E σ(u·x)σ(v·x) the loss (3) is a quadratic form,

    L(W) = Σ_{i,i'} k(w_i, w_i') − 2 Σ_{i,j} k(w_i, e_j) + Σ_{j,j'} k(e_j, e_j'),
    k(u, v) = [(π − θ) u·v + ‖u‖‖v‖ sin θ] / (2πd),       θ the angle of u and v            (7)–(8)
    ∂k/∂u   = [(π − θ) v + ‖v‖ sin θ û] / (2πd),           û = u/‖u‖.

A row 0 has no direction; its gradient is 0 here, as ReLU'(0) = 0.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Number, Positive, checked

__all__ = ["kappa", "population_gradient", "population_hessian", "population_loss"]


@checked
def kappa(t: Number | Float[Tensor, "*shape"], d: Positive) -> Float[Tensor, "*shape"]:
    """The arc-cosine kernel of eq. (8).

        κ(t) = [(π − arccos t) t + √(1 − t²)] / (2πd),    E σ(u·x) σ(v·x) = ‖u‖‖v‖ κ(cos θ).

    Thus κ(1) = 1/(2d), κ(0) = 1/(2πd) and κ(−1) = 0; rounding of t beyond [−1, 1] is clipped.

    Examples
    --------
    >>> kappa(1.0, d=4).item(), round(kappa(0.0, d=1).item(), 6)
    (0.125, 0.159155)
    """
    t = torch.as_tensor(t, dtype=None if torch.is_tensor(t) else torch.float64)
    wrong = t[~(t.abs() <= 1 + 1e-5)]
    if wrong.numel():
        raise ValueError(f"t = {wrong[0].item()}; allowed: -1 <= t <= 1")
    return arc_cosine(t.clamp(-1, 1), d)


def arc_cosine(t: Tensor, d: int) -> Tensor:
    """:func:`kappa` of -1 <= t <= 1, unchecked."""
    sines = (t * t).neg_().add_(1).sqrt_()  # in place: the rest of the time is allocation
    return torch.arccos(t).neg_().add_(math.pi).mul_(t).add_(sines).div_(2 * math.pi * d)


def _check_teacher(M: int, d: int) -> None:
    if M > d:
        raise ValueError(f"M = {M} teacher neurons in dimension d = {d}; allowed: 1 <= M <= d")


def units_and_cosines(W: Tensor, M: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of V = [W; e_1 … e_M] as units (..., m + M, d) and signed norms s‖v‖, and the cosines of W's rows with them.

    The sign is s = +1 for students, −1 for teachers; the cosines are (..., m, m + M).
    """
    m, d = W.shape[-2:]
    norms = torch.linalg.vector_norm(W, dim=-1)  # (..., m)
    teacher = torch.eye(M, d, dtype=W.dtype, device=W.device).expand(*W.shape[:-2], M, d)
    units = torch.cat([W / torch.where(norms == 0, 1.0, norms)[..., None], teacher], dim=-2)
    mass = torch.cat([norms, norms.new_full((*W.shape[:-2], M), -1.0)], dim=-1)  # (..., m + M)
    return units, mass, (units[..., :m, :] @ units.mT).clamp_(-1, 1)


class _PopulationLoss(torch.autograd.Function):
    """The loss with its closed gradient: automatic differentiation of arccos is infinite at parallel rows."""

    @staticmethod
    def forward(ctx, W: Tensor, M: int) -> Tensor:
        ctx.save_for_backward(W)
        ctx.M = M
        units, mass, _ = units_and_cosines(W, M)
        cosines = (units @ units.mT).clamp_(-1, 1)  # of teachers, too: the sum in this order is what records rest on
        return torch.einsum("...a,...ab,...b->...", mass, arc_cosine(cosines, W.shape[-1]), mass)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream: Tensor):
        (W,) = ctx.saved_tensors
        return upstream[..., None, None] * _gradient(W, ctx.M), None


@checked
def population_loss(W: Float[Tensor, "*batch m d"], M: Positive) -> Float[Tensor, " *batch"]:
    """The population loss (3) in closed form, by the kernel κ of eq. (8).

        L(W) = Σ_{i,i'} ‖w_i‖‖w_i'‖ κ(ŵ_i·ŵ_i') − 2 Σ_{i,j} ‖w_i‖ κ(ŵ_i·e_j) + M κ(1) + M(M − 1) κ(0).

    Differentiable once, with finite gradients at zero and at parallel rows. The teacher is the first M unit vectors.

    Examples
    --------
    The student 0 has the loss E (Σ_j σ(x_j))² = M κ(1) + M(M − 1) κ(0):

    >>> L = population_loss(torch.zeros(3, 4, dtype=torch.float64), M=2)
    >>> torch.allclose(L, 2 * kappa(1.0, 4) + 2 * kappa(0.0, 4))
    True
    """
    _check_teacher(M, W.shape[-1])
    return _PopulationLoss.apply(W, M)


@checked
def population_gradient(W: Float[Tensor, "*batch m d"], M: Positive) -> Float[Tensor, "*batch m d"]:
    """The gradient of the loss in closed form: 2 Σ_b s_b ∂k(w_i, v_b)/∂w_i over students and teachers b.

        ∂k/∂u = [(π − θ) v + ‖v‖ sin θ û]/(2πd),    s = +1 for students, −1 for teachers.

    Rows that are 0 have the gradient 0.
    """
    _check_teacher(M, W.shape[-1])
    return _gradient(W, M)


def _gradient(W: Tensor, M: int) -> Tensor:
    m, d = W.shape[-2:]
    units, mass, cosines = units_and_cosines(W, M)
    angles = torch.arccos(cosines).neg_().add_(math.pi)  # π − θ (..., m, m + M), in place as descent lives here
    sines = cosines.square_().neg_().add_(1).sqrt_()
    gradient = angles @ (mass[..., None] * units)  # Σ_b s_b (π − θ) v_b, (..., m, d)
    gradient += (sines @ mass[..., None]) * units[..., :m, :]  # Σ_b s_b ‖v_b‖ sin θ û
    alive = mass[..., :m, None] > 0
    return gradient.mul_(alive).div_(math.pi * d)


@checked
def population_hessian(W: Float[Tensor, "*batch m d"], M: Positive) -> Float[Tensor, "*batch m*d m*d"]:
    """The Hessian of the loss in closed form, for rows that are not 0.

    With n_u = (v̂ − cos θ û)/sin θ, ∂²k/∂u∂v = [(π − θ)I + û n_uᵀ + v̂ n_vᵀ]/(2πd) and ∂²k/∂u² = (‖v‖/‖u‖) sin θ [I −
    ûûᵀ + n_u n_uᵀ]/(2πd). At parallel rows the terms with n cancel or vanish. The rows of W are concatenated.

    Examples
    --------
    One student on one teacher in one dimension, L(w) = (w − 1)²/2 for w > 0:

    >>> population_hessian(torch.tensor([[2.0]], dtype=torch.float64), M=1)
    tensor([[1.]], dtype=torch.float64)
    """
    _check_teacher(M, W.shape[-1])
    m, d = W.shape[-2:]
    units, mass, cosines = units_and_cosines(W, M)
    norms = mass[..., :m]
    if not (norms > 0).all():
        raise ValueError("W has a row 0, where the loss has no second derivative; allowed: rows that are not 0")
    cosines = torch.where(1 - cosines.abs() < 1e-14, cosines.sign(), cosines)  # parallel but for rounding
    c = cosines[..., None, None]  # (..., m, m + M, 1, 1)
    s = torch.sqrt(1 - c * c)
    u, v = units[..., :m, None, :], units[..., None, :, :]  # (..., m, 1, d), (..., 1, m + M, d)
    apart = torch.where(s > 0, 1 / torch.where(s > 0, s, 1.0), 0.0)  # 1/sin θ, 0 at parallel rows
    n_u = (v - c[..., 0] * u) * apart[..., 0]  # (..., m, m + M, d)
    n_v = (u - c[..., 0] * v) * apart[..., 0]
    eye = torch.eye(d, dtype=W.dtype, device=W.device)

    def outer(a: Tensor, b: Tensor) -> Tensor:
        return a[..., :, None] * b[..., None, :]

    mixed = (math.pi - torch.arccos(c)) * eye + outer(u, n_u) + outer(v, n_v)  # (..., m, m + M, d, d)
    pure = s * (eye - outer(u, u) + outer(n_u, n_u)) * mass[..., None, :, None, None]
    own = pure.sum(dim=-3) / norms[..., None, None]  # (..., m, d, d)
    H = mixed[..., :m, :, :].clone()  # (..., m, m, d, d)
    index = torch.arange(m)
    H[..., index, index, :, :] += own
    return H.transpose(-3, -2).reshape(*W.shape[:-2], m * d, m * d) / (math.pi * d)
