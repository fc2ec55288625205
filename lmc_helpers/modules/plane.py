"""The loss on the plane through three modules, and a curve between two on which it is low.

The plane of a, b and c (Garipov et al. 2018, section 3) has the points a + s (b − a) + t (c − a). The curve is a
quadratic Bézier curve with a trained point θ in the middle (their eqs. (1), (2) and section 3),

    φ(λ) = λ² a + 2 λ (1 − λ) θ + (1 − λ)² b,        min_θ E L(φ(λ)),  λ uniform on [0, 1].
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor, nn

from lmc_helpers._typing import Natural, Positive, Reals, Seed, checked
from lmc_helpers.barrier import GRID, check_lambdas
from lmc_helpers.modules._data import batches, kept, length
from lmc_helpers.modules._ends import Ends, between, check_followed, norms
from lmc_helpers.modules._module import called, check_pair, filled, fitting, untouched
from lmc_helpers.modules.line import Line, Statistics, _evaluated, check_repeated, halfway, line
from lmc_helpers.modules.losses import Combined
from lmc_helpers.progress import progress
from lmc_helpers.seeds import torch_generator

__all__ = ["Curve", "Plane", "curve", "plane"]

SIDE = tuple((k - 2) / 10 for k in range(15))  # −0.2, −0.1, …, 1.2


@dataclass(frozen=True, eq=False)
class Plane:
    """Losses on the plane through a (s = t = 0), b (s = 1) and c (t = 1)."""

    places: Float64[Tensor, " n"]  # s, and t, (n,)
    losses: Float64[Tensor, "n n"]  # at t_i and s_j; NaN where a running variance is negative
    accuracies: Float64[Tensor, "n n"] | None  # None if the targets are not class labels
    corners: Float64[Tensor, "3 2"]  # a, b and c in orthonormal coordinates of the plane

    def figure(self, axes: Any = None) -> Any:
        """Lines of equal loss, with distances as in weight space, on a new figure or on axes."""
        plt = pyplot()
        axes = plt.subplots(figsize=(5.4, 4.4))[1] if axes is None else axes
        a, b, c = self.corners
        t, s = torch.meshgrid(self.places, self.places, indexing="ij")
        at = a + s[..., None] * (b - a) + t[..., None] * (c - a)  # (n, n, 2)
        drawn = axes.contourf(at[..., 0], at[..., 1], self.losses, levels=20)
        axes.figure.colorbar(drawn, ax=axes, label="loss")
        for name, (x, y) in zip("abc", self.corners.tolist(), strict=True):
            axes.plot(x, y, "ko", markersize=4)
            axes.annotate(name, (x, y), xytext=(4, 4), textcoords="offset points")
        axes.set(xlabel="distance from a towards b", ylabel="distance from the line of a and b", aspect="equal")
        return axes.figure


@dataclass(frozen=True, eq=False)
class Curve:
    """A trained curve between two modules, beside the straight line."""

    middle: nn.Module  # θ
    curve: Line  # losses along it, from b (0) to a (1)
    line: Line  # losses along the straight line

    def figure(self, axes: Any = None) -> Any:
        """The losses along the curve and along the line, on a new figure or on axes."""
        plt = pyplot()
        axes = plt.subplots(figsize=(7, 4.2))[1] if axes is None else axes
        for name, found in (("line", self.line), ("curve", self.curve)):
            axes.plot(found.lambdas, found.losses, marker="o", markersize=3, label=name)
        axes.set(xlabel="0: b, 1: a", ylabel="loss")
        axes.legend()
        return axes.figure


def pyplot() -> Any:
    """Matplotlib, which the package does without until it draws."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("matplotlib is missing; allowed: pip install matplotlib") from None
    return plt


