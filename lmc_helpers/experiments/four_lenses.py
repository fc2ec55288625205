"""Pairs of classifiers of small images as lists of neurons, which four papers look at (chapter 61).

A network of one hidden ReLU layer without an output bias is a list of neurons. Neuron i is one row θ_i = (u_i, a_i),
its incoming weights, the bias last, and its outgoing ones, and the network's outputs are Σ_i a_i ReLU(u_i·x) with a 1
appended to x. Exchanging neurons is exchanging rows, so that what works for two-layer students W (..., m, d) works for
θ (..., m, p) as well: orders, matchings, barriers.

Both networks of a pair share their fixed parts F and D, as in Bürgin et al., eq. (2); θ = F + D ⊙ raw. All networks
descend together, by Adam with full batches on the cross-entropy with a penalty ½γ ‖raw‖², with a rate that falls to 0
like a cosine, so that they end near stationary points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch.nn.functional import cross_entropy

from lmc_helpers import expect
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.seeds import normal, torch_generator
from lmc_helpers.training.progress import progress

__all__ = ["CLASSES", "Pairs", "classifier_loss", "descend", "draw_pairs", "with_bias"]

Loss = Callable[[torch.Tensor], torch.Tensor]

CLASSES = 10
RATE = 0.03  # of Adam, at the start


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs of networks of m neurons with p weights each.

    Parameters
    ----------
    raw : torch.Tensor
        what is trained, (P, 2, m, p).
    F, D : torch.Tensor
        fixed part and multiplier, (P, 1, m, p).
    """

    raw: torch.Tensor
    F: torch.Tensor
    D: torch.Tensor

    @property
    def theta(self) -> torch.Tensor:
        """θ = F + D ⊙ raw, (P, 2, m, p), float64."""
        return self.F.double() + self.D.double() * self.raw.double()


def with_bias(x: torch.Tensor) -> torch.Tensor:
    """Inputs (n, d) with a 1 appended, (n, d + 1).

    Examples
    --------
    >>> with_bias(torch.tensor([[5.0]])).tolist()
    [[5.0, 1.0]]
    """
    expect.tensor(x, "x", "n d")
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def classifier_loss(x: torch.Tensor, labels: torch.Tensor) -> Loss:
    """Mean cross-entropy of Σ_i a_i ReLU(u_i·x) as a function of the neurons θ_i = (u_i, a_i).

    Parameters
    ----------
    x : torch.Tensor
        inputs (n, d), of the networks' type; with a 1 appended where neurons have biases.
    labels : torch.Tensor
        (n,), long.

    Returns
    -------
    callable
        takes θ (..., m, d + classes) to (...).

    Examples
    --------
    >>> loss = classifier_loss(torch.ones(3, 2), torch.tensor([0, 4, 9]))
    >>> round(loss(torch.zeros(5, 12)).item(), 4)  # ln 10
    2.3026
    """
    expect.tensor(x, "x")
    expect.tensors({"labels": labels})
    if not x.numel():
        raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (n, d), no axis empty")
    if labels.dtype != torch.long or (labels.numel() and labels.amin() < 0):
        raise ValueError(f"labels have dtype {labels.dtype}; allowed: classes from 0 on, torch.long")
    if x.ndim != 2 or labels.shape != x.shape[:1] or not len(x):
        raise ValueError(f"inputs {tuple(x.shape)}, labels {tuple(labels.shape)}; allowed: (n, d) and (n,), n >= 1")
    n, d = x.shape

    def loss(theta: torch.Tensor) -> torch.Tensor:
        m, shape = theta.shape[-2], theta.shape[:-2]
        hidden = torch.relu(theta[..., :d].reshape(-1, d) @ x.mT).view(-1, m, n)
        z = theta[..., d:].reshape(len(hidden), m, -1).mT @ hidden  # (N, classes, n)
        each = cross_entropy(z, labels.expand(len(z), n), reduction="none")
        return each.mean(dim=1).view(shape)

    return loss


