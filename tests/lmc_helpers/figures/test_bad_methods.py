"""Bad arguments for every public method of the room: one sentence that says what is allowed."""

import numpy as np
import torch
from bad_arguments import (
    Choice,
    Integer,
    Number,
    Other,
    Row,
    Text,
    methods_without_a_row,
    refused,
    rows,
    runs,
)

from lmc_helpers.figures.moving import Moving
from lmc_helpers.figures.moving_panels import Curve, Panel

SCENE = Moving("n", ["1", "2"], ["a", "b"])
LEVELS = np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]])
STANDING = Curve(LEVELS[0], LEVELS[1], "-", "blue", None, 1.0)
MOVING = Curve(LEVELS[0], LEVELS, "-", "blue", None, 1.0)
NUMBERS = {"longer": np.ones(4), "three frames": np.ones((3, 3)), "three axes": np.ones((1, 2, 3)), "a word": "W"}
NUMBERS |= {"words": ["a", "b", "c"], "nothing": None, "complex": np.ones(3) * 1j, "a number": 1.0}
NUMBERS |= {"of meta": torch.ones(3, device="meta"), "ragged": [[1.0], [1.0, 2.0]]}
SETTINGS = {
    "unknown": {"xlable": "x"},
    "frames": {"frames": 3},
    "a scale": {"xscale": "log10"},
    "none": {"yscale": None},
}
LABEL = Other(None, {"empty": "", "a number": 7})
EMPTY = Panel(2, xlim=(0, 1))  # with nothing on its axes


def panel():
    made = Panel(2)
    made.draw(LEVELS[0], LEVELS)
    return made


TABLE = [
    Row(
        SCENE.panel,
        {"settings": Other({"xlabel": "x", "yscale": "log"}, SETTINGS)},
        lambda settings: Moving("n", ["1", "2"], ["a", "b"]).panel(**settings),
    ),
    Row(SCENE.show, {"name": Text("a_name")}, lambda name: SCENE.show(name)),
    Row(STANDING.at, {"frame": Integer(1, least=0)}),
    Row(MOVING.at, {"frame": Integer(1, least=0, most=1)}),
    Row(
        panel().draw,
        {"x": Other(LEVELS[0], NUMBERS), "y": Other(LEVELS, NUMBERS), "style": Choice("-"), "colour": Choice("blue")}
        | {"label": LABEL, "width": Number(1.6, least=0)},
    ),
    Row(panel().limits, {"name": Choice("x")}),
    Row(EMPTY.limits, {"name": Other("x", {"no numbers": "y"})}),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("figures", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    if row.function != SCENE.show:  # test_moving.py shows one
        runs(row)
    refused(row)
