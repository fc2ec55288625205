"""Figures with a slider: what comes in goes out, in every frame, and Plotly's own validator takes it."""

import json

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lmc_helpers import figures
from lmc_helpers.figures.moving import MIME

POWERS = np.arange(1, 6)
X = np.linspace(0, 1, 7)


def scene(**settings) -> figures.Moving:
    values = [str(n) for n in POWERS]
    found = figures.Moving("power $n$", values, [f"$x^{n}$ & <b>" for n in values], start=2, **settings)
    left = found.panel(title="powers", xlabel="$x$", ylabel="$x^n$")
    left.draw(X, X, ":", "black", "$x$")
    left.draw(X, X ** POWERS[:, None], "o-", "red", "$x^n$")
    right = found.panel(xlabel="$n$", ylabel="mean", ylim=(0, 1))
    right.draw(POWERS, 1 / (POWERS + 1.0), "bars", "blue", "mean", width=0.5)
    right.draw(POWERS[:, None], 1 / (POWERS[:, None] + 1.0), "o", "red")
    return found


def test_every_frame_holds_its_data_and_only_what_moves():
    spec = json.loads(json.dumps(scene().spec()))
    assert len(spec["frames"]) == len(POWERS) == len(spec["layout"]["meta"]["values"])
    for n, frame in zip(POWERS, spec["frames"], strict=True):
        assert frame["traces"] == [1, 3]
        powers, dot = frame["data"]
        assert list(powers) == ["y"]
        np.testing.assert_allclose(powers["y"], [x**n for x in X], rtol=5e-4)
        assert dot["x"] == [n] and dot["y"] == [pytest.approx(1 / (n + 1), rel=5e-4)]
    assert [trace["type"] for trace in spec["data"]] == ["scatter", "scatter", "bar", "scatter"]
    assert spec["data"][1]["y"] == spec["frames"][2]["data"][0]["y"]  # the start
    assert [trace["xaxis"] for trace in spec["data"]] == ["x", "x", "x2", "x2"]


def test_the_picture_is_the_frame_at_the_start():
    figure = scene().picture()
    left, right = figure.axes
    np.testing.assert_allclose(left.lines[1].get_ydata(), X**3)
    assert right.lines[0].get_xdata().tolist() == [3]
    assert figure.get_suptitle() == "power $n$: 3\n$x^3$ & <b>"
    for values, notes, start in ((["1"], [], 0), (["1"], ["one"], 1), ([], [], 0)):
        with pytest.raises(ValueError, match="allowed: as many notes as values"):
            figures.Moving("n", values, notes, start)
    meta = scene().spec()["layout"]["meta"]
    assert meta["slider"] == "power <i>n</i>"
    assert meta["notes"][1] == "<i>x</i><sup>2</sup> &amp; &lt;b&gt;"
    go = pytest.importorskip("plotly.graph_objects")
    spec = scene().spec()
    drawn = go.Figure(spec)  # raises where a name or a value is not in Plotly's schema
    assert len(drawn.frames) == len(POWERS) and drawn.layout.yaxis2.range == (0, 1)
    assert drawn.layout.annotations[0].text == "powers"


def test_what_is_stored(monkeypatch):
    shown, stored = [], {}
    monkeypatch.setattr("IPython.display.display", lambda it, metadata: shown.append(metadata))
    monkeypatch.setattr("myst_nb.glue", lambda name, figure, display: stored.update({name: type(figure)}))
    scene().show("fig_powers")
    assert sorted(stored) == ["fig_powers"]
    (metadata,) = shown
    assert metadata[MIME]["figure"] == "fig-powers"
    assert json.loads(metadata[MIME]["spec"]) == scene().spec()
    assert plt.get_fignums() == []
