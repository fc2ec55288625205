"""What chapter *symmetry curves* computes, against independent oracles."""

import math

import pytest
import torch
from torch import nn

from lmc_helpers._chapters.symmetry_curves import leaky_minimum, leaky_relu, least_singular_value, sigmoid_network
from lmc_helpers.seeds import normal_stream

# ---------- trained maps
#
# Networks of Fig. 3: the same descent by torch.optim on an nn.Module, and singular values by the SVD.


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
    net, w = sigmoid_network(sizes, 40, normal_stream(1, "test"))
    normal = normal_stream(1, "test")
    X, Y = normal(n, k), normal(m, k)
    model = module(X, normal(h, n) / math.sqrt(n), normal(m, h) / math.sqrt(h), nn.Sigmoid())
    expected = descend(model, torch.optim.SGD(model.parameters(), lr=1 / h), X, Y, 40)
    torch.testing.assert_close(w, expected)
    torch.testing.assert_close(net.output(w), model(X.T).T)


@pytest.mark.parametrize(("samples", "slope"), [(1, 0.1), (8, 0.3)])
def test_leaky_minima_are_those_of_sgd_with_momentum(samples, slope):
    net, w, Y = leaky_minimum(samples, slope, 30, normal_stream(2, "test"))
    normal = normal_stream(2, "test")
    X, targets = normal(16, samples), normal(64, samples)
    assert torch.equal(Y, targets)
    model = module(X, normal(32, 16) / 4, normal(64, 32) / math.sqrt(32), nn.LeakyReLU(slope))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    torch.testing.assert_close(w, descend(model, optimiser, X, Y, 30))
    torch.testing.assert_close(net.output(w), model(X.T).T)


def test_leaky_relu_is_that_of_torch():
    z = torch.tensor([-2.0, -0.0, 0.0, 3.0])
    torch.testing.assert_close(leaky_relu(0.2)(z), nn.functional.leaky_relu(z, 0.2))


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (2, 4, 4), (2, 3, 6, 4)])
def test_least_singular_value_is_that_of_the_svd(shape):
    s = normal_stream(3, "matrices")(*shape)
    torch.testing.assert_close(least_singular_value(s), torch.linalg.svdvals(s)[..., -1])
    assert least_singular_value(torch.zeros(3, 3)).item() == 0
