"""Merging paths one by one and side by side, minimisers, bounded paths."""

import torch
from oracles.perceptrons import inputs

from lmc_helpers.permutation_points.merging import MergePath, descent_minimiser, merge_neurons, newton_minimiser
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.pair import PairChart


def test_paths_go_side_by_side_as_one_by_one_and_start_at_the_minimum():
    net = MLP((2, 3, 1), "tanh")
    theta, x = net.initial(1, seed=8, scale=2.0)[0], inputs(net, 80)
    loss = squared_loss(net, x, net.forward(theta, x))
    distances = torch.logspace(0, -1, 3, dtype=torch.float64)
    pairs = [(0, 1), (2, 0), (1, 2)]
    for chart, minimiser in (("centred", newton_minimiser(15, 1e-10)), ("paper", descent_minimiser(30, 0.05))):
        together = merge_neurons(loss, PairChart(net, 1, chart), theta, pairs, distances, minimiser)
        assert together.loss.shape == (3, 3) and (together.loss[0] < 1e-20).all()
        for k, pair in enumerate(pairs):
            alone = merge_neurons(loss, PairChart(net, 1, chart), theta, [pair], distances, minimiser)
            torch.testing.assert_close(alone.loss[:, 0], together.loss[:, k], rtol=1e-6, atol=1e-14)
            apart = (together.theta[-1, k][net.incoming(1, 1)] - together.theta[-1, k][net.incoming(1, 0)]).norm()
            torch.testing.assert_close(apart, together.delta[-1, k])


def test_every_pair_may_have_its_own_start():
    net = MLP((1, 3, 1), "tanh")
    thetas, x = net.initial(2, seed=1), inputs(net, 20)
    loss = squared_loss(net, x, x)
    distances = torch.tensor([1.0, 0.5])
    both = merge_neurons(loss, PairChart(net, 1), thetas, [(0, 1), (1, 2)], distances, descent_minimiser(5, 0.1))
    second = merge_neurons(loss, PairChart(net, 1), thetas[1], [(1, 2)], distances, descent_minimiser(5, 0.1))
    torch.testing.assert_close(both.loss[:, 1], second.loss[:, 0])


def test_paths_are_bounded_while_both_output_weights_are():
    outgoing = torch.ones(3, 4, 2)
    outgoing[1, 1, 0], outgoing[2, 2, 1], outgoing[0, 3] = 101.0, 99.0, 0.5
    empty = torch.zeros(3, 4)
    path = MergePath(torch.zeros(3, 4, 7), empty, empty, empty, empty.bool(), outgoing)
    assert path.bounded().tolist() == [True, False, True, True]
    assert path.bounded(1.5).tolist() == [True, False, False, False]