@checked
def plane(
    a: nn.Module,
    b: nn.Module,
    c: nn.Module,
    loss: Callable,
    data: Any,
    places: Reals = SIDE,
    statistics: Statistics = "interpolated",
) -> Plane:
    """Losses of a + s (b − a) + t (c − a) on data, for s and t in places.

    Parameters
    ----------
    a, b, c
        modules of one architecture, not on one line.
    loss, data, statistics
        as in :func:`~lmc_helpers.modules.line.line`; interpolated running statistics lie in the plane like weights, and
        where a variance is negative, outside the triangle of a, b and c, no network is and the loss is NaN.
    places
        increasing, with 0 and 1 among them.

    Examples
    --------
    >>> from torch.nn.functional import mse_loss
    >>> a, b, c = (nn.Linear(2, 1).double() for _ in range(3))
    >>> x = torch.randn(50, 2, dtype=torch.float64)
    >>> found = plane(a, b, c, mse_loss, (x, x[:, :1]), [0, 0.5, 1])
    >>> bool(torch.isclose(found.losses[0, 2], mse_loss(b(x), x[:, :1])))
    True
    """
    (a, b), (_, c) = check_pair(a, b), check_pair(a, c)
    at, data = torch.as_tensor(places, dtype=torch.float64), kept(data)
    if not (at.diff() > 0).all() or not {0.0, 1.0} <= set(at.tolist()):
        raise ValueError(f"places = {at.tolist()}; allowed: increasing, with 0 and 1 among them")
    ends = Ends(a, b), Ends(a, c)
    with untouched():
        x = next(batches(a, data, 8))[0]
        for each in ends:
            each.check(x)
    names = [n for n, u in ends[0].u.items() if n in ends[1].u and (u.is_floating_point() or u.is_complex())]
    u = {name: ends[0].u[name] for name in names}
    to_b, to_c = ({name: each.v[name].to(u[name]) - u[name] for name in names} for each in ends)
    one, two = (torch.cat([_real(value).double().flatten().cpu() for value in way.values()]) for way in (to_b, to_c))
    along = one @ two / one.norm()
    if not one.norm() or (rise := (two - along * one / one.norm()).norm()) <= 1e-6 * two.norm():
        raise ValueError("a, b and c lie on one line; allowed: three modules that span a plane")
    own = {f"{name}.running_var".removeprefix(".") for name in norms(a)} if statistics == "interpolated" else set()
    variances, losses, accuracies = own & set(names), [], []
    also = [] if isinstance(data, (tuple, list, Mapping)) else [(u, u, 1.0)]  # a in each pass
    first: Tensor | None = None
    for t in progress(at.tolist(), "row"):
        start = {name: value + t * to_c[name] for name, value in u.items()}
        end = {name: value + to_b[name] for name, value in start.items()}
        exist = [j for j, s in enumerate(at.tolist()) if all((start[n] + s * to_b[n] >= 0).all() for n in variances)]
        row, correct = torch.full((2, len(at)), torch.nan, dtype=torch.float64)
        if exist:
            of = [(end, start, at[j].item()) for j in exist]
            table, sizes, right = _evaluated(a, of + also, loss, data, statistics, given=(a, b, c))
            if also:
                check_repeated(table[:, -1] if first is None else first, first := table[:, -1])
            row[exist] = (sizes @ table / sizes.sum())[: len(exist)]
            correct[exist] = torch.nan if right is None else right[: len(exist)]
        for s, which in ((0.0, "c" if t else "a"), (1.0, "" if t else "b")) if t in (0, 1) else ():
            if which and not (value := row[at.tolist().index(s)]).isfinite():
                raise ValueError(f"the loss of {which} is {value.item()}; allowed: finite losses")
        losses.append(row)
        accuracies.append(correct)
    corners = torch.tensor([[0.0, 0.0], [one.norm(), 0.0], [along, rise]], dtype=torch.float64)
    return Plane(at, torch.stack(losses), None if (found := torch.stack(accuracies)).isnan().all() else found, corners)


def _real(value: Tensor) -> Tensor:
    return torch.view_as_real(value) if value.is_complex() else value


@checked
def curve(
    a: nn.Module,
    b: nn.Module,
    loss: Callable,
    data: Any,
    steps: Natural = 500,
    rate: float = 1e-2,
    batch: Positive = 256,
    seed: Seed = 0,
    lambdas: Reals = GRID,
    statistics: Statistics = "interpolated",
) -> Curve:
    """Train a Bézier curve between two modules by Adam, and measure the loss along it and along the line.

    Each step takes one batch of the data at one place λ, drawn uniformly; running statistics are on the straight line.

    Parameters
    ----------
    a, b
        modules of one architecture, which stay as they are.
    loss, data
        as in :func:`~lmc_helpers.modules.line.line`.
    steps, rate, batch
        of Adam on θ, which begins at the mean of a and b.
    lambdas, statistics
        of the losses that are measured, as in :func:`~lmc_helpers.modules.line.line`.

    Examples
    --------
    >>> from torch.nn.functional import mse_loss
    >>> a, b = (nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).double() for _ in range(2))
    >>> x = torch.randn(64, 2, dtype=torch.float64)
    >>> found = curve(a, b, mse_loss, (x, x.prod(dim=1, keepdim=True)), steps=50)
    >>> found.curve.losses[0] == found.line.losses[0]
    tensor(True)
    """
    a, b = check_pair(a, b)
    places, data = check_lambdas(lambdas), kept(data)
    if not 0 < rate < float("inf"):
        raise ValueError(f"rate = {rate}; allowed: positive and finite")
    straight = line(a, b, loss, data, lambdas, statistics)
    ends, combined = Ends(a, b), Combined(loss)
    work = halfway(ends, 0.5)
    free = [name for name, value in work.named_parameters() if value.is_floating_point() and name in ends.u]
    theta = {name: value.detach().requires_grad_() for name, value in work.named_parameters() if name in free}
    optimiser, generator = torch.optim.Adam(theta.values(), rate), torch_generator(seed, "curve")

    def point(lam: float) -> dict[str, Tensor]:
        """φ(λ), with running statistics on the line."""
        values = {name: between(u, ends.v[name].to(u), lam) for name, u in ends.u.items()}
        for name in free:
            u, v = ends.u[name], ends.v[name].to(ends.u[name])
            values[name] = lam**2 * u + 2 * lam * (1 - lam) * theta[name] + (1 - lam) ** 2 * v
        return values

    with untouched(), torch.enable_grad():
        check_followed(work, fitting(work, next(batches(a, data, 8))[0]))
        parts = itertools.chain.from_iterable(batches(a, data, batch) for _ in itertools.count())
        for x, y in progress(itertools.islice(parts, steps), "step", steps):
            x, y = fitting(work, x), fitting(work, y, targets=True)
            outputs = called(work, x, point(torch.rand((), generator=generator).item()))
            value = combined.value(outputs, y, length(x, y))
            if 0 in (combined.weights[-1].get(rule) for rule in ("calls", "given")):  # a batch without labels
                continue
            if not value.isfinite():
                raise ValueError(f"the loss on the curve is {value.item()}; allowed: finite losses, a smaller rate")
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
    theta = {name: value.detach() for name, value in theta.items()}
    found = _evaluated(a, [(values, values, 1.0) for values in map(point, places.tolist())], loss, data, statistics)
    check_repeated(straight.batch_losses[:, 0], found[0][:, 0])
    return Curve(filled(work, theta), Line(places, *found, straight.buffers), straight)
