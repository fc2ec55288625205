"""σ-asymmetric networks: an activation that does not act neuron by neuron (Lim et al. 2024, FiGLU).

FiGLU(x) = s(F x) ⊙ x with the logistic function s and a fixed matrix F of independent N(0, 1) entries. A permutation P
of the neurons commutes with it only if PFPᵀ = F, which for random F and P ≠ I has probability 0. Bürgin et al. use
it in Fig. 7 as a symmetry breaking that is outside their eq. (2).
"""

from __future__ import annotations

import torch
from torch import nn

from lmc_helpers.device import torch_generator

__all__ = ["FiGLU"]


class FiGLU(nn.Module):
    """The activation x ↦ s(F x) ⊙ x on the last axis, of size m.

    Parameters
    ----------
    m : int
        neurons, m >= 1.
    seed : int
        of F, in [0, 2³²). The networks of a pair share it.
    name : str
        name of the layer, so that the layers of one network have different F.

    Raises
    ------
    ValueError
        if m < 1, or an input has another number of neurons.

    Examples
    --------
    >>> activation = FiGLU(3, seed=1)
    >>> bool(activation(torch.zeros(2, 3)).eq(0).all()), list(activation.parameters())
    (True, [])
    """

    def __init__(self, m: int, seed: int, name: str = "layer"):
        super().__init__()
        if m < 1:
            raise ValueError(f"m = {m}; allowed: m >= 1")
        F = torch.randn(m, m, dtype=torch.float64, generator=torch_generator(seed, f"FiGLU {name}"))
        self.register_buffer("F", F.to(torch.get_default_dtype()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """FiGLU(x), (..., m)."""
        if x.shape[-1] != len(self.F):
            raise ValueError(f"x has {x.shape[-1]} neurons; allowed: {len(self.F)}")
        return torch.sigmoid(x @ self.F.to(x).mT) * x
