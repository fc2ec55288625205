"""The chart of two neurons against hand-written networks and its limit; refusals."""

import itertools

import pytest
import torch
from oracles.perceptrons import LAYERS, by_hand, inputs

from lmc_helpers.permutation_points import MLP, PairChart, gradient, reduce_pair, squared_loss
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.permutation_points.pair import ChartLoss


@pytest.mark.parametrize(("net", "layer"), LAYERS)
@pytest.mark.parametrize("chart", ["centred", "paper"])
def test_coordinates_and_weights_are_inverse_for_every_pair(net, layer, chart):
    theta, x = net.initial(1, seed=4)[0], inputs(net)
    for first, second in itertools.permutations(range(net.sizes[layer]), 2):
        pair = PairChart(net, layer, chart)
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
    pair = PairChart(net, 1, chart)
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


def test_the_limit_is_a_derivative_neuron_and_no_gradient_flows_into_the_distance():
    net, x = MLP((2, 2, 1), "tanh"), inputs(MLP((2, 2, 1), "tanh"))
    phi = PairChart(net, 1).coordinates(net.initial(1, seed=1)[0])
    centre, direction = phi[net.incoming(1, 0)], phi[net.incoming(1, 1)]
    c, A = phi[net.outgoing(1, 0)], phi[net.outgoing(1, 1)]
    phi[-1] = 1e-5
    z = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    g = torch.tanh(z @ centre)
    (_, _), (_, bias) = net.split(phi[:-1])
    limit = c * g + A * (z @ direction) * (1 - g**2) + bias
    torch.testing.assert_close(by_hand(net, PairChart(net, 1).weights(phi), x)[:, 0], limit, rtol=0, atol=1e-9)
    net, x = MLP((2, 3, 1), "tanh"), inputs(MLP((2, 3, 1), "tanh"))
    loss = squared_loss(net, x, x[:, :1])
    for chart in ("centred", "paper"):
        pair = PairChart(net, 1, chart)
        slope = gradient(lambda phi, pair=pair: loss(pair.weights(phi)), pair.coordinates(net.initial(1, seed=1)))
        assert slope[0, -1] == 0 and (slope[0, :-1] != 0).any()


@pytest.mark.parametrize(("net", "layer"), LAYERS)
@pytest.mark.parametrize("kind", ["centred", "paper"])
@pytest.mark.parametrize("closed", [True, False])
def test_derivatives_in_a_chart_are_those_of_autograd(net, layer, kind, closed):
    x, chart = inputs(net), PairChart(net, layer, kind)
    loss = squared_loss(net, x, x.sum(dim=1, keepdim=True).cos().expand(-1, net.sizes[-1]))
    phi = chart.coordinates(net.initial(6, seed=1).view(2, 3, -1))
    phi[..., net.incoming(layer, 1)] *= 1.3  # off ‖e‖ = 1
    in_chart = ChartLoss(loss if closed else lambda theta: loss(theta), chart)
    for derivative in (gradient, hessian):
        expected = derivative(lambda at: loss(chart.weights(at)), phi)
        torch.testing.assert_close(derivative(in_chart, phi), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_reduced_networks_have_the_mean_vector_and_the_summed_column(net, layer):
    theta = net.initial(1, seed=3)[0]
    small, reduced = reduce_pair(net, theta, layer)
    rows, columns = ([slot(layer, i) for i in (0, 1)] for slot in (net.incoming, net.outgoing))
    torch.testing.assert_close(reduced[small.incoming(layer, 0)], (theta[rows[0]] + theta[rows[1]]) / 2)
    torch.testing.assert_close(reduced[small.outgoing(layer, 0)], theta[columns[0]] + theta[columns[1]])
    for other in range(2, net.sizes[layer]):
        assert reduced[small.incoming(layer, other - 1)].equal(theta[net.incoming(layer, other)])
        assert reduced[small.outgoing(layer, other - 1)].equal(theta[net.outgoing(layer, other)])
