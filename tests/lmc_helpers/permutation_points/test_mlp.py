"""Multilayer perceptrons against loops over neurons in plain Python, their indices, and their refusals."""

import math
from itertools import pairwise, product

import pytest
import torch
from oracles.perceptrons import inputs, layers_by_hand
from scipy.special import expit

from lmc_helpers.permutation_points import MLP, NONLINEARITIES, squared_loss

SIZES = [(1, 1, 1), (2, 5, 1), (3, 4, 2, 3), (1, 2, 1, 2, 1)]


def layers_of(theta: list[float], sizes: tuple[int, ...]) -> list[tuple[list[list[float]], list[float]]]:
    """Weights and biases, read off one number after the other."""
    numbers = iter(theta)
    return [
        ([[next(numbers) for _ in range(before)] for _ in range(after)], [next(numbers) for _ in range(after)])
        for before, after in pairwise(sizes)
    ]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("activation", NONLINEARITIES)
def test_forward_and_hidden_one_matrix_after_the_other(sizes, activation):
    net = MLP(sizes, activation)
    theta, x = net.initial(4, seed=1, scale=2.0).reshape(2, 2, -1), inputs(net, 3)
    f = net.forward(theta, x)
    assert f.shape == (2, 2, 3, sizes[-1]) and theta.shape[-1] == net.size
    for i, j in product(range(2), repeat=2):
        *hidden, output = layers_by_hand(net, theta[i, j], x)
        torch.testing.assert_close(f[i, j], output, rtol=1e-13, atol=1e-14)
        for layer, value in enumerate(hidden, start=1):
            torch.testing.assert_close(net.hidden(theta, x, layer)[i, j], value, rtol=1e-13, atol=1e-14)


def test_softplus_and_its_derivatives_are_exact_everywhere():
    z = torch.tensor([-700.0, -30.0, 0.0, 19.9, 20.1, 39.9, 40.1, 700.0], dtype=torch.float64, requires_grad=True)
    value = NONLINEARITIES["softplus"](z)
    assert value.tolist() == pytest.approx([max(v, 0.0) + math.log1p(math.exp(-abs(v))) for v in z.tolist()], rel=1e-15)
    (slope,) = torch.autograd.grad(value.sum(), z, create_graph=True)
    assert slope.tolist() == pytest.approx([expit(v) for v in z.tolist()], rel=1e-15)
    (bend,) = torch.autograd.grad(slope.sum(), z)
    expected = [math.exp(-abs(v)) / (1 + math.exp(-abs(v))) ** 2 for v in z.tolist()]
    assert bend.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("sizes", SIZES)
def test_split_join_incoming_and_outgoing_are_the_entries_in_their_order(sizes):
    net = MLP(sizes, "tanh")
    theta = torch.arange(3.0 * net.size).reshape(3, -1)
    layers = net.split(theta)
    assert [(W[1].tolist(), b[1].tolist()) for W, b in layers] == layers_of(theta[1].tolist(), sizes)
    assert net.join(layers).equal(theta)
    layers[-1][0].zero_()
    assert (theta == 0).sum() >= 3 * sizes[-1] * sizes[-2]
    layers = layers_of(list(range(net.size)), sizes)
    for k, (W, b) in enumerate(layers, start=1):
        for m in range(sizes[k]):
            assert net.incoming(k, m).tolist() == [*W[m], b[m]]
            if k < len(layers):
                assert net.outgoing(k, m).tolist() == [row[m] for row in layers[k][0]]


def test_a_swap_exchanges_two_neurons_and_leaves_the_function():
    net = MLP((3, 4, 2, 3), "softplus")
    x = inputs(net, 6)
    theta = net.initial(5, seed=2)
    before = theta.clone()
    for layer, first, second in [(1, 0, 3), (1, 2, 1), (2, 0, 1), (2, 1, 1)]:
        there = net.swap(theta, layer, first, second)
        assert there.equal(theta) == (first == second)
        torch.testing.assert_close(net.forward(there, x), net.forward(theta, x), rtol=1e-13, atol=1e-14)
        order = list(range(net.sizes[layer]))
        order[first], order[second] = second, first
        moved, still = net.hidden(there, x, layer), net.hidden(theta, x, layer)
        torch.testing.assert_close(moved, still[..., order], rtol=1e-13, atol=1e-14)
        assert net.swap(there, layer, second, first).equal(theta)
    assert theta.equal(before)


@pytest.mark.parametrize(("activation", "c"), [("relu", 2), ("erf", 1)])
def test_initial_parameters_have_the_stated_law(activation, c):
    net = MLP((8, 6, 3), activation)
    theta = net.initial(4000, seed=1, scale=3.0)
    assert theta.dtype == torch.float64 and theta.equal(net.initial(4000, seed=1, scale=3.0))
    assert not theta.equal(net.initial(4000, seed=2, scale=3.0))
    for (W, b), before in zip(net.split(theta), (8, 6), strict=True):
        assert W.var().item() == pytest.approx(9 * c / before, rel=0.03)
        assert b.var().item() == pytest.approx(9 / 4, rel=0.05)
        assert abs(W.mean().item()) < 0.05 and abs(b.mean().item()) < 0.08


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 3, 2)])
def test_squared_loss_is_the_sum_over_samples(sizes):
    net = MLP(sizes, "sigmoid")
    theta, x = net.initial(3, seed=1), inputs(net, 5)
    y = x.sum(dim=1, keepdim=True).cos().expand(5, sizes[-1])
    loss = squared_loss(net, x, y)
    expected = [((layers_by_hand(net, t, x)[-1] - y).numpy() ** 2).sum() / 10 for t in theta]
    assert loss(theta).tolist() == pytest.approx(expected, rel=1e-13)
    assert loss(theta[0]).shape == () and loss(theta.expand(2, 3, -1)).shape == (2, 3)
    torch.testing.assert_close(torch.func.vmap(loss)(theta), loss(theta), rtol=1e-13, atol=0)
