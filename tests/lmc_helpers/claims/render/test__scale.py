"""The drawn scale: order on the axis is order of numbers, labels do not meet on a phone, and it is valid XML."""

import itertools
import math
import random
from xml.etree import ElementTree

import numpy as np
import pytest

from lmc_helpers.claims.intervals import Interval
from lmc_helpers.claims.render import _scale
from lmc_helpers.claims.render._scale import Band, Mark

SVG = "{http://www.w3.org/2000/svg}"
TINY = Interval(-1e-12, 1e-12, "")
CASES = {
    "two-sided": ([Interval(1.9, 2.1, "")], [(2.0, 1.95, 2.06)], 2.5),
    "at most": ([Interval(-math.inf, 0.1, "")], [(0.02, 0.01, 0.03)], 0.2),
    "at least": ([Interval(0.5, math.inf, "")], [(0.98, 0.84, 1.0), (0.9, 0.85, 0.95)], 0.1),
    "to rounding": ([TINY], [(4e-16, 4e-16, 4e-16)], 0.001),
    "zero to rounding": ([TINY], [(0.0, 0.0, 0.0)], 0.001),
    "tiny negative": ([TINY], [(-4e-16, -4e-16, -4e-16)], 0.001),
    "far below": ([Interval(0.07, math.inf, "")], [(21.6, 21.6, 21.6)], -8.9e14),
    "equality": ([Interval(1.0, 1.0, "")], [(1.0, 1.0, 1.0)], 3.0),
    "corrected": ([Interval(0.7169, 0.7189, ""), Interval(0.738, 0.7382, "")], [(0.7381, 0.7381, 0.7381)], 0.75),
    "orders": ([Interval(1e-6, math.inf, "")], [(0.07, 0.07, 0.07)], 6.6e-15),
    "not run": ([Interval(-math.inf, 0.9, "")], [], 1.0),
    "no rival": ([Interval(0.0, 0.0, "")], [(0.0, 0.0, 0.0)], None),
    "close": ([Interval(1 - 1e-9, 1 + 1e-9, "")], [(1.0, 1.0, 1.0)], 2.0),
    "huge": ([Interval(-math.inf, 1.0, "")], [(2176.0, 2176.0, 2176.0)], 1e300),
}


def drawing(case: str) -> tuple[ElementTree.Element, _scale.Axis, list]:
    intervals, measured, rival = CASES[case]
    bands = [Band(interval, kind) for interval, kind in zip(intervals, ("stated", "corrected"), strict=False)]
    marks = [Mark(*numbers, "holds", confirmed=bool(k)) for k, numbers in enumerate(measured)]
    numbers = [n for m in measured for n in m] + [e for i in intervals for e in (i.low, i.high)] + [rival]
    finite = sorted({n for n in numbers if n is not None and math.isfinite(n)})
    text = _scale.draw(bands, marks, rival, "what <it> shows")
    return ElementTree.fromstring(text), _scale.axis(bands, marks, rival), finite


@pytest.mark.parametrize("case", CASES)
def test_it_is_a_picture_with_words_and_a_mark_for_each_run_in_the_order_of_numbers(case):
    svg, _, _ = drawing(case)
    intervals, measured, rival = CASES[case]
    assert svg.get("role") == "img" and svg.get("aria-label") == "what <it> shows"
    classes = [element.get("class", "") for element in svg.iter()]
    assert sum(name.startswith("lmc-band ") for name in classes) == len(intervals)
    assert sum(name.startswith("lmc-mark") for name in classes) == len(measured)
    assert classes.count("lmc-rival") == (rival is not None)
    assert len(list(svg.iter(f"{SVG}circle"))) == min(len(measured), 1)
    assert all("NaN" not in v and "nan" not in v and "inf" not in v for e in svg.iter() for v in e.attrib.values())
    _, along, numbers = drawing(case)
    places = [along.at(number) for number in numbers if not along.log or number > 0]
    assert places == sorted(places) and all(_scale.LEFT <= place <= _scale.RIGHT for place in places)


@pytest.mark.parametrize("case", ["to rounding", "orders"])
def test_orders_of_magnitude_get_a_logarithmic_axis(case):
    _, along, numbers = drawing(case)
    assert along.log
    places = [along.at(number) for number in numbers if number > 0]
    logs = [math.log(n) for n in numbers if n > 0]
    steps = list(np.diff(places) / np.diff(logs))
    assert steps == pytest.approx([steps[0]] * len(steps))


def test_far_points_are_cut_off():
    svg, along, _ = drawing("far below")
    assert along.cut_low and not along.cut_high and along.at(-8.9e14) == _scale.LEFT
    assert sum(element.get("class") == "lmc-cut" for element in svg.iter()) == 1
    inner = along.at(21.6) - along.at(0.07)
    assert inner > 50  # per cent: what matters fills the scale
    texts = {case: [e.text for e in drawing(case)[0].iter(f"{SVG}text")] for case in ("close", "two-sided")}
    assert texts["close"] == ["1 ± 10⁻⁹", "rival 2"]
    assert texts["two-sided"] == ["1.9", "2.1", "rival 2.5"]


def test_a_band_that_is_narrow_is_seen_and_one_that_is_open_reaches_the_edge():
    svg, _, _ = drawing("equality")
    (band,) = svg.iter(f"{SVG}rect")
    assert float(band.get("width").rstrip("%")) == pytest.approx(_scale.NARROW)
    svg, _, _ = drawing("at least")
    (band,) = svg.iter(f"{SVG}rect")
    x, width = (float(band.get(name).rstrip("%")) for name in ("x", "width"))
    assert x + width == pytest.approx(100, abs=0.01) and x > 5


def test_labels_do_not_meet_on_a_phone():
    for seed in range(30):
        dice = random.Random(seed)
        labels = [(dice.uniform(3, 97), "x" * dice.randint(1, 14)) for _ in range(dice.randint(1, 6))]
        boxes, placed = [], _scale._rows(labels)
        assert [(at, text) for at, text, _ in placed] == labels
        for at, text, row in placed:
            width = 100 * _scale.LETTER * len(text) / _scale.PHONE
            shift = {"start": 0, "middle": width / 2, "end": width}[_scale._anchor(at)]
            boxes.append((row, at - shift, at - shift + width))
        for (row, low, high), (other, left, right) in itertools.combinations(boxes, 2):
            assert row != other or high < left or right < low, labels
