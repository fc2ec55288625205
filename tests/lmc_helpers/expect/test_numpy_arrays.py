"""What NumPy turns into arrays passes, unchanged; what does not is tested in test_bad_arguments.py."""

import math

import torch

from lmc_helpers import expect

X = torch.ones(2, 3, dtype=torch.float64)
ALLOWED = [
    lambda: expect.array([True, False], "x", "n"),
    lambda: expect.array(X.clone().requires_grad_(), "x", "G ..."),
    lambda: expect.array(range(3), "x", "n"),
    lambda: expect.arrays({"a": [1.0]}.values(), "x", "n"),
    lambda: expect.arrays(X, "x", "n"),
    lambda: expect.reals(3, "lambdas"),
]


def test_what_is_allowed_passes_and_gives_nothing():
    assert [call() for call in ALLOWED] == [None] * len(ALLOWED)


def test_an_iterator_is_not_consumed():
    samples = iter([[1.0], [math.nan]])
    expect.arrays(samples, "samples", "n")
    assert len(list(samples)) == 2


def test_nothing_is_changed():
    listed = [[1.0, 2.0]]
    expect.array(listed, "x", "k n")
    assert listed == [[1.0, 2.0]]
