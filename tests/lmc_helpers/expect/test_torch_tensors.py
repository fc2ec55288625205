"""Tensors that pass, unchanged; one number that is not finite is found."""

import math

import pytest
import torch

from lmc_helpers import expect

X = torch.ones(2, 3, dtype=torch.float64)
ALLOWED = [
    lambda: expect.tensor(X.float(), "X", "n d"),
    lambda: expect.tensor(X.expand(4, 2, 3), "X", "... n d"),
    lambda: expect.tensor(X.clone().requires_grad_(), "X"),
    lambda: expect.tensor(torch.tensor(1.0), "x"),
    lambda: expect.tensor(torch.full((2, 2), 1e300, dtype=torch.float64), "X", "h h"),
    lambda: expect.tensor(X.to("meta"), "X", "n d", held=False),
    lambda: expect.same({"a": X, "b": X}),
    lambda: expect.tensors([X.long()], "weights"),
]


def test_what_is_allowed_passes_and_gives_nothing():
    assert [call() for call in ALLOWED] == [None] * len(ALLOWED)


def test_nothing_is_changed():
    x = X.clone()
    expect.tensor(x, "x", "n d")
    assert x.equal(X)


@pytest.mark.parametrize("hole", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_one_number_that_is_not_finite_is_found_and_named(hole, dtype):
    for at in (0, 500, 999):
        x = torch.linspace(-1, 1, 1000).to(dtype)
        x[at] = hole
        with pytest.raises(ValueError, match=f"x holds {hole}; allowed: finite numbers"):
            expect.tensor(x.reshape(10, 100), "x", "n d")


def test_a_tensor_without_numbers_is_refused_where_they_must_be_held():
    for finite in (True, False):
        with pytest.raises(ValueError, match="X lies on device meta; allowed: a device that holds numbers: cpu"):
            expect.tensor(X.to("meta"), "X", "n d", finite=finite)
