"""The residual network: losses entry by entry, determinants by permutations."""

import math

import numpy as np
import pytest
import torch
from oracles.linear import EPS, FLAT, I2, at, data, leibniz, normal, residual_by_hand

from lmc_helpers.linear_nets.residual import (
    require_residual_minimum,
    residual_components,
    residual_loss,
    residual_map,
    residual_minimum,
)


def signs(W1, W2, eps):
    return np.sign(leibniz(W2.numpy() @ W1.numpy() + eps * np.eye(len(W1)))), np.sign(leibniz(W1.numpy()))


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("eps", EPS)
def test_the_loss_and_the_minimum(n, eps):
    X, Y = data(n, seed=n)
    W1, W2, W3 = normal(3, 2, 3, n, n, seed=n)
    batch, best = residual_loss([W1, W2, W3], X, Y, eps), residual_minimum(W1, W2, X, Y, eps)
    assert batch.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert batch[index].item() == pytest.approx(residual_by_hand(at([W1, W2, W3], *index), X, Y, eps), rel=1e-11)
        assert residual_by_hand(at(best, *index), X, Y, eps) < 1e-18 * Y.square().sum()
        M = W2[index].numpy() @ W1[index].numpy() + eps * np.eye(n)
        np.testing.assert_allclose(residual_map(W1, W2, eps)[index], M, atol=1e-14)
        np.testing.assert_allclose(best[2][index].numpy() @ M @ X.numpy(), Y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("eps", EPS)
def test_the_component_is_one_sign_or_two(n, eps):
    some = normal(2, 20, n, n, seed=3)
    for W1, W2, found in zip(*some, residual_components(*some, eps).tolist(), strict=True):
        of_M, of_W1 = signs(W1, W2, eps)
        assert found == [of_M, of_W1 if eps == 0 else 0]


@pytest.mark.parametrize("eps", EPS)
def test_one_dimension_has_three_components_with_and_four_without_the_skip_connection(eps):
    w = torch.linspace(-4, 4, 80, dtype=torch.float64)
    W1, W2 = (W.reshape(-1, 1, 1) for W in torch.meshgrid(w, w, indexing="ij"))
    found = {tuple(c) for c in residual_components(W1, W2, eps).tolist()}
    s = int(np.sign(eps))
    assert found == ({(s, 0), (-s, 1), (-s, -1)} if eps else {(1, 1), (1, -1), (-1, 1), (-1, -1)})


NET = [I2, I2, I2 / 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: residual_loss([I2, I2], I2, I2, 1.0), "2 matrices W_i; allowed: W_1, W_2, W_3"),
        (lambda: residual_loss([I2, I2, I2[:1]], I2, I2, 1.0), r"W_3 has shape \(1, 2\); allowed: \(2, 2\)"),
        (lambda: residual_loss([I2, I2, I2], I2, I2.float(), 1.0), "Y has dtype torch.float32"),
        (lambda: residual_loss(NET, I2, I2, math.inf), "eps = inf; allowed: a finite number"),
        (lambda: residual_minimum(I2, -I2, I2, I2, 1.0), r"W_2 W_1 \+ eps I has the singular value 0.0e\+00"),
        (lambda: residual_minimum(I2, I2, FLAT, I2, 1.0), "X is singular"),
        (lambda: residual_minimum(I2, I2, I2, FLAT, 1.0), "Y is singular"),
        (lambda: residual_components(I2, I2 * math.nan, 1.0), "W_2 holds nan"),
        (lambda: residual_components(FLAT, I2, 0.0), r"W_2 W_1 \+ eps I has the singular value"),
        (lambda: residual_components(I2, I2, math.nan), "eps = nan"),
        (lambda: require_residual_minimum("a", [I2, I2, I2], I2, I2, 1.0), "a has loss 1.0e\\+00 ‖Y‖²; allowed"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
