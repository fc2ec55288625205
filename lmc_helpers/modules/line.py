"""The loss along the straight line between two modules, and a module on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, huber_loss, l1_loss, mse_loss, nll_loss, smooth_l1_loss
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from lmc_helpers._typing import Probability, Reals, checked
from lmc_helpers.barrier import GRID, barrier_kinds, check_lambdas
from lmc_helpers.modules._module import (
    batches,
    called,
    check_pair,
    copied,
    filled,
    fitting,
    is_pair,
    kept,
    length,
    part,
    tensors,
    untouched,
)

__all__ = ["Line", "Measured", "interpolate", "line"]

Statistics = Literal["interpolated", "recomputed"]
#: (outputs, targets) → the mean over the batch, or a loss for each example (n,).
Loss = Callable[[Any, Any], Tensor]
PARTS = 20  # at least, that a pair (x, y) is cut into, for errors over batches
LARGEST = 256  # examples of such a part
AT_ONCE = 1024  # examples that are run at once; their outputs are cut


class Measured(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Line:
    """Losses and accuracies along a line from b (λ = 0) to a (λ = 1)."""

    lambdas: Float64[Tensor, " L"]  # places λ, (L,)
    batch_losses: Float64[Tensor, "B L"]  # mean loss of each of B batches, (B, L), float64
    sizes: Float64[Tensor, " B"]  # examples in each batch, (B,)
    accuracies: Float64[Tensor, " L"] | None  # shares of right answers (L,); None if the targets are not class labels
    buffers: str  # what was done with running statistics

    @property
    def losses(self) -> Tensor:
        """Mean losses over all examples, (L,), float64."""
        return self.sizes @ self.batch_losses / self.sizes.sum()

    @property
    def errors(self) -> Tensor:
        """Their standard errors over batches, (L,)."""
        return _jackknife(lambda losses: {"loss": losses}, self.batch_losses, self.sizes)[1]["loss"]

    @property
    def barrier(self) -> float:
        """The largest loss above the chord, as in :func:`lmc_helpers.barrier.loss_barrier`."""
        return self.barrier_kinds["chord"].value

    @property
    def barrier_kinds(self) -> dict[str, Measured]:
        """Each kind of barrier by its name in :data:`lmc_helpers.barrier.KINDS`, with a standard error over batches.

        The errors are those of the jackknife that leaves out one batch after another with its losses at all λ, hence
        fluctuations common to the points of a line cancel; batches of different sizes count by their sizes (Busing,
        Meijer & van der Leeden 1999). The batches must be random parts of the data, twenty or more. A maximum over λ is
        biased upwards by chance, and its error is too small where several places are nearly as high as the highest.
        """
        value, error = _jackknife(lambda losses: barrier_kinds(losses, self.lambdas), self.batch_losses, self.sizes)
        return {name: Measured(value[name].item(), error[name].item()) for name in value}


def _jackknife(
    statistic: Callable[[Tensor], dict[str, Tensor]], losses: Tensor, sizes: Tensor
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Functions of the mean losses (..., L) of batches (B, L), and standard errors, NaN for one batch."""
    n, total = sizes.sum(), sizes @ losses
    value = statistic(total / n)
    if len(sizes) == 1:
        return value, {name: one * torch.nan for name, one in value.items()}
    without, error = statistic((total - sizes[:, None] * losses) / (n - sizes)[:, None]), {}  # (B, …)
    for name, one in value.items():
        h = (n / sizes).view(-1, *[1] * one.ndim)
        pseudo = h * one - (h - 1) * without[name]
        centre = (pseudo / h).sum(dim=0)
        error[name] = ((pseudo - centre).square() / (h - 1)).mean(dim=0).sqrt()
    return value, error


@checked
def interpolate(a: nn.Module, b: nn.Module, lam: Probability) -> nn.Module:
    """The module λ a + (1 − λ) b, in evaluation mode: a at λ = 1, b at λ = 0.

    Parameters and floating-point buffers, running statistics among them, are interpolated; integers are those of a.

    Examples
    --------
    >>> a, b = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(a.weight, 4.0), nn.init.constant_(b.weight, 2.0)
    >>> interpolate(a, b, 0.25).weight.item()
    2.5
    """
    a, b = check_pair(a, b)
    with torch.no_grad():
        u, v = tensors(a), tensors(b)
        return filled(a, {name: _between(u[name], v[name].to(u[name]), lam) for name in u})


def _between(u: Tensor, v: Tensor, lam: float) -> Tensor:
    """λ u + (1 − λ) v in the type of u, exactly u at 1 and v at 0; u itself if these are integers or equal."""
    if lam == 1 or not u.is_floating_point() or torch.equal(u, v):
        return u
    return v if lam == 0 else torch.lerp(v, u, lam)


