"""When the function of a ReLU neuron determines its weight, on finitely many inputs.

A neuron with coefficients a computes max(0, a·c) on inputs c. Another weight a + n has the same function if and only
if n·c = 0 on the active inputs (a·c > 0) and (a + n)·c <= 0 on the others. If no input has a·c = 0, small multiples
of any n that is orthogonal to the active inputs do: the weight is determined if and only if the active inputs span
the space.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linprog

__all__ = ["determined", "largest_change"]

BOUNDARY = 1e-12  # abs(a·c) up to this fraction of ‖a‖‖c‖ counts as 0


def _activity(a: torch.Tensor, C: torch.Tensor) -> torch.Tensor:
    """Signs (..., n) of a·c; an input on a neuron's boundary is refused."""
    if a.shape[-1] != C.shape[-1] or C.ndim != 2:
        raise ValueError(f"a {tuple(a.shape)} and inputs {tuple(C.shape)}; allowed: (..., k) and (n, k)")
    if not (a.isfinite().all() and C.isfinite().all()):
        raise ValueError("an entry is not finite; allowed: finite numbers")
    s = a @ C.T
    size = torch.linalg.vector_norm(a, dim=-1)[..., None] * torch.linalg.vector_norm(C, dim=-1)
    if (s.abs() <= BOUNDARY * size).any():
        raise ValueError("an input is 0 or lies on a neuron's boundary, a·c = 0; allowed: a·c ≠ 0")
    return s


def determined(a: torch.Tensor, C: torch.Tensor) -> torch.Tensor:
    """Whether no other weight has the same function: the active inputs span the space.

    Parameters
    ----------
    a : torch.Tensor
        coefficients (..., k) of neurons.
    C : torch.Tensor
        inputs (n, k), none with a·c = 0.

    Returns
    -------
    torch.Tensor
        (...), bool.

    Raises
    ------
    ValueError
        if shapes do not fit, an entry is not finite, or an input lies on a neuron's boundary.

    Examples
    --------
    On positive inputs a neuron with negative weights is dead, and so is every other one.

    >>> C = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    >>> determined(torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]), C).tolist()
    [True, False, False]
    """
    a, C = a.double(), C.double()
    active = (_activity(a, C) > 0).double()
    return torch.linalg.matrix_rank(active[..., None] * C, rtol=1e-10) == C.shape[-1]


def largest_change(a: torch.Tensor, C: torch.Tensor) -> float:
    """Largest change of one coefficient, at most 1, by another weight with the same function: 2k linear programs.

    Parameters and errors are those of :func:`determined`, with a (k,).

    Examples
    --------
    >>> largest_change(torch.tensor([1.0, -0.9]), torch.tensor([[1.0, 2.0], [2.0, 1.0]])) > 0.5
    True
    """
    a, C = a.double(), C.double()
    s = _activity(a, C).numpy()
    inputs, active = C.numpy(), s > 0
    k = len(a)
    best = 0.0
    for j in range(k):
        for sign in (1.0, -1.0):
            goal = np.zeros(k)
            goal[j] = -sign
            found = linprog(
                goal,
                A_ub=inputs[~active] if (~active).any() else None,
                b_ub=-s[~active] if (~active).any() else None,
                A_eq=inputs[active] if active.any() else None,
                b_eq=np.zeros(active.sum()) if active.any() else None,
                bounds=[(-1.0, 1.0)] * k,
                method="highs",
            )
            best = max(best, -float(found.fun))
    return best
