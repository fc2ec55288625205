"""Products by hand against Hessians that autograd forms, straight and through coordinates; refusals."""

from itertools import pairwise

import pytest
import torch
from torch.autograd.functional import hessian, jacobian

from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.pair import PairChart
from lmc_helpers.permutation_points.products import local_squared_loss, output_derivatives, through


def plain(sizes, x, y, weight):
    """The loss with torch's own layers in the order of the flat parameters."""

    def loss(theta):
        out, at = x, 0
        for k, (before, after) in enumerate(pairwise(sizes)):
            W, b = theta[at : at + before * after].view(after, before), theta[at + before * after :][:after]
            at += after * (before + 1)
            out = torch.nn.functional.linear(out, W, b)
            out = out if k == len(sizes) - 2 else out.tanh()
        return weight * ((out - y) ** 2).sum()

    return loss


def problem(sizes, T, seed=0):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)  # noqa: E731
    return MLP(sizes, "tanh").initial(1, seed=1)[0], draw(T, sizes[0]), draw(T, sizes[-1]), draw


@pytest.mark.parametrize(("sizes", "T"), [((2, 3, 2), 7), ((3, 4, 2, 2), 11), ((1, 1, 1), 1), ((2, 3, 1, 2, 1), 5)])
def test_value_gradient_and_products_are_those_of_autograd(sizes, T):
    theta, x, y, draw = problem(sizes, T)
    loss = plain(sizes, x, y, 0.3)
    at = local_squared_loss(MLP(sizes, "tanh"), theta, x, y, 0.3)
    torch.testing.assert_close(at.value, loss(theta))
    torch.testing.assert_close(at.gradient, jacobian(loss, theta))
    H = hessian(loss, theta)
    for _ in range(3):
        v = draw(len(theta))
        torch.testing.assert_close(at.product(v), H @ v)


def test_coordinates_of_a_pair_at_fixed_distance():
    sizes = (3, 4, 3, 2)
    theta, x, y, draw = problem(sizes, 9)
    chart = PairChart(MLP(sizes, "tanh"), 2)
    phi = chart.coordinates(theta)
    phi[chart.net.incoming(2, 1)] *= 1.7  # a direction of another length

    def weights(free):
        return chart.weights(torch.cat([free, phi[-1:]]))

    at = through(weights, phi[:-1], lambda t: local_squared_loss(chart.net, t, x, y, 0.3))
    loss = plain(sizes, x, y, 0.3)
    torch.testing.assert_close(at.gradient, jacobian(lambda free: loss(weights(free)), phi[:-1]))
    H, v = hessian(lambda free: loss(weights(free)), phi[:-1]), draw(len(theta))
    torch.testing.assert_close(at.product(v), H @ v)
    torch.testing.assert_close(at.product(v), H @ v)  # a second time


@pytest.mark.parametrize("sizes", [(2, 3, 2), (3, 4, 2, 3), (1, 1, 2, 1, 2)])
def test_derivatives_of_the_outputs_are_those_of_autograd(sizes):
    theta, x, _, _ = problem(sizes, 4)
    net = MLP(sizes, "tanh")
    J = jacobian(lambda t: net.forward(t, x), theta)
    start = sizes[0] * sizes[1]
    by_bias, by_rest = output_derivatives(net, theta, x)
    torch.testing.assert_close(torch.cat([by_bias, by_rest], dim=-1), J[..., start:])


def test_refusals():
    theta, x, y, _ = problem((2, 3, 2), 5)
    with pytest.raises(ValueError, match="allowed: 'tanh'"):
        local_squared_loss(MLP((2, 3, 2), "relu"), theta, x, y, 1.0)
    with pytest.raises(ValueError, match="allowed: 'tanh'"):
        output_derivatives(MLP((2, 3, 2), "relu"), theta, x)
    with pytest.raises(ValueError, match=r"allowed: \(p,\), \(5, 2\)"):
        local_squared_loss(MLP((2, 3, 2), "tanh"), theta, x, y[:, :1], 1.0)
