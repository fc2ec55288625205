"""The barriers of a pair of modules, direct, matched and repaired: a table and a figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from lmc_helpers._typing import Positive, Reals, Seed, checked
from lmc_helpers.barrier import GRID, check_lambdas
from lmc_helpers.modules._data import batches, few, kept
from lmc_helpers.modules._module import check_pair, copied, fitting, tensors, untouched
from lmc_helpers.modules.line import Line, Measured, Statistics, _evaluated, _jackknife, line
from lmc_helpers.modules.match import match
from lmc_helpers.modules.repair import repair
from lmc_helpers.networks.permutations import Symmetry

__all__ = ["Report", "compare"]

NAMES = {"direct": "direct", "weights": "matched by weights", "activations": "matched by activations"}
_Number = tuple[float, float | None] | None  # with its error
COLUMNS = ("barrier", "middle above the mean of the ends", "loss in the middle", "accuracy in the middle")


@dataclass(frozen=True, eq=False)
class _Half:
    """The module halfway after REPAIR: its loss, the excess over the mean of the ends, and accuracy."""

    loss: Measured
    middle: Measured
    accuracy: float | None


@dataclass(frozen=True, eq=False)
class Report:
    """Result of :func:`compare`."""

    lines: dict[str, Line]  # "direct", "weights" and "activations" → the line between a and b as it is, or matched so
    repaired: dict[str, _Half]  # the same names → the module halfway after REPAIR
    modules: dict[str, nn.Module]  # "weights" and "activations" → b matched so
    symmetry: Symmetry  # the groups of interchangeable units
    #: name → height of another path between a and b or their units, a permutation point for instance, for the table
    heights: Mapping[str, float] = field(default_factory=dict)

    def table(self) -> list[dict[str, Any]]:
        """Rows of plain numbers with standard errors over batches; None where a number does not exist."""
        rows = []
        for name, found in self.lines.items():
            k, middle = found.lambdas.tolist().index(0.5), found.barrier_kinds["middle"]
            loss = Measured(found.losses[k].item(), found.errors[k].item())
            accuracy = None if found.accuracies is None else found.accuracies[k].item()
            rows.append(_row(NAMES[name], found.barrier_kinds["chord"], middle, loss, accuracy))
        for name, one in self.repaired.items():
            rows.append(_row(f"{NAMES[name]}, REPAIR", None, one.middle, one.loss, one.accuracy))
        return rows + [_row(name, (height, None), None, None, None) for name, height in self.heights.items()]

    def _cells(self) -> list[list[str]]:
        """Head and rows in words."""
        cells = [["", *COLUMNS]]
        for row in self.table():
            words = [
                "" if value is None else _words(value, error)
                for value, error in ((row[name], row.get(f"{name}, error")) for name in COLUMNS)
            ]
            cells.append([row["pair"], *words])
        return cells

    def __str__(self) -> str:
        """The table for a terminal, with the groups and what is left alone."""
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        rows = ["  ".join(word.ljust(n) for word, n in zip(row, widths, strict=True)).rstrip() for row in cells]
        return "\n".join([*rows, "", self.lines["direct"].buffers, str(self.symmetry)])

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        """The table for a notebook."""
        head, *rows = ("| " + " | ".join(row) + " |" for row in self._cells())
        return "\n".join([head, "| --- " * (len(COLUMNS) + 1) + "|", *rows, "", self.lines["direct"].buffers])

    def figure(self, axes: Any = None) -> Any:
        """The losses along the lines with their standard errors, on a new figure or on axes."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("matplotlib is missing; allowed: pip install matplotlib") from None
        if axes is None:
            axes = plt.subplots(figsize=(7, 4.2))[1]
        for name, found in self.lines.items():
            (drawn,) = axes.plot(found.lambdas, found.losses, marker="o", markersize=3, label=NAMES[name])
            low, high = found.losses - found.errors, found.losses + found.errors
            axes.fill_between(found.lambdas, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)
            if name in self.repaired:
                loss = self.repaired[name].loss.value
                axes.plot(0.5, loss, "*", color=drawn.get_color(), label=f"{NAMES[name]}, REPAIR")
        axes.set(xlabel="λ (0: b, 1: a)", ylabel="loss")
        axes.legend()
        return axes.figure


