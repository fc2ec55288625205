"""The group GL_h: inverses, singular values and signs by NumPy."""

import math

import numpy as np
import pytest
import torch
from oracles.linear import ALMOST, FLAT, FLIP, I2, normal

from lmc_helpers.general_linear import (
    determinant_sign,
    times_inverse,
    random_invertible,
    require_finite,
    require_invertible,
    require_square,
)
from lmc_helpers.seeds import torch_generator


def test_signs_and_quotients():
    A = torch.stack([1e-150 * I2, 1e150 * FLIP, ALMOST @ FLIP])
    assert determinant_sign(A).tolist()[:2] == [1, -1]
    a, b = normal(2, 3, 4, 4, seed=1) + 4 * torch.eye(4, dtype=torch.float64)
    for k in range(3):
        np.testing.assert_allclose(times_inverse(b, a)[k].numpy(), b[k].numpy() @ np.linalg.inv(a[k].numpy()), rtol=1e-10)
        np.testing.assert_allclose(times_inverse(b[0], a)[k].numpy(), b[0].numpy() @ np.linalg.inv(a[k].numpy()), rtol=1e-10)
    cube = normal(4, 4, 4, seed=2)  # a batch as long as the matrices
    torch.testing.assert_close(times_inverse(b[0], cube)[3] @ cube[3], b[0], rtol=1e-9, atol=1e-9)


def test_what_is_allowed_passes():
    require_square({"a": normal(2, 3, 3), "b": normal(2, 3, 3)}, X=normal(3, 3))
    require_finite({"a": I2})
    require_invertible({"a": I2, "b": 1e-200 * torch.stack([I2, FLIP])})


@pytest.mark.parametrize("h", [1, 2, 5])
def test_random_elements_have_the_law_that_they_claim(h):
    g = random_invertible((4, 5000), h, torch_generator(1, "law")).reshape(-1, h, h).numpy()
    positive = np.linalg.slogdet(g)[0] > 0
    assert abs(positive.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(g))
    log_sigma = np.log(np.linalg.svd(g, compute_uv=False))
    assert abs(log_sigma.mean()) < 4 * 0.5 / np.sqrt(log_sigma.size)
    assert abs(log_sigma.var() - 0.25) < 4 * 0.25 * np.sqrt(2 / log_sigma.size)
    entries = g.mean(axis=0) / (g.std(axis=0) / np.sqrt(len(g)))  # every sign of every entry is as likely
    assert abs(entries).max() < 4.5
    again = random_invertible((4, 5000), h, torch_generator(1, "law")).reshape(-1, h, h).numpy()
    np.testing.assert_array_equal(g, again)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: require_square({"a": I2[:1]}), r"a has shape \(1, 2\); allowed: \(..., h, h\)"),
        (lambda: require_square({"a": I2, "b": I2[None]}), r"b has shape \(1, 2, 2\); allowed: \(2, 2\)"),
        (lambda: require_square({"a": I2[None]}, X=I2[None]), r"X has shape \(1, 2, 2\); allowed: \(2, 2\)"),
        (lambda: require_square({"a": torch.ones(0, 0)}), "allowed: .* h >= 1"),
        (lambda: require_square({"a": I2.float()}), "a has dtype torch.float32; allowed: torch.float64"),
        (lambda: require_finite({"a": I2, "b": I2 / 0}), "b holds inf; allowed: finite values"),
        (lambda: require_invertible({"a": torch.stack([I2, FLAT])}), "a is singular to rounding, σ_min = .* allowed"),
        (lambda: require_invertible({"a": ALMOST}), "a is singular to rounding"),
        (lambda: require_invertible({"a": I2 * math.nan}), "a holds nan"),
        (lambda: random_invertible((3,), 0, torch_generator(0, "a")), "h = 0; allowed: h >= 1"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
