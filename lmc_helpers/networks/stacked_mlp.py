"""Multilayer perceptrons whose parameters are stacked: N networks of one architecture, every product a batched one.

An :class:`Architecture` is data. :class:`Networks` holds N networks of one architecture: trained tensors and the
running statistics of batch norm, name → (N, …), and the fixed parts of asymmetric layers. Such a layer (Bürgin et al.,
eq. (2)) applies F + D ⊙ W in the place of W, with F and D for each network or shared by networks that stand side by
side. Networks without fixed parts are *ordinary*; :meth:`Networks.ordinary` puts F + D ⊙ W in the place of W.

Stacked by hand, not by ``torch.func``: a layer of all networks is one ``baddbmm``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch.nn.functional import cross_entropy, gelu, layer_norm

from lmc_helpers import expect
from lmc_helpers.seeds import torch_generator

__all__ = ["ACTIVATIONS", "LOSSES", "NORMS", "Architecture", "Networks", "check_data", "effective"]

#: Activations by their names.
ACTIVATIONS = {"relu": torch.relu, "gelu": gelu, "tanh": torch.tanh}

#: Norms of hidden layers.
NORMS = ("none", "layer", "batch")

#: Losses: labels, or the mean square.
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

    Examples
    --------
    >>> net = Architecture((2, 5, 3), norm="layer")
    >>> {name: tuple(shape) for name, shape in net.shapes().items()}["0.weight"]
    (5, 2)
    >>> net.initial([1, 2]).forward(torch.zeros(7, 2)).shape
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
        shapes: dict[str, tuple[int, ...]] = {}
        for k, (before, after) in enumerate(list(pairwise(self.sizes))[: self.maps]):
            shapes[f"{k}.weight"] = (after, before)
            if self.bias:
                shapes[f"{k}.bias"] = (after,)
            if self.norm != "none" and k < len(self.sizes) - 2:
                shapes[f"{k}.gain"] = shapes[f"{k}.shift"] = (after,)
        return shapes

    def initial(self, seeds: Sequence[int], dtype: torch.dtype = torch.float32, fixed: Fixed | None = None) -> Networks:
        """Networks by the law of ``torch.nn.Linear``: uniform in ±1/√(inputs); gains 1, shifts 0.

        Parameters
        ----------
        seeds : sequence of int
            one a network.
        dtype : torch.dtype
            of the parameters; they are drawn in float64 and rounded.
        fixed : dict, optional
            fixed parts, as in :class:`Networks`.

        Returns
        -------
        Networks
            N of them.
        """
        expect.array(seeds, "seeds", "N", empty=True)
        expect.floating(dtype, "dtype")
        expect.fixed_parts(fixed, "fixed")
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
        if not networks:
            raise ValueError("0 networks; allowed: at least 1")
        params = {name: torch.stack([net[name] for net in networks]).to(dtype) for name in self.shapes()}
        return Networks(self, params, self.statistics(len(networks), dtype), fixed or {})

    def statistics(self, N: int, dtype: torch.dtype) -> Tensors:
        """Running means 0 and variances 1 of batch norm, name → (N, n_k); empty for other norms."""
        expect.integer(N, "N", least=1)
        expect.floating(dtype, "dtype")
        if self.norm != "batch":
            return {}
        make = {"mean": torch.zeros, "variance": torch.ones}
        return {
            f"{k}.{kind}": fill(N, n, dtype=dtype)
            for k, n in enumerate(self.sizes[1:-1])
            for kind, fill in make.items()
        }

    def losses(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Mean loss of each network, (N,), from outputs (N, B, n_d) and labels (N, B) or values (N, B, n_d)."""
        expect.tensor(outputs, "outputs", "N B n", finite=False)
        expect.tensors({"y": y})
        if outputs.shape[-1] != self.sizes[-1]:
            raise ValueError(f"outputs has shape {tuple(outputs.shape)}; allowed: (N, B, {self.sizes[-1]})")
        if (y.shape, y.dtype) != (
            (outputs.shape, outputs.dtype) if self.loss == "mse" else (outputs.shape[:2], torch.long)
        ):
            raise ValueError(f"y is {y.dtype} {tuple(y.shape)}; allowed: as outputs, for labels (N, B) and torch.long")
        if self.loss == "mse":
            return (outputs - y).square().mean(dim=(1, 2))
        each = cross_entropy(outputs.flatten(0, 1), y.flatten(), reduction="none")
        return each.view(outputs.shape[:2]).mean(dim=1)


