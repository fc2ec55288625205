"""What chapter *symmetry curves* computes, against independent oracles."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from oracles.draws import normal
from torch import nn

from lmc_helpers._chapters import symmetry_curves as chapter
from lmc_helpers.orbits.curves import curve, flatten
from lmc_helpers.seeds import normal_stream

T = torch.linspace(0, 1, 11, dtype=torch.float64)


def weights(h, n, m):
    return normal(h, n, seed=1), normal(m, h, seed=2)


@pytest.mark.parametrize(("h", "k"), [(1, 1), (3, 7), (7, 3), (4, 4)])
def test_projection_is_least_squares_on_the_rows(h, k):
    s, target = normal(h, k, seed=10), normal(2, k, seed=11)
    fitted = np.linalg.lstsq(s.numpy().T, target.numpy().T, rcond=None)[0]
    torch.testing.assert_close(target @ chapter.projection(s), torch.from_numpy(s.numpy().T @ fitted).T)
    low = torch.cat([s, s[:1] * 2])
    assert chapter.projection(low).trace().item() == pytest.approx(min(h, k))


@pytest.mark.parametrize(("h", "n", "k"), [(8, 6, 5), (5, 6, 5), (3, 6, 9), (1, 1, 2)])
def test_the_map_6_projects_the_outputs(h, n, k):
    net = chapter.PseudoInverse(torch.sigmoid, normal(n, k, seed=12))
    w, g = weights(h, n, 4), normal(h, h, seed=13)
    moved = net.act(g, w)
    Z = w[1] @ torch.sigmoid(w[0] @ net.X)
    s = torch.sigmoid(g @ w[0] @ net.X).numpy()
    coefficients = np.linalg.lstsq(s.T, Z.numpy().T, rcond=None)[0]
    torch.testing.assert_close(moved[1], torch.from_numpy(coefficients.T), rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(net.output(moved), torch.from_numpy((s.T @ coefficients).T), rtol=1e-8, atol=1e-9)
    assert torch.allclose(net.output(moved), Z, rtol=1e-8) == (k <= h)
    assert (net.output(moved) - Z).norm() <= Z.norm()


def test_the_map_6_is_an_action_where_as_many_neurons_as_samples():
    X = normal(6, 5, seed=14)
    for h, law, identity in ((5, True, True), (8, True, False), (3, False, True)):
        net, w = chapter.PseudoInverse(torch.tanh, X), weights(h, 6, 4)
        g = [torch.eye(h).double() + 0.3 * normal(h, h, seed=s) for s in (15, 16)]
        twice, once = net.act(g[1], net.act(g[0], w)), net.act(g[1] @ g[0], w)
        assert torch.allclose(flatten(twice), flatten(once), rtol=1e-6, atol=1e-8) == law
        assert torch.allclose(net.act(torch.eye(h).double(), w)[1], w[1], rtol=1e-6, atol=1e-8) == identity
    net = chapter.PseudoInverse(torch.tanh, normal(4, 2, seed=9))
    w = weights(3, 4, 2)
    path = curve(net, normal(3, 3, seed=10), w, torch.linspace(0, 1, 11).double())
    start = net.act(torch.eye(3).double(), w)
    torch.testing.assert_close([W[0] for W in path], list(start))
    assert not torch.allclose(start[1], w[1])
    torch.testing.assert_close(net.output(path), net.output(w).expand(11, -1, -1))


@pytest.mark.parametrize("h", [2, 3, 4, 5, 8, 9])
def test_probability_is_the_sampled_share(h):
    g = np.random.default_rng(h).standard_normal((20_000, h, h))
    g = g[np.linalg.det(g) > 0]
    values = np.linalg.eigvals(g)
    share = ((values.imag == 0) & (values.real < 0)).any(axis=1).mean()
    assert abs(share - chapter.probability_without_logarithm(h)) < 4.5 * math.sqrt(share * (1 - share) / len(g))


def test_probability_in_closed_form_and_monotone():
    assert chapter.probability_without_logarithm(1) == pytest.approx(0, abs=1e-14)
    assert chapter.probability_without_logarithm(2) == pytest.approx(1 / math.sqrt(2) - 1 / 2, abs=1e-14)
    values = [chapter.probability_without_logarithm(h) for h in range(1, 101)]
    assert all(np.diff(values) > 0) and values[-1] < 1


def module(X, W_1, W_2, activation):
    model = nn.Sequential(
        nn.Linear(len(X), len(W_1), bias=False, dtype=torch.float64),
        activation,
        nn.Linear(len(W_1), len(W_2), bias=False, dtype=torch.float64),
    )
    with torch.no_grad():
        model[0].weight.copy_(W_1)
        model[2].weight.copy_(W_2)
    return model


def descend(model, optimiser, X, Y, steps):
    for _ in range(steps):
        optimiser.zero_grad()
        ((model(X.T).T - Y).square().sum() / (2 * X.shape[1])).backward()
        optimiser.step()
    return model[0].weight.detach(), model[2].weight.detach()


@pytest.mark.parametrize("sizes", [(3, 5, 4, 7), (2, 2, 9, 1), (1, 1, 1, 1)])
def test_sigmoid_networks_are_those_of_sgd(sizes):
    m, h, n, k = sizes
    net, w, targets = chapter.sigmoid_network(sizes, 40, normal_stream(1, "test"))
    normal = normal_stream(1, "test")
    X, Y = normal(n, k), normal(m, k)
    assert torch.equal(targets, Y)
    model = module(X, normal(h, n) / math.sqrt(n), normal(m, h) / math.sqrt(h), nn.Sigmoid())
    expected = descend(model, torch.optim.SGD(model.parameters(), lr=1 / h), X, Y, 40)
    torch.testing.assert_close(w, expected)
    torch.testing.assert_close(net.output(w), model(X.T).T)


@pytest.mark.parametrize(("samples", "slope"), [(1, 0.1), (8, 0.3)])
def test_leaky_minima_are_those_of_sgd_with_momentum(samples, slope):
    net, w, Y = chapter.leaky_minimum(samples, slope, 30, normal_stream(2, "test"))
    normal = normal_stream(2, "test")
    X, targets = normal(16, samples), normal(64, samples)
    assert torch.equal(Y, targets)
    model = module(X, normal(32, 16) / 4, normal(64, 32) / math.sqrt(32), nn.LeakyReLU(slope))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    torch.testing.assert_close(w, descend(model, optimiser, X, Y, 30))
    torch.testing.assert_close(net.output(w), model(X.T).T)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (2, 4, 4), (2, 3, 6, 4)])
def test_least_singular_value_is_that_of_the_svd(shape):
    s = normal_stream(3, "matrices")(*shape)
    torch.testing.assert_close(chapter.least_singular_value(s), torch.linalg.svdvals(s)[..., -1])
    assert chapter.least_singular_value(torch.zeros(3, 3)).item() == 0


def similar(blocks, seed=0):
    """A matrix with the given diagonal blocks in another basis."""
    D = torch.from_numpy(scipy.linalg.block_diag(*blocks)).double()
    S = normal(len(D), len(D), seed=seed)
    return S @ D @ S.inverse()


def rotation(r, angle):
    return r * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


@pytest.mark.parametrize("h", [1, 2, 5])
def test_logarithm_of_an_exponential(h):
    M = normal(4, h, h, seed=h)
    M = 2 * M / torch.linalg.matrix_norm(M, 2)[:, None, None]  # spectrum within (−π, π) i
    torch.testing.assert_close(chapter.real_logarithm(torch.linalg.matrix_exp(M)), M, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("blocks", "negative"),
    [
        *(([[2.0], [0.5], rotation(1.5, 3.0)], False), ([[-1.0], [-2.0], [3.0]], True)),
        *(([rotation(0.3, 0.1), [-0.7]], True), ([[4.0]], False), ([[-4.0]], True)),
    ],
)
def test_simple_spectra(blocks, negative):
    g = similar(blocks, seed=3)
    assert chapter.has_negative_eigenvalue(g).item() == negative
    if negative:
        with pytest.raises(ValueError, match="misses g"):
            chapter.real_logarithm(g)
    else:
        torch.testing.assert_close(torch.linalg.matrix_exp(chapter.real_logarithm(g)), g, rtol=1e-9, atol=1e-9)


def test_minus_the_identity_has_two_factors_and_a_bad_logarithm_is_refused():
    g = -torch.eye(2, dtype=torch.float64)
    with pytest.raises(ValueError, match="misses g"):
        chapter.real_logarithm(g)
    A, B = chapter.two_exponentials(g)
    torch.testing.assert_close(torch.linalg.matrix_exp(A) @ torch.linalg.matrix_exp(B), g)
    shear = torch.tensor([[1.0, 1e9], [0.0, 1.0 + 1e-3]], dtype=torch.float64)
    try:
        M = chapter.real_logarithm(shear)
    except ValueError as error:
        assert "misses g" in str(error)
    else:
        assert (torch.linalg.matrix_exp(M) - shear).norm() <= 1e-8 * shear.norm()


@pytest.mark.parametrize("h", [1, 2, 3, 6, 9])
def test_two_exponentials_are_skew_symmetric_and_multiply_to_g(h):
    g = normal(60, h, h, seed=h)
    g = g[torch.linalg.det(g) > 0]
    A, B = chapter.two_exponentials(g)
    torch.testing.assert_close(A, -A.mT, rtol=0, atol=1e-12)
    torch.testing.assert_close(B, B.mT, rtol=0, atol=1e-10)
    torch.testing.assert_close(torch.linalg.matrix_exp(A) @ torch.linalg.matrix_exp(B), g, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("h", [1, 2, 5])
def test_two_factor_curves_reach_any_g_of_positive_determinant(h):
    w = normal(20, h, 4, seed=6), normal(20, 2, h, seed=7)
    g = normal(20, h, h, seed=8)
    g[torch.linalg.det(g) < 0, 0] *= -1
    path = chapter.two_factor_curve(w, g, T)
    torch.testing.assert_close(path[0][:, -1], g @ w[0])
    torch.testing.assert_close(path[1] @ path[0], (w[1] @ w[0])[:, None].expand(-1, 11, -1, -1), rtol=1e-8, atol=1e-8)
