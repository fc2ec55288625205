"""The loss along the straight line between two modules, and a module on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from operator import length_hint
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor, nn

from lmc_helpers._typing import Natural, Probability, Reals, checked
from lmc_helpers._wrappers import bare
from lmc_helpers.barrier import GRID, barrier_kinds, check_lambdas
from lmc_helpers.modules._data import TOGETHER, batches, is_apart, is_whole, kept, length, part, run
from lmc_helpers.modules._ends import Ends, norms, placed
from lmc_helpers.modules._module import check_pair, copied, fitting, tensors_of, untouched
from lmc_helpers.modules._plain import remembered
from lmc_helpers.modules.losses import Combined
from lmc_helpers.networks.permutations import change
from lmc_helpers.progress import progress

__all__ = ["Line", "Measured", "interpolate", "line"]

Statistics = Literal["interpolated", "recomputed"]
PARTS = 20  # at least, that a pair (x, y) is cut into, for errors over batches
LARGEST = 256  # examples of such a part
AT_ONCE = 1024  # examples that are run at once, their outputs are cut, and
NUMBERS = 2**22  # numbers in their inputs
SAME = 1e-3  # change of losses of one network on one batch, relative


class Measured(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Line:
    """Losses and accuracies along a line from b (λ = 0) to a (λ = 1)."""

    lambdas: Float64[Tensor, " L"]  # places λ, (L,)
    batch_losses: Float64[Tensor, "B L"]  # mean loss of each of B batches, (B, L), float64
    #: what each batch counts in the loss, (B,): its examples, or their class weights, labels that are not ignored, …
    sizes: Float64[Tensor, " B"]
    #: shares of right answers among labels that the loss does not ignore, (L,); None if the targets are not class
    #: labels, or if it is not known which of them count
    accuracies: Float64[Tensor, " L"] | None
    buffers: str  # what was done with running statistics and other buffers

    def __str__(self) -> str:
        """The barriers with standard errors over batches, and what was done with buffers."""
        ends = [f"{self.losses[k].item():.4g}" for k in (0, -1)]
        rows = [f"{kind} barrier: {one.value:.4g} ± {one.error:.2g}" for kind, one in self.barrier_kinds.items()]
        return "\n".join([f"losses of b and a: {ends[0]} and {ends[1]}", *rows, self.buffers])

    @property
    def losses(self) -> Tensor:
        """The loss of all data at each place, (L,), float64."""
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

    Effective weights are interpolated: where ``torch.nn.utils.prune``, a spectral or weight norm or another
    parametrisation computes a weight, the result holds it as a plain one. So are floating-point buffers of the state,
    running statistics among them; integers and buffers that are not in the ``state_dict`` are those of a. Masks in
    buffers must be equal.

    Examples
    --------
    >>> a, b = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(a.weight, 4.0), nn.init.constant_(b.weight, 2.0)
    >>> interpolate(a, b, 0.25).weight.item()
    2.5
    """
    a, b = check_pair(a, b)
    return halfway(Ends(a, b, called=False), lam)


def halfway(ends: Ends, lam: float) -> nn.Module:
    """The module λ a + (1 − λ) b."""
    with torch.no_grad():
        made = copied(ends.modules[0])
        placed(dict([*made.named_parameters(), *made.named_buffers()]), ends.u, ends.v, lam)
        return made


