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
    lambda: expect.cosines(torch.empty(0), "t"),
    lambda: expect.cosines(1 + 1e-9, "t"),
    lambda: expect.same({"a": X, "b": X}),
    lambda: expect.tensors([X.long()], "weights"),
    lambda: expect.layers([(X, X[:, 0]), (X.T, X[0])], "layers"),
    lambda: expect.layers(((X.expand(4, 2, 3).long(), X.expand(4, 2, 3)[..., 0].long()),), "layers"),
    lambda: expect.layers([], "layers"),
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


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ("W", "layers = 'W'; allowed: a list of pairs"),
        ([X, X], "layers holds no pairs; allowed"),
        ([(X, X[:, 0], X)], "layers holds no pairs"),
        ([(X, None)], r"layers\[0\]\[1\] = None; allowed: a tensor"),
        ([(X, X[:, 0]), (X[0], X[0])], r"layers\[1\] has shapes \(3,\), \(3,\); allowed: \(..., n, m\)"),
        ([(X, X[0, 0])], r"layers\[0\] has shapes \(2, 3\), \(\)"),
        ([(X[None], X[:, 0])], r"layers differ in their batch: \(1,\), \(\); allowed: one"),
        ([(X, X[:, 0]), (X[None], X[None, :, 0])], "differ in their batch"),
        ([(X, X[:, 0]), (X.float(), X[:, 0])], "differ in their dtype: torch.float64, torch.float32"),
    ],
)
def test_layers_that_do_not_fit_are_named(layers, message):
    with pytest.raises(ValueError, match=message):
        expect.layers(layers, "layers")


def test_a_tensor_without_numbers_is_refused_where_they_must_be_held():
    for finite in (True, False):
        with pytest.raises(ValueError, match="X lies on device meta; allowed: a device that holds numbers: cpu"):
            expect.tensor(X.to("meta"), "X", "n d", finite=finite)
