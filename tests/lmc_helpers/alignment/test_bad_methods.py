"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import math

import torch
from bad_arguments import (
    Other,
    Permutation,
    Row,
    Tensor,
    methods_without_a_row,
    normal,
    refused,
    rows,
    runs,
)

from lmc_helpers.alignment.activation_matching import ActivationMatching
from lmc_helpers.alignment.midpoint import Best

P = torch.tensor([[2, 0, 1], [1, 0, 2]])
MATCHED = ActivationMatching({"a": P, "b": P}, {"a": normal(2, 3, 3), "b": normal(2, 3, 3)}, {})
BEST = Best({"a": P, "b": P}, normal(4, 2))
SHAPES = {"one pair": P[:1], "no pairs": P[:0], "a pair too many": P[[0, 1, 0]], "a table": P[None], "NumPy": P.numpy()}
SHAPES |= {"meta": P.to("meta")}
NUMBERS = ("repeated", "negative")  # what looking at shapes and types does not find


def orders(entries, **good):
    bad = {label: value for label, value in Permutation(P).bad() if entries or label not in NUMBERS}
    wrong = {label: good | {"a": value} for label, value in (bad | SHAPES).items()}
    wrong |= {"unknown group": good | {"c": P}, "a number": good | {1: P}}
    return Other(good, wrong | {"no dict": P, "a list": [P, P], "a string of them": "ab", "a flag": True})


TABLE = [
    Row(MATCHED.objective, {"permutations": orders(True, b=P)}),
    Row(
        BEST.seen,
        {"permutations": Other(orders(False, a=P, b=P).value, orders(False, a=P, b=P).wrong | {"one lacks": {"a": P}})}
        | {"losses": Tensor(BEST.losses[0], batch=False, holes=False)},
    ),
    Row(
        BEST.seen,
        {"losses": Other(BEST.losses[0], {"single": BEST.losses[0].float()})},
        lambda losses: BEST.seen({"a": P, "b": P}, losses),
    ),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("alignment", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)


def test_losses_may_be_nan_and_do_not_count():
    lost = BEST.seen({"a": P, "b": P}, torch.full((2,), math.nan, dtype=torch.float64))
    assert lost.permutations["a"].equal(P) and lost.losses.shape == (5, 2)
