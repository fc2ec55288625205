"""The narrow necks: level sets, derivatives by differences, distances by search, and bounds by sampling."""

import math

import pytest
import torch

from lmc_helpers.symmetry.chord_bound import (
    curvature,
    curvature_bound,
    distance_to_curve,
    largest_deviation,
    lipschitz_loss,
    network_neck,
    planar_neck,
)

PHI = torch.linspace(0, math.pi, 5001, dtype=torch.float64)
WIDTHS = [1e-4, 1e-2, 0.1, 0.2]


@pytest.mark.parametrize("size", [1.0, 2.5])
@pytest.mark.parametrize("e", WIDTHS)
def test_network_neck_lies_in_the_minimum_and_closes_up(e, size):
    w, *_ = network_neck(PHI, e**2 / 2, size)
    torch.testing.assert_close((w[:, :2] * w[:, 2:]).sum(-1), torch.full_like(PHI, e**2 / 2), rtol=1e-9, atol=1e-16)
    start = torch.tensor([1.0, 0.0, 1.0, 0.0]).double() * e / math.sqrt(2)
    torch.testing.assert_close(w[0], start, rtol=0, atol=1e-15)
    torch.testing.assert_close(w[-1], -start, rtol=0, atol=1e-14)


@pytest.mark.parametrize("jet", [lambda t: network_neck(t, 0.02, 1.7), lambda t: planar_neck(t, 0.3)])
def test_derivatives_by_differences(jet):
    t, eps = PHI[::500], 1e-5
    point, velocity, acceleration = jet(t)
    after, before = jet(t + eps), jet(t - eps)
    torch.testing.assert_close(velocity, (after[0] - before[0]) / (2 * eps), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(acceleration, (after[1] - before[1]) / (2 * eps), rtol=1e-8, atol=1e-8)
    assert point.shape == velocity.shape == acceleration.shape


@pytest.mark.parametrize("e", WIDTHS)
def test_the_network_contradicts_theorem_6_2(e):
    delta = e**2 / 2
    w, velocity, acceleration = network_neck(PHI, delta)
    kappa = curvature(velocity, acceleration).max().item()
    assert kappa <= curvature_bound(delta)
    bound = largest_deviation(curvature_bound(delta), 2 * e).item()
    directions = torch.randn(20_000, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    directions /= directions.norm(dim=-1, keepdim=True)
    inner = (directions[:, :2] * directions[:, 2:]).sum(-1)
    nearest = (delta / inner[inner > 0]).sqrt().min().item()  # of the minimum, along these rays from 0
    assert e <= nearest < 1.1 * e
    assert distance_to_curve(torch.zeros(1, 4).double(), w).item() == pytest.approx(e, rel=1e-6)
    assert e > bound
    if e <= 0.18:
        assert lipschitz_loss(torch.zeros(4).double(), delta).abs().item() > 1.5 * bound


@pytest.mark.parametrize("delta", [1e-6, 0.01, 1.0])
def test_the_loss_is_lipschitz_and_vanishes_on_the_minimum(delta):
    generator = torch.Generator().manual_seed(2)
    w = torch.randn(4000, 4, dtype=torch.float64, generator=generator)
    w = (w * torch.logspace(-4, 3, 4000, dtype=torch.float64)[:, None]).requires_grad_()
    (gradient,) = torch.autograd.grad(lipschitz_loss(w, delta).sum(), w)
    steepest = gradient.norm(dim=-1).max().item()
    assert 0.6 < steepest <= 1.5
    on = network_neck(PHI, delta)[0]
    assert lipschitz_loss(on, delta).abs().max().item() < 1e-15 * (1 + 1 / delta)


@pytest.mark.parametrize("e", [*WIDTHS, 1.0])
def test_planar_neck_is_the_level_set_with_its_neck_at_the_origin(e):
    theta = torch.linspace(0, 2 * math.pi, 20_001, dtype=torch.float64)
    point, velocity, _ = planar_neck(theta, e)
    x, y = point.unbind(-1)
    torch.testing.assert_close(y**2, (e + x**2) ** 2 * (1 - x**2), rtol=1e-9, atol=1e-12)
    assert point.norm(dim=-1).min().item() == pytest.approx(e, rel=1e-9)
    assert velocity.norm(dim=-1).min().item() > 0.05


def test_curvature_of_the_planar_necks_is_bounded():
    kappas = [curvature(*planar_neck(PHI, e)[1:]).max().item() for e in (0.2, 0.1, 1e-2, 1e-4, 1e-6)]
    assert max(kappas) < 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: network_neck(PHI, 0.0), "delta = 0.0; allowed"),
        (lambda: network_neck(PHI, 0.1, -1.0), "size = -1.0; allowed"),
        (lambda: curvature_bound(0.5), r"√\(2δ\) = 1 and a = 1; allowed"),
        (lambda: lipschitz_loss(torch.zeros(3), 0.1), r"w has shape \(3,\)"),
        (lambda: lipschitz_loss(torch.zeros(4), math.nan), "delta = nan"),
        (lambda: planar_neck(PHI, 0.0), "e = 0.0; allowed"),
        (lambda: planar_neck(PHI, 1.5), "e = 1.5; allowed"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
