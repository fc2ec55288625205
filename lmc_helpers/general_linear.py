"""Invertible matrices, the group GL_h: checks that know about rounding, and random elements.

Matrices are float64 tensors (..., h, h), h >= 1.
"""

from __future__ import annotations

import torch

__all__ = [
    "determinant_sign",
    "divide",
    "random_invertible",
    "require_finite",
    "require_invertible",
    "require_square",
    "rounding",
]


def rounding(h: int) -> float:
    """16 h ε, ε = 2⁻⁵²: a singular value below it, relative to the largest one, may be a rounding error.

    Examples
    --------
    >>> rounding(2) == 2.0**-47
    True
    """
    return 16 * h * torch.finfo(torch.float64).eps


def require_square(matrices: dict[str, torch.Tensor], **data: torch.Tensor) -> None:
    """Raise unless the matrices are float64 and share one shape (..., h, h), and the data are (h, h).

    Parameters
    ----------
    matrices : dict of torch.Tensor
        name → matrix (..., h, h); the first one sets the shape.
    **data : torch.Tensor
        matrices without a batch.

    Raises
    ------
    ValueError
        names the first matrix that does not fit, its shape or dtype and what is allowed.

    Examples
    --------
    >>> require_square({"W_1": torch.ones(2, 3)})
    Traceback (most recent call last):
        ...
    ValueError: W_1 has shape (2, 3); allowed: (..., h, h) with h >= 1
    """
    first, shape = next((name, A.shape) for name, A in matrices.items())
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 1:
        raise ValueError(f"{first} has shape {tuple(shape)}; allowed: (..., h, h) with h >= 1")
    expected = dict.fromkeys(matrices, shape) | dict.fromkeys(data, shape[-2:])
    for name, A in (matrices | data).items():
        if A.shape != expected[name]:
            raise ValueError(f"{name} has shape {tuple(A.shape)}; allowed: {tuple(expected[name])}")
        if A.dtype != torch.float64:
            raise ValueError(f"{name} has dtype {A.dtype}; allowed: torch.float64")


def require_finite(matrices: dict[str, torch.Tensor]) -> None:
    """Raise unless all entries are finite numbers.

    Raises
    ------
    ValueError
        names the matrix and the entry.

    Examples
    --------
    >>> require_finite({"X": torch.tensor([[1.0, float("inf")]])})
    Traceback (most recent call last):
        ...
    ValueError: X holds inf; allowed: finite values
    """
    for name, A in matrices.items():
        if not torch.isfinite(A).all():
            raise ValueError(f"{name} holds {A[~torch.isfinite(A)][0].item()}; allowed: finite values")


def require_invertible(matrices: dict[str, torch.Tensor]) -> None:
    """Raise unless every matrix has σ_min > 16 h ε σ_max, so that rounding cannot decide the sign of its determinant.

    Raises
    ------
    ValueError
        if an entry is not finite or a matrix is singular to rounding; names it and its singular values.

    Examples
    --------
    >>> require_invertible({"Y": torch.ones(2, 2, dtype=torch.float64) + 1})
    Traceback (most recent call last):
        ...
    ValueError: Y is singular to rounding, σ_min = 0.0e+00 and σ_max = 4.0e+00; allowed: σ_min > 7.1e-15 σ_max
    """
    require_finite(matrices)
    for name, A in matrices.items():
        sigma = torch.linalg.svdvals(A)  # (..., h)
        least = rounding(A.shape[-1])
        singular = ~(sigma[..., -1] > least * sigma[..., 0])
        if singular.any():
            low, high = sigma[singular][0, [-1, 0]].tolist()
            raise ValueError(
                f"{name} is singular to rounding, σ_min = {low:.1e} and σ_max = {high:.1e}; "
                f"allowed: σ_min > {least:.1e} σ_max"
            )


def determinant_sign(A: torch.Tensor) -> torch.Tensor:
    """The sign of det A, (...), without forming the determinant, which could under- or overflow.

    Examples
    --------
    >>> determinant_sign(-1e-200 * torch.eye(3, dtype=torch.float64)).item()
    -1.0
    """
    return torch.linalg.slogdet(A).sign


def divide(B: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
    """B A⁻¹ by a solve, batches broadcast.

    Examples
    --------
    >>> divide(torch.tensor([[6.0]], dtype=torch.float64), torch.tensor([[4.0]], dtype=torch.float64)).item()
    1.5
    """
    A, B = torch.broadcast_tensors(A, B)  # or torch would take a (h, h) matrix B for vectors where A is (h, h, h)
    return torch.linalg.solve(A, B, left=False)


def random_invertible(batch: tuple[int, ...], h: int, generator: torch.Generator) -> torch.Tensor:
    """Random elements U diag(e^ξ) V of GL_h: U and V uniform on the orthogonal group, ξ normal with deviation ½.

    The law has a positive density on all of GL_h, either sign of the determinant is equally likely, and the condition
    is moderate.

    Parameters
    ----------
    batch : tuple of int
        leading dimensions.
    h : int
        size of the matrices, at least 1.
    generator : torch.Generator
        as from :func:`lmc_helpers.device.torch_generator`.

    Returns
    -------
    torch.Tensor
        (..., h, h) with ``batch`` in front, float64.

    Raises
    ------
    ValueError
        if h < 1.

    Examples
    --------
    >>> g = random_invertible((1000,), 3, torch.Generator().manual_seed(0))
    >>> g.shape, bool(0.4 < (determinant_sign(g) > 0).double().mean() < 0.6)
    (torch.Size([1000, 3, 3]), True)
    """
    if h < 1:
        raise ValueError(f"h = {h}; allowed: h >= 1")
    normal = torch.randn(2, *batch, h, h, dtype=torch.float64, generator=generator)
    Q, R = torch.linalg.qr(normal)
    U, V = Q * R.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]  # uniform only with the signs of R's diagonal
    xi = torch.randn(*batch, h, dtype=torch.float64, generator=generator) / 2
    return U @ (xi.exp()[..., None] * V)
