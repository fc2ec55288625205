"""Two units of a layer moved together, in any module (Brea, Şimşek, Illing & Gerstner, sections 4.1 and 4.2).

With the parameter vectors ϑ_i, ϑ_j of two units, all that makes them, and the columns a_i, a_j that read them,

    γ(δ) ∈ argmin { L(θ) : ‖ϑ_j − ϑ_i‖ = δ },    δ → 0,

leads to a *permutation point*: a critical point of L with ϑ_i = ϑ_j and a_i = a_j, from where the path goes back with
the units exchanged. The largest loss on the path bounds the cost of exchanging the two; the height of the point itself
does if the path stays below it. All is computed in float64 and in the coordinates of
:class:`~lmc_helpers.permutation_points.pair.Chart`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn

from lmc_helpers._typing import Natural, NonNegative, Positive, Probability, checked
from lmc_helpers.modules._data import batches, check_apart, few, in_double, length, unlabelled
from lmc_helpers.modules._ends import Ends, check_followed
from lmc_helpers.modules._layers import Layer
from lmc_helpers.modules._module import called, copied, filled, fitting, step_by_step, tensors_of, untouched
from lmc_helpers.modules.losses import Combined
from lmc_helpers.networks.permutations import Axis, Symmetry, change
from lmc_helpers.permutation_points import Chart
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.progress import progress
from lmc_helpers.seeds import normal

__all__ = ["PairPath", "PairPoint", "merge_path", "permutation_point"]

BATCH = 1024  # inputs that are run together
ROUNDING = 1e-9  # of outputs, relative to the largest
ZERO = 1e-6  # eigenvalues below this fraction of the largest count as 0
LANCZOS = 200  # steps at most


@dataclass(frozen=True)
class PairPath:
    """A path on which two units come together, with a minimum of the loss at every distance; K distances."""

    distances: Tensor  # δ, (K,)
    losses: Tensor  # (K,)
    gradient_norms: Tensor  # (K,), at fixed δ
    outgoing: Tensor  # (K,), the larger of ‖a_i‖ and ‖a_j‖
    module: nn.Module  # at the last distance
    start: float  # loss of the module as it is given


@dataclass(frozen=True)
class PairPoint:
    """The permutation point of two units."""

    module: nn.Module
    loss: float
    height: float  # above the minimum next to the module that was given, the first of the path
    gradient_norm: float  # by all parameters
    eigenvalues: Tensor  # of the Hessian, (p,); if p is large, Ritz values of the directions that the exchange reverses
    inertia: tuple[int, int, int] | None  # numbers of negative, zero and positive eigenvalues; None if p is large
    path: PairPath

    @property
    def negative(self) -> int:
        """Number of negative eigenvalues, 0 at a minimum; a lower bound if p is large."""
        return int((self.eigenvalues < -ZERO * self.eigenvalues.abs().max()).sum())


class _Objective:
    """The loss of a module as a function of its floating-point parameters as one vector θ (p,), in float64."""

    def __init__(self, model: nn.Module, loss: Callable, data: Any, decay: float):
        for name, value in copied(model).named_parameters():
            if value.is_complex():
                raise ValueError(f"{name!r} is complex; allowed: modules whose parameters are real")
        self.given = model
        with untouched():
            self.model = in_double(model, next(batches(model, data, 8))[0])[0]
        self.decay = decay
        found = {name: value for name, value in self.model.named_parameters() if value.is_floating_point()}
        if not found:
            raise ValueError("the module has no parameters; allowed: one or more")
        self.shapes = {name: value.shape for name, value in found.items()}
        self.theta = torch.cat([value.detach().flatten() for value in found.values()])
        self.statistics = {name: value for name, value in self.model.named_buffers() if value.is_floating_point()}
        with untouched():
            check_apart(self.model, data, BATCH)
            read = [
                (fitting(self.model, x), fitting(self.model, y), length(x, y))
                for x, y in batches(self.model, data, BATCH)
            ]
            check_followed(self.model, read[0][0])
            Ends(self.model, self.model).check(read[0][0])
            self.combined = Combined(loss, (model,))
            for x, y, n in read:
                self.combined.value(self.combined.outputs(self.model, x), y, n, test=(self.model, x))
        self.data = [(*one, share) for one, share in zip(read, self.combined.shares(), strict=True)]
        x = read[0][0]
        self.x = unlabelled(model, few(self.model, x, 8))

    def named(self, theta: Tensor) -> dict[str, Tensor]:
        """The parameters by name."""
        parts = theta.split([shape.numel() for shape in self.shapes.values()])
        return {name: part.view(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def outputs(self, theta: Tensor, x: Any) -> Any:
        """Outputs of the module for a batch."""
        return called(self.model, x, self.named(theta) | self.statistics)

    def parts(self, weights: Callable[[], Tensor]) -> Iterator[Tensor]:
        """The loss by batches, which add up to it; the weights are recomputed for each."""
        examples = sum(n for _, _, n, _ in self.data)
        for x, y, n, share in self.data:
            theta = weights()
            decay = [n / examples * self.decay / 2 * theta.square().sum()] if self.decay else []
            value = [share * self.combined.plain(self.outputs(theta, x), y, n)] if share else []
            yield sum(value + decay, theta.new_zeros(()))

    def slope(self, weights: Callable[[Tensor], Tensor], phi: Tensor) -> tuple[Tensor, Tensor]:
        """The loss and its gradient by coordinates φ of the weights."""
        phi = phi.detach().requires_grad_()
        total, slope = phi.new_zeros(()), torch.zeros_like(phi)
        for part in self.parts(lambda: weights(phi)):
            slope += torch.autograd.grad(part, phi)[0]
            total += part.detach()
        return total, slope

    def descend(self, weights: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> tuple[Tensor, Tensor, Tensor]:
        """φ after a number of steps of L-BFGS, the loss there and the norm of its gradient."""
        phi = start.detach().clone().requires_grad_()
        settings = {"max_iter": steps, "tolerance_grad": 1e-10, "tolerance_change": 0.0, "history_size": 20}
        optimiser = torch.optim.LBFGS([phi], line_search_fn="strong_wolfe", **settings)  # type: ignore[arg-type]

        def closure() -> Tensor:
            value, phi.grad = self.slope(weights, phi)
            return value

        if steps:
            optimiser.step(closure)
        before, end = start, phi.detach()
        value, slope = self.slope(weights, end)
        first, slope_before = self.slope(weights, before)
        if not value <= first:  # no line search found a lower one
            return before, first, slope_before.norm()
        return end, value, slope.norm()

    def hessian(self, theta: Tensor) -> Tensor:
        """∇²L, (p, p)."""
        return hessian(lambda t: torch.stack(list(self.parts(lambda: t[0]))).sum()[None], theta)

    def product(self, theta: Tensor, v: Tensor) -> Tensor:
        """∇²L v."""
        theta, found = theta.detach().requires_grad_(), torch.zeros_like(v)
        for part in self.parts(lambda: theta):
            (slope,) = torch.autograd.grad(part, theta, create_graph=True)
            found += torch.autograd.grad(slope, theta, v, materialize_grads=True)[0]
        return found


class _Pair(Chart):
    """Two units of a module: their positions in θ and in its statistics."""

    def __init__(self, objective: _Objective, layer: str, i: int, j: int, symmetry: Symmetry | None):
        self.objective = objective
        of = Layer(objective.model, layer, objective.x, symmetry)
        for name, unit in {"i": i, "j": j}.items():
            if not 0 <= unit < of.units:
                raise ValueError(f"{name} = {unit} of {of.units} units of {layer!r}; allowed: 0 <= {name} < {of.units}")
        if i == j:
            raise ValueError(f"i = j = {i}; allowed: two different units")
        numbers = objective.named(torch.arange(len(objective.theta), device=objective.theta.device))
        own = {name: torch.arange(v.numel(), device=v.device).view(v.shape) for name, v in objective.statistics.items()}

        def entries(place: Axis) -> Tensor:
            """Indices of the two units' entries, (2, entries)."""
            found = of.view((numbers | own)[place.name], place).movedim(place.axis + 1, 0)
            return found[[i, j]].flatten(1)

        made, read = ([entries(p) for p in places if p.name in numbers] for places in (of.made, of.read))
        if not made or not read:
            raise ValueError(
                f"units of {layer!r} have no weights that make or that read them; allowed: units that have both"
            )
        (self.first, self.second), (self.out_first, self.out_second) = torch.cat(made, 1), torch.cat(read, 1)
        self.statistics = [(p.name, *entries(p)) for p in of.made if p.name in own]  # name, entries of i and of j
        self.given = {name: value.clone() for name, value in objective.statistics.items()}
        every = torch.cat(self._slots())
        if len(every.unique()) < len(every) or not self._interchange():
            raise ValueError(f"units of {layer!r} are made from what reads them; allowed: layers whose weights do not")

    @property
    def _size(self) -> int:
        return len(self.objective.theta)

    def _slots(self) -> tuple[Tensor, ...]:
        return self.first, self.second, self.out_first, self.out_second

    def set_statistics(self, share: float) -> None:
        """Set the statistics of the two units ``share`` times as far apart as in the given module."""
        for name, one, other in self.statistics:
            given, value = self.given[name].flatten(), self.given[name].flatten().clone()
            mean, step = (given[one] + given[other]) / 2, share * (given[other] - given[one]) / 2
            value[one], value[other] = mean - step, mean + step
            self.objective.statistics[name] = value.view(self.given[name].shape)

    def together(self, theta: Tensor, share: float = 0.5) -> Tensor:
        """θ with ϑ_i = ϑ_j, their mean, and shares of the sum of the columns."""
        theta = theta.clone()
        theta[self.first] = theta[self.second] = (theta[self.first] + theta[self.second]) / 2
        column = theta[self.out_first] + theta[self.out_second]
        theta[self.out_first], theta[self.out_second] = share * column, (1 - share) * column
        return theta

    def _interchange(self) -> bool:
        """True if units with one ϑ may share their columns in any proportion."""
        self.set_statistics(0.0)
        theta, x = self.objective.theta, self.objective.x
        with torch.no_grad():
            ends = [self.objective.outputs(self.together(theta, share), x) for share in (0.0, 1.0)]
        self.set_statistics(1.0)
        return change(*(list(tensors_of(end)) for end in ends)) <= ROUNDING

    def module(self, theta: Tensor) -> nn.Module:
        """A copy of the given module, with these parameters and the present statistics."""
        return filled(self.objective.given, self.objective.named(theta) | self.objective.statistics)


