"""Multilayer perceptrons whose parameters are stacked: N networks of one architecture, every product a batched one.

A layer may be asymmetric (Bürgin et al., eq. (2)): it then applies F + D ⊙ W in the place of W, with F and D fixed and
given as plain tensors, for each network or shared by networks that stand side by side.


TODO merge

What the layers of stacked networks see, and the permutation of neurons that makes two networks' activations agree.

Activation matching (Bürgin et al., section 6) takes the Pearson correlations S_ij between the activations of neuron i
of one network and neuron j of another on the same inputs, and the permutation with the largest Σ_i S_ip(i).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch.nn.functional import cross_entropy, gelu, layer_norm

from lmc_helpers.seeds import torch_generator

__all__ = [
    "ACTIVATIONS",
    "LOSSES",
    "NORMS",
    "Architecture",
    "check_data",
    "check_fixed",
    "effective",
    "layer_inputs",
    "permute_neurons",
]

ACTIVATIONS = {"relu": torch.relu, "gelu": gelu, "tanh": torch.tanh}


NORMS = ("none", "layer", "batch")


LOSSES = ("cross-entropy", "mse")


EPS, MOMENTUM = 1e-5, 0.1  # of the norms, as in torch.nn


Tensors = dict[str, torch.Tensor]


Fixed = dict[int, tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Architecture:
    """A multilayer perceptron as data: linear map, norm and activation for each hidden layer, then a linear map.

    Parameters
    ----------
    sizes : tuple of int
        input, hidden and output sizes (n_0, …, n_d), d >= 2.
    activation : str
        ``"relu"``, ``"gelu"`` (exact) or ``"tanh"``.
    norm : str
        ``"none"``, ``"layer"`` or ``"batch"``, with a trained gain and shift, ε = 10⁻⁵ and, for batch norm,
        momentum 0.1.
    bias : bool
        whether the linear maps have biases.
    output : str
        ``"trained"``, or ``"ones"``: the last map is fixed to the sum of its inputs, without bias; n_d = 1.
    loss : str
        ``"cross-entropy"`` with labels, or ``"mse"``, the mean square over examples and outputs.

    Raises
    ------
    ValueError
        if a size or a word is not allowed.

    Examples
    --------
    >>> net = Architecture((2, 5, 3), norm="layer")
    >>> {name: tuple(shape) for name, shape in net.shapes().items()}["0.weight"]
    (5, 2)
    >>> net.forward(net.initial([1, 2]), {}, torch.zeros(7, 2)).shape
    torch.Size([2, 7, 3])
    """

    sizes: tuple[int, ...]
    activation: str = "relu"
    norm: str = "none"
    bias: bool = True
    output: str = "trained"
    loss: str = "cross-entropy"

    def __post_init__(self) -> None:
        whole = isinstance(self.sizes, tuple) and all(type(n) is int and n >= 1 for n in self.sizes)
        if not whole or len(self.sizes) < 3:
            raise ValueError(f"sizes = {self.sizes!r}; allowed: a tuple (n_0, …, n_d) of integers >= 1 with d >= 2")
        for name, allowed in (
            ("activation", tuple(ACTIVATIONS)),
            ("norm", NORMS),
            ("output", ("trained", "ones")),
            ("loss", LOSSES),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} = {getattr(self, name)!r} is unknown; allowed: {', '.join(allowed)}")
        if self.output == "ones" and self.sizes[-1] != 1:
            raise ValueError(f"output weights fixed to 1 with {self.sizes[-1]} outputs; allowed: 1 output")

    @property
    def maps(self) -> int:
        """The number of linear maps with weights of their own."""
        return len(self.sizes) - 1 - (self.output == "ones")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of every trained tensor of one network, in the order of ``torch.nn``."""
        shapes = {}
        for k, (before, after) in enumerate(list(pairwise(self.sizes))[: self.maps]):
            shapes[f"{k}.weight"] = (after, before)
            if self.bias:
                shapes[f"{k}.bias"] = (after,)
            if self.norm != "none" and k < len(self.sizes) - 2:
                shapes[f"{k}.gain"] = shapes[f"{k}.shift"] = (after,)
        return shapes

    def initial(self, seeds: Sequence[int], dtype: torch.dtype = torch.float32) -> Tensors:
        """Initial parameters by the law of ``torch.nn.Linear``: uniform in ±1/√(inputs); gains 1, shifts 0.

        Parameters
        ----------
        seeds : sequence of int
            one a network.
        dtype : torch.dtype
            of the parameters; they are drawn in float64 and rounded.

        Returns
        -------
        dict of torch.Tensor
            name → (N, …).
        """
        networks = []
        for seed in seeds:
            generator = torch_generator(seed, "initial weights")
            tensors = {}
            for name, shape in self.shapes().items():
                layer, kind = name.split(".")
                if kind in ("gain", "shift"):
                    tensors[name] = torch.full(shape, float(kind == "gain"), dtype=torch.float64)
                else:
                    uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
                    tensors[name] = (2 * uniform - 1) / math.sqrt(self.sizes[int(layer)])
            networks.append(tensors)
        return {name: torch.stack([net[name] for net in networks]).to(dtype) for name in self.shapes()}

    def statistics(self, N: int, dtype: torch.dtype, device=None) -> Tensors:
        """Running means 0 and variances 1 of batch norm, name → (N, n_k); empty for other norms."""
        if self.norm != "batch":
            return {}
        make = {"mean": torch.zeros, "variance": torch.ones}
        return {
            f"{k}.{kind}": fill(N, n, dtype=dtype, device=device)
            for k, n in enumerate(self.sizes[1:-1])
            for kind, fill in make.items()
        }

    def forward(
        self, params: Tensors, statistics: Tensors, x: torch.Tensor, fixed: Fixed | None = None, training: bool = False
    ) -> torch.Tensor:
        """Outputs of all networks.

        Parameters
        ----------
        params, statistics : dict of torch.Tensor
            trained tensors and the running statistics of batch norm, name → (N, …).
        x : torch.Tensor
            inputs (B, n_0) of all networks, or (N, B, n_0).
        fixed : dict, optional
            layer → (F, D), each (G, n_{k+1}, n_k) with G a divisor of N: networks 0 … N/G − 1 share the first one, and
            so on. Such a layer applies F + D ⊙ W.
        training : bool
            batch norm uses the statistics of the batch and updates the running ones in place.

        Returns
        -------
        torch.Tensor
            (N, B, n_d).
        """
        h = x
        for k in range(self.maps):
            W = effective(params[f"{k}.weight"], *fixed[k]) if fixed and k in fixed else params[f"{k}.weight"]
            h = h.expand(len(W), *h.shape[-2:])
            bias = params.get(f"{k}.bias")
            h = torch.bmm(h, W.mT) if bias is None else torch.baddbmm(bias[:, None], h, W.mT)  # (N, B, n_{k+1})
            if k < len(self.sizes) - 2:
                h = ACTIVATIONS[self.activation](self._normalise(k, h, params, statistics, training))
        return h.sum(dim=-1, keepdim=True) if self.output == "ones" else h

    def _normalise(self, k: int, h: torch.Tensor, params: Tensors, statistics: Tensors, training: bool) -> torch.Tensor:
        if self.norm == "none":
            return h
        if self.norm == "layer":
            h = layer_norm(h, h.shape[-1:], eps=EPS)
        else:
            mean, variance = statistics[f"{k}.mean"], statistics[f"{k}.variance"]
            if training:
                var, centre = torch.var_mean(h, dim=1, correction=0)
                B = h.shape[1]
                with torch.no_grad():  # the running variance is the unbiased one, as in torch.nn
                    mean.lerp_(centre, MOMENTUM)
                    variance.lerp_(var * (B / (B - 1)), MOMENTUM)
                mean, variance = centre, var
            h = (h - mean[:, None]) * (variance[:, None] + EPS).rsqrt()
        return torch.addcmul(params[f"{k}.shift"][:, None], h, params[f"{k}.gain"][:, None])

    def losses(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Mean loss of each network, (N,), from outputs (N, B, n_d) and targets (N, B) labels or (N, B, n_d) values."""
        if self.loss == "mse":
            return (outputs - y).square().mean(dim=(1, 2))
        each = cross_entropy(outputs.flatten(0, 1), y.flatten(), reduction="none")
        return each.view(outputs.shape[:2]).mean(dim=1)


def effective(W: torch.Tensor, F: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """F + D ⊙ W for stacked W (N, m, d), with F and D (G, m, d) shared by N/G networks each."""
    if len(F) in (1, len(W)):
        return torch.addcmul(F, D, W)
    return torch.addcmul(F[:, None], D[:, None], W.unflatten(0, (len(F), -1))).flatten(0, 1)


def check_data(net: Architecture, x: torch.Tensor, y: torch.Tensor, N: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs as (G, n, n_0) and targets as (G', n) or (G', n, n_d) of N networks; refuses what does not fit."""
    x = x[None] if x.ndim == 2 else x
    values = net.loss == "mse"
    y = y[None] if y.ndim == 1 + values else y
    fits = x.ndim == 3 and y.ndim == 2 + values and x.shape[1] == y.shape[1] > 0 and x.shape[2] == net.sizes[0]
    if not (fits and N and N % len(x) == N % len(y) == 0 and (not values or y.shape[2] == net.sizes[-1])):
        outputs = f", {net.sizes[-1]}" if values else ""
        raise ValueError(
            f"inputs {tuple(x.shape)}, targets {tuple(y.shape)}, {N} networks; allowed: (n, {net.sizes[0]}) and "
            f"(n{outputs}) for all networks, or with a leading dimension that divides the number of networks"
        )
    if not torch.isfinite(x).all():
        raise ValueError("an input is not finite; allowed: finite inputs")
    if values:
        return x, y.to(x)
    if y.is_floating_point() or y.min() < 0 or y.max() >= net.sizes[-1]:
        raise ValueError(f"labels {y.dtype}; allowed: integers from 0 to {net.sizes[-1] - 1}")
    return x, y.to(x.device)


def check_fixed(net: Architecture, fixed: Fixed, N: int) -> None:
    """Refuse F and D that do not fit N networks of an architecture."""
    for k, pair in fixed.items():
        shapes = [tuple(part.shape) for part in pair]
        expected = net.shapes().get(f"{k}.weight")
        fits = expected is not None and all(len(s) == 3 and s[1:] == expected and N % s[0] == 0 for s in shapes)
        if not (fits and shapes[0] == shapes[1]):
            raise ValueError(
                f"F and D of layer {k} have shapes {shapes}; allowed: (G, {expected}) with G a divisor of {N}, "
                f"layers 0 to {net.maps - 1}"
            )


def layer_inputs(architecture: Architecture, params: Tensors, statistics: Tensors, x: torch.Tensor) -> list:
    """Inputs of every linear map of N ordinary networks: x, then the hidden activations after norm and activation.

    Parameters
    ----------
    architecture, params, statistics
        ordinary networks, as :func:`~lmc_helpers.training.ensemble.pick` returns them.
    x : torch.Tensor
        (n, n_0) for all networks, or (N, n, n_0).

    Returns
    -------
    list of torch.Tensor
        (N, n, n_k) for each linear map with weights, k = 0, 1, ….

    Examples
    --------
    The second map reads the hidden layer, so that it gives the outputs:

    >>> net = Architecture((2, 5, 3), bias=False)
    >>> params, x = net.initial([1, 2]), torch.ones(4, 2)
    >>> hidden = layer_inputs(net, params, {}, x)[1]
    >>> bool(torch.allclose(hidden @ params["1.weight"].mT, net.forward(params, {}, x)))
    True
    """
    some = next(iter(params.values()))
    N = len(some)
    inputs = [x.to(some).expand(N, *x.shape[-2:])]
    for k in range(1, architecture.maps):
        m = architecture.sizes[k]
        upto = replace(
            architecture, sizes=(*architecture.sizes[: k + 1], m), output="trained", loss="mse"
        )  # a network that returns its last hidden layer: identity, no bias
        known = {name: value for name, value in params.items() if int(name.split(".")[0]) < k}
        known[f"{k}.weight"] = torch.eye(m, dtype=some.dtype, device=some.device).expand(N, m, m)
        if architecture.bias:
            known[f"{k}.bias"] = torch.zeros(N, m, dtype=some.dtype, device=some.device)
        with torch.no_grad():
            inputs.append(upto.forward(known, statistics, inputs[0]))
    return inputs


def permute_neurons(
    params: Tensors, statistics: Tensors, permutations: dict[int, torch.Tensor]
) -> tuple[Tensors, Tensors]:
    """The same functions with the neurons of hidden layers in another order.

    Parameters
    ----------
    params, statistics : dict of torch.Tensor
        N ordinary networks, name → (N, …).
    permutations : dict of torch.Tensor
        linear map k → (N, m): row i of that map becomes its row p[i], with all that belongs to the neuron, and the
        next map's columns follow.

    Returns
    -------
    (dict, dict)
        parameters and statistics.

    Raises
    ------
    ValueError
        if a map has no next one, or a permutation does not fit.

    Examples
    --------
    >>> net = Architecture((2, 3, 2))
    >>> params, x = net.initial([1, 2]), torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
    >>> other, _ = permute_neurons(params, {}, {0: torch.tensor([[2, 0, 1], [1, 0, 2]])})
    >>> bool(torch.allclose(net.forward(params, {}, x), net.forward(other, {}, x), atol=1e-6))
    True
    """
    params, statistics = dict(params), dict(statistics)
    for k, p in permutations.items():
        W, following = params.get(f"{k}.weight"), params.get(f"{k + 1}.weight")
        if W is None or following is None:
            raise ValueError(f"map {k} is no hidden one; allowed: maps whose outputs a later map reads")
        if p.shape != W.shape[:2] or not (p.sort(dim=-1).values == torch.arange(p.shape[-1], device=p.device)).all():
            raise ValueError(f"p of shape {tuple(p.shape)}; allowed: permutations {tuple(W.shape[:2])}")
        p = p.to(W.device)
        for store in (params, statistics):
            for name in [name for name in store if name.split(".")[0] == str(k)]:
                value = store[name]
                store[name] = torch.take_along_dim(value, p.reshape(*p.shape, *[1] * (value.ndim - 2)), dim=1)
        params[f"{k + 1}.weight"] = torch.take_along_dim(params[f"{k + 1}.weight"], p[:, None], dim=2)
    return params, statistics
