"""Exact bounds on the distance from the orbit of a factorisation (Zhao, Dehmamy, Walters & Yu, Prop. 5.5).

The orbit of (W_1, W_2), W_1 (m, h) and W_2 (h, n) of rank h, is S = {(X, Z) : X Z = A} with A = W_1 W_2: its points are
(W_1 g⁻¹, g W_2), g in GL_h. The distance of (U, V) is the minimum over S of (``‖U − X‖² + ‖V − Z‖²``)^{1/2}, equation
(23), with Frobenius norms. The distance to the cone {X Z = 0} has a closed form,

    d_0(U, V)² = ½ (``‖U‖² + ‖V‖² − ‖UᵀU − VVᵀ‖_*``),

and for every Γ of spectral norm 1 the function ``‖U − X‖² + ‖V − Z‖²`` + 2 ⟨Γ, X Z⟩ is convex in (X, Z). One Γ has its
minimum at the foot on the cone, hence dist² >= d_0² − 2 ``‖A‖_*``, and for midpoints (c W_1, c W_2), c = (β + 1/β)/2,

    (c² − 2) d_0(W_1, W_2)²  <=  dist²  <=  (c − 1/c)² d_0(W_1, W_2)².

If W_1ᵀ W_1 = W_2 W_2ᵀ the distance is known for all c.
"""

from __future__ import annotations

import torch

