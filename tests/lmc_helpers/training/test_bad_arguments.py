"""Bad arguments for every public function of the room: one sentence that says what is allowed, never a number."""

import math

import pytest
import torch
from bad_arguments import (
    Choice,
    Flag,
    Integer,
    Labels,
    Many,
    Number,
    Other,
    Row,
    Tensor,
    normal,
    refused,
    rows,
    runs,
    without_a_row,
)

from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training import checkpoints, description, examples, fit, prices, run_files
from lmc_helpers.training.recipes import Descent

NO_OBJECT = {"a string": "x", "nothing": None, "a number": 1}
SEEDS = Many([1, 2], Integer(1, least=0, most=2**32 - 1))
MODEL = MLP((3, 4, 2))
STACK = MODEL.initial([1, 2])
X, Y = Tensor(normal(5, 3), kinds=False), Labels(torch.tensor([0, 1, 1, 0, 1]), 2)
KEEP = Other([1], {"too late": [9], "negative": [-1], "a string": "1", "a number": 1, "nothing": None})
CHECKPOINT = Other(None, {"a number": 0, "a list": ["a"]})
DATA = {"nan": math.nan, "a set": {1}, "a tensor": torch.ones(1), "inside": {"a": [math.inf]}, "keys": {1: 2}}
RUN = Other({"seed": 1}, {"a string": "run", "nothing": None, "a list": [1]})
AUGMENT = Other(("flip",), {"a string": "flip", "unknown": ("flop",), "one unknown": ("flip", "flop"), "nothing": None})
NOWHERE = Other("missing.npz", {"a number": 0, "nothing": None})

BELOW = "writes or reads a file; see test_what_is_written_is_checked"
OTHERS = {
    "cached": {"provenance": "says where a result comes from, computes no number"},
    "checkpoints": dict.fromkeys(("save_checkpoint", "load_checkpoint"), BELOW),
    "progress": {"progress": "shows a bar, computes no number"},
    "run_files": {"folder": "takes nothing", "unreadable": "is an error itself", "alone": "a lock"}
    | dict.fromkeys(("write", "read"), BELOW),
}

TABLE = [
    Row(
        checkpoints.digest,
        {"tensors": Other([normal(2)], {"words": ["a"], "no device": [torch.ones(1, device="meta")]})},
        lambda tensors: checkpoints.digest(*tensors),
    ),
    Row(description.described, {"value": Other({"a": 1}, DATA)}),
    Row(description.canonical, {"value": Other({"a": 1}, DATA)}),
    Row(description.digest_of, {"value": Other({"a": 1}, DATA)}),
    Row(examples.epoch_order, {"seeds": SEEDS, "n": Integer(5, least=1), "epoch": Integer(0, least=0)}),
    Row(
        examples.draw_views,
        {"seeds": SEEDS, "n": Integer(5, least=1), "epoch": Integer(0, least=0), "augment": AUGMENT},
    ),
    Row(
        fit.fit,
        {"stack": Other(STACK, NO_OBJECT), "descent": Other(Descent(1, 5), NO_OBJECT)}
        | {"x": X, "y": Y, "seeds": SEEDS, "keep": KEEP, "checkpoint": CHECKPOINT, "every_s": Number(1.0, least=0)}
        | {"normal": Other(None, {"for no images": ([0.5], [0.5])}), "precision": Choice("float32")}
        | {"show_progress": Flag(False)},
    ),
    Row(
        prices.price,
        {"model": Other(MODEL, NO_OBJECT), "descent": Other(Descent(1, 5), NO_OBJECT)}
        | {name: Integer(2, least=1) for name in ("examples", "networks")}
        | {name: Integer(2, least=0) for name in ("kept", "masked")},
    ),
]


def test_every_public_function_has_a_row():
    assert not without_a_row("training", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)


@pytest.mark.parametrize("bad", [{"path": 0}, {"run": None}, {"state": [torch.ones(1)]}, {"state": {"a": "W"}}])
def test_what_is_written_is_checked(tmp_path, bad):
    valid = {"path": tmp_path / "a.npz", "run": {"seed": 1}, "state": {"w": torch.ones(1)}}
    checkpoints.save_checkpoint(**valid)
    with pytest.raises(ValueError, match="allowed"):
        checkpoints.save_checkpoint(**valid | bad)
    if "state" not in bad:
        for read in (checkpoints.load_checkpoint, run_files.read):
            with pytest.raises(ValueError, match=r"is \w+; allowed"):
                read(**{"path": valid["path"], "run": valid["run"]} | bad)
    for provenance in (None, "x"):
        with pytest.raises(ValueError, match="allowed"):
            run_files.write(tmp_path / "b.npz", {}, provenance, {})