@checked
def merge_path(
    model: nn.Module,
    layer: str,
    i: Natural,
    j: Natural,
    loss: Callable,
    data: Any,
    distances: Shaped[Tensor, " K"] | None = None,
    steps: Natural = 200,
    decay: NonNegative = 0.0,
    symmetry: Symmetry | None = None,
) -> PairPath:
    """Move two units of a layer together: at every distance minimise the loss over all other parameters.

        γ(δ) ∈ argmin { L(θ) : ``‖ϑ_j − ϑ_i‖`` = δ },    Brea et al., section 4.1,

    by L-BFGS, from the minimum next to the module. ϑ is all that makes a unit: weights, biases, gains and shifts of
    norms. Running statistics of norms come together in proportion to δ.

    Parameters
    ----------
    model
        a trained network; it is run in evaluation mode and stays as it is.
    layer
        name of the module that makes the units, or of their group in :func:`~lmc_helpers.modules.symmetry.symmetry`.
    i, j
        the two units.
    loss
        loss(outputs, targets) of a batch: its mean (), or the examples' own (n,).
    data
        a pair (x, y), or batches of such pairs, as a DataLoader gives. All of it is used in every step.
    distances
        δ/δ_0, decreasing; by default 1 to 10⁻⁴ in 17 logarithmic steps.
    steps
        of L-BFGS at each distance, and ten times as many before; each takes the loss and its gradient about once.
    decay
        c of a term c ``‖θ‖²``/2 in the loss, without which a network that fits its data may have no minimum.
    symmetry
        groups of units, where they cannot be found by a trace.

    Examples
    --------
    >>> from torch.nn import functional as F
    >>> gen = torch.Generator().manual_seed(0)
    >>> x = torch.randn(60, 2, generator=gen)
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    >>> path = merge_path(net, "0", 0, 1, F.mse_loss, (x, x.prod(1, keepdim=True)), torch.tensor([1.0, 0.5, 0.1]))
    >>> path.losses.shape, bool(path.losses[0] <= path.start)
    (torch.Size([3]), True)
    """
    return _path(_Pair(_Objective(model, loss, data, decay), layer, i, j, symmetry), distances, steps)[0]