@checked
def line(
    a: nn.Module,
    b: nn.Module,
    loss: Callable,
    data: Any,
    lambdas: Reals = GRID,
    statistics: Statistics = "interpolated",
    seeds: Natural = 0,
    statistics_data: Any = None,
    only: Sequence[str] | None = None,
) -> Line:
    """Losses and accuracies of λ a + (1 − λ) b on data, for places λ from 0 to 1.

    Weights and buffers are those of :func:`interpolate`; ``buffers`` of the result says what was done with buffers. On
    the first batch a copy of a with the weights of b must give the outputs of b, twice the same.

    Parameters
    ----------
    a, b
        modules of one architecture, which are run in evaluation mode; they stay as they are.
    loss
        (outputs, targets) → the mean or sum over a batch, or one loss for each example (n,). The loss is that of all
        data: batches count by what torch's own losses divide by, class weights or labels that are not ignored; a
        function of your own is computed on parts of batches, and refused unless it is a mean or a sum over examples.
        Any other weighted mean is a :class:`~lmc_helpers.modules.losses.Loss`; what is no mean takes all data in one
        batch.
    data
        data in memory, a pair (x, y) for instance, which are cut into batches, or batches from a DataLoader, which is
        passed over once: (x, y), (inputs, …, y), or a mapping by the names of forward's arguments, with labels. The
        inputs x are a tensor, a tuple or list of arguments or a mapping of keyword arguments.
    lambdas
        increasing from 0 to 1.
    statistics
        ``"recomputed"``: running statistics of batch and instance norms are those of the data at each λ (Jordan et al.
        2023), each batch normalised by itself, at the price of a second pass. A batch of one example is left out there.
    seeds
        for networks that draw numbers in evaluation mode, over how many draws losses are averaged, the same at each
        λ; such a network is refused by default.
    statistics_data
        other data for recomputed statistics, training data for instance; their targets are not used.
    only
        modules or parameters that move; all else stays as in a, hence the line begins at a with these of b: barriers
        layer by layer (Adilova et al. 2024).

    Examples
    --------
    >>> from torch.nn.functional import cross_entropy
    >>> a, b = (nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3)) for _ in range(2))
    >>> curve = line(a, b, cross_entropy, (torch.randn(60, 2), torch.arange(60) % 3))
    >>> curve.losses.shape, curve.barrier == curve.barrier_kinds["chord"].value, curve.buffers
    (torch.Size([11]), True, 'no running statistics')
    >>> data = torch.randn(60, 2), torch.arange(60) % 3
    >>> layers = {name: line(a, b, cross_entropy, data, only=[name]).barrier for name in ("0", "2")}
    """
    known, given = {name for name, _ in bare(a).named_parameters()}, (a, b)
    a, b = check_pair(a, b)
    places = check_lambdas(lambdas)
    if len(places) < 2 or places[0] != 0 or places[-1] != 1 or not (places.diff() > 0).all():
        raise ValueError(f"lambdas = {places.tolist()}; allowed: increasing from 0 to 1")
    if statistics_data is not None and statistics != "recomputed":
        raise ValueError(f"statistics = {statistics!r} with statistics_data; allowed: 'recomputed'")
    ends = Ends(a, b)
    v = ends.v if only is None else _some(ends, only)
    of = [(ends.u, v, lam) for lam in places.tolist()]
    found = _evaluated(a, of, loss, data, statistics, ends, seeds, statistics_data, (*given, a, b))
    made = Line(places, *found, ends.words(statistics, sum(name not in known for name, _ in a.named_parameters())))
    for which, value in (("b", made.losses[0]), ("a", made.losses[-1])):
        if not value.isfinite():
            raise ValueError(f"the loss of {which} is {value.item()}; allowed: finite losses")
    return made


def _some(ends: Ends, only: Sequence[str]) -> dict[str, Tensor]:
    """The values of a, but for some modules or parameters, which are those of b."""
    moved = {name for name in ends.v for one in only if f"{name}.".startswith(f"{one}.")}
    unknown = [one for one in only if not any(f"{name}.".startswith(f"{one}.") for name in moved)]
    if unknown or not moved:
        raise ValueError(f"only = {list(only)}; allowed: names of modules with parameters, or of parameters")
    return {name: ends.v[name] if name in moved else u for name, u in ends.u.items()}


def check_repeated(before: Tensor, after: Tensor) -> None:
    """Raise if batch losses of one network differ between two passes over the data."""
    if before.shape != after.shape or change([before], [after]) > SAME:
        raise ValueError("the data are other batches in each pass; allowed: list(data), the same in each")


# ---------- many networks on the same batches

Place = tuple[Mapping[str, Tensor], Mapping[str, Tensor], float]  # u, v and λ of the network λ u + (1 − λ) v


