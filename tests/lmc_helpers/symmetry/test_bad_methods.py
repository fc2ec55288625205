"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import math

import torch
from bad_arguments import (
    Function,
    Named,
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

from lmc_helpers.symmetry.group_actions import GeneralLinear, PseudoInverse, Rescaling
from lmc_helpers.symmetry.homogeneous_net import HomogeneousNet, random_net

M = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
FACTORS = torch.tensor([2.0, 0.5], dtype=torch.float64)
W = Named((normal(2, 3), normal(1, 2, seed=2)), free=((-1,), (-2,)))  # W_1 (h, n) and W_2 (m, h)
INPUTS = normal(3, 4)  # (n, k)
MAP = PseudoInverse(torch.tanh, INPUTS)
GROUP = Tensor(M + 2 * torch.eye(2).double())
TIMES = {"nan": math.nan, "inf": math.inf, "a string": "1", "nothing": None, "complex": 1j}
TIMES |= {"a table": torch.ones(2, 2), "a grid with nan": [0.0, math.nan], "meta": torch.ones(2, device="meta")}
T = Other(0.5, TIMES)

NET = random_net(1, "methods", 2.0)  # h = 5, o = 2, N = 4, d = 3
LAST, BEFORE = NET.layers
MIXED = {
    "last": Tensor(LAST, holes=False),
    "before": Tensor(BEFORE, holes=False),
}
PLACES = {"below": -0.1, "above": [0, 1.1], "nan": [0, math.nan], "none": [], "a table": [[0.5]], "a string": "0.5"}
ENDS = Named(NET.layers)
NET_OF = {"last": Tensor(LAST, batch=False), "before": Tensor(BEFORE, batch=False)}
SCALE = {"zero": 0.0, "negative": -1.0, "nan": math.nan, "a string": "1", "nothing": None, "too many": torch.ones(4)}

OTHERS: dict = {}

TABLE = [
    *(Row(action.exp, {"M": Tensor(M), "t": T}) for action in (GeneralLinear(), MAP)),
    Row(Rescaling().exp, {"M": Tensor(FACTORS, free=(-1,)), "t": T}),
    *(Row(action.act, {"g": GROUP, "w": W}) for action in (GeneralLinear(), MAP)),
    Row(Rescaling().act, {"g": Tensor(FACTORS), "w": W}),
    Row(GeneralLinear().generator, {"M": Tensor(M), "w": W}),
    Row(Rescaling().generator, {"M": Tensor(FACTORS), "w": W}),
    Row(Rescaling, {"degree": Other(2.0, SCALE | {"a bool": True, "inf": math.inf})}),
    Row(PseudoInverse, {"activation": Function(torch.tanh), "X": Tensor(INPUTS, batch=False, free=(-1, -2))}),
    Row(MAP.hidden, {"W_1": Tensor(normal(2, 3), free=(-2,))}),
    Row(MAP.output, {"w": Named(W.value, free=((), (-2,)))}),
    Row(
        HomogeneousNet,
        NET_OF
        | {"F": Tensor(NET.F, batch=False), "Y": Tensor(NET.Y, batch=False)}
        | {"k": Number(2.0, least=0), "negative": Number(0.0)},
    ),
    Row(NET.sigma, {"z": Tensor(LAST, free=(-1, -2), few=False, empty=False, numbers=False)}),
    Row(NET.output, MIXED),
    Row(NET.loss, MIXED),
    *(
        Row(method, {name: Other(getattr(NET, name), {"single": getattr(NET, name).float()})}, call)
        for method in (NET.output, NET.loss)
        for name, call in (
            ("last", lambda last, method=method: method(last, BEFORE)),
            ("before", lambda before, method=method: method(LAST, before)),
        )
    ),
    Row(NET.rescaled, {"m": Other(2.0, SCALE)}),
    Row(NET.line, {"lambdas": Other((0.0, 0.5), PLACES | {"nothing": None}), "a": ENDS, "b": ENDS}),
    Row(NET.with_norm, {"norm": Other(3.0, SCALE | {"a bool": True, "inf": math.inf})}),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("symmetry", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
