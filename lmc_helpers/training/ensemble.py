"""Many small networks trained as one batched computation.

The parameters of N networks of one :class:`~lmc_helpers.networks.stacked_mlp.Architecture` are stacked, (N, …), and
the sum of the N losses is differentiated, so that each network receives its own gradient and nothing else. AdamW acts
entry by entry, and one ``torch.optim.AdamW`` on the stacked tensors does to each network what it would do to it alone.
What a network sees depends on its own seed only: its initial weights on (seed, "initial weights"), the order of its
examples on (seed, epoch). So a network of an ensemble is the network that a plain loop trains, up to rounding.

Networks are trained in float32, as is usual: the noise of the order of the examples is many orders above its rounding.
Pass ``dtype=torch.float64`` where rounding matters.


TODO merge

Losses and accuracies along the straight lines between trained networks, all pairs and all places in batches.

A place on the line of a pair is a network of its own, so that many of them are stacked and evaluated at once, like the
networks of an ensemble (:mod:`lmc_helpers.networks.stacked_mlp`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from lmc_helpers.networks.stacked_mlp import Architecture, Fixed, Tensors, check_data, check_fixed, effective
from lmc_helpers.seeds import torch_generator
from lmc_helpers.training.checkpoints import digest, load_checkpoint, save_checkpoint

__all__ = ["Recipe", "Trained", "epoch_order", "pick", "take", "train"]


@dataclass(frozen=True)
class Recipe:
    """How to train: AdamW with decoupled decay at a constant rate.

    Parameters
    ----------
    epochs, batch : int
        passes through the data, examples a step; a last smaller batch is used.
    rate, weight_decay : float
        as in ``torch.optim.AdamW``, with β = (0.9, 0.999) and ε = 10⁻⁸.
    decay : str
        what the decay acts on: ``"all"`` trained tensors (``AdamW(net.parameters())``), or only the ``"weights"``, not
        biases, gains and shifts. The raw W of an asymmetric layer decays with all its entries, not F + D ⊙ W.

    Raises
    ------
    ValueError
        if a value is not allowed.

    Examples
    --------
    >>> Recipe(epochs=100, batch=512, rate=1e-2).weight_decay
    0.01
    """

    epochs: int
    batch: int
    rate: float = 1e-3
    weight_decay: float = 1e-2
    decay: str = "all"

    def __post_init__(self) -> None:
        if self.epochs < 0 or self.batch < 1:
            raise ValueError(f"epochs = {self.epochs}, batch = {self.batch}; allowed: epochs >= 0, batch >= 1")
        if not (0 < self.rate < math.inf and 0 <= self.weight_decay < math.inf):
            raise ValueError(f"rate = {self.rate}, weight_decay = {self.weight_decay}; allowed: rate > 0, decay >= 0")
        if self.decay not in ("all", "weights"):
            raise ValueError(f"decay = {self.decay!r} is unknown; allowed: all, weights")


@dataclass(frozen=True)
class Trained:
    """Trained networks: ``params`` and ``statistics`` name → (N, …), ``losses`` (epochs, N).

    A loss is the mean over the batches of an epoch, each before its step.
    """

    params: Tensors
    statistics: Tensors
    losses: torch.Tensor


def epoch_order(seeds: Sequence[int], n: int, epoch: int) -> torch.Tensor:
    """The order in which each network sees n examples in one epoch, (N, n); it depends on (seed, epoch) only.

    Examples
    --------
    >>> a = epoch_order([7, 8, 7], n=5, epoch=3)
    >>> bool((a[0] == a[2]).all()), sorted(a[1].tolist())
    (True, [0, 1, 2, 3, 4])
    """
    purpose = f"order of the examples in epoch {epoch}"
    drawn = {seed: torch.randperm(n, generator=torch_generator(seed, purpose)) for seed in dict.fromkeys(seeds)}
    return torch.stack([drawn[seed] for seed in seeds])


def train(
    architecture: Architecture,
    recipe: Recipe,
    x: torch.Tensor,
    y: torch.Tensor,
    seeds: Sequence[int],
    *,
    fixed: Fixed | None = None,
    initial: Tensors | None = None,
    dtype: torch.dtype = torch.float32,
    checkpoint: Path | str | None = None,
    every: int = 10,
    progress: bool = False,
) -> Trained:
    """Train one network for each seed, all at once.

    Parameters
    ----------
    architecture, recipe : Architecture, Recipe
        what to train and how.
    x : torch.Tensor
        inputs (n, n_0) for all networks, or (G, n, n_0) with G a divisor of N, shared by N/G networks each.
    y : torch.Tensor
        labels (n,) or (G, n), long, for cross-entropy; values (n, n_d) or (G, n, n_d) for the mean square.
    seeds : sequence of int
        one a network: of its initial weights and of the order of its examples.
    fixed : dict, optional
        layer → (F, D) as in :meth:`~lmc_helpers.networks.stacked_mlp.Architecture.forward`.
    initial : dict of torch.Tensor, optional
        initial parameters, name → (N, …), in the place of
        :meth:`~lmc_helpers.networks.stacked_mlp.Architecture.initial`.
    dtype : torch.dtype
        of parameters and inputs.
    checkpoint : path, optional
        npz file, written whole or not at all every ``every`` epochs. A run that finds it continues from it and ends
        with the same numbers.
    progress : bool
        show a progress bar where tqdm is installed.

    Returns
    -------
    Trained
        parameters on the device of ``x``.

    Raises
    ------
    ValueError
        if shapes, labels or ``fixed`` do not fit, a loss is not finite (the networks are named), or the checkpoint
        belongs to another run (what differs is named).

    Examples
    --------
    >>> x = torch.tensor([[-1.0], [1.0]])
    >>> net = Architecture((1, 4, 2))
    >>> done = train(net, Recipe(epochs=60, batch=2, rate=0.1), x, torch.tensor([0, 1]), seeds=[1, 2, 3])
    >>> done.losses.shape, bool((done.losses[-1] < 0.1).all())
    (torch.Size([60, 3]), True)
    """
    seeds, N = [int(seed) for seed in seeds], len(seeds)
    x, y = check_data(architecture, x.to(dtype), y, N)
    if architecture.norm == "batch" and (recipe.batch == 1 or x.shape[1] % recipe.batch == 1):
        raise ValueError(
            f"{x.shape[1]} examples in batches of {recipe.batch} with batch norm; allowed: no batch of 1 example"
        )
    fixed = {k: tuple(part.to(x) for part in pair) for k, pair in (fixed or {}).items()}
    check_fixed(architecture, fixed, N)
    start = architecture.initial(seeds, dtype) if initial is None else {k: v.clone() for k, v in initial.items()}
    if {k: tuple(v.shape) for k, v in start.items()} != {k: (N, *s) for k, s in architecture.shapes().items()}:
        raise ValueError(
            f"initial parameters have shapes { {k: tuple(v.shape) for k, v in start.items()} }; "
            f"allowed: (N = {N}, …) of {architecture.shapes()}"
        )
    params = {name: value.to(x).requires_grad_() for name, value in start.items()}
    statistics = architecture.statistics(N, dtype, x.device)
    optimiser = _optimiser(params, recipe)
    run = {
        "architecture": asdict(architecture),
        "recipe": asdict(recipe),
        "seeds": seeds,
        "dtype": str(dtype),
        "data": digest(x, y),
        "fixed": {str(k): digest(*pair) for k, pair in fixed.items()},
        "initial": digest(*params.values()),
    }
    losses = torch.zeros(recipe.epochs, N, dtype=dtype, device=x.device)
    first = 0
    if checkpoint is not None and Path(checkpoint).exists():
        first = _restore(load_checkpoint(checkpoint, run), params, statistics, optimiser, losses)

    epochs = range(first, recipe.epochs)
    if progress:
        epochs = _bar(epochs)
    for epoch in epochs:
        order = epoch_order(seeds, x.shape[-2], epoch).to(x.device)
        for chosen in order.split(recipe.batch, dim=1):
            loss = architecture.losses(
                architecture.forward(params, statistics, take(x, chosen), fixed, training=True), take(y, chosen)
            )
            optimiser.zero_grad()
            loss.sum().backward()
            optimiser.step()
            losses[epoch] += loss.detach() * (chosen.shape[1] / order.shape[1])
        _refuse_nonfinite(losses[epoch], epoch, seeds)
        if checkpoint is not None and ((epoch + 1) % every == 0 or epoch + 1 == recipe.epochs):
            save_checkpoint(checkpoint, run, _state(epoch + 1, params, statistics, optimiser, losses))
    return Trained({name: value.detach() for name, value in params.items()}, statistics, losses)


def take(values: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Examples of each network, (N, B, …), from values (G, n, …) that N/G networks share each; chosen is (N, B).

    Examples
    --------
    >>> take(torch.tensor([[10, 20], [30, 40]]), torch.tensor([[1], [0], [0], [1]])).flatten().tolist()
    [20, 10, 30, 40]
    """
    N = len(chosen)
    group = torch.arange(N, device=chosen.device) // (N // len(values))
    return values[group[:, None], chosen]


