"""Merging neurons and permutation points against hand-written networks, finite differences and closed forms."""

import itertools

import numpy as np
import pytest
import torch

from lmc_helpers.permutation_points.hessian import gradient, hessian, inertia
from lmc_helpers.permutation_points.merging import descent, merge_neurons, newton
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.newton import minimise
from lmc_helpers.permutation_points.pair import Pair, embed, equal_loss_exchange, pair_matrices, reduce_pair

NETS = [MLP((2, 4, 1), "tanh"), MLP((1, 3, 3), "softplus"), MLP((2, 3, 4, 2), "tanh")]
LAYERS = [(net, layer) for net in NETS for layer in range(1, net.depth)]


def inputs(net, n=30, seed=0):
    return torch.randn(n, net.sizes[0], dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def by_hand(net, theta, x):
    """The network in NumPy, one matrix after the other."""
    g = {"tanh": np.tanh, "softplus": lambda s: np.log1p(np.exp(s))}[net.activation]
    out, at = x.numpy(), 0
    for k in range(1, len(net.sizes)):
        rows, columns = net.sizes[k], net.sizes[k - 1]
        W = theta[at : at + rows * columns].reshape(rows, columns).numpy()
        b = theta[at + rows * columns : at + rows * (columns + 1)].numpy()
        at += rows * (columns + 1)
        out = out @ W.T + b
        if k < len(net.sizes) - 1:
            out = g(out)
    return torch.from_numpy(out)


@pytest.mark.parametrize(("net", "layer"), LAYERS)
@pytest.mark.parametrize("chart", ["centred", "paper"])
def test_coordinates_and_weights_are_inverse_for_every_pair(net, layer, chart):
    theta, x = net.initial(1, seed=4)[0], inputs(net)
    for first, second in itertools.permutations(range(net.sizes[layer]), 2):
        pair = Pair(net, layer, chart)
        front = pair.bring_forward(theta, first, second)
        torch.testing.assert_close(by_hand(net, front, x), by_hand(net, theta, x))
        rows = [net.incoming(layer, i) for i in (first, second)]
        for slot, row in zip((0, 1), rows, strict=True):
            assert front[net.incoming(layer, slot)].equal(theta[row])
        phi = pair.coordinates(front)
        torch.testing.assert_close(pair.weights(phi), front)
        torch.testing.assert_close(phi[-1], (theta[rows[0]] - theta[rows[1]]).norm())


@pytest.mark.parametrize("chart", ["centred", "paper"])
def test_closer_keeps_direction_and_output_weights(chart):
    net = MLP((2, 3, 2), "tanh")
    pair = Pair(net, 1, chart)
    theta = net.initial(1, seed=2)[0]
    moved = pair.weights(pair.closer(pair.coordinates(theta), torch.tensor(0.01, dtype=torch.float64)))
    rows, columns = ([slot(1, i) for i in (0, 1)] for slot in (net.incoming, net.outgoing))
    before, after = (t[rows[1]] - t[rows[0]] for t in (theta, moved))
    torch.testing.assert_close(after, 0.01 * before / before.norm())
    for column in columns:
        torch.testing.assert_close(moved[column], theta[column])
    kept = (theta[rows[0]] + theta[rows[1]]) / 2 if chart == "centred" else theta[rows[0]]
    there = (moved[rows[0]] + moved[rows[1]]) / 2 if chart == "centred" else moved[rows[0]]
    torch.testing.assert_close(there, kept)


def test_the_limit_is_a_derivative_neuron():
    net, x = MLP((2, 2, 1), "tanh"), inputs(MLP((2, 2, 1), "tanh"))
    phi = Pair(net, 1).coordinates(net.initial(1, seed=1)[0])
    centre, direction = phi[net.incoming(1, 0)], phi[net.incoming(1, 1)]
    c, A = phi[net.outgoing(1, 0)], phi[net.outgoing(1, 1)]
    phi[-1] = 1e-5
    z = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    g = torch.tanh(z @ centre)
    (_, _), (_, bias) = net.split(phi[:-1])
    limit = c * g + A * (z @ direction) * (1 - g**2) + bias
    torch.testing.assert_close(by_hand(net, Pair(net, 1).weights(phi), x)[:, 0], limit, rtol=0, atol=1e-9)


def test_no_gradient_flows_into_the_distance():
    net, x = MLP((2, 3, 1), "tanh"), inputs(MLP((2, 3, 1), "tanh"))
    loss = squared_loss(net, x, x[:, :1])
    for chart in ("centred", "paper"):
        pair = Pair(net, 1, chart)
        slope = gradient(lambda phi, pair=pair: loss(pair.weights(phi)), pair.coordinates(net.initial(1, seed=1)))
        assert slope[0, -1] == 0 and (slope[0, :-1] != 0).any()


@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_reduce_undoes_embed_and_neither_changes_the_function(net, layer):
    theta, x = net.initial(1, seed=3)[0], inputs(net)
    for neuron in range(net.sizes[layer]):
        big, doubled = embed(net, theta, layer, neuron)
        assert big.sizes[layer] == net.sizes[layer] + 1
        torch.testing.assert_close(by_hand(big, doubled, x), by_hand(net, theta, x))
        small, back = reduce_pair(big, doubled, layer)
        assert small == net
        torch.testing.assert_close(back, net.swap(theta, layer, 0, neuron))


@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_pair_matrices_are_the_second_differences_of_the_loss(net, layer):
    theta, x = net.initial(1, seed=5)[0], inputs(net)
    y = torch.sin(2 * x @ torch.ones(x.shape[1], net.sizes[-1], dtype=x.dtype))
    J, D = pair_matrices(net, theta, layer, 1, x, lambda f: (f - y).square().sum())
    big, doubled = embed(net, theta, layer, 1)

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


def test_inertia_of_a_permutation_point_with_three_outputs():
    small, x = MLP((2, 2, 3), "tanh"), inputs(MLP((2, 2, 3), "tanh"), 60)
    big = MLP((2, 6, 3), "tanh")
    y = big.forward(big.initial(1, seed=7, scale=2.0)[0], x)
    done = minimise(squared_loss(small, x, y), small.initial(6, seed=1), 300, 1e-11)
    theta = done.theta[done.converged][0]
    net, doubled = embed(small, theta, 1, 0)
    H = hessian(squared_loss(net, x, y), doubled)
    J, _ = pair_matrices(small, theta, 1, 0, x, lambda f: (f - y).square().sum() / (2 * len(x)))
    rank = np.linalg.matrix_rank(J.numpy(), tol=1e-9)
    found = inertia(H, 1e-9)
    assert rank == 2 and int(found.zero) == 1 and int(found.negative) >= rank


def test_paths_go_side_by_side_as_one_by_one_and_start_at_the_minimum():
    net = MLP((2, 3, 1), "tanh")
    theta, x = net.initial(1, seed=8, scale=2.0)[0], inputs(net, 80)
    loss = squared_loss(net, x, net.forward(theta, x))
    factors = torch.logspace(0, -1, 4, dtype=torch.float64)
    pairs = [(0, 1), (2, 0), (1, 2)]
    for chart, minimiser in (("centred", newton(40, 1e-10)), ("paper", descent(30, 0.05))):
        together = merge_neurons(loss, Pair(net, 1, chart), theta, pairs, factors, minimiser)
        assert together.loss.shape == (4, 3) and (together.loss[0] < 1e-20).all()
        for k, pair in enumerate(pairs):
            alone = merge_neurons(loss, Pair(net, 1, chart), theta, [pair], factors, minimiser)
            torch.testing.assert_close(alone.loss[:, 0], together.loss[:, k], rtol=1e-6, atol=1e-14)
            apart = (together.theta[-1, k][net.incoming(1, 1)] - together.theta[-1, k][net.incoming(1, 0)]).norm()
            torch.testing.assert_close(apart, together.delta[-1, k])


@pytest.mark.parametrize(("net", "layer"), [(net, layer) for net, layer in LAYERS])
def test_the_exchange_ends_with_the_two_neurons_exchanged(net, layer):
    big, theta = embed(net, net.initial(1, seed=6)[0], layer, 1)
    x = inputs(big)
    other = big.sizes[layer] - 1
    path = equal_loss_exchange(big, theta, layer, other, points=5)
    assert path.shape == (30, big.size)
    for point in path:
        torch.testing.assert_close(by_hand(big, point, x), by_hand(big, theta, x), rtol=0, atol=1e-12)
    torch.testing.assert_close(path[-1], big.swap(theta, layer, 1, other))
    assert (path[1:] - path[:-1]).norm(dim=1).max() < 10


def make_pair(**changes):
    return Pair(**({"net": MLP((2, 3, 1), "tanh"), "layer": 1} | changes))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_pair(layer=2), "allowed: a hidden layer, 1 <= layer <= 1"),
        (lambda: make_pair(layer=0), "allowed: a hidden layer"),
        (lambda: make_pair(net=MLP((2, 1, 1), "tanh")), "at least two to merge"),
        (lambda: make_pair(chart="polar"), "allowed: 'centred', 'paper'"),
        (lambda: make_pair().bring_forward(torch.zeros(13), 1, 1), "allowed: two different neurons"),
        (lambda: make_pair().coordinates(torch.zeros(13, dtype=torch.float64)), "distance 0; allowed: delta > 0"),
        (lambda: make_pair().closer(torch.ones(14), torch.tensor(0.0)), "delta = 0.0; allowed: delta > 0"),
        (lambda: pair_matrices(MLP((1, 1, 1), "relu"), torch.zeros(4), 1, 0, None, None), "no second derivative"),
        (lambda: pair_matrices(MLP((1, 1, 1), "tanh"), torch.zeros(4), 1, 1, None, None), "allowed: neurons of hidden"),
        (lambda: descent(-1, 0.1), "allowed: steps >= 0 and rate > 0"),
        (lambda: descent(1, 0.0), "allowed: steps >= 0 and rate > 0"),
        (lambda: equal_loss_exchange(MLP((2, 3, 1), "tanh"), torch.zeros(13), 1, 1), "allowed: a third neuron"),
        (lambda: equal_loss_exchange(MLP((2, 3, 1), "tanh"), torch.zeros(13), 1, 2, points=1), "allowed: points >= 2"),
        (lambda: equal_loss_exchange(MLP((2, 3, 1), "tanh"), torch.arange(13.0), 1, 2), "allowed: a permutation point"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_pair_may_have_its_own_start():
    net = MLP((1, 3, 1), "tanh")
    thetas, x = net.initial(2, seed=1), inputs(net, 20)
    loss = squared_loss(net, x, x)
    factors = torch.tensor([1.0, 0.5])
    both = merge_neurons(loss, Pair(net, 1), thetas, [(0, 1), (1, 2)], factors, descent(5, 0.1))
    second = merge_neurons(loss, Pair(net, 1), thetas[1], [(1, 2)], factors, descent(5, 0.1))
    torch.testing.assert_close(both.loss[:, 1], second.loss[:, 0])
    with pytest.raises(ValueError, match="B = 3 pairs"):
        merge_neurons(loss, Pair(net, 1), thetas, [(0, 1)] * 3, factors, descent(5, 0.1))


@pytest.mark.parametrize(
    ("factors", "pairs", "scale", "message"),
    [
        ([1.0, 0.0], [(0, 1)], 1.0, "factors hold 0.0; allowed: positive"),
        ([1.0], [(2, 2)], 1.0, "allowed: two different neurons"),
        ([1.0], [(0, 1)], float("inf"), "allowed: finite values"),
    ],
)
def test_a_path_refuses_bad_input(factors, pairs, scale, message):
    net = MLP((2, 3, 1), "tanh")
    theta = net.initial(1, seed=1)[0]
    loss = lambda t: scale * t.square().sum(dim=-1)  # noqa: E731
    with pytest.raises(ValueError, match=message):
        merge_neurons(loss, Pair(net, 1), theta, pairs, torch.tensor(factors), newton(1, 1e-6))
