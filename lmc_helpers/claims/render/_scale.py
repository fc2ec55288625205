"""A small drawn scale: criteria as bands, the rival as a tick, measurements as marks on the intervals that are tested.

It is an SVG without a size of its own: lengths along the axis are percentages, hence it fills its column while its
lettering keeps its size. Its colours are those of the page (``currentColor``, variables of ``boxes.css``).
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass

from lmc_helpers.claims.intervals import Interval
from lmc_helpers.claims.numerals import people, telling

LEFT, RIGHT = 3.0, 97.0  # where the axis begins and ends, in per cent
CUT = 8.0  # room for a point beyond a cut, in per cent
NARROW = 1.6  # the least width of a band, in per cent
FAR = 25.0  # a point is cut off beyond so many widths of what matters
DECADES = 100.0  # ratio from which an axis is logarithmic
LEAST = 1e-300
PHONE, LETTER = 290.0, 6.6  # pixels of the narrowest scale and of a letter: labels must not meet there
LANE, ROW = 17, 15  # pixels of a measurement's lane and of a row of labels


@dataclass(frozen=True)
class Band:
    """A criterion on the scale."""

    interval: Interval
    kind: str  # stated, corrected or sharper


@dataclass(frozen=True)
class Mark:
    """A measurement on the scale: a value, its interval, the class of its verdict, and whether it is confirmed."""

    value: float
    low: float
    high: float
    style: str
    confirmed: bool = False


@dataclass(frozen=True)
class Axis:
    """Positions of numbers on the scale, in per cent; points beyond a cut are drawn at its end."""

    low: float
    high: float
    log: bool = False
    cut_low: bool = False
    cut_high: bool = False

    def at(self, value: float) -> float:
        """The place of a number, from ``LEFT`` to ``RIGHT``; infinity is beyond both."""
        low, high, value = (self._along(number) for number in (self.low, self.high, value))
        left, right = LEFT + CUT * self.cut_low, RIGHT - CUT * self.cut_high
        if value < low - 1e-12 * (high - low):
            return LEFT
        if value > high + 1e-12 * (high - low):
            return RIGHT
        return left + (right - left) * min(1.0, max(0.0, (value - low) / (high - low)))

    def _along(self, value: float) -> float:
        if not self.log:
            return value
        return math.log10(value) if value > LEAST else -math.inf


def axis(bands: list[Band], marks: list[Mark], rival: float | None) -> Axis:
    """An axis that shows everything of interest apart: linear, logarithmic, or cut before distant points."""
    ends = [end for band in bands for end in (band.interval.low, band.interval.high) if math.isfinite(end)]
    measured = [number for mark in marks for number in (mark.value, mark.low, mark.high)]
    other = [] if rival is None else [rival]
    return _logarithmic(ends, measured, other) or _linear(ends, measured, other)


def _logarithmic(ends: list[float], measured: list[float], rival: list[float]) -> Axis | None:
    """A logarithmic axis, where everything is positive, or 0 to rounding, and spans orders of magnitude."""
    upper = max(ends)
    symmetric = 0 < upper == -min(ends)
    if (min(ends) < 0 and not symmetric) or any(number < -upper for number in measured) or min(rival, default=1) < 0:
        return None
    kept = [end for end in ends if end > 0] + [number for number in rival if number > 0]
    if not kept or max(kept) < DECADES * min(kept) or (symmetric and any(mark < 0 for mark in measured[::3])):
        return None
    positive = kept + [number for number in measured if number > 1e-17 * min(kept)]
    reach = (max(positive) / min(positive)) ** 0.06
    return Axis(min(positive) / reach, max(positive) * reach, log=True)


def _linear(ends: list[float], measured: list[float], rival: list[float]) -> Axis:
    """A linear axis, cut on a side where a point is far beyond what the criteria and the measurement span."""
    core, others = list(ends), [*measured, *rival]
    width = max(core) - min(core)
    if not width and measured:  # one border: what matters is how far from it the measurement is, and how wide
        nearest = min((d for d in (abs(number - core[0]) for number in others) if d), default=0.0)
        width = max(3 * nearest, max(measured) - min(measured))
    near = [number for number in others if not width or _beyond(number, core) <= FAR * width]
    core += near
    width = (max(core) - min(core)) or abs(core[0]) or 1.0
    low, high = min(core) - 0.08 * width, max(core) + 0.08 * width
    return Axis(low, high, False, any(n < low for n in others), any(n > high for n in others))


def _beyond(number: float, core: list[float]) -> float:
    return max(min(core) - number, number - max(core), 0.0)


def _element(name: str, text: str = "", /, **attributes: object) -> str:
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f"<{name}{given}>{text}</{name}>" if text else f"<{name}{given}/>"


def _percent(place: float) -> str:
    return f"{place:.2f}%"


def _band(band: Band, along: Axis, height: int) -> str:
    """A criterion: an area over the axis, up to its end where it is open to that side."""
    low, high = (along.at(end) if _shown(along, end) else edge for end, edge in _edges(band.interval))
    if high - low < NARROW:
        middle = (low + high) / 2
        low, high = middle - NARROW / 2, middle + NARROW / 2
    area = _element(
        "rect", class_=f"lmc-band lmc-band-{band.kind}", x=_percent(low), y=0, width=_percent(high - low), height=height
    )
    shown = [
        _element("line", class_=f"lmc-edge lmc-edge-{band.kind}", x1=_percent(at), x2=_percent(at), y1=0, y2=height)
        for end, at in ((band.interval.low, low), (band.interval.high, high))
        if _shown(along, end)
    ]
    return area + "".join(shown)


def _edges(interval: Interval) -> Iterable[tuple[float, float]]:
    return (interval.low, 0.0), (interval.high, 100.0)


def _mark(mark: Mark, along: Axis, y: float) -> str:
    """A measurement: a disk for this run, a diamond for the confirmed one, on the interval that is tested."""
    low, high, at = (along.at(number) for number in (mark.low, mark.high, mark.value))
    shape = '<path d="M0-6L6 0L0 6L-6 0Z"/>' if mark.confirmed else '<circle r="4.5"/>'
    whisker = ""
    if high > low:
        whisker = _element("line", x1=_percent(low), x2=_percent(high), y1=y, y2=y)
        whisker += "".join(_element("line", x1=_percent(x), x2=_percent(x), y1=y - 4, y2=y + 4) for x in (low, high))
    inner = whisker + f'<svg x="{_percent(at)}" y="{y}" overflow="visible">{shape}</svg>'
    return f'<g class="lmc-mark lmc-{mark.style}">{inner}</g>'


def _labels(along: Axis, bands: list[Band], rival: float | None) -> list[tuple[float, str]]:
    """Position and text of each label under the axis; a narrow band has one label, in its middle."""
    found: list[tuple[float, str]] = []
    ends = [end for band in bands for end in (band.interval.low, band.interval.high) if math.isfinite(end)]
    for band in bands:
        low, high = band.interval.low, band.interval.high
        both = _shown(along, low) and _shown(along, high)
        shown = {end: telling(end, [round(end), (low + high) / 2, *ends]) for end in (low, high) if _shown(along, end)}
        if both and (along.at(high) - along.at(low) < 9 or shown[low] == shown[high]):
            half = f" ± {people((high - low) / 2)}" if low < high and shown[low] == shown[high] else ""
            found.append(((along.at(low) + along.at(high)) / 2, people((low + high) / 2) + half))
        else:
            found += [(along.at(end), text) for end, text in shown.items()]
    if rival is not None:
        found.append((along.at(rival), f"rival {people(rival)}"))
    return [label for k, label in enumerate(found) if not any(_same(label, before) for before in found[:k])]


def _same(label: tuple[float, str], other: tuple[float, str]) -> bool:
    return label[1] == other[1] and abs(label[0] - other[0]) < 2 * NARROW


def _shown(along: Axis, end: float) -> bool:
    """True if an end of a criterion lies on the axis."""
    return math.isfinite(end) and (not along.log or end > 0)


def _rows(labels: list[tuple[float, str]]) -> list[tuple[float, str, int]]:
    """Labels, each with its row, chosen such that none overlap on a phone."""
    taken: list[list[tuple[float, float]]] = []
    placed = []
    for at, text in labels:
        width = 100 * LETTER * (len(text) + 1) / PHONE
        low = {"start": at, "end": at - width, "middle": at - width / 2}[_anchor(at)]
        row = next((k for k, row in enumerate(taken) if all(low + width < a or b < low for a, b in row)), len(taken))
        if row == len(taken):
            taken.append([])
        taken[row].append((low, low + width))
        placed.append((at, text, row))
    return placed


def _anchor(at: float) -> str:
    return "start" if at < 14 else "end" if at > 86 else "middle"


def _written(at: float, text: str, y: float) -> str:
    return _element("text", html.escape(text), x=_percent(at), y=y, text_anchor=_anchor(at))


def draw(bands: list[Band], marks: list[Mark], rival: float | None, words: str) -> str:
    """The scale as an SVG; ``words`` describe it for those who cannot see it.

    The stated criterion is the first band; there are no marks if nothing was run.
    """
    along = axis(bands, marks, rival)
    height = LANE * max(1, len(marks)) + 8
    labels = _rows(_labels(along, bands, rival))
    total = height + 6 + ROW * (1 + max(row for *_, row in labels)) if labels else height + 6
    parts = [_band(band, along, height) for band in bands]
    parts.append(_element("line", class_="lmc-axis", x1="0%", x2="100%", y1=height, y2=height))
    if rival is not None:
        there = _percent(along.at(rival))
        parts.append(_element("line", class_="lmc-rival", x1=there, x2=there, y1=2, y2=height + 4))
    for cut, at in ((along.cut_low, LEFT + CUT / 2), (along.cut_high, RIGHT - CUT / 2)):
        if cut:
            shape = f'<path class="lmc-cut" d="M-6 {height + 5}l5-10h4l-5 10zM1 {height + 5}l5-10"/>'
            parts.append(f'<svg x="{_percent(at)}" y="0" overflow="visible">{shape}</svg>')
    parts += [_mark(mark, along, 4 + LANE * (k + 0.5)) for k, mark in enumerate(marks)]
    parts += [_written(at, text, height + 2 + ROW * (row + 0.85)) for at, text, row in labels]
    if along.log:
        parts.append('<text class="lmc-log" x="100%" y="9" text-anchor="end">log</text>')
    title = html.escape(words)
    return (
        f'<svg class="lmc-scale" role="img" aria-label="{title}" width="100%" height="{total}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