def _optimiser(params: Tensors, recipe: Recipe) -> torch.optim.AdamW:
    decayed = {name for name in params if recipe.decay == "all" or name.endswith("weight")}
    groups = [
        {"params": [params[name] for name in params if (name in decayed) is which], "weight_decay": decay}
        for which, decay in ((True, recipe.weight_decay), (False, 0.0))
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=recipe.rate, fused=True)


def _refuse_nonfinite(losses: torch.Tensor, epoch: int, seeds: Sequence[int]) -> None:
    bad = (~torch.isfinite(losses)).nonzero().flatten().tolist()
    if bad:
        named = ", ".join(f"{i} (seed {seeds[i]})" for i in bad[:8]) + (", …" if len(bad) > 8 else "")
        raise ValueError(
            f"the loss is not finite in epoch {epoch} for {len(bad)} of {len(seeds)} networks: {named}; "
            "allowed: finite losses, so a smaller rate"
        )


def _state(epochs: int, params: Tensors, statistics: Tensors, optimiser, losses: torch.Tensor) -> Tensors:
    """Everything that a run needs to go on, by name."""
    state = {"epochs": torch.tensor(epochs), "losses": losses}
    for name, value in params.items():
        moments = optimiser.state[value]
        state |= {f"param {name}": value.detach()}
        state |= {f"{kind} {name}": moments[kind] for kind in ("exp_avg", "exp_avg_sq", "step")}
    return state | {f"statistic {name}": value for name, value in statistics.items()}


