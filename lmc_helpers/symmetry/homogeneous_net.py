"""Networks on which the rescaling barrier is measured (Zhao, Dehmamy, Walters & Yu, 5.2 and 5.3; chapters 33 and 37).

All that the loss L = ``‖Y − W_l σ(W_{l−1} F)‖²`` sees of a deep network are its last two layers W_l (o, h) and
W_{l−1} (h, d), the features F (d, N), which the layers below make of the inputs, the targets Y (o, N) and the
homogeneous activation σ. :class:`HomogeneousNet` holds them; forward passes on lines between two points are
measurements against which the closed forms of :mod:`lmc_helpers.symmetry.rescaling` are checked.

Networks with loss 0 come at random, the targets being their own outputs, or by training: :func:`five_layer_minimum`
descends to a minimum of the paper's Fig. 4. Numbers are float64 and keyed by (seed, purpose).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch

from lmc_helpers import expect
from lmc_helpers.barrier import check_places
from lmc_helpers.seeds import normal
from lmc_helpers.symmetry.rescaling import activation, check_layers, fill_outputs, rescale

__all__ = ["HomogeneousNet", "five_layer_minimum", "idle_net", "place_of_largest_loss", "random_net"]

SLOPES = (0.0, -0.1, 0.5)  # σ(−1) of the random networks in turn: ReLU, leaky ReLU, partly even
FEATURES = 3  # d of the random networks
WIDTHS = (8, 16, 32, 16, 8, 4)  # of the network of Fig. 4, inputs and outputs included
SAMPLES = 4  # of Fig. 4
SLOPE = 0.01  # of leaky ReLU, which Fig. 4 does not state
RATE = 0.01  # of gradient descent
Layers = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class HomogeneousNet:
    """The last two layers of a network, what they act on, and the targets.

    Parameters
    ----------
    last, before : torch.Tensor
        W_l (o, h) and W_{l−1} (h, d).
    F : torch.Tensor
        features (d, N).
    Y : torch.Tensor
        targets (o, N).
    k : float
        degree of σ, finite and > 0; σ(1) = 1.
    negative : float
        σ(−1): 0 for ReLU, −0.01 for leaky ReLU with k = 1.

    Examples
    --------
    One neuron, the paper's Fig. 2, from (1, 1) to (1/4, 4), with the loss (φ(½) − 1)² = (9/16)² in the middle:

    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> net = HomogeneousNet(one, one, one, one, k=1, negative=0.0)
    >>> net.line([0, 0.5, 1], net.rescaled(4.0), net.layers).tolist()
    [0.0, 0.31640625, 0.0]
    """

    last: torch.Tensor
    before: torch.Tensor
    F: torch.Tensor
    Y: torch.Tensor
    k: float
    negative: float

    def __post_init__(self) -> None:
        check_layers(self.last, self.before)
        expect.tensor(self.last, "last", "o h")
        expect.tensor(self.before, "before", "h d")
        expect.tensor(self.F, "F", "d N")
        expect.tensor(self.Y, "Y", "o N")
        expect.number(self.k, "k")
        expect.number(self.negative, "negative")
        if not self.k > 0:
            raise ValueError(f"k = {self.k}; allowed: a finite number > 0")
        if self.before.shape[-1:] != self.F.shape[:1] or self.Y.shape != (len(self.last), self.F.shape[1]):
            shapes = [tuple(t.shape) for t in (self.last, self.before, self.F, self.Y)]
            raise ValueError(f"W_l, W_(l−1), F and Y have shapes {shapes}; allowed: (o, h), (h, d), (d, N) and (o, N)")
        expect.same({"last": self.last, "before": self.before, "F": self.F, "Y": self.Y}, shape=False)

    @property
    def layers(self) -> Layers:
        """W_l and W_{l−1}."""
        return self.last, self.before

    @property
    def hidden(self) -> torch.Tensor:
        """H = W_{l−1} F, (h, N)."""
        return self.before @ self.F

    def sigma(self, z: torch.Tensor) -> torch.Tensor:
        """σ, entry by entry."""
        return activation(z, self.k, negative=self.negative)

    def output(self, last: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """W_l σ(W_{l−1} F) of other layers, (..., o, N)."""
        expect.tensor(last, "last", "... o h", finite=False)
        expect.tensor(before, "before", "... h d", finite=False)
        expect.same({"last": last, "before": before, "F": self.F}, shape=False)
        if (last.shape[-2], before.shape[-1]) != (len(self.Y), len(self.F)) or last.shape[-1] != before.shape[-2]:
            raise ValueError(
                f"the layers have shapes {tuple(last.shape)}, {tuple(before.shape)}; allowed: (..., {len(self.Y)}, h) "
                f"and (..., h, {len(self.F)})"
            )
        return last @ self.sigma(before @ self.F)

    def loss(self, last: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """L = ``‖Y − W_l σ(W_{l−1} F)‖²`` of other layers, (...)."""
        return (self.Y - self.output(last, before)).square().sum(dim=(-2, -1))

    def rescaled(self, m: float | torch.Tensor) -> Layers:
        """m · W, the layers (W_l m^{−k}, m W_{l−1}); m one number, or one a neuron."""
        return rescale(*self.layers, m, self.k)

    def line(self, lambdas: float | Sequence[float] | torch.Tensor, a: Layers, b: Layers) -> torch.Tensor:
        """Losses at λ a + (1 − λ) b.

        Parameters
        ----------
        lambdas : float or sequence of float
            places in [0, 1], a number or a row of them.
        a, b : tuple of torch.Tensor
            layers (..., o, h) and (..., h, d).

        Returns
        -------
        torch.Tensor
            (..., L), with L = 1 for a number.
        """
        expect.tensors(a, "a")
        expect.tensors(b, "b")
        if len(a) != 2 or len(b) != 2:
            raise ValueError(f"a holds {len(a)} and b {len(b)} layers; allowed: 2 each, W_l and W_(l−1)")
        expect.tensor(a[0], "a[0]", "... o h")
        expect.tensor(a[1], "a[1]", "... h d")
        expect.tensor(b[0], "b[0]", "... o h")
        expect.tensor(b[1], "b[1]", "... h d")
        expect.same({"a[0]": a[0], "a[1]": a[1], "b[0]": b[0], "b[1]": b[1]}, shape=False)
        if a[0].shape[-2:] != b[0].shape[-2:] or a[1].shape[-2:] != b[1].shape[-2:]:
            raise ValueError(
                f"the layers end in {tuple(a[0].shape[-2:])}, {tuple(a[1].shape[-2:])} and {tuple(b[0].shape[-2:])}, "
                f"{tuple(b[1].shape[-2:])}; allowed: (o, h) and (h, d), twice the same"
            )
        lam = check_places(lambdas, row=False)[..., None, None]
        if lam.ndim > 3 or not lam.numel():
            raise ValueError(f"lambdas have shape {tuple(lam.shape[:-2])}; allowed: a number or a row of them")
        mixed = [lam * x.unsqueeze(-3) + (1 - lam) * y.unsqueeze(-3) for x, y in zip(a, b, strict=True)]
        return self.loss(*mixed)

    def with_norm(self, norm: float) -> HomogeneousNet:
        """The same network with W_l and Y multiplied so that ``‖Y‖`` is ``norm``; its loss stays 0 if it was."""
        expect.number(norm, "norm")
        if not norm > 0:
            raise ValueError(f"norm = {norm}; allowed: a finite number > 0")
        if not self.Y.any():
            raise ValueError("Y is 0, so that no multiple has another norm; allowed: targets that are not 0")
        scale = norm / self.Y.norm()
        return replace(self, last=scale * self.last, Y=scale * self.Y)

    def filled(self) -> HomogeneousNet:
        """The same function without zero columns of W_l, see :func:`lmc_helpers.symmetry.rescaling.fill_outputs`."""
        last, rows = fill_outputs(self.last, self.hidden, self.sigma)
        return replace(self, last=last, before=self.before[rows])


def random_net(
    seed: int, purpose: str, k: float, number: int = 0, h: int = 5, o: int = 2, N: int = 4
) -> HomogeneousNet:
    """A random network whose targets are its own outputs, so that its loss is 0.

    Layers and features are standard normal, with 3 features; rows of W_{l−1} are turned so that every neuron, a ReLU
    included, is active on some sample. σ(−1) is 0, −0.1 and 0.5 in turn.

    Parameters
    ----------
    seed, purpose
        key of its random numbers, with k and ``number``.
    k : float
        degree of σ, finite and > 0.
    number : int
        which network, from 0.
    h, o, N : int
        neurons, outputs and samples.

    Returns
    -------
    HomogeneousNet
        the network.

    Examples
    --------
    >>> net = random_net(1, "example", k=2)
    >>> net.loss(*net.layers).item(), (net.hidden > 0).any(dim=1).all().item()
    (0.0, True)
    """
    expect.text(purpose, "purpose")
    expect.number(k, "k")
    expect.integer(number, "number", least=0)
    expect.integer(h, "h", least=1)
    expect.integer(o, "o", least=1)
    expect.integer(N, "N", least=1)
    name, negative = f"{purpose} {k} {number}", SLOPES[number % len(SLOPES)]
    shapes = {"last": (o, h), "before": (h, FEATURES), "F": (FEATURES, N)}
    last, before, F = (normal(shape, seed, f"{name} {part} {shape}") for part, shape in shapes.items())
    before = before * (before @ F).sum(dim=1, keepdim=True).sign()
    return HomogeneousNet(last, before, F, last @ activation(before @ F, k, negative=negative), k, negative)


def idle_net(seed: int, k: float, working: int, h: int, number: int = 0) -> HomogeneousNet:
    """A network with loss 0, some working neurons and h − working without incoming and outgoing weights.

    Parameters
    ----------
    seed : int
        seed of its random numbers.
    k : float
        degree of σ, finite and > 0.
    working : int
        neurons of a :func:`random_net` that come first, 1 <= working <= h.
    h : int
        all neurons.
    number : int
        which network, from 0.

    Returns
    -------
    HomogeneousNet
        the network.

    Examples
    --------
    >>> idle_net(1, k=1, working=1, h=3).last.count_nonzero(dim=0).tolist()
    [2, 0, 0]
    """
    expect.number(k, "k")
    expect.integer(working, "working")
    expect.integer(h, "h")
    expect.integer(number, "number", least=0)
    if not 1 <= working <= h:
        raise ValueError(f"working = {working}, h = {h}; allowed: 1 <= working <= h")
    net = random_net(seed, f"idle {working} of {h}", k, number, h=working)
    last, before = net.last.new_zeros(len(net.last), h), net.before.new_zeros(h, FEATURES)
    last[:, :working], before[:working] = net.layers
    return replace(net, last=last, before=before)


def place_of_largest_loss(net: HomogeneousNet, m: torch.Tensor, steps: int = 50) -> torch.Tensor:
    """Where the loss is largest on the lines from W to m · W, by bisection of its measured derivative.

    Parameters
    ----------
    net : HomogeneousNet
        a point W with loss 0, whose loss on each line rises and then falls.
    m : torch.Tensor
        scales (B,), finite, > 0 and not 1.
    steps : int
        halvings of [0, 1].

    Returns
    -------
    torch.Tensor
        weights of m · W, (B,).

    Examples
    --------
    In the middle for k = 1, at k/(1 + k) for m → ∞:

    >>> m = torch.tensor([1e-2, 1e12], dtype=torch.float64)
    >>> [round(place_of_largest_loss(random_net(1, "example", k), m)[n].item(), 6) for n, k in enumerate((1, 3))]
    [0.5, 0.75]
    """
    if not isinstance(net, HomogeneousNet):
        raise ValueError(f"net = {net!r}; allowed: a HomogeneousNet")
    expect.tensor(m, "m")
    if m.ndim == 1 and not len(m):
        raise ValueError("m has shape (0,); allowed: (B,), B >= 1")
    expect.integer(steps, "steps", least=1)
    if (m == 1).any():
        raise ValueError("m holds 1, where the line is a point; allowed: finite numbers > 0 and not 1")
    if m.ndim != 1:
        raise ValueError(f"m has shape {tuple(m.shape)}; allowed: (B,)")
    ends = net.rescaled(m[:, None].expand(-1, net.last.shape[1]))  # (B, o, h), (B, h, d)
    low, high = torch.zeros_like(m), torch.ones_like(m)
    for _ in range(steps):
        place = ((low + high) / 2).requires_grad_()
        lam = place[:, None, None]
        losses = net.loss(*((1 - lam) * x + lam * y for x, y in zip(net.layers, ends, strict=True)))  # (B,)
        (slope,) = torch.autograd.grad(losses.sum(), place)
        place = place.detach()
        low, high = torch.where(slope > 0, place, low), torch.where(slope > 0, high, place)
    return place


def five_layer_minimum(seed: int, steps: int) -> tuple[HomogeneousNet, float]:
    """A minimum of the network of Fig. 4 with loss 0 to rounding, and the loss to which gradient descent brought it.

    Five layers with leaky ReLU, widths 8, 16, 32, 16, 8, 4, and normal X (8, 4) and Y (4, 4). After full-batch gradient
    descent of half the squared error at the rate 0.01, Gauss–Newton steps of least norm, halved until the error falls,
    go on until rounding stops them.

    Parameters
    ----------
    seed : int
        seed of weights, inputs and targets.
    steps : int
        steps of gradient descent, >= 1.

    Returns
    -------
    HomogeneousNet
        its last two layers and what they act on.
    float
        squared error before the last step of gradient descent.

    Examples
    --------
    >>> net, descended = five_layer_minimum(7001, steps=100)
    >>> descended > 1e-3, net.loss(*net.layers).item() < 1e-25
    (True, True)
    """
    expect.integer(steps, "steps")
    if steps < 1:
        raise ValueError(f"steps = {steps}; allowed: steps >= 1")

    def drawn(purpose: str, *shape: int) -> torch.Tensor:
        return normal(shape, seed, f"{purpose} {shape}")

    X, Y = drawn("X of Fig. 4", WIDTHS[0], SAMPLES), drawn("Y of Fig. 4", WIDTHS[-1], SAMPLES)

    def sigma(z: torch.Tensor) -> torch.Tensor:
        return activation(z, 1, negative=-SLOPE)

    def features(weights: Sequence[torch.Tensor]) -> torch.Tensor:
        F = X
        for W in weights[:-2]:
            F = sigma(W @ F)
        return F

    def residual(*weights: torch.Tensor) -> torch.Tensor:
        return (weights[-1] @ sigma(weights[-2] @ features(weights)) - Y).flatten()

    weights = [drawn(f"layer {i} of Fig. 4", b, a) * math.sqrt(2 / a) for i, (a, b) in enumerate(pairwise(WIDTHS))]
    for _ in range(steps):
        weights = [W.requires_grad_() for W in weights]
        half = residual(*weights).square().sum() / 2
        gradients = torch.autograd.grad(half, weights)
        weights = [(W - RATE * g).detach() for W, g in zip(weights, gradients, strict=True)]
    weights = _gauss_newton(residual, weights)
    return HomogeneousNet(weights[-1], weights[-2], features(weights), Y, 1, -SLOPE), 2 * half.item()


def _gauss_newton(residual, weights: list[torch.Tensor], steps: int = 60) -> list[torch.Tensor]:
    """Steps of least norm towards residual = 0, halved until its norm falls; ends where no step lowers it."""
    sizes = [W.numel() for W in weights]
    for _ in range(steps):
        r = residual(*weights)
        jacobians = torch.func.jacrev(residual, argnums=tuple(range(len(weights))))(*weights)
        flat = torch.cat([J.flatten(1) for J in jacobians], dim=1)  # (outputs, parameters)
        least_norm = torch.linalg.lstsq(flat, r, driver="gelsd").solution
        for halvings in range(30):
            there = [
                W - s.reshape(W.shape) / 2**halvings for W, s in zip(weights, least_norm.split(sizes), strict=True)
            ]
            if residual(*there).norm() < r.norm():
                break
        else:
            break  # rounding
        weights = there
    return weights
