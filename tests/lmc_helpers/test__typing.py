"""Annotations are enforced: what passes a check, and what a check says."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, Float64, Int64, Real
from torch import Tensor

from lmc_helpers._typing import Positive, Probability, Tensors, checked, many, require_finite


@checked
def rows(W: Float[Tensor, "*batch m d"], p: Int64[Tensor, "*batch m"], n: Positive = 1) -> Float[Tensor, "*batch m d"]:
    return W if n == 1 else W[..., :1]


@checked
def last(weights: many(Float64[Tensor, "h h"], "matrices"), X: Float64[Tensor, "h h"]):
    return weights[-1]


@checked
def chance(p: Probability | Float[Tensor, "..."] = 0.5, *others: Int64[Tensor, " m"], named: Tensors | None = None):
    return p


@checked
@dataclass(frozen=True)
class Pair:
    of: tuple[Float64[Tensor, "h n"], Float64[Tensor, "m h"]]
    near: Real[Tensor, "..."] | None = None
    n: Positive = 1


W, P, EYE = torch.ones(2, 3, 4), torch.zeros(2, 3, dtype=torch.long), torch.eye(2, dtype=torch.float64)


def test_what_fits_passes_and_the_function_without_checks_is_there():
    assert rows(W, P) is W and rows(W[0], P[0]).shape == (3, 4) and rows(W[:0], P[:0]).numel() == 0
    assert rows.__wrapped__("W", "p") == "W" and rows(W, P, np.int64(1)) is W
    assert last([EYE, EYE], EYE) is EYE and chance(1) == 1 and chance(W, P[0], P[1], named={"a": EYE}) is W
    assert Pair((EYE, EYE), W).n == 1 and Pair((EYE[:, :1], EYE[:1]), near=P).near is P
    with pytest.raises(BeartypeCallHintViolation, match="return"):
        rows(W, P, n=2)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: rows(W, P[:, :2]), TypeError, "p has shape (2, 2) and W (2, 3, 4); allowed: p (..., m) and W "),
        (lambda: rows(W, P[0]), TypeError, "p has shape (3,) and W (2, 3, 4); allowed: p (..., m) and W (..., m, d)"),
        (lambda: rows(W, P.int()), TypeError, "p has shape (2, 3) and dtype torch.int32; allowed: a torch.Tensor (..."),
        (lambda: rows(W[:, :0], P[:, :0]), ValueError, "W has shape (2, 0, 4); allowed: (..., m, d), no axis empty"),
        (lambda: rows(W, P, 0), ValueError, "n = 0; allowed: n >= 1"),
        (lambda: rows(W, P, True), TypeError, "n = True; allowed: an integer, n >= 1"),
        (lambda: rows(W), TypeError, "rows() missing 1 required positional argument: 'p'"),
        (lambda: last([EYE, EYE.float()], EYE), TypeError, "weights[1] has shape (2, 2) and dtype torch.float32"),
        (lambda: last([EYE[:1, :1], EYE], EYE), TypeError, "weights[1] has shape (2, 2) and weights[0] (1, 1)"),
        (lambda: last([EYE, EYE], EYE[:1, :1]), TypeError, "X has shape (1, 1)"),
        (lambda: last(EYE, EYE), TypeError, "weights = a tensor of shape (2, 2), torch.float64; allowed: matrices"),
        (lambda: chance(2), ValueError, "p = 2; allowed: 0 <= p <= 1 or a torch.Tensor (...) of floating point"),
        (lambda: chance(0.5, P[0], P[0, :2]), TypeError, "others has shape (2,)"),
        (lambda: chance(named={"a": 1}), TypeError, "named = {'a': 1}; allowed: tensors by their names or None"),
        (lambda: Pair((EYE, EYE), n=0), ValueError, "n = 0; allowed: n >= 1"),
        (lambda: Pair((EYE, EYE[:, :1])), TypeError, "of = a tuple of 2, shapes (2, 2), (2, 1); allowed: a tuple: "),
        (lambda: Pair((EYE, EYE), EYE + 1j), TypeError, "near = a tensor of shape (2, 2), torch.complex128"),
        (lambda: require_finite(x=torch.tensor(torch.inf)), ValueError, "x = inf; allowed: finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(sentence)