__all__ = [
    "balanced",
    "balanced_distance",
    "check",
    "check_product",
    "check_rank",
    "distance_to_zero_product",
    "lower_bound",
    "midpoint_bounds",
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

    Raises
    ------
    ValueError
        if the shapes do not fit, a matrix is not float64 or not finite.

    Examples
    --------
    >>> U = torch.tensor([[3.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    >>> distance_to_zero_product(U, U.flip(0, 1))
    tensor(1.4142, dtype=torch.float64)
    """
    check(U=U, V=V)
    check_product(U, V)
    values = torch.linalg.eigvalsh(U.mT @ U - V @ V.mT)
    squares = U.square().sum(dim=(-2, -1)) + V.square().sum(dim=(-2, -1))
    return ((squares - values.abs().sum(dim=-1)) / 2).clamp(min=0).sqrt()


def lower_bound(U: torch.Tensor, V: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
    """The larger of two lower bounds on the distance r of (U, V) from {X Z = A}.

    The first is r >= (d_0(U, V)² − 2 ``‖A‖_*``)^{1/2}. The second: X Z − U V = U F + E V + E F with E = X − U and
    F = Z − V, so ``‖UV − A‖`` <= ω r + r²/2 with ω² = ``‖U‖₂² + ‖V‖₂²`` (spectral norms). It is 0 on the orbit only.

    Parameters
    ----------
    U, V : torch.Tensor
        (..., m, h) and (..., h, n), float64.
    A : torch.Tensor
        (m, n).

    Returns
    -------
    torch.Tensor
        (...).

    Raises
    ------
    ValueError
        if the shapes do not fit, a matrix is not float64 or not finite.

    Examples
    --------
    The distance of (3, 3) from the hyperbola xz = 1 is √7 ≈ 2.65:

    >>> lower_bound(*torch.full((2, 1, 1), 3.0, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64))
    tensor(2.6458, dtype=torch.float64)
    """
    check(U=U, V=V, A=A)
    check_product(U, V)
    if A.shape != (U.shape[-2], V.shape[-1]):
        raise ValueError(f"A has shape {tuple(A.shape)}; allowed: {(U.shape[-2], V.shape[-1])}")
    miss = torch.linalg.matrix_norm(U @ V - A)
    spectral = torch.linalg.matrix_norm(U, 2).square() + torch.linalg.matrix_norm(V, 2).square()
    root = 2 * miss / ((spectral + 2 * miss).sqrt() + spectral.sqrt()).clamp(min=1e-300)
    far = distance_to_zero_product(U, V).square() - 2 * torch.linalg.matrix_norm(A, "nuc")
    return torch.maximum(root, far.clamp(min=0).sqrt())


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

    Raises
    ------
    ValueError
        if the shapes do not fit, a matrix is not float64 or not finite, or c is not allowed.

    Examples
    --------
    >>> midpoint_bounds(*torch.ones(2, 1, 1, dtype=torch.float64), 2.0)
    (tensor(1.4142, dtype=torch.float64), tensor(1.5000, dtype=torch.float64))
    """
    c = _check_c(c, least=1)
    near = distance_to_zero_product(W1, W2)
    return (c.square() - 2).clamp(min=0).sqrt() * near, (c - 1 / c) * near


def balanced(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The factorisation W_1 = P D^{1/2}, W_2 = D^{1/2} Qᵀ from the singular values A = P D Qᵀ; W_1ᵀ W_1 = W_2 W_2ᵀ = D.

    Parameters
    ----------
    A : torch.Tensor
        (..., n, n), invertible, float64.

    Returns
    -------
    torch.Tensor, torch.Tensor
        W_1 and W_2, each (..., n, n).

    Raises
    ------
    ValueError
        if A is not square, not float64, not finite, or singular to rounding.

    Examples
    --------
    >>> W1, W2 = balanced(torch.tensor([[0.0, 4.0], [1.0, 0.0]], dtype=torch.float64))
    >>> round(W1.norm().item() ** 2, 12), (W1 @ W2).tolist()
    (5.0, [[0.0, 4.0], [1.0, 0.0]])
    """
    check(A=A)
    if A.shape[-1] != A.shape[-2]:
        raise ValueError(f"A has shape {tuple(A.shape)}; allowed: (..., n, n)")
    check_rank("A", A)
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

    Raises
    ------
    ValueError
        if c or A is not allowed.

    Examples
    --------
    >>> balanced_distance(3.0, torch.eye(1, dtype=torch.float64)) ** 2
    tensor(7.0000, dtype=torch.float64)
    """
    c = _check_c(c, least=0)
    balanced(A)  # checks A
    square = torch.where(c < 2, 2 * (c - 1).square(), c.square() - 2)
    return (square * torch.linalg.matrix_norm(A, "nuc")).sqrt()


def _check_c(c: float | torch.Tensor, least: float) -> torch.Tensor:
    c = torch.as_tensor(c, dtype=torch.float64)
    bad = c[~((c >= least) & torch.isfinite(c))]
    if bad.numel():
        raise ValueError(f"c = {bad.flatten()[0].item()}; allowed: finite numbers >= {least}")
    return c


def check(**matrices: torch.Tensor) -> None:
    """Raise ValueError unless each is a finite matrix (..., p, q) of float64; the name is in the message."""
    for name, M in matrices.items():
        if M.ndim < 2 or min(M.shape[-2:]) < 1 or M.dtype != torch.float64:
            raise ValueError(f"{name} has shape {tuple(M.shape)} and {M.dtype}; allowed: matrices of torch.float64")
        if not torch.isfinite(M).all():
            raise ValueError(f"{name} holds values that are not finite; allowed: finite matrices")


def check_product(U: torch.Tensor, V: torch.Tensor) -> None:
    """Raise ValueError unless U (..., m, h) and V (..., h, n) fit together."""
    if U.shape[-1] != V.shape[-2] or U.shape[:-2] != V.shape[:-2]:
        raise ValueError(f"shapes {tuple(U.shape)} and {tuple(V.shape)}; allowed: (..., m, h) and (..., h, n)")


def check_rank(name: str, M: torch.Tensor) -> None:
    """Raise ValueError if the least singular value of a matrix is rounding."""
    values = torch.linalg.svdvals(M)
    if not (values[..., -1] > 16 * max(M.shape[-2:]) * 2.0**-52 * values[..., 0]).all():
        raise ValueError(f"{name} is singular to rounding; allowed: full rank")
