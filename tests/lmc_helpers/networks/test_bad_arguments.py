"""Bad arguments for every public function of the room: one sentence that says what is allowed, never a number."""

import numpy as np
import torch
from bad_arguments import (
    Array,
    Choice,
    Given,
    Integer,
    Labels,
    Named,
    Other,
    Row,
    Tensor,
    normal,
    refused,
    rows,
    runs,
    without_a_row,
)

from lmc_helpers.networks import layers, permutations, segments
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import Axis, Symmetry

NO_OBJECT = {"a string": "nets", "nothing": None, "a number": 1}
MODEL = MLP((3, 4, 2))
STACK = MODEL.initial([1, 2], torch.float64)


NAN = Stack(MODEL, STACK.params | {"1.weight": torch.full_like(STACK.params["1.weight"], torch.nan)})
STACKS = Other(STACK, NO_OBJECT | {"nan": NAN, "of another kind": {"0.weight": STACK.params["0.weight"]}})
OTHER_STACKS = Other(STACK, STACKS.wrong | {"one": STACK.ordinary([0]), "wide": MLP((3, 5, 2)).initial([1, 2])})
X, Y = Tensor(normal(5, 3)), Labels(torch.tensor([0, 1, 1, 0, 1]), 2)
PLACES, MIDDLE = Array([0.0, 0.5, 1.0], free=(-1,)), Array([0.0, 0.5, 1.0])
HALF = Other(
    (0, 0.5, 1), {"no half": (0, 0.4, 1), "above": (0, 0.5, 1.5), "empty": (), "nothing": None, "a string": "0"}
)
SYMMETRY = Other(
    Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 3}),
    NO_OBJECT
    | {
        "another size": Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 4}),
        "another parameter": Symmetry({"hidden": (Axis("U", 0),)}, {"hidden": 3}),
        "another axis": Symmetry({"hidden": (Axis("W", 2),)}, {"hidden": 3}),
    },
)
ANY_SYMMETRY = Other(SYMMETRY.value, NO_OBJECT)
PARAMS = {"W": normal(2, 3, 1), "V": normal(2, 2, 3)}
ORDER = torch.tensor([[2, 0, 1], [1, 0, 2]])
ORDERS = Other(
    {"hidden": ORDER},
    {"unknown group": {"other": ORDER}, "floats": {"hidden": ORDER.double()}, "a list": {"hidden": ORDER.tolist()}}
    | {
        "repeated": {"hidden": ORDER.clamp(max=1)},
        "one network": {"hidden": ORDER[:1]},
        "negative": {"hidden": ORDER - 1},
    }
    | {"too long": {"hidden": torch.arange(4).expand(2, 4)}, "no dict": ORDER, "nothing": None, "a string": "p"}
    | {"of 32 bits": {"hidden": ORDER.int()}},
)
DICT = Other({"hidden": ORDER}, {"no dict": ORDER, "nothing": None, "a string": "p"})
GENERATOR = Other(torch.Generator(), {"a seed": 1, "nothing": None, "NumPy's": np.random.default_rng(1)})
SEED = Integer(1, least=0, most=2**32 - 1)
SHAPE = {"zero": (2, 0), "negative": (2, -1), "a fraction": (2, 1.5), "a string": "ab", "nothing": None}

FORWARD = "a layer of a forward pass; models, stacks and inputs are checked before"
OTHERS = {
    "layers": {
        **dict.fromkeys(("linear", "side_by_side", "convolution", "as_samples", "pooled_head"), FORWARD),
        **dict.fromkeys(("norm_channels", "norm_vectors", "norm_units", "attention", "attention_pattern"), FORWARD),
        **dict.fromkeys(("check_image", "check_choice", "check_counts"), "is a check itself"),
    },
    "model": {"effective": FORWARD},
}

TABLE = [
    Row(
        layers.initial,
        {"shape": Other((2, 3), SHAPE), "fan_in": Integer(3, least=1), "law": Choice("he"), "generator": GENERATOR},
    ),
    Row(
        layers.initial,
        {"law": Choice("torch")},
        lambda law: layers.initial((3,), 3, law, torch.Generator()),
    ),
    Row(
        layers.draw_by_law,
        {"shapes": Other({"0.weight": (2, 3)}, {"no dict": [(2, 3)], "a zero": {"0.weight": (0, 3)}, "nothing": None})}
        | {"law": Choice("he"), "generator": GENERATOR},
    ),
    Row(segments.barriers, {"lambdas": HALF}, lambda lambdas: segments.barriers(normal(2, 3), lambdas)),
    Row(segments.barriers, {"loss": Tensor(normal(2, 3), free=(-2,), few=False), "lambdas": MIDDLE}),
    Row(
        permutations.permute,
        {"params": Named(PARAMS, {"numbers": False, "empty": False}, free=((-1,), (-2,)), length=False)}
        | {"symmetry": SYMMETRY, "permutations": ORDERS},
    ),
    Row(permutations.inverse, {"permutations": DICT}),
    Row(permutations.compose, {"first": DICT, "then": DICT}),
    Row(permutations.identity, {"symmetry": ANY_SYMMETRY, "N": Integer(2, least=1)}),
    Row(
        permutations.random_permutations,
        {"symmetry": ANY_SYMMETRY, "N": Integer(2, least=1), "generator": GENERATOR},
    ),
    Row(
        permutations.verify,
        {"model": Given(MODEL), "seed": SEED, "inputs": Integer(2, least=1)},
    ),
    Row(segments.scores, {"stack": STACKS, "x": X, "y": Y}),
    Row(segments.along_segments, {"a": STACKS, "b": OTHER_STACKS, "x": X, "y": Y, "lambdas": PLACES}),
]


def test_every_public_function_has_a_row():
    assert not without_a_row("networks", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
