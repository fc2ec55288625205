"""Components of the minima of deep linear networks and walks inside them, for the chapter *components*."""

from __future__ import annotations

import itertools

import torch

from lmc_helpers.general_linear import random_invertible
from lmc_helpers.linear_nets import AT_MINIMUM, loss
from lmc_helpers.linear_nets.minimum import Weights
from lmc_helpers.linear_nets.walks import sides


def descend(weights: Weights, X: torch.Tensor, Y: torch.Tensor, steps: int) -> tuple[Weights, torch.Tensor]:
    """Networks after at most ``steps`` damped Gauss–Newton steps, and which of them have reached the minimum, (B,).

    For R = W_l … W_1 X − Y, to first order dR = Σ A_i dW_i B_i, the step of Levenberg and Marquardt is dW_i = −A_iᵀ Z
    B_iᵀ with (S + μI) vec Z = vec R and S = Σ (A_i A_iᵀ) ⊗ (B_iᵀ B_i). It is taken only if the loss falls; otherwise μ
    grows. Unlike the image of a point of GL_h^{l−1}, the minimum that is reached may lie in any component.
    """
    W = list(weights)  # (B, h_i, h_{i−1}) each
    close = 1e-4 * AT_MINIMUM * Y.square().sum()
    value = _loss(W, X, Y)  # (B,)
    damping = torch.ones_like(value)
    for _ in range(steps):
        if (value <= close).all():
            break
        trial = _step(W, X, Y, damping)
        trial_value = _loss(trial, X, Y)
        better = trial_value < value
        W = [torch.where(better[:, None, None], new, old) for new, old in zip(trial, W, strict=True)]
        value = torch.where(better, trial_value, value)
        damping = torch.where(better, damping / 3, damping * 4).clamp(min=1e-18)
    return W, value <= close


def _loss(W: Weights, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """``‖Y − W_l … W_1 X‖²`` for hidden layers of any widths, (B,)."""
    for layer in W:
        X = layer @ X
    return (Y - X).square().sum(dim=(-2, -1))


def _step(W: Weights, X: torch.Tensor, Y: torch.Tensor, damping: torch.Tensor) -> Weights:
    """The networks after one step with damping μ (B,)."""
    B, h = W[0].shape[0], W[0].shape[-1]
    before, after = sides(W, X)
    residual = W[-1] @ before[-1] - Y
    gram = sum(
        torch.einsum("bij,bkl->bikjl", A @ A.mT, C.mT @ C).reshape(B, h * h, h * h)
        for A, C in zip(after, before, strict=True)
    )
    identity = torch.eye(h * h, dtype=X.dtype)
    Z = torch.linalg.solve(gram + damping[:, None, None] * identity, residual.reshape(B, h * h)).reshape(B, h, h)
    return [layer - A.mT @ Z @ C.mT for layer, A, C in zip(W, after, before, strict=True)]


def all_components(layers: int) -> torch.Tensor:
    """The signs (2^{l−1}, l − 1) of all components (Cor. 4.2); the last sign changes first, from 1 to −1."""
    return torch.tensor(list(itertools.product((1, -1), repeat=layers - 1)), dtype=torch.float64)


def highest_on_line(a: Weights, b: Weights, X: torch.Tensor, Y: torch.Tensor, lambdas: torch.Tensor) -> torch.Tensor:
    """The largest loss on λ a + (1 − λ) b at the given λ and wherever a factor on the line is singular.

    A factor is singular at λ = −1/μ, μ a real eigenvalue of B⁻¹ (A − B). The line between two components has such a λ,
    with L >= σ_min(Y)², which a grid could miss.
    """
    values = [torch.linalg.eigvals(torch.linalg.solve(B, A - B)) for A, B in zip(a, b, strict=True)]
    roots = torch.cat([-1 / v for v in values], dim=-1)  # (..., l h)
    within = (roots.imag.abs() < 1e-9) & (roots.real > 0) & (roots.real < 1)
    singular = torch.where(within, roots.real, 0)  # the others are replaced by λ = 0
    points = torch.cat([lambdas.expand(*singular.shape[:-1], -1), singular], dim=-1)[..., None, None]
    line = [torch.lerp(B[..., None, :, :], A[..., None, :, :], points) for A, B in zip(a, b, strict=True)]
    return loss(line, X, Y).amax(dim=-1)


def permute_layers(weights: Weights, perms: list[torch.Tensor]) -> Weights:
    """(P_1 W_1, P_2 W_2 P_1⁻¹, …, W_l P_{l−1}⁻¹), the same function with its hidden neurons in another order.

    The paper prints (W_1 P_1, P_1⁻¹ W_2 P_2, …) in Prop. 5.2, which has another product W_l … W_1. Row j of P_i W is
    row ``perms[i - 1][j]`` of W.

    An odd permutation of layer k changes the sign of det(W_k … W_1 X), and of no other layer's, so that permutations
    join every two components if h >= 2.
    """
    rows = [W[..., perm, :] for W, perm in zip(weights[:-1], perms, strict=True)]
    return [rows[0], *(W[..., perm] for W, perm in zip([*rows[1:], weights[-1]], perms, strict=True))]


Form = tuple[tuple[str, int], ...]  # kind of the eigenvalue, and size, of each block

_ROWS = {"zero": 1, "real": 1, "imaginary": 2, "complex": 2}  # of a block of size 1


def jordan_forms(h: int) -> list[Form]:
    """All lists of real Jordan blocks that fill h rows, but that of the matrix 0.

    A block of size s has s rows for a real eigenvalue μ, and 2s for a pair μ, μ̄: its 2 × 2 matrices are Re μ I + Im μ
    (0, −1; 1, 0) on the diagonal and I above it.
    """
    blocks = [(kind, size) for kind, rows in _ROWS.items() for size in range(1, h // rows + 1)]
    forms = [form for n in range(1, h + 1) for form in itertools.combinations_with_replacement(blocks, n)]
    return [f for f in forms if sum(_ROWS[kind] * size for kind, size in f) == h and set(f) != {("zero", 1)}]


def random_of_form(form: Form, count: int, generator: torch.Generator) -> torch.Tensor:
    """Random matrices (count, h, h) of a form; 0.02 < abs(Re μ) < 0.1 and Im μ = 1 or √2 where they are not 0."""
    matrices = [torch.block_diag(*(_block(*block, generator) for block in form)) for _ in range(count)]
    J = torch.stack(matrices)
    S = random_invertible((count,), J.shape[-1], generator)
    return S @ torch.linalg.solve(S, J, left=False)  # S J S⁻¹


def _block(kind: str, size: int, generator: torch.Generator) -> torch.Tensor:
    draw = torch.rand(3, dtype=torch.float64, generator=generator)
    real = (0.02 + 0.08 * draw[0]) * (1 - 2 * (draw[1] < 0.5)) if kind in ("real", "complex") else 0.0
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64) * (1 + (2**0.5 - 1) * (draw[2] < 0.5))
    eye = torch.eye(_ROWS[kind], dtype=torch.float64)
    mu = real * eye + (turn if len(eye) == 2 else 0)
    above = torch.diag(torch.ones(size - 1, dtype=torch.float64), 1)
    return torch.kron(torch.eye(size, dtype=torch.float64), mu) + torch.kron(above, eye)
