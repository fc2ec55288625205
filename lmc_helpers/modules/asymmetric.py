"""A layer of any module as its neurons see it (Bürgin, Herbst, Lin & Jegelka, eqs. (2), (9) and (11))."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from lmc_helpers._typing import Probability, checked
from lmc_helpers.identifiability import AsymmetricLayer, layer_parts, pca_basis
from lmc_helpers.modules._data import in_double
from lmc_helpers.modules._module import called, step_by_step

__all__ = ["asymmetric_layer"]

Convolution = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


@checked
def asymmetric_layer(model: nn.Module, layer: str, x: Any, explained: Probability = 0.9) -> AsymmetricLayer:
    """F, D and W of a layer, and a basis U of the inputs that it gets, for swap costs and coherence.

    A layer that is not asymmetric has F = 0 and D = 1. The inputs of a convolution are its patches, in the order of its
    weights.

    Parameters
    ----------
    model
        a network; it stays as it is.
    layer
        name of a linear layer or of a convolution without groups.
    x
        inputs of the network, or a tuple of arguments.
    explained
        share of the second moment of the layer's inputs in the span of U; the paper has 0.9.

    Examples
    --------
    >>> import lmc_helpers as lmc
    >>> from lmc_helpers.identifiability.asymmetric import WAsymmetric
    >>> net = nn.Sequential(nn.Linear(6, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> net = lmc.asymmetrise(net, WAsymmetric(fixed=2, sigma=1.0), seed=1)
    >>> F, D, W, U = lmc.asymmetric_layer(net, "0", torch.randn(50, 6, generator=torch.Generator().manual_seed(0)))
    >>> lmc.swap_costs(F, D, W, U).shape, bool(lmc.coherence(U) <= 1 + 1e-12)
    (torch.Size([3, 3]), True)
    """
    work, x = in_double(model, x)
    owner: Any = dict(work.named_modules()).get(layer)
    if not isinstance(owner, (nn.Linear, *Convolution)) or getattr(owner, "groups", 1) != 1:
        kind = "unknown" if owner is None else type(owner).__name__
        raise ValueError(f"layer {layer!r} is {kind}; allowed: a linear layer, or a convolution without groups")
    seen: list[Tensor] = []
    owner.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    with torch.no_grad(), step_by_step():
        called(work, x)
        if not seen:
            raise ValueError(f"layer {layer!r} is not run on these inputs; allowed: a layer that the network uses")
        W = owner.weight.flatten(1)
        if isinstance(owner, Convolution):
            each = torch.eye(W.shape[1]).to(W).view(-1, *owner.weight.shape[1:])  # picks one entry of a patch
            seen = [owner._conv_forward(one, each, None).movedim(1 if one.ndim == each.ndim else 0, -1) for one in seen]
    U = pca_basis(torch.cat([one.flatten(0, -2) for one in seen]), explained)
    parts = layer_parts(work).get(f"{layer}.weight" if layer else "weight")
    F, D, W = (torch.zeros_like(W), torch.ones_like(W), W) if parts is None else (one.flatten(1) for one in parts)
    return AsymmetricLayer(F.detach(), D.detach(), W.detach(), U)
