"""Bad arguments for every public function of the room: one sentence that says what is allowed, never a number."""

import math

import numpy as np
import torch
from bad_arguments import (
    Choice,
    Function,
    Integer,
    Labels,
    Named,
    Number,
    Other,
    Permutation,
    Row,
    Tensor,
    normal,
    refused,
    rows,
    runs,
    without_a_row,
)

from lmc_helpers.alignment import (
    activation_matching,
    assignment,
    methods,
    midpoint,
    repair,
    sinkhorn,
    straight_through,
    weight_matching,
)
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.permutations import Axis, Symmetry
from lmc_helpers.networks.vit import ViT

NO_OBJECT = {"a string": "nets", "nothing": None, "a number": 1}
MODEL = MLP((3, 4, 2))
STACK = MODEL.initial([1, 2], torch.float64)
STACKS = Other(STACK, NO_OBJECT)
OTHERS_STACK = Other(STACK, NO_OBJECT | {"one": STACK.ordinary([0]), "wide": MLP((3, 5, 2)).initial([1, 2])})
X = Tensor(normal(5, 3), free=(-2,), few=False)
Y = torch.tensor([0, 1, 1, 0, 1])
SYMMETRY = Other(
    Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 3}),
    NO_OBJECT
    | {
        "another size": Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 4}),
        "another parameter": Symmetry({"hidden": (Axis("U", 0),)}, {"hidden": 3}),
        "another axis": Symmetry({"hidden": (Axis("W", 2),)}, {"hidden": 3}),
    },
)
PARAMS = {"W": normal(2, 3, 1), "V": normal(2, 2, 3)}
ENDS = Named(PARAMS, {"kinds": False}, length=False)
LOOSE = Named(PARAMS, {"numbers": False, "empty": False, "few": False}, free=((-1, -2, -3),) * 2, length=False)
FITTING = Named(PARAMS, {"numbers": False, "empty": False}, free=((-1,), (-2,)), length=False)
ORDER = torch.tensor([[2, 0, 1], [1, 0, 2]])
ORDERS = Other(
    {"hidden": ORDER},
    {"unknown group": {"other": ORDER}, "floats": {"hidden": ORDER.double()}, "a list": {"hidden": ORDER.tolist()}}
    | {"repeated": {"hidden": ORDER.clamp(max=1)}, "one network": {"hidden": ORDER[:1]}}
    | {"too long": {"hidden": torch.arange(4).expand(2, 4)}, "no dict": ORDER, "a string": "p"},
)
MATRIX = torch.full((2, 3, 3), 1 / 3, dtype=torch.float64)
MATRICES = Other(
    {"hidden": MATRIX},
    {"unknown group": {"other": MATRIX}, "too large": {"hidden": torch.ones(2, 4, 4).double()}, "no dict": MATRIX}
    | {"no square": {"hidden": MATRIX[:, :2]}, "a list": {"hidden": MATRIX.tolist()}, "nothing": None},
)
SEED = Integer(1, least=0, most=2**32 - 1)
GENERATOR = Other(torch.Generator(), {"a seed": 1, "nothing": None, "NumPy's": np.random.default_rng(1)})
OBJECTIVE = Choice("correlation")
RATE, TAU = Number(0.1, least=0), Number(1.0, least=0)
Z = normal(2, 5, 3)
MOMENTS = activation_matching.moments(Z, Z)
NARROW = activation_matching.moments(Z[..., :1], Z[..., :1])
MASK = torch.eye(2, dtype=torch.bool)
MASKS = Other(
    MASK,
    {"floats": MASK.double(), "integers": MASK.long(), "longer": MASK[[0, 1, 1]], "nothing": None, "a list": [[True]]},
)
HEAD = {name: Tensor(normal(2, 2, seed=k), batch=False) for k, name in enumerate("UV")}
HEAD |= {name: MASKS for name in ("fixed_U", "fixed_V")}
VIT = ViT(patch=4, dimension=8, depth=1, heads=2, input_shape=(1, 8, 8), std=0.5)
F = normal(1, 4, 3)
FIXED = {
    "another architecture": {"0.weight": (F.expand(2, 4, 3), F.expand(2, 4, 3))},
    "other shapes": {"0.weight": (F, F[:, :2])},
    "too few units": {"0.weight": (F[:, :3], F[:, :3])},
    "nan": {"0.weight": (F, F * math.nan)},
    "no dict": F,
    "nothing": None,
}