def _path(pair: _Pair, distances: Tensor | None, steps: int) -> tuple[PairPath, Tensor]:
    """The path, and θ at its end."""
    distances = torch.logspace(0, -4, 17, dtype=torch.float64) if distances is None else distances.double()
    if not (distances > 0).all() or not (distances.diff() < 0).all():
        raise ValueError(f"distances {distances.tolist()}; allowed: positive and decreasing")
    objective = pair.objective
    start = objective.slope(lambda t: t, objective.theta)[0].item()
    phi = pair.coordinates(objective.descend(lambda t: t, objective.theta, 10 * steps)[0])
    first, rows = phi[-1].clone(), []
    for distance in progress(distances.to(phi.device), "distance"):
        pair.set_statistics(distance.item())
        phi = pair.closer(phi, distance * first)
        phi, value, norm = objective.descend(pair.weights, phi, steps)
        if not torch.isfinite(value):
            raise ValueError(f"the loss is {value.item()} at distance {distance.item():g}; allowed: finite values")
        phi = pair.unit(phi)
        theta = pair.weights(phi)
        larger = max(theta[pair.out_first].norm(), theta[pair.out_second].norm())
        rows.append((phi[-1], value, norm, larger))
    delta, losses, norms, outgoing = (torch.stack(column) for column in zip(*rows, strict=True))
    return PairPath(delta, losses, norms, outgoing, pair.module(theta), start), theta


