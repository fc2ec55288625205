"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import torch
from bad_arguments import (
    Flag,
    Integer,
    Many,
    Other,
    Row,
    methods_without_a_row,
    normal,
    refused,
    rows,
    runs,
)

from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.examples import Examples, Views, draw_views
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

IMAGES = torch.arange(5 * 4, dtype=torch.uint8).view(5, 1, 2, 2)
Y = torch.tensor([0, 1, 1, 0, 1])
SEEN = Examples(IMAGES, Y, (1, 2, 2), 2, normal=([0.5], [0.25]))
PLAIN = Examples(normal(5, 3), Y, (3,), 2, dtype=torch.float64)
VIEWS = draw_views([1, 2], 5, 0, ("flip", "crop"))
CHOSEN = torch.tensor([[0, 1, 4], [3, 2, 1]])  # (N, B)
PART = VIEWS.part(slice(0, 3))
FIVE = IMAGES.expand(2, 5, 1, 2, 2)
OF_IMAGES = {"a batch": FIVE[None], "one axis less": FIVE[0], "one network": FIVE[:1], "four": FIVE[:, :4]}
OF_IMAGES |= {"NumPy": FIVE.numpy(), "nothing": None, "a list": [FIVE], "meta": FIVE.to("meta"), "a string": "x"}
PLACES = {
    "an axis too few": CHOSEN[0],
    "an axis too many": CHOSEN[None],
    "floats": CHOSEN.double(),
    "a mask": CHOSEN > 1,
}
PLACES |= {"32 bits": CHOSEN.int(), "a list": CHOSEN.tolist(), "nothing": None, "NumPy": CHOSEN.numpy()}
PLACES |= {"meta": CHOSEN.to("meta"), "a string": "0"}
OF_VIEWS = {
    "of all": VIEWS,
    "of one network": Views(PART.flipped[:1], PART.moved[:1]),
    "a string": "flip",
    "a number": 1,
}
SEED = Integer(1, least=0, most=2**32 - 1)
AUGMENT = Other(("flip",), {"a string": "flip", "unknown": ("flop",), "one unknown": ("flip", "flop"), "nothing": None})
SLICE = Other(slice(0, 2), {"a number": 1, "nothing": None, "a list": [0, 1], "a mask": Y > 0, "a string": "0:2"})
DEVICE = Other(None, {"unknown": "nonsense", "empty": "", "a number": 7.5, "no numbers": "meta"})
COSINE = Descent(4, 1, schedule="cosine")
RUN = Run(MLP((64, 4, 10)), Descent(0, 9), DataSpec("digits", n=50, seed=1), (1, 2))


def first_batch(**settings):
    return next(SEEN.batches(**settings))


TABLE = [
    Row(
        SEEN.batches,
        {"seeds": Many([1, 2], SEED), "epoch": Integer(0, least=0), "batch": Integer(2, least=1)}
        | {"augment": AUGMENT, "first": Integer(0, least=0)},
        first_batch,
    ),
    Row(
        PLAIN.batches,
        {"augment": Other((), {"of no images": ("flip",)})},
        lambda augment: next(PLAIN.batches([1, 2], 0, 2, augment)),
    ),
    Row(SEEN.inputs, {"chosen": Other(CHOSEN, PLACES), "views": Other(PART, OF_VIEWS)}),
    Row(PLAIN.inputs, {"chosen": Other(CHOSEN, PLACES), "views": Other(None, OF_VIEWS | {"of no images": PART})}),
    Row(VIEWS.of, {"images": Other(FIVE, OF_IMAGES)}),
    Row(VIEWS.part, {"chosen": SLICE, "device": DEVICE}),
    *(Row(descent.rate_in, {"epoch": Integer(1, least=0, most=3)}) for descent in (COSINE, Descent(4, 1))),
    Row(RUN.result, {"show_progress": Flag(False)}),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("training", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row, tmp_path, monkeypatch):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path))
    runs(row)
    refused(row)
