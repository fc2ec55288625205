"""Descriptions: one text for one thing, whatever the order or the process."""

import hashlib
import json
from dataclasses import dataclass, field, replace

import pytest
import torch

from lmc_helpers.training.description import _digest_of, canonical, described


@dataclass(frozen=True)
class Inner:
    x: float = 0.1


@dataclass(frozen=True)
class Other:
    x: float = 0.1


@dataclass(frozen=True)
class Outer:
    inner: object = Inner()
    words: tuple = ("a", "b")
    table: object = None
    flag: bool = True


def test_it_is_json_with_the_names_of_classes_or_their_old_names_in_any_order():
    assert json.loads(canonical(Outer(table={"b": Inner(1e-17), "a": 2}))) == {
        "class": "Outer",
        "inner": {"class": "Inner", "x": 0.1},
        "words": ["a", "b"],
        "table": {"a": 2, "b": {"class": "Inner", "x": 1e-17}},
        "flag": True,
    }

    @dataclass(frozen=True)
    class Recipe:
        described_as = "Descent"
        steps: int = field(metadata={"described_as": "epochs"})

    assert described(Recipe(3)) == {"class": "Descent", "epochs": 3}
    assert canonical({"a": 1, "b": {"c": 2, "d": 3}}) == canonical({"b": {"d": 3, "c": 2}, "a": 1})


def test_every_difference_is_seen():
    base = Outer()
    changes = [
        {"inner": Other()},  # the class only
        {"inner": Inner(0.1 + 2**-56)},  # the last bit
        {"words": ("b", "a")},
        {"words": ("ab",)},
        {"table": {}},
        {"flag": 1},
        {"flag": False},
    ]
    texts = [canonical(base), *(canonical(replace(base, **change)) for change in changes)]
    assert len(set(texts)) == len(texts)
    assert len({_digest_of(json.loads(text)) for text in texts}) == len(texts)
    assert canonical(1) != canonical(1.0) != canonical("1.0")


def test_the_digest_is_that_of_any_process():
    expected = hashlib.sha256(rb'{"a":{"\u00fc":null},"b":[1,0.1]}').hexdigest()[:16]
    assert _digest_of({"b": (1, 0.1), "a": {"ü": None}}) == _digest_of({"a": {"ü": None}, "b": (1, 0.1)}) == expected


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), torch.zeros(1), {1: 2}, {"a": {3}}, print, Inner, b"x", (1, [torch.float32])],
    ids=str,
)
def test_what_is_no_data_is_refused(value):
    with pytest.raises(ValueError, match="allowed: dataclasses"):
        described(value)