def _row(pair: str, barrier: _Number, middle: _Number, loss: _Number, accuracy: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {"pair": pair}
    for name, found in zip(COLUMNS, (barrier, middle, loss), strict=False):
        row |= {name: None, f"{name}, error": None} if found is None else {name: found[0], f"{name}, error": found[1]}
    return row | {COLUMNS[3]: accuracy}


def _words(value: float, error: float | None) -> str:
    """A number with the digits that its error supports, or four."""
    if error is None or not 0 < error < math.inf:
        return f"{value:.4g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


@checked
def compare(
    a: nn.Module,
    b: nn.Module,
    loss: Callable,
    data: Any,
    seed: Seed = 0,
    restarts: Positive = 10,
    lambdas: Reals = GRID,
    statistics: Statistics = "interpolated",
    symmetry: Symmetry | None = None,
    heights: Mapping[str, float] | None = None,
    statistics_data: Any = None,
) -> Report:
    """Barriers between two modules: as they are, matched by weights and by activations, and REPAIR of each halfway.

    Parameters
    ----------
    a, b
        modules of one architecture.
    loss, data, lambdas, statistics
        as in :func:`~lmc_helpers.modules.line.line`; data are passed over many times, and λ = ½ is among the λ. With
        ``"recomputed"`` statistics modules after REPAIR keep theirs.
    restarts, symmetry
        as in :func:`~lmc_helpers.modules.match.match`.
    statistics_data
        data for statistics, activations and REPAIR, training data for instance; the same data if it is left out.
    heights
        more numbers for the table, such as heights of permutation points.

    Examples
    --------
    >>> from torch.nn.functional import mse_loss
    >>> a, b = (nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in range(2))
    >>> report = compare(a, b, mse_loss, (torch.randn(60, 2), torch.randn(60, 1)))
    >>> [row["pair"] for row in report.table()]  # doctest: +ELLIPSIS
    ['direct', 'matched by weights', 'matched by activations', 'direct, REPAIR', 'matched by weights, REPAIR', ...]
    """
    a, b = check_pair(a, b)
    data = kept(data)
    places = check_lambdas(lambdas).tolist()
    if 0.5 not in places:
        raise ValueError(f"lambdas = {places}; allowed: 0.5 among them")
    inputs = data if statistics_data is None else kept(statistics_data)
    of_line: dict[str, Any] = {
        "statistics": statistics,
        "statistics_data": inputs if statistics == "recomputed" else None,
    }
    direct = line(a, b, loss, data, places, **of_line)  # first of all, since it checks the loss and the data
    with untouched():
        work = copied(a)
        x = few(work, fitting(work, next(batches(a, inputs, 8))[0]), 8)
    by_weights, how = match(a, b, x, "weights", restarts, seed, symmetry, details=True)
    by_activations = match(a, b, x, "activations", restarts, seed, how.symmetry, data=inputs)
    modules = {"weights": by_weights, "activations": by_activations}
    lines = {"direct": direct} | {by: line(a, one, loss, data, places, **of_line) for by, one in modules.items()}
    halves = [repair(a, one, inputs) for one in (b, *modules.values())]
    losses, sizes, accuracy = _evaluated(a, [(tensors(one), tensors(one), 1.0) for one in halves], loss, data)
    repaired = {}
    for k, (name, found) in enumerate(lines.items()):
        three = torch.stack([found.batch_losses[:, 0], found.batch_losses[:, -1], losses[:, k]], dim=1)  # (B, 3)
        value, error = _jackknife(
            lambda mean: {"loss": mean[..., 2], "middle": mean[..., 2] - mean[..., :2].mean(dim=-1)}, three, sizes
        )
        one, two = (Measured(value[kind].item(), error[kind].item()) for kind in ("loss", "middle"))
        repaired[name] = _Half(one, two, None if accuracy is None else accuracy[k].item())
    return Report(lines, repaired, modules, how.symmetry, dict(heights or {}))
