"""Code of the chapter *realization cost*."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linprog
from torch import Tensor

from lmc_helpers.identifiability.input_subspace import RTOL

# ---------- determined neurons
#
# The function of a ReLU neuron need not determine its coefficients a. On inputs c another weight a + n has the same
# function if and only if n·c = 0 on the active inputs (a·c > 0) and (a + n)·c <= 0 on the others. If no input has
# a·c = 0, small multiples of any n that is orthogonal to the active inputs do: a is *determined* if and only if the
# active inputs span the space.


def determined(a: torch.Tensor, C: torch.Tensor) -> torch.Tensor:
    """Whether the function of a ReLU neuron determines its weight: the active inputs span the space."""
    active = (a @ C.T > 0).double()
    return torch.linalg.matrix_rank(active[..., None] * C, rtol=1e-10) == C.shape[-1]


def twin_distance(a: torch.Tensor, C: torch.Tensor) -> float:
    """Largest distance, at most 1, in one coefficient from a to another weight a + n with the same ReLU function.

    The largest ``|n_j|`` is found by 2k linear programs over n with all ``|n_j| <= 1``. It is 0 if and only if the
    neuron is :func:`determined`.
    """
    s = (a @ C.T).numpy()
    inputs, active = C.numpy(), s > 0
    k = len(a)
    best = 0.0
    for j in range(k):
        for sign in (1.0, -1.0):
            objective = np.zeros(k)
            objective[j] = -sign
            solution = linprog(
                objective,
                A_ub=inputs[~active] if (~active).any() else None,
                b_ub=-s[~active] if (~active).any() else None,
                A_eq=inputs[active] if active.any() else None,
                b_eq=np.zeros(active.sum()) if active.any() else None,
                bounds=[(-1.0, 1.0)] * k,
                method="highs",
            )
            best = max(best, -float(solution.fun))
    return best


# ---------- classes


def class_dimension(D: Tensor, U: Tensor) -> Tensor:
    """Rank of M_i = Uᵀ diag(d_i), the dimension of neuron i's class of functions (Prop. 4.2)."""
    D, U = D.double(), U.double()
    s = torch.linalg.svdvals(U.mT[..., None, :, :] * D[..., None, :])
    return (s > RTOL * D.abs().amax(dim=-1, keepdim=True)).sum(dim=-1)