@checked
def permutation_point(
    model: nn.Module,
    layer: str,
    i: Natural,
    j: Natural,
    loss: Callable,
    data: Any,
    share: Probability = 0.5,
    distances: Shaped[Tensor, " K"] | None = None,
    steps: Natural = 200,
    decay: NonNegative = 0.0,
    symmetry: Symmetry | None = None,
    exact: Positive = 1000,
) -> PairPoint:
    """The permutation point of two units: where the path on which they are exchanged turns back.

    At the end of :func:`merge_path` the parameters are made equal, ϑ_i = ϑ_j and a_i = a_j, and the loss is minimised
    with them equal. By symmetry the minimum is a critical point among all parameters (Fukumizu & Amari; Brea et al.,
    section 4.2); the columns can then be shared in any way, a_i = αc, a_j = (1 − α)c, at the same loss.

    Parameters
    ----------
    model, layer, i, j, loss, data, distances, steps, decay, symmetry
        as for :func:`merge_path`; ten times the steps are allowed at the point, too.
    share
        α; another than ½ is a critical point only without ``decay``.
    exact
        largest number p of parameters with which the whole Hessian is computed. Above it are Ritz values of the
        Lanczos method in the directions that the exchange of i and j reverses, all of these if there are up to 200.

    Returns
    -------
    PairPoint
        the module, its loss and height, the gradient and the Hessian's eigenvalues and inertia.

    Examples
    --------
    >>> from torch.nn import functional as F
    >>> gen = torch.Generator().manual_seed(0)
    >>> x = torch.randn(60, 2, generator=gen)
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    >>> data, distances = (x, x.prod(1, keepdim=True)), torch.tensor([1.0, 0.1])
    >>> point = permutation_point(net, "0", 0, 1, F.mse_loss, data, steps=50, distances=distances)
    >>> bool(torch.equal(point.module[0].weight[0], point.module[0].weight[1])), len(point.eigenvalues)
    (True, 13)
    """
    with step_by_step():  # the second derivatives of fused attention are not known
        objective = _Objective(model, loss, data, decay)
        pair = _Pair(objective, layer, i, j, symmetry)
        path, theta = _path(pair, distances, steps)
        pair.set_statistics(0.0)
        theta = pair.together(objective.descend(pair.together, theta, 10 * steps)[0], share)
        value, slope = objective.slope(lambda t: t, theta)
        inertia = None
        if len(theta) <= exact:
            eigenvalues = torch.linalg.eigvalsh(objective.hessian(theta))
            bound = ZERO * eigenvalues.abs().max()
            negative, positive = int((eigenvalues < -bound).sum()), int((eigenvalues > bound).sum())
            inertia = (negative, len(eigenvalues) - negative - positive, positive)
        else:
            eigenvalues = _ritz_values(pair, theta)
    height = value.item() - path.losses[0].item()
    return PairPoint(pair.module(theta), value.item(), height, slope.norm().item(), eigenvalues, inertia, path)


def _ritz_values(pair: _Pair, theta: Tensor) -> Tensor:
    """Ritz values of the Hessian in the directions that the exchange of the pair reverses, ascending."""
    first, second = torch.cat([pair.first, pair.out_first]), torch.cat([pair.second, pair.out_second])
    v = torch.zeros_like(theta)
    v[first] = normal((len(first),), 0, "start of the Lanczos method").to(theta)
    v[second] = -v[first]
    Q, columns = [v / v.norm()], []
    for _ in range(min(len(first), LANCZOS)):
        w = pair.objective.product(theta, Q[-1])
        columns.append(torch.stack([q @ w for q in Q]))
        for _ in range(2):  # twice is enough
            for q in Q:
                w = w - (q @ w) * q
        if w.norm() <= 1e-12 * columns[-1].norm():
            break
        Q.append(w / w.norm())
    T = torch.zeros(len(columns), len(columns), dtype=theta.dtype, device=theta.device)
    for k, column in enumerate(columns):
        T[: k + 1, k] = T[k, : k + 1] = column
    return torch.linalg.eigvalsh(T)
