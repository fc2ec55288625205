"""The loss of a linear network, and checks that networks fit together and are minima.

Weights are a list [W_1, …, W_l] of float64 tensors (..., h, h), l >= 2; X and Y are (h, h).
"""

from __future__ import annotations

import torch

from lmc_helpers.general_linear import require_finite, require_invertible, require_square

__all__ = ["loss", "named", "product", "require_minimum", "require_pair"]

#: a minimum has L <= AT_MINIMUM · ‖Y‖²
AT_MINIMUM = 1e-16


def loss(weights: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """L = ``‖Y − W_l … W_1 X‖²``, the squared Frobenius norm; equation (1).

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, …, W_l, each (..., h, h).
    X, Y : torch.Tensor
        inputs and targets (h, h).

    Returns
    -------
    torch.Tensor
        (...), differentiable.

    Raises
    ------
    ValueError
        if there are fewer than two weights, the shapes do not fit or a tensor is not float64.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> loss([I, 3 * I], I, 2 * I)
    tensor(2., dtype=torch.float64)
    """
    require_square(named(weights), X=X, Y=Y)
    return (Y - product(weights, X)).square().sum(dim=(-2, -1))


def product(weights: list[torch.Tensor], X: torch.Tensor) -> torch.Tensor:
    """W_k … W_1 X, the last of the given layers' activations.

    Examples
    --------
    >>> W = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    >>> product([W, W], torch.eye(2))
    tensor([[2., 0.],
            [0., 2.]])
    """
    for W in weights:
        X = W @ X
    return X


def named(matrices: list[torch.Tensor], name: str = "W", least: int = 2) -> dict[str, torch.Tensor]:
    """The matrices under the names W_1, W_2, … that error messages use.

    Raises
    ------
    ValueError
        if there are fewer than ``least``.

    Examples
    --------
    >>> list(named([torch.ones(1, 1), torch.ones(1, 1)]))
    ['W_1', 'W_2']
    """
    if len(matrices) < least:
        raise ValueError(f"{len(matrices)} matrices {name}_i; allowed: at least {least}")
    return {f"{name}_{i}": A for i, A in enumerate(matrices, start=1)}


def require_minimum(name: str, weights: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor) -> None:
    """Raise unless X and Y are invertible and the loss is at most 1e-16 ``‖Y‖²``.

    Raises
    ------
    ValueError
        says what does not fit, a shape, a singular matrix or the loss, and what is allowed.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> require_minimum("a", [I, 3 * I], I, I)
    Traceback (most recent call last):
        ...
    ValueError: a has loss 4.0e+00 ‖Y‖²; allowed: a minimum, loss <= 1e-16 ‖Y‖²
    """
    relative = loss(weights, X, Y) / Y.square().sum()
    require_invertible({"X": X, "Y": Y})
    require_finite(named(weights))
    if not (relative <= AT_MINIMUM).all():
        raise ValueError(
            f"{name} has loss {relative.max().item():.1e} ‖Y‖²; allowed: a minimum, loss <= {AT_MINIMUM:.0e} ‖Y‖²"
        )


def require_pair(a: list[torch.Tensor], b: list[torch.Tensor]) -> None:
    """Raise unless the two networks have one depth and one shape.

    Raises
    ------
    ValueError
        says both.

    Examples
    --------
    >>> require_pair([torch.ones(1, 1)] * 2, [torch.ones(1, 1)] * 3)
    Traceback (most recent call last):
        ...
    ValueError: a has 2 matrices (1, 1), b has 3 matrices (1, 1); allowed: the same
    """
    if len(a) != len(b) or (a and a[0].shape != b[0].shape):
        shapes = [f"{len(net)} matrices {tuple(net[0].shape) if net else ()}" for net in (a, b)]
        raise ValueError(f"a has {shapes[0]}, b has {shapes[1]}; allowed: the same")