@checked
def line(
    a: nn.Module,
    b: nn.Module,
    loss: Callable,
    data: Any,
    lambdas: Reals = GRID,
    statistics: Statistics = "interpolated",
) -> Line:
    """Losses and accuracies of λ a + (1 − λ) b on data, for places λ from 0 to 1.

    Parameters
    ----------
    a, b
        modules of one architecture, which are run in evaluation mode; they stay as they are.
    loss
        (outputs, targets) → the mean over a batch, or one loss for each example (n,). Batches count by their sizes.
    data
        a pair (x, y), which is cut into batches, or batches (x, y), from a DataLoader for instance, which is passed
        over once. The inputs x are a tensor, a tuple of arguments or a dict of keyword arguments.
    lambdas
        increasing from 0 to 1.
    statistics
        ``"recomputed"``: running statistics of batch norms are those of the data at each λ (Jordan et al. 2023), each
        batch normalised by itself, at the price of a second pass. A batch of one example is left out there.

    Examples
    --------
    >>> a, b = (nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3)) for _ in range(2))
    >>> curve = line(a, b, cross_entropy, (torch.randn(60, 2), torch.arange(60) % 3))
    >>> curve.losses.shape, curve.barrier == curve.barrier_kinds["chord"].value, curve.buffers
    (torch.Size([11]), True, 'no running statistics')
    """
    a, b = check_pair(a, b)
    places = check_lambdas(lambdas)
    if len(places) < 2 or places[0] != 0 or places[-1] != 1 or not (places.diff() > 0).all():
        raise ValueError(f"lambdas = {places.tolist()}; allowed: increasing from 0 to 1")
    u, v = tensors(a), tensors(b)
    found = _evaluated(a, [(u, v, lam) for lam in places.tolist()], loss, data, statistics)
    made = Line(places, *found, _running_statistics(a, statistics))
    for which, value in (("b", made.losses[0]), ("a", made.losses[-1])):
        if not value.isfinite():
            raise ValueError(f"the loss of {which} is {value.item()}; allowed: finite losses")
    return made


# ---------- many networks on the same batches

Place = tuple[Mapping[str, Tensor], Mapping[str, Tensor], float]  # u, v and λ of the network λ u + (1 − λ) v


def _batch_norms(model: nn.Module) -> dict[str, nn.Module]:
    """The batch norms with running statistics, by their names."""
    kind = nn.modules.batchnorm._BatchNorm
    return {n: one for n, one in model.named_modules() if isinstance(one, kind) and one.running_mean is not None}


def _running_statistics(model: nn.Module, statistics: str) -> str:
    """Treatment of the running statistics of a module, in words."""
    norms = len(_batch_norms(model))
    where = {"interpolated": "interpolated like weights", "recomputed": "recomputed on the data at each place"}
    return f"running statistics of {norms} batch norms {where[statistics]}" if norms else "no running statistics"


