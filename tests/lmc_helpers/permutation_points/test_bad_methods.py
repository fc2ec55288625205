"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import math

import torch
from bad_arguments import (
    Choice,
    Integer,
    Number,
    Other,
    Row,
    Tensor,
    methods_without_a_row,
    normal,
    refused,
    rows,
    runs,
)

from lmc_helpers.permutation_points.converged import ConvergedPath
from lmc_helpers.permutation_points.doubling import double_neurons
from lmc_helpers.permutation_points.merging import MergePath
from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.pair import PairChart

SEED = Integer(1, least=0, most=2**32 - 1)
NET = MLP((2, 3, 2), "tanh")  # p = 17
START = NET.initial(2, seed=1)  # (B, p)
X, Y = normal(5, 2), normal(5, 2, seed=2)  # (T, n_0) and (T, n_2)
THETA = Tensor(START[0], holes=False)
BATCH = Tensor(START, batch=False, free=(-2,), empty=False, holes=False)
ANY = Tensor(START[0], numbers=False)  # integers, too: places in theta go the same way
INPUTS = Tensor(X, batch=False, free=(-2,), holes=False)
LAYER, NEURON = Integer(1, least=1, most=1), Integer(1, least=0, most=2)
PART = NET.split(START[0])
WEIGHTS, BIAS = PART[0]
LAYERS = {
    "none": [],
    "one": PART[:1],
    "no pairs": [WEIGHTS, BIAS],
    "three": [(WEIGHTS, BIAS, BIAS), PART[1]],
    "another shape": [(WEIGHTS.T, BIAS), PART[1]],
    "another batch": [(WEIGHTS, BIAS.expand(2, -1)), PART[1]],
    "batches that differ": [(WEIGHTS.expand(2, -1, -1), BIAS.expand(2, -1)), PART[1]],
    "another dtype": [(WEIGHTS.float(), BIAS), PART[1]],
    "dtypes that differ": [(WEIGHTS.float(), BIAS.float()), PART[1]],
    "NumPy": [(WEIGHTS.numpy(), BIAS.numpy()), PART[1]],
    "meta": [(WEIGHTS.to("meta"), BIAS.to("meta")), PART[1]],
    "a string": "W",
    "nothing": None,
    "a number": 1.0,
}
SIZES = {"a list": [2, 3, 2], "two": (2, 2), "a zero": (2, 0, 2), "a bool": (2, True, 2), "a string": "232"}
NO_NET = {"a string": "net", "nothing": None, "sizes": (2, 3, 2), "a chart": PairChart(NET, 1)}

CHART = PairChart(NET, 1)
PHI = CHART.coordinates(START[0])
POINT = double_neurons(NET, START[0], X, Y)[1]
PATH = ConvergedPath(START[:1].expand(3, -1), torch.arange(3.0), torch.zeros(3), torch.ones(3))
MERGED = MergePath(*(torch.ones(2, 1) for _ in range(5)), torch.ones(2, 1, 2))
CHOSEN = {
    "zeros and ones": torch.tensor([1, 0, 1]),
    "places": [0, 2],
    "too few": torch.tensor([True, False]),
    "too many": torch.ones(4, dtype=torch.bool),
    "a table": torch.ones(3, 3, dtype=torch.bool),
    "one": torch.tensor(True),
    "floats": torch.ones(3),
    "NumPy": torch.ones(3, dtype=torch.bool).numpy(),
    "meta": torch.ones(3, dtype=torch.bool, device="meta"),
    "a slice": slice(0, 2),
    "nothing": None,
}
DELTA = {"zero": torch.tensor(0.0).double(), "a row": torch.ones(1).double(), "single": torch.tensor(0.5)}
DELTA |= {"nan": torch.tensor(math.nan).double(), "inf": torch.tensor(math.inf).double(), "a number": 0.5}
DELTA |= {"integer": torch.tensor(1), "a string": "0.5", "nothing": None, "NumPy": torch.tensor(0.5).double().numpy()}


TABLE = [
    Row(MLP, {"sizes": Other((2, 3, 2), SIZES), "activation": Choice("tanh")}),
    Row(MLP, {"activation": Other("tanh", {"a list": ["tanh"]})}, lambda activation: MLP((2, 3, 2), activation)),
    Row(NET.split, {"theta": ANY}),
    Row(NET.join, {"layers": Other(PART, LAYERS)}),
    Row(NET.forward, {"theta": THETA, "x": INPUTS}),
    Row(NET.hidden, {"theta": THETA, "x": INPUTS, "layer": LAYER}),
    Row(NET.incoming, {"layer": Integer(1, least=1, most=2), "neuron": NEURON}),
    Row(NET.outgoing, {"layer": LAYER, "neuron": NEURON}),
    Row(NET.swap, {"theta": ANY, "layer": LAYER, "first": NEURON, "second": NEURON}),
    Row(NET.initial, {"n": Integer(2, least=1), "seed": SEED, "scale": Number(1.0, least=0)}),
    Row(PairChart, {"net": Other(NET, NO_NET), "layer": LAYER, "kind": Choice("centred")}),
    Row(
        CHART.bring_forward,
        {"theta": ANY, "first": Integer(2, least=0, most=2), "second": Integer(0, least=0, most=1)},
    ),
    Row(CHART.distance, {"theta": THETA}),
    Row(CHART.coordinates, {"theta": Tensor(START[0])}),
    Row(CHART.weights, {"phi": Tensor(PHI, holes=False)}),
    Row(CHART.unit, {"phi": Tensor(PHI, holes=False)}),
    Row(CHART.closer, {"phi": Tensor(PHI, holes=False), "delta": Other(PHI[-1] / 2, DELTA)}),
    Row(POINT.small_loss, {"theta": THETA}),
    Row(POINT.shared, {"first": Tensor(POINT.column, batch=False)}),
    Row(PATH.only, {"chosen": Other(torch.tensor([True, False, True]), CHOSEN)}),
    Row(PATH.rises, {"tol": Number(1e-6, least=0)}),
    Row(MERGED.bounded, {"factor": Number(2.0, least=1)}),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("permutation_points", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