def draw_pairs(pairs: int, neurons: int, inputs: int, seed: int, sigma: float | None = None) -> Pairs:
    """Pairs of networks at their start: independent normal weights, of variance 2/inputs and 1/neurons, biases 0.

    Parameters
    ----------
    pairs, neurons, inputs : int
        P, m, and the inputs without the 1; a neuron has p = inputs + 1 + 10 weights.
    seed : int
        of every random number.
    sigma : float, optional
        σ_F: half of the incoming weights of each neuron, in random places, are fixed to σ_F N(0, 1) numbers. Biases
        and outgoing weights never are. Without it no weight is fixed.

    Returns
    -------
    Pairs
        float32.

    Examples
    --------
    >>> drawn = draw_pairs(3, 5, 8, seed=1, sigma=2.0)
    >>> drawn.raw.shape, (drawn.D == 0).sum(dim=-1).unique().tolist()
    (torch.Size([3, 2, 5, 19]), [4])
    """
    expect.integer(pairs, "pairs")
    expect.integer(neurons, "neurons")
    expect.integer(inputs, "inputs")
    expect.number(0 if sigma is None else sigma, "sigma")
    if min(pairs, neurons, inputs) < 1:
        raise ValueError(f"pairs = {pairs}, neurons = {neurons}, inputs = {inputs}; allowed: at least 1 each")
    p, purpose = inputs + 1 + CLASSES, f"four lenses, sigma={sigma}"
    raw = normal((pairs, 2, neurons, p), seed, purpose)
    raw[..., :inputs] *= math.sqrt(2 / inputs)
    raw[..., inputs] = 0
    raw[..., inputs + 1 :] /= math.sqrt(neurons)
    F, D = torch.zeros(pairs, 1, neurons, p).double(), torch.ones(pairs, 1, neurons, p).double()
    if sigma is not None:
        generator = torch_generator(seed, f"{purpose}, fixed weights")
        drawn = WAsymmetric(inputs // 2, sigma).draw((pairs * neurons, inputs), generator)
        F[..., :inputs], D[..., :inputs] = (part.view(pairs, 1, neurons, inputs) for part in drawn)
    return Pairs(raw.float(), F.float(), D.float())


def descend(
    start: Pairs,
    loss: Loss,
    steps: int,
    decay: float,
    places: torch.Tensor | None = None,
    show_progress: bool = False,
) -> Pairs:
    """Train all networks at once on loss + ½ decay ``‖raw‖²``, by Adam with a cosine rate.

    Parameters
    ----------
    start : Pairs
        where to start; its type is that of the computation.
    loss : callable
        takes θ (..., m, p) to (...).
    steps : int
        of Adam.
    decay : float
        γ.
    places : torch.Tensor, optional
        (P, 2, m), long: neuron i of a network is held equal to its neuron places[i], at the start too. Two neurons
        with one place coincide all the way, as at a permutation point.
    show_progress : bool
        show a bar where tqdm is installed.

    Returns
    -------
    Pairs
        at the end.

    Examples
    --------
    >>> x, labels = torch.eye(4), torch.tensor([0, 1, 2, 3])
    >>> loss, start = classifier_loss(with_bias(x), labels), draw_pairs(2, 6, 4, seed=1)
    >>> bool((loss(descend(start, loss, 200, 1e-3).theta.float()) < 0.2).all())
    True
    """
    if not isinstance(start, Pairs):
        raise ValueError(f"start is {type(start).__name__}; allowed: Pairs")
    expect.function(loss, "loss")
    expect.integer(steps, "steps")
    expect.number(decay, "decay")
    if places is not None and not isinstance(places, torch.Tensor):
        raise ValueError(f"places is {type(places).__name__}; allowed: None, or a tensor (P, 2, m)")
    if places is not None and (places.dtype != torch.long or places.shape != start.raw.shape[:-1]):
        raise ValueError(f"places has shape {tuple(places.shape)} and {places.dtype}; allowed: (P, 2, m), torch.long")
    expect.one_of(show_progress, "show_progress", (True, False))
    if steps < 0 or not 0 <= decay < math.inf:
        raise ValueError(f"steps = {steps}, decay = {decay}; allowed: steps >= 0 and a finite decay >= 0")

    def held(raw: torch.Tensor) -> torch.Tensor:
        return raw if places is None else torch.take_along_dim(raw, places[..., None], dim=-2)

    raw = start.raw.clone().requires_grad_()
    optimiser = torch.optim.Adam([raw], lr=RATE, fused=True)
    for step in progress(range(steps), description="descent", disable=not show_progress):
        optimiser.param_groups[0]["lr"] = RATE * (1 + math.cos(math.pi * step / steps)) / 2
        now = held(raw)
        value = loss(start.F + start.D * now).sum() + decay / 2 * now.square().sum()
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    if not torch.isfinite(raw).all():
        raise ValueError("a weight is not finite after the descent; allowed: losses that stay finite")
    return replace(start, raw=held(raw.detach()))
