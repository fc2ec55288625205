"""The barriers of a pair of modules, direct, matched and repaired: a table, a figure, and what they say in words."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from lmc_helpers._typing import Positive, Reals, Seed, checked
from lmc_helpers.barrier import GRID, check_lambdas
from lmc_helpers.modules._data import batches, few, kept
from lmc_helpers.modules._module import check_pair, copied, fitting, tensors, untouched
from lmc_helpers.modules.line import Line, Measured, Statistics, _evaluated, _jackknife, check_repeated, line
from lmc_helpers.modules.match import Unmatched, match
from lmc_helpers.modules.plane import pyplot
from lmc_helpers.modules.repair import repair
from lmc_helpers.networks.permutations import Symmetry
from lmc_helpers.progress import during

__all__ = ["Report", "compare"]

NAMES = {"direct": "direct", "weights": "matched by weights", "activations": "matched by activations"}
STYLE = "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
STYLE += "td,th{text-align:left;padding:.3em 1em .3em 0;border-bottom:1px solid #ccc}svg{max-width:100%;height:auto}"
_Number = tuple[float, float | None] | None  # with its error
CLEAR = 3  # standard errors
COLUMNS = ("barrier", "middle above the mean of the ends", "loss in the middle", "accuracy in the middle")


@dataclass(frozen=True, eq=False)
class _Half:
    """The module halfway after REPAIR: its loss, the excess over the mean of the ends, the change, and accuracy."""

    loss: Measured
    middle: Measured
    change: Measured  # of the loss by REPAIR
    accuracy: float | None
    left: dict[str, str]  # module → why its units stay as they were merged

    @property
    def effect(self) -> str:
        """A sentence on whether REPAIR helps."""
        by, error = self.change
        if not (_is_clear(self.change) or _is_clear(Measured(-by, error))):
            return "makes no clear difference"
        return "makes it worse" if by > 0 else "helps"


@dataclass(frozen=True, eq=False)
class Report:
    """Result of :func:`compare`."""

    lines: dict[str, Line]  # "direct", "weights" and "activations" → the line between a and b as it is, or matched so
    repaired: dict[str, _Half]  # the same names → the module halfway after REPAIR
    modules: dict[str, nn.Module]  # "weights" and "activations" → b matched so
    symmetry: Symmetry  # the groups of interchangeable units
    #: name → height of another path between a and b or their units, a permutation point for instance, for the table
    heights: Mapping[str, float] = field(default_factory=dict)
    unmatched: str = ""  # why b is not matched by activations, if it is not

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
        """The table for a terminal, and what it says."""
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        rows = ["  ".join(word.ljust(n) for word, n in zip(row, widths, strict=True)).rstrip() for row in cells]
        return "\n".join([*rows, "", *self.sentences()])

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        """The table for a notebook, and what it says."""
        head, *rows = ("| " + " | ".join(row) + " |" for row in self._cells())
        said = (f"- {one}" for one in self.sentences())
        return "\n".join([head, "| --- " * (len(COLUMNS) + 1) + "|", *rows, "", *said])

    def sentences(self) -> list[str]:
        """Barriers that matching leaves, where REPAIR helps and where it harms, and the layers left alone and why."""
        barrier = {name: found.barrier_kinds["chord"] for name, found in self.lines.items()}
        direct, said = barrier.pop("direct"), [f"Not matched by activations: {self.unmatched}"] * bool(self.unmatched)
        if not _is_clear(direct):
            said.append(f"No clear barrier between a and b as they are: {_words(*direct)}")
        for name, one in barrier.items():
            if not self.symmetry.groups or not (_is_clear(direct) or _is_clear(one)):
                continue
            left = f" ({100 * one.value / direct.value:.0f} %)" if _is_clear(direct) else ""
            verb = "is left of" if one.value <= direct.value else "is more than"
            said.append(f"{NAMES[name].capitalize()}, a barrier of {_words(*one)} {verb} {_words(*direct)}{left}")
        for name, half in self.repaired.items():
            before, after = half.loss.value - half.change.value, half.loss.value
            ends = f"the loss halfway was {before:.4g} and is {after:.4g}"
            said.append(f"REPAIR {half.effect} here, {NAMES[name]}: {ends}")
        said += [f"REPAIR leaves {module or 'the module'} alone: it {why}" for module, why in half.left.items()]
        return [*said, f"Buffers: {self.lines['direct'].buffers}", *str(self.symmetry).splitlines()]

    def html(self, title: str = "Two networks") -> str:
        """A page in one file, for a browser: what the table says, the table and the figure."""
        figure, drawn = self.figure(), io.StringIO()
        figure.savefig(drawn, format="svg", bbox_inches="tight")
        pyplot().close(figure)
        picture = drawn.getvalue()
        (head, *rows), title = self._cells(), html.escape(title)
        table = [("th", head), *(("td", row) for row in rows)]
        lines = ("".join(f"<{kind}>{html.escape(word)}</{kind}>" for word in row) for kind, row in table)
        said = (f"<li>{html.escape(one)}</li>" for one in self.sentences())
        return "\n".join(
            [
                f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
                f"<style>{STYLE}</style></head><body><h1>{title}</h1>",
                *("<ul>", *said, "</ul>", "<table>", *(f"<tr>{line}</tr>" for line in lines), "</table>"),
                f'<figure role="img" aria-label="Losses along the lines">{picture[picture.index("<svg") :]}</figure>',
                "</body></html>\n",
            ]
        )

    def figure(self, axes: Any = None) -> Any:
        """The losses along the lines with their standard errors, on a new figure or on axes."""
        plt = pyplot()
        axes = plt.subplots(figsize=(7, 4.6), layout="constrained")[1] if axes is None else axes
        for name, found in self.lines.items():
            (drawn,) = axes.plot(
                found.lambdas, found.losses, marker="o", markersize=3, label=NAMES[name].removeprefix("matched ")
            )
            low, high = found.losses - found.errors, found.losses + found.errors
            axes.fill_between(found.lambdas, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)
            if name in self.repaired:
                loss = self.repaired[name].loss.value
                axes.plot(0.5, loss, "*", color=drawn.get_color(), markersize=9)
        axes.plot([], [], "k*", label="after REPAIR")
        axes.set(xlabel="λ (0: b, 1: a)", ylabel="loss")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
        return axes.figure


def _row(pair: str, barrier: _Number, middle: _Number, loss: _Number, accuracy: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {"pair": pair}
    for name, found in zip(COLUMNS, (barrier, middle, loss), strict=False):
        row |= {name: None, f"{name}, error": None} if found is None else {name: found[0], f"{name}, error": found[1]}
    return row | {COLUMNS[3]: accuracy}


def _is_clear(one: Measured) -> bool:
    """True if a number is above 0 by some standard errors, where they are known."""
    return one.value > (0 if math.isnan(one.error) else CLEAR * one.error)


def _words(value: float, error: float | None) -> str:
    """A number with the digits that its error supports, or four."""
    if error is None or not 0 < error < math.inf:
        return f"{value:.4g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}" if digits < 8 else f"{value:.2g} ± {error:.2g}"


def _halfway(mean: Tensor) -> dict[str, Tensor]:
    """The loss after REPAIR, above the mean of the ends, and above that before; of both ends, before and after."""
    a, b, before, after = mean.unbind(dim=-1)
    return {"loss": after, "middle": after - (a + b) / 2, "change": after - before}


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
    signs: bool = True,
) -> Report:
    """Barriers between two modules: as they are, matched by weights and by activations, and REPAIR of each halfway.

    Parameters
    ----------
    a, b
        modules of one architecture.
    loss, data, lambdas, statistics
        as in :func:`~lmc_helpers.modules.line.line`; data are passed over many times, and λ = ½ is among the λ. With
        ``"recomputed"`` statistics modules after REPAIR keep theirs.
    restarts, symmetry, signs
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
    >>> report.sentences()[-3:-1]
    ['Buffers: no running statistics', "1 groups, 8 interchangeable units: '0' 8"]
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
    with during("compare"):
        direct = line(a, b, loss, data, places, **of_line)  # first of all, since it checks the loss and the data
        with untouched():
            work = copied(a)
            x = few(work, fitting(work, next(batches(a, inputs, 8))[0]), 8)
        by_weights, how = match(a, b, x, "weights", restarts, seed, symmetry, details=True, signs=signs)
        modules, unmatched, of_units = {"weights": by_weights}, "", {"data": inputs, "signs": signs}
        try:
            modules |= {"activations": match(a, b, x, "activations", restarts, seed, how.symmetry, **of_units)}
        except Unmatched as why:  # experts that take other tokens, for example
            unmatched = str(why).partition("; allowed")[0]
        lines = {"direct": direct} | {by: line(a, one, loss, data, places, **of_line) for by, one in modules.items()}
        halves, done = zip(*(repair(a, one, inputs, details=True) for one in (b, *modules.values())), strict=True)
        losses, sizes, accuracy = _evaluated(a, [(tensors(one), tensors(one), 1.0) for one in halves], loss, data)
        repaired = {}
        for k, (name, found) in enumerate(lines.items()):
            check_repeated(found.sizes, sizes)
            check_repeated(direct.batch_losses[:, -1], found.batch_losses[:, -1])  # of a
            own = found.batch_losses[:, [0, -1, places.index(0.5)]]
            value, error = _jackknife(_halfway, torch.cat([own, losses[:, [k]]], dim=1), sizes)
            one, two, three = (Measured(value[kind].item(), error[kind].item()) for kind in value)
            right = None if accuracy is None else accuracy[k].item()
            repaired[name] = _Half(one, two, three, right, done[k].left)
    return Report(lines, repaired, modules, how.symmetry, dict(heights or {}), unmatched)