def squares(params):
    return sum(value.square().flatten(1).sum(dim=1) for value in params.values())


SEARCH = {"a": ENDS, "b": ENDS, "symmetry": SYMMETRY, "loss": Function(squares)}
OTHERS = {}

TABLE = [
    Row(activation_matching.moments, {"za": Tensor(Z, batch=False), "zb": Tensor(Z, batch=False)}),
    Row(
        activation_matching.merge,
        {name: Other(MOMENTS, NO_OBJECT | {"other units": NARROW}) for name in ("first", "second")},
    ),
    Row(activation_matching.recorded_moments, {"a": STACKS, "b": OTHERS_STACK, "x": X, "batch": Integer(2, least=1)}),
    Row(
        activation_matching.match_moments,
        {"found": Other({"0": MOMENTS}, NO_OBJECT | {"no group": {}}), "objective": OBJECTIVE},
    ),
    Row(
        activation_matching.activation_matching,
        {"a": STACKS, "b": OTHERS_STACK, "x": X, "objective": OBJECTIVE, "batch": Integer(2, least=1)},
    ),
    Row(assignment.assign, {"gains": Tensor(normal(3, 3), kinds=False)}),
    Row(
        assignment.matched_sum,
        {"gains": Tensor(normal(3, 3), numbers=False), "p": Permutation(torch.tensor([2, 0, 1]), repeats=True)},
    ),
    Row(assignment.check_ends, {"a": ENDS, "b": ENDS, "symmetry": SYMMETRY}),
    Row(
        methods.methods,
        {"restarts": Integer(2, least=1), "steps": Integer(2, least=0), "batch": Integer(2, least=1)},
    ),
    Row(
        midpoint.data_loss,
        {"model": Other(MODEL, NO_OBJECT), "x": Tensor(normal(5, 3), few=False, free=(-1,)), "y": Labels(Y, 2)},
    ),
    Row(
        midpoint.data_loss,
        {"y": Other(Y, {"ignored by torch": torch.tensor([0, 1, 1, 0, -100])})},
        lambda y: midpoint.data_loss(MODEL, X.value, y),
    ),
    Row(midpoint.interpolate, {"a": LOOSE, "b": LOOSE, "lam": Number(0.5, least=0, most=1)}),
    Row(
        midpoint.midpoint_losses,
        {"a": LOOSE, "b": FITTING, "symmetry": SYMMETRY, "permutations": ORDERS, "loss": Function(squares)},
    ),
    Row(repair.affine_layers, {"model": Other(MODEL, NO_OBJECT | {"a transformer": VIT})}),
    Row(
        repair.layer_statistics,
        {"model": Other(MODEL, NO_OBJECT), "params": Other(STACK.params, NO_OBJECT | {"empty": {}})}
        | {"layer": Other(repair.affine_layers(MODEL)[0], NO_OBJECT), "x": X, "batch": Integer(2, least=1)},
    ),
    Row(
        repair.repair,
        {"a": STACKS, "b": OTHERS_STACK, "x": X, "lam": Number(0.5, least=0, most=1), "batch": Integer(2, least=1)},
    ),
    Row(
        sinkhorn.log_sinkhorn, {"X": Tensor(normal(3, 3), numbers=False), "tau": TAU, "iterations": Integer(2, least=1)}
    ),
    Row(sinkhorn.mix, {"params": FITTING, "symmetry": SYMMETRY, "matrices": MATRICES}),
    Row(
        sinkhorn.sinkhorn_rebasin,
        SEARCH
        | {"cost": Choice("random"), "steps": Integer(1, least=0), "rate": RATE, "tau": TAU}
        | {"iterations": Integer(2, least=1), "seed": SEED, "start": ORDERS, "judge_every": Integer(1, least=1)},
    ),
    Row(
        straight_through.straight_through,
        SEARCH
        | {"steps": Integer(1, least=0), "rate": RATE, "seed": SEED, "start": ORDERS}
        | {"step_loss": Other(None, {"a number": 1, "a string": "loss"})},
    ),
    Row(weight_matching.agreement, {"a": LOOSE, "b": LOOSE}),
    Row(
        weight_matching.weight_matching,
        {"a": ENDS, "b": ENDS, "symmetry": SYMMETRY, "restarts": Integer(2, least=1), "seed": SEED, "start": ORDERS}
        | {"sweeps": Integer(2, least=1)},
    ),
]


def test_every_public_function_has_a_row():
    assert not without_a_row("alignment", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
