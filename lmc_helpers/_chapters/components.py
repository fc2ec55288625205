"""Code of the chapter *components*."""

from __future__ import annotations

import itertools

import torch

from lmc_helpers.linear_nets.minimum import AT_MINIMUM, Weights, loss

# ---------- descent
#
# Minima of a deep linear network by descent: damped Gauss–Newton steps that lower the loss.
#
# For R = W_l … W_1 X − Y and a step (dW_1, …, dW_l) to first order dR = Σ A_i dW_i B_i with A_i = W_l … W_{i+1} and B_i
# = W_{i−1} … W_1 X. With S = Σ (A_i A_iᵀ) ⊗ (B_iᵀ B_i), the Gram matrix of the derivative, Levenberg and Marquardt's
# step is
#
# dW_i = −A_iᵀ Z B_iᵀ,    (S + μI) vec Z = vec R,
#
# and it is taken only if the loss falls; otherwise μ grows. Unlike the image of a point of GL_h^{l−1}, the minimum that
# a descent reaches may lie in any component.


def descend(weights: Weights, X: torch.Tensor, Y: torch.Tensor, steps: int) -> tuple[Weights, torch.Tensor]:
    """Networks after at most ``steps`` damped Gauss–Newton steps, and which of them have reached the minimum, (B,)."""
    W = list(weights)  # (B, h, h) each
    close = 1e-4 * AT_MINIMUM * Y.square().sum()
    value = loss(W, X, Y)  # (B,)
    damping = torch.ones_like(value)
    for _ in range(steps):
        if (value <= close).all():
            break
        trial = _step(W, X, Y, damping)
        trial_value = loss(trial, X, Y)
        better = trial_value < value
        W = [torch.where(better[:, None, None], new, old) for new, old in zip(trial, W, strict=True)]
        value = torch.where(better, trial_value, value)
        damping = torch.where(better, damping / 3, damping * 4).clamp(min=1e-18)
    return W, value <= close


def _step(W: Weights, X: torch.Tensor, Y: torch.Tensor, damping: torch.Tensor) -> Weights:
    """The networks after one step with damping μ (B,)."""
    B, h = W[0].shape[0], W[0].shape[-1]
    before, after = [X.expand(B, h, h)], [torch.eye(h, dtype=X.dtype).expand(B, h, h)]
    for layer in W[:-1]:
        before.append(layer @ before[-1])
    for layer in reversed(W[1:]):
        after.append(after[-1] @ layer)
    after.reverse()
    residual = W[-1] @ before[-1] - Y
    gram = sum(
        torch.einsum("bij,bkl->bikjl", A @ A.mT, C.mT @ C).reshape(B, h * h, h * h)
        for A, C in zip(after, before, strict=True)
    )
    identity = torch.eye(h * h, dtype=X.dtype)
    Z = torch.linalg.solve(gram + damping[:, None, None] * identity, residual.reshape(B, h * h)).reshape(B, h, h)
    return [layer - A.mT @ Z @ C.mT for layer, A, C in zip(W, after, before, strict=True)]


# ---------- all components


def all_components(layers: int) -> torch.Tensor:
    """The signs (2^{l−1}, l − 1) of all components (Cor. 4.2); the last sign changes first, from 1 to −1."""
    return torch.tensor(list(itertools.product((1, -1), repeat=layers - 1)), dtype=torch.float64)


# ---------- straight lines
#
# det(B + λ (A − B)) vanishes at λ = −1/μ, μ the eigenvalues of B⁻¹ (A − B); real λ within (0, 1) count. On the line
# between two components there is one, and there L >= σ_min(Y)², which a grid of λ could miss.


def highest_on_line(a: Weights, b: Weights, X: torch.Tensor, Y: torch.Tensor, lambdas: torch.Tensor) -> torch.Tensor:
    """The largest loss on λ a + (1 − λ) b at the given λ and wherever a factor on the line is singular."""
    values = [torch.linalg.eigvals(torch.linalg.solve(B, A - B)) for A, B in zip(a, b, strict=True)]
    roots = torch.cat([-1 / v for v in values], dim=-1)  # (..., l h)
    within = (roots.imag.abs() < 1e-9) & (roots.real > 0) & (roots.real < 1)
    singular = torch.where(within, roots.real, 0)  # the others are replaced by λ = 0
    points = torch.cat([lambdas.expand(*singular.shape[:-1], -1), singular], dim=-1)[..., None, None]
    line = [torch.lerp(B[..., None, :, :], A[..., None, :, :], points) for A, B in zip(a, b, strict=True)]
    return loss(line, X, Y).amax(dim=-1)


# ---------- permutations
#
# An odd permutation of layer k turns round the sign of det(W_k … W_1 X), the orientation of that layer's activations,
# and of no other layer; so permutations join every two components of the minimum if h >= 2.


def permute_layers(weights: Weights, perms: list[torch.Tensor]) -> Weights:
    """(P_1 W_1, P_2 W_2 P_1⁻¹, …, W_l P_{l−1}⁻¹), the same function with its hidden neurons in another order.

    The paper prints (W_1 P_1, P_1⁻¹ W_2 P_2, …) in Prop. 5.2, which has another product W_l … W_1. Row j of P_i W is
    row ``perms[i - 1][j]`` of W.
    """
    rows = [W[..., perm, :] for W, perm in zip(weights[:-1], perms, strict=True)]
    return [rows[0], *(W[..., perm] for W, perm in zip([*rows[1:], weights[-1]], perms, strict=True))]