def _restore(state: Tensors, params: Tensors, statistics: Tensors, optimiser, losses: torch.Tensor) -> int:
    """Put a state back in place; the number of epochs done."""
    with torch.no_grad():
        for name, value in params.items():
            value.copy_(state[f"param {name}"])
            optimiser.state[value] = {
                kind: state[f"{kind} {name}"].to(value.device) for kind in ("exp_avg", "exp_avg_sq", "step")
            }
        for name, value in statistics.items():
            value.copy_(state[f"statistic {name}"])
        losses.copy_(state["losses"])
    return int(state["epochs"])


def _bar(epochs: range) -> Iterable[int]:
    try:
        from tqdm.auto import tqdm
    except ImportError:  # the mathematics runs without it
        return epochs
    return tqdm(epochs, initial=epochs.start, total=epochs.stop, unit="epoch")


def pick(architecture: Architecture, trained: Trained, which, fixed: Fixed | None = None) -> tuple[Tensors, Tensors]:
    """Some networks of an ensemble as ordinary ones: F + D ⊙ W in the place of W, and their running statistics.

    A line between two W with the same F and D is the line between the two F + D ⊙ W.

    Parameters
    ----------
    architecture, trained, fixed
        as they were given to and returned by :func:`~lmc_helpers.training.ensemble.train`.
    which : torch.Tensor or sequence of int
        (P,) indices of networks.

    Returns
    -------
    (dict, dict)
        parameters and statistics, name → (P, …).

    Examples
    --------
    >>> net = Architecture((1, 2, 2))
    >>> done = Trained(net.initial([1, 2]), {}, torch.zeros(0, 2))
    >>> pick(net, done, [1, 1, 0])[0]["0.bias"].shape
    torch.Size([3, 2])
    """
    params = dict(trained.params)
    for k, (F, D) in (fixed or {}).items():
        W = params[f"{k}.weight"]
        params[f"{k}.weight"] = effective(W, F.to(W), D.to(W))
    which = torch.as_tensor(which, device=next(iter(params.values())).device)
    return {k: v[which] for k, v in params.items()}, {k: v[which] for k, v in trained.statistics.items()}
