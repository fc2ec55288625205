"""Paths to every order, against the function of the network on every leg."""

import itertools

import pytest
import torch

from lmc_helpers.permutation_points.one_merge import merged, reordering_path


def network(m=4, inputs=3, outputs=2):
    return torch.randn(m, inputs + outputs, dtype=torch.float64, generator=torch.Generator().manual_seed(m))


def outputs(theta, x):
    return torch.tanh(x @ theta[..., :3].mT) @ theta[..., 3:]  # any activation: only equal rows are needed


@pytest.mark.parametrize("pair", [(0, 1), (3, 1), (2, 0)])
def test_every_order_is_reached_and_the_function_changes_at_the_merge_only(pair):
    theta, x = network(), torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    at_merge = outputs(merged(theta, *pair), x)
    for order in itertools.permutations(range(4)):
        p = torch.tensor(order)
        path = reordering_path(theta, 3, pair, p)
        assert path[0].equal(theta) and path[-1].equal(theta[p])
        assert path[1].equal(merged(theta, *pair)) and path[-2].equal(merged(theta, *pair)[p])
        for a, b in itertools.pairwise(path[1:-1]):
            for s in (0.0, 0.3, 0.7, 1.0):
                torch.testing.assert_close(outputs((1 - s) * a + s * b, x), at_merge)


def test_the_merge_is_half_way_to_the_exchange():
    theta = network(5)
    swapped = theta[[0, 4, 2, 3, 1]]
    torch.testing.assert_close(merged(theta, 1, 4), (theta + swapped) / 2)
    torch.testing.assert_close(merged(torch.stack([theta, swapped]), 1, 4)[1], (theta + swapped) / 2)


def test_two_neurons():
    theta = network(2)
    path = reordering_path(theta, 3, (0, 1), torch.tensor([1, 0]))
    assert path[-1].equal(theta.flip(0))


def test_wrong_arguments_are_named():
    theta = network()
    with pytest.raises(ValueError, match="pair"):
        reordering_path(theta, 3, (1, 1), torch.arange(4))
    with pytest.raises(ValueError, match="pair"):
        reordering_path(theta, 3, (1, 4), torch.arange(4))
    with pytest.raises(ValueError, match="allowed"):
        reordering_path(theta, 3, (0, 1), torch.arange(3))
    with pytest.raises(ValueError, match="no permutation"):
        reordering_path(theta, 3, (0, 1), torch.tensor([0, 0, 1, 2]))
