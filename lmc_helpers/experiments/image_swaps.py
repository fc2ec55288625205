"""Swap costs of the layers of MLPs on images, by the subspace and by ridge regression (Bürgin et al., F.7, G.3).

The costs are those of eq. (16) with the principal subspace of a layer's inputs, and those of relaxed costs, eq. (254),
with β = 0.01, for networks with batch norm whose norm stays fixed: with the mean E h and covariance C of a layer's
inputs h a unit with effective weight a computes

    η(α a·h + γ),        α = gain/√(a·Ca + ε),      γ = shift − α a·E h,

its bias cancels. Ordinary layers have F = 0 and D = 1. Layers are counted from 0; the last map has no norm and is left
out, as in Figs. 12 and 16 to 19.

Where all D are 1, S_i = I, and with a_i = v_i + r_i eq. (16) is

    Δ_(ij) = 2 ⟨v_i − v_j, a_i − a_j⟩.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch.nn.functional import gelu

from lmc_helpers import expect
from lmc_helpers.experiments.image_layers import Experiment, Moments, layer_moments
from lmc_helpers.identifiability.costs import swap_costs
from lmc_helpers.identifiability.relaxed_swaps import ridge_swaps
from lmc_helpers.networks.layers import EPS
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack

__all__ = ["LAYERS", "Swaps", "fixed_norm", "layer_parts", "neighbours", "one_metric_costs"]

BETA = 0.01  # β of the relaxed costs, as in App. G.3
LAYERS = range(3)


def layer_parts(stack: Stack, n: int, layer: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """F, D and W of a layer of one network, (m, d), float64; F = 0 and D = 1 for an ordinary one.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> F, D, W = layer_parts(MLP((2, 5, 3)).initial([1, 2]), 1, 0)
    >>> W.shape, F.unique().tolist(), D.unique().tolist()
    (torch.Size([5, 2]), [0.0], [1.0])
    """
    if not isinstance(stack, Stack):
        raise ValueError(f"stack is {type(stack).__name__}; allowed: Stack")
    expect.integer(n, "n", least=0, most=len(stack) - 1)
    expect.integer(layer, "layer", least=0)
    expect.one_of(f"{layer}.weight", "layer", stack.params)  # type: ignore[arg-type]
    name = f"{layer}.weight"
    W = stack.params[name][n].double()
    if name not in stack.fixed:
        return torch.zeros_like(W), torch.ones_like(W), W
    F, D = (part[n * len(part) // len(stack)].double() for part in stack.fixed[name])
    return F, D, W


def neighbours(m: int) -> torch.Tensor:
    """Disjoint consecutive pairs of neurons, (0, 1), (2, 3), …, as in Figs. 12 and 13.

    Examples
    --------
    >>> neighbours(5).tolist()
    [[0, 1], [2, 3]]
    """
    expect.integer(m, "m", least=2)
    return torch.arange(2 * (m // 2)).view(-1, 2)


def one_metric_costs(F: torch.Tensor, W: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Swap costs of a layer with D = 1: 2 ⟨v_i − v_j, a_i − a_j⟩.

    Parameters
    ----------
    F, W : torch.Tensor
        fixed part and weights (m, d).
    U : torch.Tensor
        orthonormal basis (d, k) of the inputs.

    Returns
    -------
    torch.Tensor
        (m, m).

    Examples
    --------
    The example of :func:`~lmc_helpers.identifiability.costs.swap_costs`:

    >>> F, W = torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [-1.0]])
    >>> one_metric_costs(F, W, torch.eye(1))[0, 1].item()
    -6.0
    """
    expect.tensor(F, "F", "m d")
    expect.tensor(W, "W", "m d")
    expect.tensor(U, "U", "d k")
    expect.same({"F": F, "W": W})
    if F.shape[1] != U.shape[0]:
        raise ValueError(f"F and U have shapes {tuple(F.shape)} and {tuple(U.shape)}; allowed: (m, d) and (d, k)")
    v, a = F @ U, (F + W) @ U  # (m, k)
    G = v @ a.mT  # ⟨v_i, a_j⟩
    own = G.diagonal()
    return 2 * (own[:, None] + own - G - G.mT)


