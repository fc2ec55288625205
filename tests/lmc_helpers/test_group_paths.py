"""Paths in GL_h: logarithms by SciPy's exponential, singular values by NumPy, determinants by permutations."""

import numpy as np
import pytest
import scipy.linalg
import torch
from oracles.linear import FLAT, FLIP, I2, leibniz, normal

from lmc_helpers.general_linear import determinant_sign, path_in_group, rotation_logarithm


@pytest.mark.parametrize("h", range(1, 9))
def test_the_logarithm_is_skew_and_its_exponential_the_rotation(h):
    Q = np.linalg.qr(normal(5, h, h, seed=h).numpy())[0]
    Q[:, 0] *= np.linalg.slogdet(Q)[0][:, None]
    for R in Q:
        K = rotation_logarithm(torch.from_numpy(R)).numpy()
        np.testing.assert_allclose(K, -K.T, atol=1e-13)
        np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-13)
        assert abs(np.linalg.eigvals(K)).max() <= np.pi + 1e-12
    assert rotation_logarithm(torch.from_numpy(Q)).shape == (5, h, h)


@pytest.mark.parametrize("angles", [[np.pi], [np.pi, np.pi], [np.pi, 0.0, np.pi], [1e-9, np.pi - 1e-9], [np.pi, 0.3]])
@pytest.mark.parametrize("extra", [0, 1])
def test_the_logarithm_of_half_turns(angles, extra):
    blocks = [np.array([[np.cos(w), -np.sin(w)], [np.sin(w), np.cos(w)]]) for w in angles]
    plain = scipy.linalg.block_diag(*blocks, *[np.eye(1)] * extra)
    Z = np.linalg.qr(normal(len(plain), len(plain)).numpy())[0]
    for R in (plain, Z @ plain @ Z.T):
        K = rotation_logarithm(torch.from_numpy(R)).numpy()
        np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-13)
        found = np.sort(abs(np.linalg.eigvals(K).imag))
        np.testing.assert_allclose(found, np.sort([*angles, *angles] + [0.0] * extra), atol=1e-7)


def test_half_turns_that_do_not_stand_side_by_side():
    R = np.diag([-1.0, 1.0, -1.0, 1.0, -1.0, -1.0])
    K = rotation_logarithm(torch.from_numpy(R)).numpy()
    np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-14)


@pytest.mark.parametrize("h", [1, 2, 3, 8])
@pytest.mark.parametrize("steps", [2, 5])
def test_a_path_in_the_group_joins_its_ends_and_keeps_the_sign(h, steps):
    a, b = normal(2, 3, h, h, seed=h)
    b[:, 0] *= (determinant_sign(a) * determinant_sign(b))[:, None]
    path = path_in_group(a, b, steps)
    assert path.shape == (3, steps, h, h)
    torch.testing.assert_close(path[:, 0], a, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(path[:, -1], b, rtol=1e-12, atol=1e-12)
    for k in range(3):
        sigma = np.linalg.svd(path[k].numpy(), compute_uv=False)
        ends = np.linalg.svd(np.stack([a[k].numpy(), b[k].numpy()]), compute_uv=False)
        assert sigma.min() >= ends.min() * (1 - 1e-10) and sigma.max() <= ends.max() * (1 + 1e-10)
        if h < 8:
            assert len({np.sign(leibniz(g.numpy())) for g in path[k]}) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotation_logarithm(FLIP), "determinant -1; allowed: rotations"),
        (lambda: rotation_logarithm(2 * I2), "allowed: orthogonal matrices"),
        (lambda: rotation_logarithm(I2.float()), "R has dtype torch.float32; allowed"),
        (lambda: path_in_group(I2, I2, 1), "steps = 1; allowed: steps >= 2"),
        (lambda: path_in_group(I2, I2[None], 2), r"b has shape \(1, 2, 2\); allowed: \(2, 2\)"),
        (lambda: path_in_group(I2, FLAT, 2), "b is singular to rounding"),
        (lambda: path_in_group(I2, FLIP, 2), "different signs; allowed: two matrices of one component"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