def _evaluated(
    model: nn.Module,
    places: Sequence[Place],
    loss: Callable,
    data: Any,
    statistics: str = "interpolated",
    ends: Ends | None = None,
    seeds: int = 0,
    statistics_data: Any = None,
    given: Sequence[nn.Module] = (),
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Batch losses (B, K) of K networks, what the batches count (B,), and accuracies (K,) or None.

    One copy of the module takes the values of one network after another. Data in memory are passed over for each
    network, others once, with all networks on each batch.
    """
    with untouched():
        work = copied(model)
        back = remembered(work)
        recomputed: list[dict[str, Tensor]] | None = None
        if statistics == "recomputed" and norms(model):
            data = kept(data)
            recomputed = _recomputed(work, places, data if statistics_data is None else statistics_data)
        if ends is not None and is_whole(data):
            x, y = next(batches(work, data, sys.maxsize))
            ends.check(part(x, 0, min(LARGEST, length(x, y))), seeds)
            ends = None
        size, run_size, several = _sizes(work, data, seeds)
        back()
        combined, tested = Combined(loss, given), (0, len(places) - 1)
        losses: list[list[Tensor]] = [[] for _ in places]
        right: list[Tensor | None] = [torch.zeros(2, dtype=torch.float64) for _ in places]
        for k, x, y in progress(_visits(work, places, data, run_size, recomputed), "batch", several * len(places)):
            if ends is not None:
                ends.check(x, seeds)
                ends = None
            x, y = fitting(work, x), fitting(work, y, targets=True)
            n, first, drawn = length(x, y), len(losses[k]), []
            parts = [(0, n)] if size is None else [(at, min(size, n - at)) for at in range(0, n, size)]
            for seed in range(seeds) or (None,):
                with nullcontext() if seed is None else untouched(seed=seed + seeds * first):
                    outputs = combined.outputs(work, x)
                values: list[Tensor] = []
                for at, m in parts:
                    whole = m == n
                    one, of = (outputs, y) if whole else (part(outputs, at, m), part(y, at, m))
                    test = (work, x if whole else part(x, at, m)) if k in tested and not seed else None
                    values.append(combined.value(one, of, m, k, first + len(values), test))
                drawn.append(torch.stack(values))
                so_far, found = right[k], combined.right(outputs, y)
                right[k] = None if found is None or so_far is None else so_far + found
            losses[k] += torch.stack(drawn).mean(dim=0).unbind()
    table, sizes = combined.put_together(torch.stack([torch.stack(each).cpu() for each in losses], dim=1))  # (B, K)
    known = [one for one in right if one is not None and one[1] > 0]
    accuracy = torch.stack([hits / answers for hits, answers in known]) if len(known) == len(places) else None
    return table, sizes, accuracy if combined.counts else None


def _sizes(work: nn.Module, data: Any, seeds: int = 0) -> tuple[int | None, int, int]:
    """Size of the parts over which errors are taken (None: the given batches); size and number of those run at once.

    The number is 0 if it is not known.
    """
    if not is_whole(data):
        return None, AT_ONCE, length_hint(data)
    x, y = next(batches(work, data, sys.maxsize))
    n, each = length(x, y), sum(one[:1].numel() for one in tensors_of(x))
    size = min(LARGEST, -(-n // PARTS))
    x, y = (fitting(work, part(one, 0, size)) for one in (x, y))
    outputs = run(work, x)
    leaves = list(tensors_of(outputs))
    cut = [one.shape[:1] == (length(x, y),) for one in leaves]
    if any(cut) and size > 1 and not seeds and not is_apart(work, x, size // 2):
        raise ValueError(TOGETHER)
    if seeds or not all(cut):  # outputs that cannot be cut
        return None, size, -(-n // size)
    at_once = size * max(1, min(AT_ONCE, NUMBERS // max(1, each)) // size)
    return size, at_once, -(-n // at_once)


def _visits(
    work: nn.Module, places: Sequence[Place], data: Any, size: int, more: Sequence[Mapping[str, Tensor]] | None = None
) -> Iterator[tuple[int, Any, Any]]:
    """(k, x, y) for each network k and batch, with the network's values in the module."""
    slots, back = dict([*work.named_parameters(), *work.named_buffers()]), remembered(work)

    def put(k: int) -> None:
        back()  # what a call made of other weights
        u, v, lam = places[k]
        placed(slots, u, v, lam)
        for name, value in more[k].items() if more is not None else ():
            slots[name].copy_(value)

    if isinstance(data, (tuple, list, Mapping)):  # in memory: a pass over it costs nothing
        for k in range(len(places)):
            put(k)
            for x, y in batches(work, data, size):
                yield k, x, y
    else:
        for x, y in batches(work, data, size):
            for k in range(len(places)):
                put(k)
                yield k, x, y


def _recomputed(work: nn.Module, places: Sequence[Place], data: Any) -> list[dict[str, Tensor]]:
    """Running statistics of each network: means over the batches, by their sizes, each batch normalised by itself."""
    own: dict[str, Any] = dict(norms(work))
    names = [f"{n}.{kind}".removeprefix(".") for n in own for kind in ("running_mean", "running_var")]
    slots, momenta = dict(work.named_buffers()), {n: one.momentum for n, one in own.items()}
    found: list[dict[str, Tensor]] = [{} for _ in places]
    seen = [0] * len(places)
    for one in own.values():
        one.train()
    for k, x, y in _visits(work, places, data, AT_ONCE, found):
        n = length(x, y)
        if n == 1:
            continue
        seen[k] += n
        for one in own.values():
            one.momentum = n / seen[k]  # the first batch replaces what was there
        run(work, fitting(work, x))
        found[k] = {name: slots[name].clone() for name in names}
    for name, one in own.items():
        one.eval().momentum = momenta[name]
    if not seen[0]:
        raise ValueError("each batch has 1 example; allowed: 2 or more to recompute statistics")
    return found
