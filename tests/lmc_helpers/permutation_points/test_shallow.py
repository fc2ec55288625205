"""Closed forms against automatic differentiation; the same function with unit parameter vectors; refusals."""

import pytest
import torch

from lmc_helpers.permutation_points.hessian import gradient, hessian
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.shallow import Shallow, equal_norms, rounded_relu
from lmc_helpers.seeds import normal


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("activation", "g", "pin"), [("tanh", None, 0.0), ("relu", rounded_relu(0.3), 1.0), ("erf", None, 0.5)]
)
@pytest.mark.parametrize("sizes", [(2, 4, 3), (1, 3, 1)])
def test_derivatives_are_those_of_autograd(sizes, activation, g, pin, shared):
    net = MLP(sizes, activation)
    theta, x, y = net.initial(3, 1), normal((3, 30, sizes[0]), 1, "x"), normal((3, 30, sizes[2]), 1, "y")
    problem = Shallow(net, x[0], y[0], g, pin) if shared else Shallow(net, x, y, g, pin)
    slope, H = problem.derivatives(theta)
    torch.testing.assert_close(slope, gradient(problem.loss, theta), rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(H, hessian(problem.loss, theta), rtol=1e-10, atol=1e-13)


def test_the_loss_is_the_squared_loss_of_each_row():
    net = MLP((2, 4, 3), "tanh")
    theta, x, y = net.initial(3, 1), normal((3, 30, 2), 1, "x"), normal((3, 30, 3), 1, "y")
    problem = Shallow(net, x, y)
    alone = torch.stack([squared_loss(net, x[k], y[k])(theta[k]) for k in range(3)])
    torch.testing.assert_close(problem.loss(theta), alone)
    torch.testing.assert_close(problem.select(torch.tensor([2, 0])).loss(theta[[2, 0]]), alone[[2, 0]])
    torch.testing.assert_close(problem.output(theta)[1], net.forward(theta[1], x[1]))


def test_unit_parameter_vectors_leave_a_relu_network_as_it_is():
    net = MLP((3, 5, 2), "relu")
    theta, x = net.initial(4, 2), normal((20, 3), 1, "x")
    unit = equal_norms(net, theta)
    torch.testing.assert_close(net.forward(unit, x), net.forward(theta, x))
    (W, b), _ = net.split(unit)
    torch.testing.assert_close(W.square().sum(-1) + b.square(), torch.ones(4, 5, dtype=torch.float64))


@pytest.mark.parametrize("width", [1e-6, 0.1, 3.0])
def test_a_rounded_relu_is_near_and_smooth(width):
    s = torch.linspace(-50, 50, 4001, dtype=torch.float64)
    off = rounded_relu(width)(s) - s.clamp(min=0)
    assert (off >= 0).all() and off.max() <= width / 2 * (1 + 1e-12) and off.argmax() == 2000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rounded_relu(0.0), "allowed: width > 0"),
        (lambda: Shallow(MLP((1, 2, 2, 1), "tanh"), torch.zeros(1, 1), torch.zeros(1, 1)), "allowed: one hidden layer"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
