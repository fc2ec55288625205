"""Rescalings and GL_h of a layer against products written out, lengths and curvatures against polygons."""

import math

import pytest
import torch
from oracles.draws import normal
from torch import nn

from lmc_helpers.modules.orbits import orbit_curve, rescale


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_factors_of_a_linear_layer():
    net = nn.Sequential(nn.Linear(4, 3), nn.LeakyReLU(0.2), nn.Linear(3, 2)).double()
    x, c = normal(7, 4), torch.tensor([2.0, 0.1, 5.0])
    before, state = {k: v.clone() for k, v in net.state_dict().items()}, net.train().training
    other = rescale(net, "0", c.double(), x)
    assert other[0].weight.equal(c[:, None] * net[0].weight) and other[0].bias.equal(c * net[0].bias)
    torch.testing.assert_close(other[2].weight * c, net[2].weight)
    torch.testing.assert_close(other(x), net(x))
    assert all(v.equal(before[k]) for k, v in net.state_dict().items()) and net.training == state and not other.training
    net, x, g = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)).double(), normal(7, 4), normal(3, 3, seed=1)
    other = rescale(net, "0", g, x)
    torch.testing.assert_close(other[0].weight, g @ net[0].weight)
    torch.testing.assert_close(other[0].bias, g @ net[0].bias)
    torch.testing.assert_close(other[1].weight @ g, net[1].weight)


def test_channels_behind_a_norm_that_are_flattened():
    norm = nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    net = nn.Sequential(nn.Conv2d(2, 3, 3), *norm, nn.Linear(12, 2))
    x, c = torch.randn(5, 2, 6, 6), torch.tensor([2.0, 0.5, 4.0])
    net(3 * x + 1)  # statistics of the norm
    net.eval()
    other = rescale(net, "1", c, x)
    assert other[0].weight.equal(net[0].weight) and other[1].weight.equal(c * net[1].weight)
    assert other[5].weight.equal(net[5].weight / c.repeat_interleave(4))
    torch.testing.assert_close(other(x), net(x))
    with pytest.raises(ValueError, match="allowed"):
        rescale(net, "0", c, x)  # the norm takes the factors back


@pytest.mark.parametrize(
    ("activation", "factors"),
    [
        *((nn.GELU(), torch.tensor([2.0, 1.0, 1.0])), (nn.ReLU6(), torch.tensor([2.0, 1.0, 1.0]))),
        *((nn.ReLU(), torch.eye(3) + 0.1), (nn.ReLU(), torch.tensor([2.0, -1.0, 1.0])), (nn.ReLU(), torch.ones(4))),
        *((nn.ReLU(), torch.tensor([2.0, 1.0, math.nan])), (nn.Identity(), torch.ones(3, 3))),
    ],
)
def test_what_changes_the_function_is_refused(activation, factors):
    net = nn.Sequential(nn.Linear(4, 3), activation, nn.Linear(3, 2))
    with pytest.raises(ValueError, match="allowed"):
        rescale(net, "0", factors, torch.randn(50, 4))


@pytest.mark.parametrize("shape", [(3,), (3, 3)])
def test_a_curve_is_its_polygon(shape):
    net, x, M = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)).double(), normal(7, 4), normal(*shape, seed=2) / 2
    curve = orbit_curve(net, "0", M, x, torch.tensor([0.0, 0.3, 1.0]))
    W, b, V = (value.detach() for value in (net[0].weight, net[0].bias, net[1].weight))

    def point(t):
        g = torch.linalg.matrix_exp(t * (M if M.ndim == 2 else M.diag()))
        return torch.cat([(g @ W).flatten(), g @ b, (V @ g.inverse()).flatten()])

    moved = curve.modules[1]
    found = torch.cat([v.flatten() for v in (moved[0].weight, moved[0].bias, moved[1].weight)])
    torch.testing.assert_close(found, point(0.3))
    polygon = torch.stack([point(t) for t in torch.linspace(0, 1, 2001, dtype=torch.float64)])
    assert curve.length == pytest.approx(polygon.diff(dim=0).norm(dim=1).sum().item(), rel=1e-6)
    assert curve.distance == pytest.approx((polygon[-1] - polygon[0]).norm().item(), rel=1e-12)
    h = 1e-3
    a, m, e = point(0.3 - h), point(0.3), point(0.3 + h)  # the circle through three points
    u, v, w = (m - a).norm(), (e - m).norm(), (e - a).norm()
    s = (u + v + w) / 2
    area = ((s - u) * (s - v) * (s - w) * s).clamp(min=0).sqrt()
    assert curve.curvatures[1].item() == pytest.approx((4 * area / (u * v * w)).item(), rel=1e-3)
