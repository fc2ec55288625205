"""Asymmetric layers, W_eff = F + D ⊙ W (Bürgin et al., eq. (2) and Table 1), for any weight of a torch module.

F and D are buffers and W is the parameter. The loss sees W through D only, ∂L/∂W = D ⊙ ∂L/∂W_eff, and weight decay
acts on W itself: its penalty is ``‖W‖²`` = ``‖(W_eff − F) ⊘ D‖²`` where D is not 0, so that it pulls W_eff towards F.
Entries of W where D = 0 have gradient 0 and only decay.

F and D are drawn by a scheme, one line of Table 1 (:mod:`lmc_helpers.asymmetry_schemes`). The numbers come from a
generator that is keyed by (seed, name of the weight) alone, so that the networks of a pair, built with one seed,
share F and D on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn
from torch.nn.utils import parametrize

from lmc_helpers.asymmetry_schemes import Scheme
from lmc_helpers.device import torch_generator

__all__ = ["Asymmetric", "asymmetrise", "maps"]


class Asymmetric(nn.Module):
    """The parametrisation W → F + D ⊙ W of eq. (2), for ``torch.nn.utils.parametrize``.

    Parameters
    ----------
    F, D : torch.Tensor
        the fixed part and the multiplier, of the weight's shape.

    Raises
    ------
    ValueError
        if F and D differ in shape or are not finite.

    Examples
    --------
    >>> layer = nn.Linear(2, 1, bias=False)
    >>> _ = parametrize.register_parametrization(
    ...     layer, "weight", Asymmetric(torch.tensor([[5.0, 0.0]]), torch.tensor([[0.0, 1.0]])))
    >>> with torch.no_grad():
    ...     _ = layer.parametrizations.weight.original.copy_(torch.tensor([[7.0, 2.0]]))
    >>> layer.weight.tolist(), [name for name, _ in layer.named_parameters()]
    ([[5.0, 2.0]], ['parametrizations.weight.original'])
    """

    def __init__(self, F: torch.Tensor, D: torch.Tensor):
        super().__init__()
        if F.shape != D.shape or not (F.isfinite().all() and D.isfinite().all()):
            raise ValueError(f"F {tuple(F.shape)} and D {tuple(D.shape)}; allowed: one shape and finite entries")
        self.register_buffer("F", F.detach().clone())
        self.register_buffer("D", D.detach().clone())

    def forward(self, W: torch.Tensor) -> torch.Tensor:
        """W_eff."""
        return self.F + self.D * W


def maps(module: nn.Module) -> dict[str, tuple[nn.Module, str]]:
    """The linear maps in a module: name of each weight → (owner, attribute).

    They are the weights of ``nn.Linear`` and of convolutions, and of ``nn.MultiheadAttention`` the input projection
    (queries, keys and values stacked, or three matrices) and the output projection.

    Examples
    --------
    >>> list(maps(nn.MultiheadAttention(4, 2)))
    ['in_proj_weight', 'out_proj.weight']
    """
    found = {}
    for prefix, owner in module.named_modules():
        if isinstance(owner, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            names = ["weight"]
        elif isinstance(owner, nn.MultiheadAttention):
            names = ["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"]
        else:
            continue
        for name in names:
            if getattr(owner, name) is not None:
                found[f"{prefix}.{name}" if prefix else name] = (owner, name)
    return found


def asymmetrise(module: nn.Module, schemes: Scheme | Mapping[str, Scheme], seed: int) -> nn.Module:
    """Replace the weights of a module by W_eff = F + D ⊙ W, in place; the present weights become W.

    Parameters
    ----------
    module : torch.nn.Module
        a network; its biases and norms stay as they are.
    schemes : scheme or mapping
        one scheme for every map that :func:`maps` finds, or name of a weight → scheme; other weights stay.
    seed : int
        of F and D, in [0, 2³²). Each weight has its own stream, keyed by its name.

    Returns
    -------
    torch.nn.Module
        the module.

    Raises
    ------
    ValueError
        if a name is unknown, a weight is asymmetric already, or a scheme cannot be drawn in a weight's shape.

    Examples
    --------
    >>> from lmc_helpers.asymmetry_schemes import WAsymmetric
    >>> a, b = (asymmetrise(nn.Linear(6, 3), WAsymmetric(2, 1.0), seed=1) for _ in range(2))
    >>> fixed = a.parametrizations.weight[0].D == 0
    >>> bool((a.weight[fixed] == b.weight[fixed]).all()), bool((a.weight[~fixed] == b.weight[~fixed]).any())
    (True, False)
    """
    known = maps(module)
    chosen = dict(schemes) if isinstance(schemes, Mapping) else dict.fromkeys(known, schemes)
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise ValueError(f"weights {unknown} are unknown; allowed: {', '.join(known)}")
    for name, scheme in chosen.items():
        owner, attribute = known[name]
        if parametrize.is_parametrized(owner, attribute):
            raise ValueError(f"weight {name!r} is parametrised already; allowed: plain weights")
        weight = getattr(owner, attribute)
        F, D = scheme.draw(tuple(weight.shape), torch_generator(seed, f"asymmetric {name}"))
        parametrize.register_parametrization(owner, attribute, Asymmetric(F.to(weight), D.to(weight)))
    return module
