"""Homogeneous networks against forward passes in NumPy."""

import numpy as np
import pytest
import torch
from oracles.orbits import forward, normal

from lmc_helpers.orbits.homogeneous import activation, random_net

DEGREES = [0.5, 1, 2, 3]


def test_activation_of_degree_one_is_leaky_relu_and_is_differentiable():
    z = normal(30).requires_grad_()
    torch.testing.assert_close(activation(z, 1, negative=-0.01), torch.nn.functional.leaky_relu(z, 0.01))
    (slope,) = torch.autograd.grad(activation(z, 0.5).sum(), z)
    expected = torch.where(z > 0, 0.5 / z.abs().sqrt(), torch.zeros_like(z))
    torch.testing.assert_close(slope, expected)


@pytest.mark.parametrize("k", DEGREES)
@pytest.mark.parametrize(("h", "o", "N", "number"), [(5, 2, 4, 0), (1, 1, 1, 1), (3, 2, 8, 2)])
def test_random_nets_are_minima_whose_neurons_all_work(k, h, o, N, number):
    net = random_net(1, "test", k, number, h, o, N)
    assert net.last.shape == (o, h) and net.before.shape == (h, 3) and net.F.shape == (3, N)
    np.testing.assert_allclose(forward(net, *net.layers), net.Y.numpy(), rtol=1e-12)
    assert net.loss(*net.layers).item() == 0
    assert (net.hidden > 0).any(dim=1).all()
    assert not torch.equal(net.F, random_net(1, "test", k, number + 1, h, o, N).F)
    assert not torch.equal(net.F, random_net(2, "test", k, number, h, o, N).F)
    assert torch.equal(net.F, random_net(1, "test", k, number, h, o, N).F)


@pytest.mark.parametrize("k", DEGREES)
def test_lines_are_forward_passes_with_place_1_at_the_first_end(k):
    net = random_net(1, "line", k, 1)
    a, b = net.rescaled(3.0), net.rescaled(torch.tensor([0.5, 1.0, 2.0, 4.0, 0.1], dtype=torch.float64))
    places = [0.0, 0.3, 1.0]
    expected = [
        np.square(net.Y.numpy() - forward(net, *(lam * x + (1 - lam) * y for x, y in zip(a, b, strict=True)))).sum()
        for lam in places
    ]
    np.testing.assert_allclose(net.line(places, a, b).numpy(), expected, rtol=1e-10, atol=1e-20)
    assert net.line(0.3, a, b).item() == pytest.approx(expected[1], rel=1e-10)
    batch = tuple(torch.stack([x, y]) for x, y in zip(b, net.layers, strict=True))
    assert net.line(places, a, batch).shape == (2, 3)
    np.testing.assert_allclose(net.line(places, a, batch)[0].numpy(), expected, rtol=1e-10, atol=1e-20)
    net = random_net(1, "rescaled", k, 2, h=5, o=3, N=7)
    for m in (0.2, 9.0, torch.rand(5, dtype=torch.float64) + 0.1):
        np.testing.assert_allclose(forward(net, *net.rescaled(m)), net.Y.numpy(), rtol=1e-11)


@pytest.mark.parametrize("norm", [0.1, 7.0])
def test_with_norm_keeps_a_minimum(norm):
    net = random_net(1, "norm", 2).with_norm(norm)
    assert net.Y.norm().item() == pytest.approx(norm)
    assert net.loss(*net.layers).item() < 1e-28
