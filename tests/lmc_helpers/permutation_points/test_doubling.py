"""Doubled neurons against hand-written networks, second differences of the loss, Sylvester's law; refusals."""

import numpy as np
import pytest
import torch
from oracles.perceptrons import LAYERS, by_hand, inputs

from lmc_helpers import permutation_points as pp
from lmc_helpers.permutation_points.doubling import _pair_matrices
from lmc_helpers.permutation_points.hessian import hessian


@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_reduce_undoes_embed_and_neither_changes_the_function(net, layer):
    theta, x = net.initial(1, seed=3)[0], inputs(net)
    for neuron in range(net.sizes[layer]):
        big, doubled = pp.embed(net, theta, layer, neuron)
        assert big.sizes[layer] == net.sizes[layer] + 1
        torch.testing.assert_close(by_hand(big, doubled, x), by_hand(net, theta, x))
        small, back = pp.reduce_pair(big, doubled, layer)
        assert small == net
        torch.testing.assert_close(back, net.swap(theta, layer, 0, neuron))


@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_pair_matrices_are_the_second_differences_of_the_loss(net, layer):
    theta, x = net.initial(1, seed=5)[0], inputs(net)
    y = torch.sin(2 * x @ torch.ones(x.shape[1], net.sizes[-1], dtype=x.dtype))
    J, D = _pair_matrices(net, theta, layer, 1, x, lambda f: (f - y).square().sum())
    big, doubled = pp.embed(net, theta, layer, 1)

    def loss(eta, beta):
        moved = doubled.clone()
        for i, sign in ((0, -1), (1, 1)):
            moved[big.incoming(layer, i)] += sign * eta / 2
            moved[big.outgoing(layer, i)] += sign * beta
        return (by_hand(big, moved, x) - y).square().sum().item()

    rng = torch.Generator().manual_seed(1)
    eta = torch.randn(J.shape[1], dtype=torch.float64, generator=rng)
    beta = torch.randn(J.shape[0], dtype=torch.float64, generator=rng)
    h = 1e-3
    zero_eta, zero_beta = torch.zeros_like(eta), torch.zeros_like(beta)
    flat = loss(zero_eta, zero_beta)
    curvature = (loss(h * eta, zero_beta) + loss(-h * eta, zero_beta) - 2 * flat) / h**2
    mixed = (loss(h * eta, h * beta) - loss(-h * eta, h * beta)) / (2 * h**2)
    assert curvature == pytest.approx((eta @ D @ eta).item() / 4, rel=1e-4, abs=1e-5)
    assert mixed == pytest.approx((beta @ J @ eta).item(), rel=1e-4, abs=1e-5)
    assert loss(zero_eta, beta) == pytest.approx(flat, rel=1e-12)


@pytest.mark.parametrize(("net", "layer"), [(net, layer) for net, layer in LAYERS])
def test_the_exchange_ends_with_the_two_neurons_exchanged(net, layer):
    big, theta = pp.embed(net, net.initial(1, seed=6)[0], layer, 1)
    x = inputs(big)
    other = big.sizes[layer] - 1
    path = pp.equal_loss_exchange(big, theta, layer, other, points=5)
    assert path.shape == (30, big.size)
    for point in path:
        torch.testing.assert_close(by_hand(big, point, x), by_hand(big, theta, x), rtol=0, atol=1e-12)
    torch.testing.assert_close(path[-1], big.swap(theta, layer, 1, other))
    finer = pp.equal_loss_exchange(big, theta, layer, other, points=9)
    jumps = [(q[1:] - q[:-1]).norm(dim=1).max() for q in (path, finer)]
    assert jumps[1] < 0.6 * jumps[0]  # it is a path: with twice the points the steps are half as long


@pytest.mark.parametrize(("outputs", "inner", "rank"), [(1, 3, 0), (3, 3, 2), (3, 4, 0), (4, 2, 2), (2, 5, 1)])
def test_inertia_of_the_pair_is_that_of_its_block(outputs, inner, rank):
    """(D/4, Jᵀ; J, 0) diagonalised by NumPy, with J of a given rank and D random, singular or 0."""
    rng = np.random.default_rng(outputs + 10 * inner)
    for power in (0, 1, 2):
        J = rng.standard_normal((outputs, rank)) @ rng.standard_normal((rank, inner))
        root = rng.standard_normal((inner, inner - power))
        D = root @ np.diag(rng.choice([-1.0, 1.0], inner - power)) @ root.T * (power < 2)
        block = np.block([[D / 4, J.T], [J, np.zeros((outputs, outputs))]])
        values = np.linalg.eigvalsh(block)
        zero = np.abs(values) <= 1e-12 * max(np.abs(values).max(), 1)
        expected = (int(((values < 0) & ~zero).sum()), int(zero.sum()), int(((values > 0) & ~zero).sum()))
        assert pp.pair_inertia(torch.from_numpy(J), torch.from_numpy(D), tol=1e-10) == expected


def regression(small, seed=3, T=40):
    """Inputs, targets of a larger network and the loss of the smaller one."""
    big, x = pp.MLP((small.sizes[0], 6, small.sizes[-1]), small.activation), inputs(small, T, seed)
    y = big.forward(big.initial(1, seed, 2.0)[0], x)
    return x, y, pp.squared_loss(small, x, y)


def test_doubled_minima_are_permutation_points_with_the_predicted_inertia():
    for small in (pp.MLP((1, 2, 1), "tanh"), pp.MLP((2, 2, 3), "softplus")):
        x, y, loss = regression(small)
        minima = pp.minimise(loss, small.initial(2, seed=1), 200, 1e-11)
        assert minima.converged.all()
        for theta in minima.theta:
            points = pp.double_neurons(small, theta, x, y)
            assert [(p.layer, p.neuron) for p in points] == [(1, 0), (1, 1)]
            for p in points:
                torch.testing.assert_close(by_hand(p.net, p.theta, x), by_hand(small, theta, x))
                assert p.loss(p.theta).item() == pytest.approx(loss(theta).item(), rel=1e-12)
                assert pp.gradient(p.loss, p.theta).norm() < 1e-10
                counted = pp.inertia(hessian(p.loss, p.theta), 1e-9)
                added = pp.pair_inertia(p.J, p.D, 1e-9)
                assert [int(count) for count in counted] == [added[0], added[1], added[2] + small.size]


@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_the_plateau_has_one_loss_and_the_stated_gradient(net, layer):
    """a_0ᵀJ and a_1ᵀJ in the two parameter vectors, where the smaller network is not critical too."""
    x = inputs(net)
    y = torch.sin(x @ torch.ones(x.shape[1], net.sizes[-1], dtype=x.dtype))
    for p in pp.double_neurons(net, net.initial(1, seed=5)[0], x, y):
        if p.layer != layer:
            continue
        first = torch.linspace(-1, 2, len(p.column), dtype=torch.float64)
        theta = p.shared(first)
        torch.testing.assert_close(by_hand(p.net, theta, x), by_hand(p.net, p.theta, x))
        assert theta[p.net.outgoing(layer, 0)].equal(first)
        slope = pp.gradient(p.loss, theta)
        torch.testing.assert_close(slope[p.net.incoming(layer, 0)], first @ p.J)
        torch.testing.assert_close(slope[p.net.incoming(layer, 1)], (p.column - first) @ p.J)