@dataclass(frozen=True, eq=False)
class Networks:
    """N networks of one architecture.

    Parameters
    ----------
    architecture : Architecture
        of all of them.
    params : dict of torch.Tensor
        trained tensors, name → (N, …), names and shapes those of :meth:`Architecture.shapes`.
    statistics : dict of torch.Tensor
        running means and variances of batch norm, name → (N, n_k); empty for other norms.
    fixed : dict
        layer → (F, D), each (G, n_{k+1}, n_k) with G a divisor of N: networks 0 … N/G − 1 share the first one, and so
        on. Such a layer applies F + D ⊙ W.

    Examples
    --------
    >>> net = Architecture((2, 5, 3), bias=False)
    >>> one = net.initial([1])
    >>> x = torch.ones(4, 2)
    >>> by_hand = torch.relu(x @ one.params["0.weight"][0].T) @ one.params["1.weight"][0].T
    >>> bool(torch.allclose(one.forward(x)[0], by_hand))
    True
    """

    architecture: Architecture
    params: Tensors
    statistics: Tensors = field(default_factory=dict)
    fixed: Fixed = field(default_factory=dict)

    def __post_init__(self) -> None:
        N = len(next(iter(self.params.values()))) if self.params else 0
        shapes = {name: tuple(value.shape) for name, value in self.params.items()}
        expected = {name: (N, *shape) for name, shape in self.architecture.shapes().items()}
        if not N or shapes != expected:
            raise ValueError(f"parameters have shapes {shapes}; allowed: (N, …) of {self.architecture.shapes()}")
        shapes = {name: tuple(value.shape) for name, value in self.statistics.items()}
        if shapes != {k: tuple(v.shape) for k, v in self.architecture.statistics(N, torch.float32).items()}:
            raise ValueError(
                f"statistics have shapes {shapes}; allowed: means and variances of the {N} networks for batch norm, "
                "none for other norms"
            )
        _check_fixed(self.architecture, self.fixed, N)

    def __len__(self) -> int:
        return len(self.params["0.weight"])

    def to(self, tensor: torch.Tensor) -> Networks:
        """The same networks with the type and device of a tensor."""
        expect.tensor(tensor, "tensor", finite=False)
        params, statistics = ({k: v.to(tensor) for k, v in part.items()} for part in (self.params, self.statistics))
        fixed = {k: (F.to(tensor), D.to(tensor)) for k, (F, D) in self.fixed.items()}
        return Networks(self.architecture, params, statistics, fixed)

    def forward(self, x: torch.Tensor, training: bool = False) -> torch.Tensor:
        """Outputs of all networks.

        Parameters
        ----------
        x : torch.Tensor
            inputs (B, n_0) of all networks, or (N, B, n_0).
        training : bool
            batch norm uses the statistics of the batch and updates the running ones in place.

        Returns
        -------
        torch.Tensor
            (N, B, n_d).
        """
        expect.one_of(training, "training", (True, False))
        *_, outputs = self._steps(x, training)
        return outputs

    def layer_inputs(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Inputs of every linear map: x, then the hidden activations after norm and activation.

        Parameters
        ----------
        x : torch.Tensor
            (n, n_0) for all networks, or (N, n, n_0).

        Returns
        -------
        list of torch.Tensor
            (N, n, n_k) for each linear map with weights, k = 0, 1, ….

        Examples
        --------
        The second map reads the hidden layer, so that it gives the outputs:

        >>> nets, x = Architecture((2, 5, 3), bias=False).initial([1, 2]), torch.ones(4, 2)
        >>> hidden = nets.layer_inputs(x)[1]
        >>> bool(torch.allclose(hidden @ nets.params["1.weight"].mT, nets.forward(x)))
        True
        """
        expect.tensor(x, "x", finite=False)
        with torch.no_grad():
            *inputs, _ = self._steps(x.to(self.params["0.weight"]), training=False)
        return inputs

    def _steps(self, h: torch.Tensor, training: bool) -> Iterator[torch.Tensor]:
        """The inputs of each linear map, (N, B, n_k), then the outputs."""
        net, params = self.architecture, self.params
        if not isinstance(h, torch.Tensor) or not h.is_floating_point():
            raise ValueError(f"x is {getattr(h, 'dtype', type(h).__name__)}; allowed: a tensor of floating point")
        if h.ndim not in (2, 3) or not h.numel() or h.shape[-1] != net.sizes[0]:
            raise ValueError(f"x has shape {tuple(h.shape)}; allowed: (B, {net.sizes[0]}) or (N, B, {net.sizes[0]})")
        if h.ndim == 3 and len(h) not in (1, len(self)):
            raise ValueError(f"x has shape {tuple(h.shape)}; allowed: a leading axis of {len(self)} networks, or none")
        if training and net.norm == "batch" and h.shape[-2] == 1:
            raise ValueError(f"x has shape {tuple(h.shape)}; allowed: two or more examples, for their variance")
        expect.same({"x": h, "0.weight": params["0.weight"]}, shape=False)
        for k in range(net.maps):
            W = params[f"{k}.weight"]
            W = effective(W, *self.fixed[k]) if k in self.fixed else W
            h = h.expand(len(W), *h.shape[-2:])
            yield h
            bias = params.get(f"{k}.bias")
            h = torch.bmm(h, W.mT) if bias is None else torch.baddbmm(bias[:, None], h, W.mT)  # (N, B, n_{k+1})
            if k < len(net.sizes) - 2:
                h = ACTIVATIONS[net.activation](self._normalise(k, h, training))
        yield h.sum(dim=-1, keepdim=True) if net.output == "ones" else h

    def _normalise(self, k: int, h: torch.Tensor, training: bool) -> torch.Tensor:
        if self.architecture.norm == "none":
            return h
        if self.architecture.norm == "layer":
            h = layer_norm(h, h.shape[-1:], eps=EPS)
        else:
            mean, variance = self.statistics[f"{k}.mean"], self.statistics[f"{k}.variance"]
            if training:
                var, centre = torch.var_mean(h, dim=1, correction=0)
                B = h.shape[1]
                with torch.no_grad():  # the running variance is the unbiased one, as in torch.nn
                    mean.lerp_(centre, MOMENTUM)
                    variance.lerp_(var * (B / (B - 1)), MOMENTUM)
                mean, variance = centre, var
            h = (h - mean[:, None]) * (variance[:, None] + EPS).rsqrt()
        return torch.addcmul(self.params[f"{k}.shift"][:, None], h, self.params[f"{k}.gain"][:, None])

    def ordinary(self, which: torch.Tensor | Sequence[int] | None = None) -> Networks:
        """Some of the networks, or all, as ordinary ones: F + D ⊙ W in the place of W.

        A line between two W with the same F and D is the line between the two F + D ⊙ W.

        Parameters
        ----------
        which : torch.Tensor or sequence of int, optional
            (P,) indices of networks.

        Returns
        -------
        Networks
            P of them, without fixed parts.

        Examples
        --------
        >>> Architecture((1, 2, 2)).initial([1, 2]).ordinary([1, 1, 0]).params["0.bias"].shape
        torch.Size([3, 2])
        """
        params = dict(self.params)
        for k, (F, D) in self.fixed.items():
            W = params[f"{k}.weight"]
            params[f"{k}.weight"] = effective(W, F.to(W), D.to(W))
        if which is None:
            return Networks(self.architecture, params, self.statistics)
        expect.indices(which, "which", len(self))
        which = torch.as_tensor(which, device=params["0.weight"].device)
        params, statistics = ({k: v[which] for k, v in part.items()} for part in (params, self.statistics))
        return Networks(self.architecture, params, statistics)

    def permuted(self, permutations: dict[int, torch.Tensor]) -> Networks:
        """The same functions with the neurons of hidden layers in another order.

        Parameters
        ----------
        permutations : dict of torch.Tensor
            linear map k → (N, m): row i of that map becomes its row p[i], with all that belongs to the neuron, and the
            next map's columns follow.

        Returns
        -------
        Networks
            N ordinary networks.

        Examples
        --------
        >>> nets = Architecture((2, 3, 2)).initial([1, 2])
        >>> x = torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
        >>> other = nets.permuted({0: torch.tensor([[2, 0, 1], [1, 0, 2]])})
        >>> bool(torch.allclose(nets.forward(x), other.forward(x), atol=1e-6))
        True
        """
        if self.fixed:
            raise ValueError(f"layers {sorted(self.fixed)} have fixed parts; allowed: ordinary networks")
        if not isinstance(permutations, dict):
            raise ValueError(f"permutations is {type(permutations).__name__}; allowed: tensors by their maps")
        params, statistics = dict(self.params), dict(self.statistics)
        for k, p in permutations.items():
            expect.integer(k, "map")
            expect.permutation(p, f"p of map {k}")
            W, following = params.get(f"{k}.weight"), params.get(f"{k + 1}.weight")
            if W is None or following is None:
                raise ValueError(f"map {k} is no hidden one; allowed: maps whose outputs a later map reads")
            in_order = torch.arange(p.shape[-1], device=p.device)
            if p.shape != W.shape[:2] or not (p.sort(dim=-1).values == in_order).all():
                raise ValueError(f"p of shape {tuple(p.shape)}; allowed: permutations {tuple(W.shape[:2])}")
            p = p.to(W.device)
            for store in (params, statistics):
                for name in [name for name in store if name.split(".")[0] == str(k)]:
                    value = store[name]
                    store[name] = torch.take_along_dim(value, p.reshape(*p.shape, *[1] * (value.ndim - 2)), dim=1)
            params[f"{k + 1}.weight"] = torch.take_along_dim(following, p[:, None], dim=2)
        return Networks(self.architecture, params, statistics)

    def norm_as_affine(self, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The bias and the fixed batch norm behind linear map k as one affine map, s ↦ α s + γ for each neuron.

            α = gain/√(variance + ε),      γ = α (bias − mean) + shift

        Parameters
        ----------
        k : int
            a hidden linear map.

        Returns
        -------
        (torch.Tensor, torch.Tensor)
            α and γ, (N, n_{k+1}) each, float64.

        Examples
        --------
        >>> alpha, gamma = Architecture((2, 3, 2), norm="batch", bias=False).initial([1]).norm_as_affine(0)
        >>> round(alpha[0, 0].item(), 5), gamma[0, 0].item()
        (1.0, 0.0)
        """
        expect.integer(k, "k")
        if f"{k}.mean" not in self.statistics:
            raise ValueError(f"map {k} has no batch norm; allowed: hidden maps of networks with batch norm")
        gain, shift = (self.params[f"{k}.{name}"].double() for name in ("gain", "shift"))
        mean, variance = (self.statistics[f"{k}.{name}"].double() for name in ("mean", "variance"))
        bias = self.params[f"{k}.bias"].double() if self.architecture.bias else torch.zeros_like(mean)
        alpha = gain * (variance + EPS).rsqrt()
        return alpha, alpha * (bias - mean) + shift


def effective(W: torch.Tensor, F: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """F + D ⊙ W for stacked W, eq. (2) of Bürgin et al.

    Parameters
    ----------
    W : torch.Tensor
        (N, m, d).
    F, D : torch.Tensor
        (G, m, d), shared by N/G networks each.

    Returns
    -------
    torch.Tensor
        (N, m, d).

    Examples
    --------
    >>> W, F, D = torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[[10.0]]]), torch.tensor([[[3.0]]])
    >>> effective(W, F, D).flatten().tolist()
    [13.0, 16.0]
    """
    if len(F) in (1, len(W)):
        return torch.addcmul(F, D, W)
    return torch.addcmul(F[:, None], D[:, None], W.unflatten(0, (len(F), -1))).flatten(0, 1)


def check_data(net: Architecture, x: torch.Tensor, y: torch.Tensor, N: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Examples of N networks, brought to one form.

    Parameters
    ----------
    net : Architecture
        of the networks.
    x : torch.Tensor
        inputs (n, n_0), or (G, n, n_0) with G a divisor of N.
    y : torch.Tensor
        labels (n,) or (G', n), or values (n, n_d) or (G', n, n_d).
    N : int
        number of networks.

    Returns
    -------
    (torch.Tensor, torch.Tensor)
        (G, n, n_0), and (G', n) or (G', n, n_d).

    Examples
    --------
    >>> x, y = check_data(Architecture((2, 3, 2)), torch.ones(5, 2), torch.zeros(5, dtype=torch.long), 4)
    >>> x.shape, y.shape
    (torch.Size([1, 5, 2]), torch.Size([1, 5]))
    """
    if not isinstance(net, Architecture):
        raise ValueError(f"net is {type(net).__name__}; allowed: Architecture")
    expect.tensors({"x": x, "y": y})
    expect.tensor(x, "x", finite=False)
    expect.integer(N, "N", least=0)
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
    if values and not (y.is_floating_point() and y.isfinite().all()):
        raise ValueError(f"values {y.dtype}; allowed: finite numbers of floating point")
    if not values and y.dtype != torch.long:
        raise ValueError(f"labels {y.dtype}; allowed: integers from 0 to {net.sizes[-1] - 1}, torch.long")
    if values:
        return x, y.to(x)
    if y.is_floating_point() or y.min() < 0 or y.max() >= net.sizes[-1]:
        raise ValueError(f"labels {y.dtype}; allowed: integers from 0 to {net.sizes[-1] - 1}")
    return x, y.to(x.device)


def _check_fixed(net: Architecture, fixed: Fixed, N: int) -> None:
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
