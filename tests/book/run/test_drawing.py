"""Figures whose axes and texts remember: those of plain Matplotlib, byte for byte, also after changes."""

import io

import numpy as np
from matplotlib.axis import Axis
from matplotlib.text import Text

from book.tools.run import drawing
from lmc_helpers import figures


def pictures() -> list[bytes]:
    figure, (left, right) = figures.panels(2)
    left.loglog(np.logspace(-3, 2), np.logspace(0, 5), label="$x^2$")
    right.plot([0, 1], [0.1, 0.7], label="a line")
    right.set(title="one\nand two", ylabel="loss")
    changes = (
        lambda: figure.legend(loc="outside lower center"),
        lambda: figures.style.stack(figure),
        lambda: right.set(title="three", xlim=(0, 30), yscale="log"),
        lambda: (left.grid(False), right.tick_params(labelsize=6, labelrotation=30), left.minorticks_off()),
        lambda: (right.set_xticks([0, 7], ["a", "b"]), left.xaxis.label.set(text="$x$", fontsize=14)),
    )
    found = []
    for change in changes:
        change()
        figure.savefig(drawn := io.BytesIO(), bbox_inches="tight")
        found.append(drawn.getvalue())
    return found


def test_pictures_are_the_same(monkeypatch):
    plain, updates = pictures(), []
    update = Axis._update_ticks
    monkeypatch.setattr(Axis, "_update_ticks", lambda axis: updates.append(axis) or update(axis))
    monkeypatch.setattr(Text, "_get_layout", Text._get_layout)
    pictures()
    asked = len(updates)
    drawing.remember()
    assert pictures() == plain and len(set(plain)) == 5
    assert len(updates) < 1.5 * asked
