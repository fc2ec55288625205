"""Many small networks trained as one batched computation.

The parameters of N networks of one :class:`~lmc_helpers.networks.stacked_mlp.Architecture` are stacked, (N, …), and
the sum of the N losses is differentiated, so that each network receives its own gradient and nothing else. AdamW acts
entry by entry, and one ``torch.optim.AdamW`` on the stacked tensors does to each network what it would do to it alone.
What a network sees depends on its own seed only: its initial weights on (seed, "initial weights"), the order of its
examples on (seed, epoch). So a network of an ensemble is the network that a plain loop trains, up to rounding.

Networks are trained in float32, as is usual: the noise of the order of the examples is many orders above its rounding.
Start from networks in ``torch.float64`` where rounding matters.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from lmc_helpers import expect
from lmc_helpers.networks.stacked_mlp import Networks, Tensors, check_data
from lmc_helpers.seeds import torch_generator
from lmc_helpers.training.checkpoints import digest, load_checkpoint, save_checkpoint
from lmc_helpers.training.progress import progress

__all__ = ["Recipe", "Trained", "epoch_order", "examples_of", "train"]


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
        expect.integer(self.epochs, "epochs")
        expect.integer(self.batch, "batch")
        expect.number(self.rate, "rate")
        expect.number(self.weight_decay, "weight_decay")
        if self.epochs < 0 or self.batch < 1:
            raise ValueError(f"epochs = {self.epochs}, batch = {self.batch}; allowed: epochs >= 0, batch >= 1")
        if not (0 < self.rate < math.inf and 0 <= self.weight_decay < math.inf):
            raise ValueError(f"rate = {self.rate}, weight_decay = {self.weight_decay}; allowed: rate > 0, decay >= 0")
        if self.decay not in ("all", "weights"):
            raise ValueError(f"decay = {self.decay!r} is unknown; allowed: all, weights")


@dataclass(frozen=True)
class Trained:
    """Trained networks, their losses (epochs, N), and the networks that were to be kept, by their epochs.

    Losses are means over the batches of an epoch, each before its step.
    """

    networks: Networks
    losses: torch.Tensor
    kept: dict[int, Networks] = field(default_factory=dict)


def epoch_order(seeds: Sequence[int], n: int, epoch: int) -> torch.Tensor:
    """The order in which each network sees n examples in one epoch; it depends on (seed, epoch) only.

    Parameters
    ----------
    seeds : sequence of int
        one a network.
    n, epoch : int
        number of examples, and which epoch.

    Returns
    -------
    torch.Tensor
        (N, n), int64.

    Examples
    --------
    >>> a = epoch_order([7, 8, 7], n=5, epoch=3)
    >>> bool((a[0] == a[2]).all()), sorted(a[1].tolist())
    (True, [0, 1, 2, 3, 4])
    """
    expect.array(seeds, "seeds", "N", empty=True)
    expect.sizes(seeds if isinstance(seeds, (list, tuple)) else (), "seeds", least=0)
    if not len(seeds):
        raise ValueError("no seeds; allowed: one a network")
    expect.integer(n, "n", least=1)
    expect.integer(epoch, "epoch", least=0)
    purpose = f"order of the examples in epoch {epoch}"
    drawn = {seed: torch.randperm(n, generator=torch_generator(seed, purpose)) for seed in dict.fromkeys(seeds)}
    return torch.stack([drawn[seed] for seed in seeds])


def train(
    start: Networks,
    recipe: Recipe,
    x: torch.Tensor,
    y: torch.Tensor,
    seeds: Sequence[int],
    *,
    keep: Collection[int] = (),
    checkpoint: Path | str | None = None,
    every: int = 10,
    show_progress: bool = False,
) -> Trained:
    """Train N networks on, all at once.

    Parameters
    ----------
    start : Networks
        where to start, for example :meth:`~lmc_helpers.networks.stacked_mlp.Architecture.initial`; they stay as they
        are. Their type is that of the computation, and their fixed parts stay fixed.
    recipe : Recipe
        how to train.
    x : torch.Tensor
        inputs (n, n_0) for all networks, or (G, n, n_0) with G a divisor of N, shared by N/G networks each.
    y : torch.Tensor
        labels (n,) or (G, n), long, for cross-entropy; values (n, n_d) or (G, n, n_d) for the mean square.
    seeds : sequence of int
        one a network, of the order of its examples.
    keep : collection of int
        epochs, from 1 to the last, after which copies of the networks are kept.
    checkpoint : path, optional
        npz file, written whole or not at all every ``every`` epochs. A run that finds it continues from it and ends
        with the same numbers.
    every : int
        epochs from one checkpoint to the next.
    show_progress : bool
        show a progress bar where tqdm is installed.

    Returns
    -------
    Trained
        networks on the device of ``x``.

    Examples
    --------
    >>> from lmc_helpers.networks.stacked_mlp import Architecture
    >>> x, seeds = torch.tensor([[-1.0], [1.0]]), [1, 2, 3]
    >>> start = Architecture((1, 4, 2)).initial(seeds)
    >>> done = train(start, Recipe(epochs=60, batch=2, rate=0.1), x, torch.tensor([0, 1]), seeds)
    >>> done.losses.shape, bool((done.losses[-1] < 0.1).all())
    (torch.Size([60, 3]), True)
    """
    if not isinstance(start, Networks):
        raise ValueError(f"start is {type(start).__name__}; allowed: Networks")
    if not isinstance(recipe, Recipe):
        raise ValueError(f"recipe is {type(recipe).__name__}; allowed: Recipe")
    expect.tensors({"x": x, "y": y})
    expect.array(seeds, "seeds", "N", empty=True)
    expect.sizes(seeds if isinstance(seeds, (list, tuple)) else (), "seeds", least=0)
    if isinstance(keep, (str, int, float, type(None))):
        raise ValueError(f"keep = {keep!r}; allowed: a collection of epochs")
    if checkpoint is not None and not isinstance(checkpoint, (str, Path)):
        raise ValueError(f"checkpoint = {checkpoint!r}; allowed: None, or a path")
    expect.integer(every, "every", least=1)
    expect.one_of(show_progress, "show_progress", (True, False))
    seeds, N, net = [int(seed) for seed in seeds], len(start), start.architecture
    if len(seeds) != N:
        raise ValueError(f"{len(seeds)} seeds of {N} networks; allowed: one each")
    if not set(keep) <= set(range(1, recipe.epochs + 1)):
        raise ValueError(f"epochs {sorted(keep)} to keep; allowed: 1 to {recipe.epochs}")
    x, y = check_data(net, x.to(start.params["0.weight"].dtype), y, N)
    if net.norm == "batch" and (recipe.batch == 1 or x.shape[1] % recipe.batch == 1):
        raise ValueError(
            f"{x.shape[1]} examples in batches of {recipe.batch} with batch norm; allowed: no batch of 1 example"
        )
    networks = _trainable(start, x)
    optimiser = _optimiser(networks.params, recipe)
    run = {
        "architecture": asdict(net),
        "recipe": asdict(recipe),
        "keep": sorted(keep),
        "seeds": seeds,
        "dtype": str(x.dtype),
        "data": digest(x, y),
        "fixed": {str(k): digest(*pair) for k, pair in networks.fixed.items()},
        "initial": digest(*networks.params.values()),
    }
    losses = torch.zeros(recipe.epochs, N, dtype=x.dtype, device=x.device)
    kept: dict[int, Networks] = {}
    first = 0
    if checkpoint is not None and Path(checkpoint).exists():
        first = _restore(load_checkpoint(checkpoint, run), networks, optimiser, losses, kept)

    for epoch in progress(range(first, recipe.epochs), description="epochs", disable=not show_progress):
        order = epoch_order(seeds, x.shape[-2], epoch).to(x.device)
        for chosen in order.split(recipe.batch, dim=1):
            outputs = networks.forward(examples_of(x, chosen), training=True)
            loss = net.losses(outputs, examples_of(y, chosen))
            optimiser.zero_grad()
            loss.sum().backward()
            optimiser.step()
            losses[epoch] += loss.detach() * (chosen.shape[1] / order.shape[1])
        _refuse_nonfinite(losses[epoch], epoch, seeds)
        if epoch + 1 in keep:
            kept[epoch + 1] = _copy(networks)
        if checkpoint is not None and ((epoch + 1) % every == 0 or epoch + 1 == recipe.epochs):
            save_checkpoint(checkpoint, run, _state(epoch + 1, networks, optimiser, losses, kept))
    return Trained(_copy(networks), losses, kept)


def examples_of(values: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """The chosen examples of each network, from values that networks may share.

    Parameters
    ----------
    values : torch.Tensor
        (G, n, …), shared by N/G networks each.
    chosen : torch.Tensor
        indices of examples (N, B).

    Returns
    -------
    torch.Tensor
        (N, B, …).

    Examples
    --------
    >>> examples_of(torch.tensor([[10, 20], [30, 40]]), torch.tensor([[1], [0], [0], [1]])).flatten().tolist()
    [20, 10, 30, 40]
    """
    N = len(chosen)
    group = torch.arange(N, device=chosen.device) // (N // len(values))
    return values[group[:, None], chosen]


def _trainable(start: Networks, x: torch.Tensor) -> Networks:
    """Copies of networks, with the type and on the device of x, whose parameters collect gradients."""
    params = {name: value.detach().to(x, copy=True).requires_grad_() for name, value in start.params.items()}
    statistics = {name: value.to(x, copy=True) for name, value in start.statistics.items()}
    fixed = {k: (F.to(x), D.to(x)) for k, (F, D) in start.fixed.items()}
    return Networks(start.architecture, params, statistics, fixed)


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


def _copy(networks: Networks) -> Networks:
    """The networks as they are, without gradients; what is fixed is shared."""
    params, statistics = (
        {name: value.detach().clone() for name, value in part.items()}
        for part in (networks.params, networks.statistics)
    )
    return Networks(networks.architecture, params, statistics, networks.fixed)


def _state(
    epochs: int,
    networks: Networks,
    optimiser: torch.optim.AdamW,
    losses: torch.Tensor,
    kept: dict[int, Networks],
) -> Tensors:
    """Everything that a run needs to go on, by name."""
    state = {"epochs": torch.tensor(epochs), "losses": losses}
    for name, value in networks.params.items():
        moments = optimiser.state[value]
        state |= {f"param {name}": value.detach()}
        state |= {f"{kind} {name}": moments[kind] for kind in ("exp_avg", "exp_avg_sq", "step")}
    for epoch, some in kept.items():
        state |= {f"kept param {epoch} {name}": value for name, value in some.params.items()}
        state |= {f"kept statistic {epoch} {name}": value for name, value in some.statistics.items()}
    return state | {f"statistic {name}": value for name, value in networks.statistics.items()}


def _restore(
    state: Tensors,
    networks: Networks,
    optimiser: torch.optim.AdamW,
    losses: torch.Tensor,
    kept: dict[int, Networks],
) -> int:
    """Put a state back in place; the number of epochs done."""
    with torch.no_grad():
        for name, value in networks.params.items():
            value.copy_(state[f"param {name}"])
            optimiser.state[value] = {
                kind: state[f"{kind} {name}"].to(value.device) for kind in ("exp_avg", "exp_avg_sq", "step")
            }
        for name, value in networks.statistics.items():
            value.copy_(state[f"statistic {name}"])
        losses.copy_(state["losses"])
    for epoch in {int(name.split()[2]) for name in state if name.startswith("kept param ")}:
        params, statistics = (
            {name: state[f"kept {kind} {epoch} {name}"].to(losses.device) for name in own}
            for kind, own in (("param", networks.params), ("statistic", networks.statistics))
        )
        kept[epoch] = Networks(networks.architecture, params, statistics, networks.fixed)
    return int(state["epochs"])
