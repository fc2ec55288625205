"""Panels of figures that move: limits over all frames, digits, and what is refused."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest

from lmc_helpers import figures
from lmc_helpers.figures._moving_panels import Panel, axis, draw_panel, plain, trace


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_limits_hold_every_frame(scale):
    panel = Panel(3, yscale=scale)
    y = np.array([[1.0, 2, 3], [1, 20, 3], [0.01, 2, np.nan]])
    panel.draw([0, 1, 2], y)
    low, high = panel.limits("y")
    assert low < 0.01 and high > 20 and (low > 0 or scale == "linear")
    assert panel.limits("x") == pytest.approx((-0.1, 2.1))
    panel.ylim = (5, 6)
    assert panel.limits("y") == (5, 6)
    values = np.array([1 / 3, 123456.0, -0.000123456, 2.0, np.nan, np.inf])
    assert plain(values) == [0.3333, 123500, -0.0001235, 2, None, None]
    panel = Panel(1)
    panel.draw([1, 2], [3, 4], "bars", "blue", width=0.4)
    assert panel.limits("y")[0] == 0
    assert trace(panel.curves[0], 2, 0)["type"] == "bar" and trace(panel.curves[0], 2, 0)["xaxis"] == "x2"
    axes = figures.panels()[1]
    draw_panel(axes, panel, 0)
    assert [patch.get_height() for patch in axes.patches] == [3, 4]


def test_both_drawings_agree_on_axes_and_curves():
    panel = Panel(2, xlabel="$x$", xscale="log", ylim=(-1, 1), xlim=(100, 1), equal=False, ticks=[1, 10, 100])
    panel.draw([1, 10, 100], [[0, 0.5, 1], [1, 0.5, 0]], "s--", "red", "one", width=2)
    axes = figures.panels()[1]
    draw_panel(axes, panel, 1)
    (line,) = axes.lines
    found = trace(panel.curves[0], 1, 1)
    assert found["y"] == line.get_ydata().tolist() == [1, 0.5, 0]
    assert found["line"]["dash"] == "dash" and found["marker"]["symbol"] == "square"
    assert found["mode"] == "lines+markers"
    assert found["line"]["color"] == figures.COLOURS["red"] == matplotlib.colors.to_hex(line.get_color()).upper()
    x, y = axis(panel, "x", ""), axis(panel, "y", "")
    assert x["range"] == [2, 0] == np.log10(axes.get_xlim()).tolist() and y["range"] == [-1, 1]
    assert x["ticktext"] == ["1", "10", "100"] == [tick.get_text() for tick in axes.get_xticklabels()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0, 1, 2]), r"x \(2,\) and y \(3,\); allowed"),
        (([0, 1], [[0, 1]]), r"y \(1, 2\); allowed: \(n,\) or \(3, n\)"),
        (([0, 1], [0, 1], "-."), "style '-.'; allowed"),
        (([0, 1], [0, 1], ""), "style ''; allowed"),
        (([0, 1], [0, 1], "-", "C0"), "colour = 'C0'; allowed"),
    ],
)
def test_bad_curves_get_one_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        Panel(3).draw(*arguments)