def fixed_norm(stack: Stack, n: int, layer: int, inputs: Moments) -> tuple[torch.Tensor, torch.Tensor]:
    """Bias and batch norm of a layer as one affine map α s + γ of s = a·h, with the statistics of the inputs.

    Parameters
    ----------
    stack : Stack
        networks with batch norm.
    n, layer : int
        which of them, and a hidden layer.
    inputs : Moments
        of what the layer reads.

    Returns
    -------
    (torch.Tensor, torch.Tensor)
        α and γ, (m,) each, float64.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> stack = MLP((2, 5, 3), norm="batch").initial([1])
    >>> at = Moments(torch.zeros(2).double(), torch.eye(2).double())
    >>> alpha, gamma = fixed_norm(stack, 0, 0, at)
    >>> alpha.shape, gamma.abs().max().item()
    (torch.Size([5]), 0.0)
    """
    if not isinstance(stack, Stack):
        raise ValueError(f"stack is {type(stack).__name__}; allowed: Stack")
    expect.integer(n, "n", least=0, most=len(stack) - 1)
    expect.integer(layer, "layer", least=0)
    if not isinstance(stack.model, MLP) or stack.model.norm != "batch":
        raise ValueError(f"stack is of {stack.model}; allowed: MLPs with batch norm")
    expect.one_of(f"{layer}.gain", "layer", stack.params)  # type: ignore[arg-type]
    if not isinstance(inputs, Moments):
        raise ValueError(f"inputs is {type(inputs).__name__}; allowed: Moments")
    F, D, W = layer_parts(stack, n, layer)
    a = F + D * W
    gain, shift = (stack.params[f"{layer}.{name}"][n].double() for name in ("gain", "shift"))
    alpha = gain * (((a @ inputs.covariance) * a).sum(dim=1) + EPS).rsqrt()
    return alpha, shift - alpha * (a @ inputs.mean)


class Swaps:
    """Swap costs in the networks of an experiment: one network of each pair, which is a cluster.

    Parameters
    ----------
    experiment : Experiment
        the networks.
    name : str
        a run of it.

    Examples
    --------
    >>> some = Experiment(100, dataset="digits", width=16, images=100, epochs=0, stages=[], pairs=2, ridge_networks=1)
    >>> swaps = Swaps(some, "W 1")
    >>> swaps.matrices[0].shape, swaps.costs(0).shape
    (torch.Size([2, 16, 16]), torch.Size([2, 8]))
    """

    def __init__(self, experiment: Experiment, name: str) -> None:
        self.experiment, self.stack = experiment, experiment.result(name).stack
        model = self.stack.model
        assert isinstance(model, MLP)
        self.networks = range(0, len(self.stack), 1 if model.norm == "batch" else 2)  # of a pair the first

    @cached_property
    def moments(self) -> list[list[Moments]]:
        """Of what each layer reads, networks × places."""
        looked = self.experiment
        return [layer_moments(self.stack, n, looked.x, looked.images) for n in self.networks]

    @cached_property
    def bases(self) -> list[list[torch.Tensor]]:
        """U (d, k) of each layer's inputs, networks × layers."""
        return [[at[layer].basis for layer in LAYERS] for at in self.moments]

    @cached_property
    def matrices(self) -> list[torch.Tensor]:
        """Swap costs of eq. (16) of all pairs of neurons, layer → (networks, m, m)."""
        return [
            torch.stack(
                [
                    swap_costs(*layer_parts(self.stack, n, layer), bases[layer])
                    for n, bases in zip(self.networks, self.bases, strict=True)
                ]
            )
            for layer in LAYERS
        ]

    def costs(self, layer: int) -> torch.Tensor:
        """Those of the disjoint :func:`neighbours`, (networks, pairs)."""
        expect.integer(layer, "layer", least=0, most=len(LAYERS) - 1)
        every = self.matrices[layer]
        return every[:, *neighbours(every.shape[-1]).T]

    def ridge(self, layer: int, count: int, inputs: int, beta: float = BETA) -> tuple[torch.Tensor, torch.Tensor]:
        """Ridge swap costs of the first neighbours with the norms fixed, and what of them is ‖w‖².

        Parameters
        ----------
        layer : int
            of networks with batch norm.
        count : int
            pairs of neurons.
        inputs : int
            how many inputs of the layer the regression sees; the norms are those of all of them.
        beta : float
            β.

        Returns
        -------
        (torch.Tensor, torch.Tensor)
            (networks, count) each: swap costs, and their parts ``‖w‖²`` alone.
        """
        expect.integer(layer, "layer", least=0, most=len(LAYERS) - 1)
        expect.integer(count, "count", least=1, most=self.stack.params[f"{layer}.weight"].shape[1] // 2)
        expect.integer(inputs, "inputs", least=1, most=len(self.experiment.x))
        expect.number(beta, "beta", least=0)
        x, found = self.experiment.x, []
        for n, moments in zip(self.networks, self.moments, strict=True):
            h = x if layer == 0 else self._hidden(n)[str(layer - 1)][0]
            some = h[:inputs].double()
            pairs = neighbours(self.stack.params[f"{layer}.weight"].shape[1])[:count]
            own = slice(pairs.numel())  # neurons of these pairs, without the others
            F, D, W = (part[own] for part in layer_parts(self.stack, n, layer))
            alpha, gamma = (part[own] for part in fixed_norm(self.stack, n, layer, moments[layer]))
            found.append(ridge_swaps(F, D, W, some, pairs, beta, gelu, alpha, gamma))
        values, norms = zip(*found, strict=True)
        return torch.stack(values), torch.stack(norms)

    def _hidden(self, n: int) -> dict[str, torch.Tensor]:
        record: dict[str, torch.Tensor] = {}
        with torch.no_grad():
            self.stack.ordinary([n]).forward(self.experiment.x, record)
        return record
