"""Indices and permutations that pass; every row that is none of all m! permutations is refused."""

from itertools import permutations, product

import numpy as np
import pytest
import torch

from lmc_helpers import expect

P = torch.tensor([[1, 0, 2], [2, 1, 0]])
LIKE = {"a": P, "b": P[:, :1] * 0}
ALLOWED = [
    lambda: expect.indices([0, 1, 1], "which", 2),
    lambda: expect.indices(range(3), "which", 3),
    lambda: expect.indices(np.array([2, 0]), "which", 3),
    lambda: expect.indices(torch.tensor([0, 2], dtype=torch.int32), "which", 3),
    lambda: expect.permutations(LIKE, "permutations", LIKE, every=True),
    lambda: expect.permutations({"a": P.flip(1)}, "permutations", LIKE),
    lambda: expect.permutations({}, "permutations", LIKE),
    lambda: expect.permutations({"a": P * 0}, "permutations", LIKE, entries=False),
    lambda: expect.listed_permutations({"a": P}, "permutations", ["a"], P=2, count=6),
    lambda: expect.listed_permutations({"a": P[:, :1] * 0}, "permutations", ["a"], P=2, count=1),
    lambda: expect.some_of([3, 3], "widths", (3, 5)),
    lambda: expect.some_of(("a",), "names", {"a": 1}),
]


def test_what_is_allowed_passes_and_gives_nothing():
    assert [call() for call in ALLOWED] == [None] * len(ALLOWED)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_rows_that_pass_are_the_permutations(m):
    passed = []
    for row in product(range(-1, m + 1), repeat=m):
        try:
            expect.permutations({"a": torch.tensor([row])}, "p", {"a": torch.arange(m)[None]})
        except ValueError:
            continue
        passed.append(row)
    assert set(passed) == set(permutations(range(m)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 2], r"which holds 2; allowed: integers from 0 to 1"),
        ([-1], "which holds -1; allowed"),
        (torch.tensor([-1, 0]), "which holds -1; allowed"),
        ([], r"which = \[\]; allowed: one or more"),
        ("01", "which = '01'; allowed"),
        ([0.0], r"which = \[0.0\]; allowed"),
        ([True], r"which = \[True\]; allowed"),
        ([[0]], r"which = \[\[0\]\]; allowed"),
        (torch.tensor([0.0]), r"which has shape \(1,\) and dtype torch.float32"),
        (torch.tensor([True]), "dtype torch.bool"),
        (torch.tensor(0), r"which has shape \(\)"),
        (torch.tensor([0]).to("meta"), r"which has shape \(1,\)"),
        (0, "which = 0; allowed"),
        (None, "which = None; allowed"),
    ],
)
def test_indices_that_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        expect.indices(values, "which", 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (P, r"p = .*; allowed: tensors by their groups"),
        ({"c": P}, "a group of p = 'c'; allowed: 'a', 'b'"),
        ({"a": P.double()}, r"p\['a'\] has shape \(2, 3\) and dtype torch.float64"),
        ({"a": P[:1]}, r"p\['a'\] has shape \(1, 3\); allowed: \(2, 3\)"),
        ({"a": P}, "p lacks the group 'b'; allowed: permutations of all groups: a, b"),
    ],
)
def test_groups_that_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        expect.permutations(values, "p", LIKE, every=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], r"widths = \[\]; allowed: one or more of 3, 5"),
        ("35", "widths = '35'; allowed"),
        (3, "widths = 3; allowed"),
        ([3, 4], r"widths\[1\] = 4; allowed: 3, 5"),
        ([3.0], r"widths\[0\] = 3.0; allowed"),
    ],
)
def test_choices_that_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        expect.some_of(values, "widths", (3, 5))
