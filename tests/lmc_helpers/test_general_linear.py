"""The group GL_h: inverses and singular values by NumPy, exponentials by SciPy, determinants by permutations."""

import numpy as np
import pytest
import scipy.linalg
import torch
from oracles.linear import ALMOST, FLIP, I2, leibniz, normal

from lmc_helpers import general_linear
from lmc_helpers.seeds import torch_generator


def test_signs_and_quotients():
    A = torch.stack([1e-150 * I2, 1e150 * FLIP, ALMOST @ FLIP])
    assert general_linear.determinant_sign(A).tolist()[:2] == [1, -1]
    a, b = normal(2, 3, 4, 4, seed=1) + 4 * torch.eye(4, dtype=torch.float64)
    for k in range(3):
        expected = b[k].numpy() @ np.linalg.inv(a[k].numpy())
        np.testing.assert_allclose(general_linear.times_inverse(b, a)[k].numpy(), expected, rtol=1e-10)
        expected = b[0].numpy() @ np.linalg.inv(a[k].numpy())
        np.testing.assert_allclose(general_linear.times_inverse(b[0], a)[k].numpy(), expected, rtol=1e-10)
    wide = normal(3, 2, 4, seed=3)
    expected = wide[1].numpy() @ np.linalg.inv(a[1].numpy())
    np.testing.assert_allclose(general_linear.times_inverse(wide, a)[1], expected, rtol=1e-10)
    assert general_linear.times_inverse(wide[:, None], a[None]).shape == (3, 3, 2, 4)
    cube = normal(4, 4, 4, seed=2)  # a batch as long as the matrices
    torch.testing.assert_close(general_linear.times_inverse(b[0], cube)[3] @ cube[3], b[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("h", [1, 2, 5])
def test_random_elements_have_the_law_that_they_claim(h):
    g = general_linear.random_invertible((4, 5000), h, torch_generator(1, "law")).reshape(-1, h, h).numpy()
    positive = np.linalg.slogdet(g)[0] > 0
    assert abs(positive.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(g))
    log_sigma = np.log(np.linalg.svd(g, compute_uv=False))
    assert abs(log_sigma.mean()) < 4 * 0.5 / np.sqrt(log_sigma.size)
    assert abs(log_sigma.var() - 0.25) < 4 * 0.25 * np.sqrt(2 / log_sigma.size)
    entries = g.mean(axis=0) / (g.std(axis=0) / np.sqrt(len(g)))  # every sign of every entry is as likely
    assert abs(entries).max() < 4.5
    again = general_linear.random_invertible((4, 5000), h, torch_generator(1, "law")).reshape(-1, h, h).numpy()
    np.testing.assert_array_equal(g, again)


@pytest.mark.parametrize("h", [1, 2, 4])
def test_random_elements_of_given_signs(h):
    plain = general_linear.random_invertible((3, 50), h, torch_generator(2, "signs"))
    wanted = torch.tensor(np.random.default_rng(0).choice([1, -1], (3, 50)))
    g = general_linear.random_invertible((3, 50), h, torch_generator(2, "signs"), wanted)
    assert [np.sign(leibniz(one.numpy())) for one in g.reshape(-1, h, h)] == wanted.flatten().tolist()
    changed = (g != plain).any(dim=(-2, -1))
    assert g[..., 1:, :].equal(plain[..., 1:, :]) and g[changed].abs().equal(plain[changed].abs())
    assert changed.equal(general_linear.determinant_sign(plain) != wanted)
    negative = general_linear.random_invertible((9,), h, torch_generator(3, "one"), -1)
    assert (general_linear.determinant_sign(negative) == -1).all()


@pytest.mark.parametrize("shape", [(2, 2), (3, 1), (5, 5), (4, 2)])
def test_haar_matrices_are_orthonormal_and_turned_alike(shape):
    d, k = shape
    Q = general_linear.haar((20_000, d, k), torch_generator(4, "haar")).numpy()
    np.testing.assert_allclose(np.swapaxes(Q, -1, -2) @ Q, np.broadcast_to(np.eye(k), (20_000, k, k)), atol=1e-12)
    assert abs(Q.mean(axis=0)).max() < 4.5 / np.sqrt(d * 20_000)  # entries have variance 1/d
    turned = np.linalg.qr(normal(d, d).numpy())[0] @ Q  # the same law: fourth moments 3/(d (d + 2)) of each entry
    for some in (Q, turned):
        fourth = some**4
        error = fourth.std(axis=0) / np.sqrt(20_000)
        assert (abs(fourth.mean(axis=0) - 3 / (d * (d + 2))) < 5 * error + 1e-12).all()


@pytest.mark.parametrize("h", [1, 2, 5])
def test_polar_decompositions_are_those_of_scipy(h):
    g = normal(3, h, h, seed=h)
    Q, S = general_linear.polar(g)
    for k in range(3):
        q, s = scipy.linalg.polar(g[k].numpy())
        np.testing.assert_allclose(Q[k], q, atol=1e-12)
        np.testing.assert_allclose(S[k], s, atol=1e-12)


def test_the_tolerance_of_ranks_is_above_rounding():
    for h in (1, 3, 20):
        Q = np.linalg.qr(normal(h, h).numpy())[0]
        singular = Q @ np.diag([*np.ones(h - 1), 0.0]) @ Q.T
        assert np.linalg.svd(singular, compute_uv=False)[-1] < 16 * h * 2**-52 < 1e-12


@pytest.mark.parametrize("h", range(1, 9))
def test_the_logarithm_is_skew_and_its_exponential_the_rotation(h):
    Q = np.linalg.qr(normal(5, h, h, seed=h).numpy())[0]
    Q[:, 0] *= np.linalg.slogdet(Q)[0][:, None]
    for R in Q:
        K = general_linear.rotation_logarithm(torch.from_numpy(R)).numpy()
        np.testing.assert_allclose(K, -K.T, atol=1e-13)
        np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-13)
        assert abs(np.linalg.eigvals(K)).max() <= np.pi + 1e-12
    assert general_linear.rotation_logarithm(torch.from_numpy(Q)).shape == (5, h, h)


@pytest.mark.parametrize("angles", [[np.pi], [np.pi, np.pi], [np.pi, 0.0, np.pi], [1e-9, np.pi - 1e-9], [np.pi, 0.3]])
@pytest.mark.parametrize("extra", [0, 1])
def test_the_logarithm_of_half_turns(angles, extra):
    blocks = [np.array([[np.cos(w), -np.sin(w)], [np.sin(w), np.cos(w)]]) for w in angles]
    plain = scipy.linalg.block_diag(*blocks, *[np.eye(1)] * extra)
    Z = np.linalg.qr(normal(len(plain), len(plain)).numpy())[0]
    for R in (plain, Z @ plain @ Z.T):
        K = general_linear.rotation_logarithm(torch.from_numpy(R)).numpy()
        np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-13)
        found = np.sort(abs(np.linalg.eigvals(K).imag))
        np.testing.assert_allclose(found, np.sort([*angles, *angles] + [0.0] * extra), atol=1e-7)


@pytest.mark.parametrize("h", [1, 2, 3, 8])
@pytest.mark.parametrize("steps", [2, 5])
def test_a_path_in_the_group_joins_its_ends_and_keeps_the_sign(h, steps):
    a, b = normal(2, 3, h, h, seed=h)
    b[:, 0] *= (general_linear.determinant_sign(a) * general_linear.determinant_sign(b))[:, None]
    path = general_linear.path_in_group(a, b, steps)
    assert path.shape == (3, steps, h, h)
    torch.testing.assert_close(path[:, 0], a, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(path[:, -1], b, rtol=1e-12, atol=1e-12)
    for k in range(3):
        sigma = np.linalg.svd(path[k].numpy(), compute_uv=False)
        ends = np.linalg.svd(np.stack([a[k].numpy(), b[k].numpy()]), compute_uv=False)
        assert sigma.min() >= ends.min() * (1 - 1e-10) and sigma.max() <= ends.max() * (1 + 1e-10)
        if h < 8:
            assert len({np.sign(leibniz(g.numpy())) for g in path[k]}) == 1