def _evaluated(
    model: nn.Module, places: Sequence[Place], loss: Loss, data: Any, statistics: str = "interpolated"
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Batch losses (B, K) of K networks, sizes of the batches (B,), and accuracies (K,) or None.

    One copy of the module takes the values of one network after another. Data in memory are passed over for each
    network, others once, with all networks on each batch.
    """
    with untouched():
        work = copied(model)
        recomputed: list[dict[str, Tensor]] | None = None
        if statistics == "recomputed" and _batch_norms(model):
            data = kept(data)
            recomputed = _recomputed(work, places, data)
        size, run_size = _sizes(work, data)
        losses: dict[int, list[Tensor]] = {k: [] for k in range(len(places))}
        sizes: list[int] = []
        right: list[Tensor | float | None] = [0.0 for _ in places]
        answers = 0
        for k, x, y in _visits(work, places, data, run_size, recomputed):
            x, y = fitting(work, x), fitting(work, y)
            outputs, n = called(work, x), length(x, y)
            parts = [(outputs, y, n)]
            if size is not None:
                parts = [(part(outputs, at, size), y[at : at + size], min(size, n - at)) for at in range(0, n, size)]
            losses[k] += [_mean_loss(loss, *one, check=k == 0) for one in parts]
            sizes += [m for _, _, m in parts] if k == 0 else []
            hits, so_far = _right(loss, outputs, y), right[k]
            right[k] = None if hits is None or so_far is None else so_far + hits[0]
            answers += hits[1] if hits is not None and k == 0 else 0
    table = torch.stack([torch.stack(each).cpu() for each in losses.values()], dim=1)  # (B, K)
    known = [one for one in right if isinstance(one, Tensor)]
    accuracy = torch.stack(known).cpu() / answers if len(known) == len(places) and answers else None
    return table, torch.tensor(sizes, dtype=torch.float64), accuracy


def _sizes(work: nn.Module, data: Any) -> tuple[int | None, int]:
    """Size of the parts over which errors are taken (None: the given batches), and of the parts run at once."""
    if not is_pair(data):
        return None, AT_ONCE
    size = min(LARGEST, -(-max(1, len(data[1])) // PARTS))
    x, y = next(batches(data, size))
    leaves = tree_leaves(called(work, fitting(work, x)))
    apart = all(isinstance(one, Tensor) and one.shape[:1] == y.shape[:1] for one in leaves)  # outputs can be cut
    return (size, size * max(1, AT_ONCE // size)) if apart else (None, size)


def _visits(
    work: nn.Module, places: Sequence[Place], data: Any, size: int, more: Sequence[Mapping[str, Tensor]] | None = None
) -> Iterator[tuple[int, Any, Any]]:
    """(k, x, y) for each network k and batch, with the network's values in the module."""
    slots = dict([*work.named_parameters(), *work.named_buffers()])

    def put(k: int) -> None:
        u, v, lam = places[k]
        for name, slot in slots.items():
            slot.copy_(_between(u[name], v[name].to(u[name]), lam))
        for name, value in more[k].items() if more is not None else ():
            slots[name].copy_(value)

    if isinstance(data, (tuple, list)):  # in memory: a pass over it costs nothing
        for k in range(len(places)):
            put(k)
            for x, y in batches(data, size):
                yield k, x, y
    else:
        for x, y in batches(data, size):
            for k in range(len(places)):
                put(k)
                yield k, x, y


def _recomputed(work: nn.Module, places: Sequence[Place], data: Any) -> list[dict[str, Tensor]]:
    """Running statistics of each network: means over the batches, by their sizes, each batch normalised by itself."""
    norms: dict[str, Any] = dict(_batch_norms(work))
    names = [f"{n}.{kind}".removeprefix(".") for n in norms for kind in ("running_mean", "running_var")]
    slots, momenta = dict(work.named_buffers()), {n: one.momentum for n, one in norms.items()}
    found: list[dict[str, Tensor]] = [{} for _ in places]
    seen = [0] * len(places)
    for one in norms.values():
        one.train()
    for k, x, y in _visits(work, places, data, AT_ONCE, found):
        n = length(x, y)
        if n == 1:
            continue
        seen[k] += n
        for one in norms.values():
            one.momentum = n / seen[k]  # the first batch replaces what was there
        called(work, fitting(work, x))
        found[k] = {name: slots[name].clone() for name in names}
    for name, one in norms.items():
        one.eval().momentum = momenta[name]
    if not seen[0]:
        raise ValueError("each batch has 1 example; allowed: 2 or more to recompute statistics")
    return found


class _Guard(TorchFunctionMode):
    """Refuses cross-entropy of one class or with labels out of range, and y that torch broadcasts to the outputs."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        named = dict(zip(("input", "target"), args, strict=False)) | kwargs
        if func in (cross_entropy, nll_loss):
            outputs, labels = named["input"], named["target"]
            classes = outputs.shape[1 if outputs.ndim > 1 else 0]
            if classes == 1:
                raise ValueError(
                    f"cross-entropy of one output, shape {tuple(outputs.shape)}, is 0 for every network; allowed: two "
                    "classes or more, or a loss for regression"
                )
            if not labels.is_floating_point():
                counted = labels[labels != named.get("ignore_index", -100)]
                if counted.numel() and (counted.min() < 0 or counted.max() >= classes):
                    low, high = counted.min().item(), counted.max().item()
                    raise ValueError(f"labels are {low} to {high}; allowed: 0 to {classes - 1}")
        if func in (mse_loss, l1_loss, smooth_l1_loss, huber_loss):
            outputs, y = named["input"], named["target"]
            if outputs.shape != y.shape:
                own, right = tuple(y.shape[1:]), tuple(outputs.shape[1:])
                raise ValueError(f"y has shape {own} for each example; allowed: that of the outputs, {right}")
        return func(*args, **kwargs)


def _mean_loss(loss: Loss, outputs: Any, y: Any, n: int, check: bool = True) -> Tensor:
    """Mean loss of a batch of n examples in float64; raises unless the loss returns real numbers, one or n."""
    with _Guard() if check else nullcontext():
        value = loss(outputs, y)
    if not isinstance(value, Tensor):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"the loss is {type(value).__name__}; allowed: a tensor () or (n,)")
        value = torch.tensor(value, dtype=torch.float64)
    if value.is_complex() or (value.numel() != 1 and tuple(value.shape) != (n,)):
        raise ValueError(f"the loss has shape {tuple(value.shape)}, {value.dtype}; allowed: () or ({n},), real")
    return value.double().mean()


def _right(loss: Loss, outputs: Any, y: Any) -> tuple[Tensor, int] | None:
    """Correct predictions and their total; None unless y are class labels."""
    if not isinstance(outputs, Tensor) or not isinstance(y, Tensor) or not outputs.is_floating_point():
        return None
    if y.is_floating_point() or y.dtype == torch.bool or outputs.ndim != y.ndim + 1 or not y.ndim:
        return None
    first = outputs.shape[:1] + outputs.shape[2:] == y.shape  # classes follow the examples, as cross-entropy has it
    last = outputs.shape[:-1] == y.shape
    axis = 1 if first and (not last or _is_cross_entropy(loss)) else -1
    if not (first or last) or outputs.shape[axis] < 2:
        return None
    counted = y != getattr(loss, "ignore_index", -100)
    return ((outputs.argmax(dim=axis) == y) & counted).sum().double(), int(counted.sum())


def _is_cross_entropy(loss: Loss) -> bool:
    return loss in (cross_entropy, nll_loss) or isinstance(loss, (nn.CrossEntropyLoss, nn.NLLLoss))
