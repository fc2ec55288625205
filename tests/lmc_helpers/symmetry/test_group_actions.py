"""Group actions against the functions that they keep, the group law and least squares."""

import numpy as np
import pytest
import torch

from lmc_helpers.symmetry.curves import flatten
from lmc_helpers.symmetry.group_actions import GeneralLinear, PseudoInverse, Rescaling, projection


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def leaky(z):
    return torch.nn.functional.leaky_relu(z, 0.2)


def weights(h, n, m, *batch):
    return normal(*batch, h, n, seed=1), normal(*batch, m, h, seed=2)


@pytest.mark.parametrize(("h", "n", "m", "batch"), [(1, 1, 1, ()), (3, 5, 2, (4,)), (6, 2, 1, (2, 3))])
def test_general_linear_keeps_the_product_and_obeys_the_group_law(h, n, m, batch):
    w, g, f = weights(h, n, m, *batch), normal(*batch, h, h, seed=3), normal(*batch, h, h, seed=4)
    act = GeneralLinear().act
    moved = act(g, w)
    torch.testing.assert_close(moved[1] @ moved[0], w[1] @ w[0], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(flatten(act(f, moved)), flatten(act(f @ g, w)), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(flatten(act(torch.eye(h).double(), w)), flatten(w))


@pytest.mark.parametrize(("degree", "sigma"), [(1.0, leaky), (2.0, lambda z: torch.relu(z) ** 2), (1.0, torch.relu)])
def test_rescaling_keeps_the_outputs_of_a_homogeneous_network(degree, sigma):
    w, X, g = weights(4, 3, 2, 5), normal(3, 6, seed=5), normal(5, 4, seed=6).exp()
    moved = Rescaling(degree).act(g, w)
    assert not torch.allclose(moved[0], w[0])
    torch.testing.assert_close(moved[1] @ sigma(moved[0] @ X), w[1] @ sigma(w[0] @ X))
    wrong = Rescaling(degree + 1).act(g, w)
    assert not torch.allclose(wrong[1] @ sigma(wrong[0] @ X), w[1] @ sigma(w[0] @ X), rtol=1e-2)


@pytest.mark.parametrize(("action", "shape"), [(GeneralLinear(), (4, 4)), (Rescaling(2.0), (4,))])
def test_generator_is_the_derivative_at_the_identity(action, shape):
    w, M, eps = weights(4, 3, 2), normal(*shape, seed=7), 1e-5
    ends = [flatten(action.act(action.exp(M, t), w)) for t in (eps, -eps)]
    torch.testing.assert_close(flatten(action.generator(M, w)), (ends[0] - ends[1]) / (2 * eps), rtol=1e-8, atol=1e-8)


def test_exp_of_a_grid_is_the_series():
    M = normal(2, 3, 3, seed=8)
    grid = GeneralLinear().exp(M, torch.tensor([0.0, 0.5]))
    series = sum(torch.linalg.matrix_power(M / 2, j) / float(np.prod(np.arange(1, j + 1))) for j in range(40))
    torch.testing.assert_close(grid[:, 0], torch.eye(3).double().expand(2, 3, 3))
    torch.testing.assert_close(grid[:, 1], series)
    assert Rescaling().exp(normal(2, 3), torch.arange(5.0)).shape == (2, 5, 3)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch.func's first import
def test_second_derivatives_of_the_action_are_right():
    w, M, t = weights(3, 2, 2), normal(3, 3, seed=9), torch.tensor(0.3, dtype=torch.float64)

    def second_layer(s):
        return GeneralLinear().act(GeneralLinear().exp(M, s), w)[1]

    def velocity(s):
        return torch.func.jvp(second_layer, (s,), (torch.ones_like(s),))[1]

    twice = torch.func.jvp(velocity, (t,), (torch.ones_like(t),))[1]
    torch.testing.assert_close(twice, second_layer(t) @ M @ M, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("h", "k"), [(1, 1), (3, 7), (7, 3), (4, 4)])
def test_projection_is_least_squares_on_the_rows(h, k):
    s, target = normal(h, k, seed=10), normal(2, k, seed=11)
    fitted = np.linalg.lstsq(s.numpy().T, target.numpy().T, rcond=None)[0]
    torch.testing.assert_close(target @ projection(s), torch.from_numpy(s.numpy().T @ fitted).T)
    low = torch.cat([s, s[:1] * 2])
    assert projection(low).trace().item() == pytest.approx(min(h, k))


@pytest.mark.parametrize(("h", "n", "k"), [(8, 6, 5), (5, 6, 5), (3, 6, 9), (1, 1, 2)])
def test_the_map_6_projects_the_outputs(h, n, k):
    net = PseudoInverse(torch.sigmoid, normal(n, k, seed=12))
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
        net, w = PseudoInverse(torch.tanh, X), weights(h, 6, 4)
        g = [torch.eye(h).double() + 0.3 * normal(h, h, seed=s) for s in (15, 16)]
        twice, once = net.act(g[1], net.act(g[0], w)), net.act(g[1] @ g[0], w)
        assert torch.allclose(flatten(twice), flatten(once), rtol=1e-6, atol=1e-8) == law
        assert torch.allclose(net.act(torch.eye(h).double(), w)[1], w[1], rtol=1e-6, atol=1e-8) == identity


W, eye = (torch.ones(2, 3).double(), torch.ones(4, 2).double()), torch.eye(2).double()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GeneralLinear().act(torch.ones(2, 2).double(), W), "g is singular to rounding"),
        (lambda: GeneralLinear().act(torch.tensor([[1.0, 1.0], [1.0, 1 + 1e-16]]).double(), W), "g is singular"),
        (lambda: GeneralLinear().act(torch.eye(3).double(), W), r"g has shape \(3, 3\)"),
        (lambda: GeneralLinear().act(eye.float(), W), "torch.float32; allowed"),
        (lambda: GeneralLinear().act(eye * float("nan"), W), "not finite"),
        (lambda: GeneralLinear().generator(torch.ones(2).double(), W), r"M has shape \(2,\)"),
        (lambda: GeneralLinear().act(eye, (W[0], W[0])), r"shapes \[\(2, 3\), \(2, 3\)\]"),
        (lambda: GeneralLinear().act(eye, (W[0].float(), W[1])), "torch.float32"),
        (lambda: GeneralLinear().exp(eye, torch.ones(2, 2)), r"t has shape \(2, 2\)"),
        (lambda: Rescaling(0.0), "degree = 0.0; allowed"),
        (lambda: Rescaling().act(torch.tensor([1.0, -2.0]).double(), W), "the factor -2; allowed"),
        (lambda: Rescaling().act(torch.ones(3).double(), W), r"g has shape \(3,\)"),
        (lambda: PseudoInverse(torch.tanh, torch.ones(3)), r"X has shape \(3,\)"),
        (lambda: PseudoInverse(torch.tanh, torch.ones(4, 5).double()).act(eye, W), r"W_1 has shape \(2, 3\)"),
        (lambda: PseudoInverse(torch.tanh, torch.ones(3, 5).double()).act(0 * eye, W), "g is singular"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
