"""Figures: shapes, colours that stay apart for colour-blind readers, error bars at the stated level."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from lmc_helpers import figures
from lmc_helpers.figures.style import FINDING, PHONE, _legend, stack


def test_panels_have_one_of_two_widths():
    for rows, columns, width in ((1, 1, 7.0), (1, 3, 10.5), (2, 2, 10.5)):
        figure, axes = figures.panels(columns, rows, height=4.0)
        assert np.size(axes) == rows * columns
        assert figure.get_size_inches().tolist() == [width, 4.0 * rows]
        assert not plt.get_fignums()  # hence a notebook shows it where a chapter does, and nowhere else
    figure, axes = figures.panels(2)
    axes[0].plot([0, 1], label="one")
    axes[1].plot([0, 1], label="one")
    axes[1].plot([0, 1], label="two")
    _legend(figure, columns=2)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]


def test_on_a_phone_no_words_end_beyond_the_figure():
    figure, (left, right) = figures.panels(2, height=2.5)
    left.plot([0, 1], label="one with words that are long for a phone")
    right.plot([0, 1], label="another one with long words, $x y$ among them")
    left.set(title="words " * 12, xlabel="$x$ " * 40, ylabel="the words of the vertical axis " * 2)
    _legend(figure, columns=2)
    stack(figure)
    figure.draw_without_rendering()
    inner = figure.get_tightbbox()
    assert inner.x0 > -0.02 and inner.x1 < PHONE + 0.02 and inner.y0 > -0.02
    assert "\n" in left.get_ylabel() and left.get_ylabel().replace("\n", " ") == "the words of the vertical axis " * 2


def test_colours_are_named_for_matplotlib_and_its_cycle_is_the_palette():
    assert all(matplotlib.colors.to_hex(f"book:{name}") == code.lower() for name, code in figures.COLOURS.items())
    figures.panels()
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    coloured = [c for n, c in figures.COLOURS.items() if n not in ("black", "grey")]
    assert ["#" + code.removeprefix("#") for code in cycle] == coloured
    axes = figures.panels()[1]
    bars = figures.band(axes, [0.0, 1.0], [0.0, 0.0], [1.0, 2.0])
    heights = [np.ptp(path[:, 1]) / 2 for path in bars[2][0].get_segments()]
    assert heights == pytest.approx([stats.norm.isf(0.0005), 2 * stats.norm.isf(0.0005)], rel=1e-3)


def test_colours_differ_for_readers_without_red_or_green_receptors():
    deuteranopia = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    protanopia = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])
    main = [matplotlib.colors.to_rgb(figures.COLOURS[name]) for name in ("blue", "orange", "green", "red", "black")]
    for seen in (np.eye(3), deuteranopia, protanopia):
        points = np.array(main) @ seen.T
        distances = np.linalg.norm(points[:, None] - points, axis=-1) + 9 * np.eye(len(main))
        assert distances.min() > 0.15


def test_records_numbers_and_tables_are_stored_plainly(monkeypatch):
    monkeypatch.setattr("lmc_helpers.claims.recorded", lambda part: {"value": 1.0, "low": 0.0, "high": 2.0})
    axes = figures.panels()[1]
    figures.recorded(axes, 0, "Z1.law", "half", of=lambda x: x / 2)
    figures.recorded(axes, 3, "Z1.law", "power", of=lambda x: 10**x, digits=0)
    assert [text.get_text() for text in axes.texts] == ["half: 0.50 ± 0.50", "power: 10 (1 to 100)"]
    assert [line.get_xydata().tolist() for line in axes.lines[2:]] == [[[1, -3], [100, -3]], [[10, -3]]]
    stored = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: stored.update({name: value}))
    figures.numbers(a=np.float64(0.5), b=np.int64(3), c="word", d=2)
    assert {name: repr(value) for name, value in stored.items()} == {"a": "0.5", "b": "3", "c": "'word'", "d": "2"}
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    figures.table("$k$ | share", ([str(k), f"{1 / k:.1f}"] for k in (1, 2)))
    assert shown[0].data == "| $k$ | share |\n| --- | --- |\n| 1 | 1.0 |\n| 2 | 0.5 |"


def test_a_card_is_small_and_in_the_book_s_style(monkeypatch):
    figure, axes = figures.card()
    assert figure.axes == [axes] and figure.get_size_inches().max() < 4
    assert figure.dpi == 160 and not axes.spines["top"].get_visible()
    kept = []
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: kept.append((name, value, display)))
    figure, _ = figures.card()
    figures.keep(figure)
    assert kept == [(FINDING, figure, False)]
