"""Merge paths against the conditions of a constrained minimum, permutation points against the smaller network."""

import pytest
import torch
from oracles.draws import normal
from torch import nn
from torch.nn import functional as F

from lmc_helpers.modules.points import merge_path, permutation_point
from lmc_helpers.permutation_points import pair_inertia

X, TEACHER = normal(80, 2), 2 * normal(3, 3, seed=1)
READ = normal(2, 3, seed=51)
Y = (X @ TEACHER[:, :2].T + TEACHER[:, 2]).tanh() @ READ.T + 0.1 * normal(80, 2, seed=9)


def small():
    """Near a minimum that is not 0."""
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    with torch.no_grad():
        net[0].weight.copy_(TEACHER[:, :2])
        net[0].bias.copy_(TEACHER[:, 2])
        net[2].weight.copy_(READ)
        net[2].bias.zero_()
    return net


def gradients(net, x=X, y=Y):
    return torch.autograd.grad(F.mse_loss(net(x), y), list(net.parameters()))


@pytest.fixture(scope="module")
def point():
    return permutation_point(small(), "0", 0, 2, F.mse_loss, (X, Y), distances=torch.tensor([1.0, 0.5, 0.1]))


def test_a_path_is_of_constrained_minima():
    net = small()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    path = merge_path(net, "0", 0, 2, F.mse_loss, (X, Y), torch.tensor([1.0, 0.5]))
    assert all(value.equal(before[name]) for name, value in net.state_dict().items()) and net.training
    end = torch.cat([path.module[0].weight, path.module[0].bias[:, None]], 1)[[0, 2]].diff(dim=0)[0]
    assert end.norm().item() == pytest.approx(path.distances[0].item() / 2) == path.distances[1].item()
    assert F.mse_loss(path.module(X), Y).item() == pytest.approx(path.losses[1].item())
    assert path.losses[0] <= path.start == pytest.approx(F.mse_loss(net(X), Y).item())
    W, b, V, c = gradients(path.module)
    theta = torch.cat([W, b[:, None]], 1)  # the gradient is parallel to that of the distance
    force = theta[2] @ end / end.norm()
    assert force.abs() > 1e-3
    torch.testing.assert_close(theta[2], force * end / end.norm(), atol=1e-5, rtol=0)
    torch.testing.assert_close(theta[0], -theta[2], atol=1e-5, rtol=0)
    assert max(part.abs().max() for part in (theta[1], V, c)) < 1e-5


def test_a_point_is_a_minimum_of_the_smaller_network(point):
    net = point.module
    assert net[0].weight[0].equal(net[0].weight[2]) and net[2].weight[:, 0].equal(net[2].weight[:, 2])
    assert max(part.abs().max() for part in gradients(net)) < 1e-5 and point.gradient_norm < 1e-5
    reduced = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2)).double()
    with torch.no_grad():
        reduced[0].weight.copy_(net[0].weight[:2])
        reduced[0].bias.copy_(net[0].bias[:2])
        reduced[2].weight.copy_(torch.stack([2 * net[2].weight[:, 0], net[2].weight[:, 1]], 1))
        reduced[2].bias.copy_(net[2].bias)
    assert F.mse_loss(reduced(X), Y).item() == pytest.approx(point.loss, rel=1e-12)
    assert max(part.abs().max() for part in gradients(reduced)) < 1e-5
    assert point.height == pytest.approx(point.loss - point.path.losses[0].item()) and point.height > 0


def hessian(net):
    names, values = zip(*net.named_parameters(), strict=True)
    flat = torch.cat([value.detach().flatten() for value in values])

    def loss(theta):
        parts = theta.split([value.numel() for value in values])
        named = {name: part.view_as(value) for name, part, value in zip(names, parts, values, strict=True)}
        return F.mse_loss(torch.func.functional_call(net, named, X), Y)

    return torch.autograd.functional.hessian(loss, flat)


def test_the_hessian_of_a_point(point):
    H = hessian(point.module)
    torch.testing.assert_close(point.eigenvalues, torch.linalg.eigvalsh(H), atol=1e-9, rtol=0)
    negative, zero, positive = point.inertia
    assert (negative + zero + positive, negative) == (len(H), point.negative)
    # J and D of section 4.2, from their definitions
    net = point.module
    z = torch.cat([X, torch.ones(len(X), 1)], 1)
    s = z @ torch.cat([net[0].weight[0], net[0].bias[:1]])
    r = 2 * (net(X) - Y) / Y.numel()
    g1 = 1 - s.tanh().square()
    J = (r * g1[:, None]).T @ z
    c = 2 * net[2].weight[:, 0]
    D = (z * ((r @ c) * -2 * s.tanh() * g1)[:, None]).T @ z
    added = pair_inertia(J.detach(), D.detach(), tol=1e-6)
    assert (negative, zero) == added[:2]  # the smaller network is at a strict minimum


def test_the_lanczos_method_sees_what_the_exchange_reverses(point):
    again = permutation_point(small(), "0", 0, 2, F.mse_loss, (X, Y), distances=torch.tensor([1.0, 0.5, 0.1]), exact=1)
    pairs = torch.tensor([(0, 4), (1, 5), (6, 8), (9, 11), (12, 14)])  # in W (3, 2), b (3,) and V (2, 3)
    signs = torch.tensor([[1.0, -1.0]]).double().expand(5, 2)
    basis = torch.zeros(5, 17, dtype=torch.float64).scatter(1, pairs, signs / 2**0.5)
    expected = torch.linalg.eigvalsh(basis @ hessian(point.module) @ basis.T)
    assert again.inertia is None and len(expected) == 5
    torch.testing.assert_close(again.eigenvalues, expected, atol=1e-8, rtol=0)


def test_columns_are_shared_at_one_loss(point):
    settings = {"distances": torch.tensor([1.0, 0.5, 0.1]), "share": 0.2}
    other = permutation_point(small(), "0", 0, 2, F.mse_loss, (X, Y), **settings)
    assert other.loss == pytest.approx(point.loss, rel=1e-12)
    V = other.module[2].weight
    torch.testing.assert_close(4 * V[:, 0], V[:, 2])
    point = permutation_point(small(), "0", 0, 1, F.mse_loss, (X, Y), distances=torch.tensor([1.0, 0.1]), decay=0.01)
    net = point.module
    square = sum(p.square().sum() for p in net.parameters())
    loss = F.mse_loss(net(X), Y) + 0.005 * square
    assert loss.item() == pytest.approx(point.loss, rel=1e-12) and net[2].weight[:, 0].equal(net[2].weight[:, 1])
    assert max(part.abs().max() for part in torch.autograd.grad(loss, list(net.parameters()))) < 1e-6


def test_channels_with_a_norm_in_batches():
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    net = nn.Sequential(nn.Conv2d(1, 4, 3), *norm, nn.Linear(16, 3))
    x, y = torch.randn(40, 1, 6, 6), torch.arange(40) % 3
    for _ in range(3):
        net(2 * x + 1)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
    state, random = {k: v.clone() for k, v in net.state_dict().items()}, torch.get_rng_state()
    distances = torch.tensor([1.0, 0.1])
    point = permutation_point(net, "0", 1, 3, F.cross_entropy, data, steps=3, distances=distances, exact=1)
    assert all(v.equal(state[k]) for k, v in net.state_dict().items()) and net.training
    assert all(p.grad is None for p in net.parameters()) and torch.get_rng_state().equal(random)
    made = point.module
    for value in (*made[0].parameters(), *made[1].parameters(), made[1].running_mean, made[1].running_var):
        assert value.dtype == torch.float32 and value[1].equal(value[3])
    V = made[5].weight.view(3, 4, 4)
    assert V[:, 1].equal(V[:, 3])
    assert F.cross_entropy(made(x), y).item() == pytest.approx(point.loss, rel=1e-3)
    assert made[1].running_mean[[1, 3]].mean() == pytest.approx(net[1].running_mean[[1, 3]].mean().item(), rel=1e-5)
    half = merge_path(net, "0", 1, 3, F.cross_entropy, (x, y), torch.tensor([0.5]), steps=0).module[1].running_var
    assert half[[1, 3]].diff().item() == pytest.approx(net[1].running_var[[1, 3]].diff().item() / 2, rel=1e-4)


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 3), nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x):
        h = self.a(x)
        return self.c(h + self.b(h).tanh())


@pytest.mark.parametrize(
    ("net", "change"),
    [
        *((small(), {"layer": "1"}), (small(), {"layer": "2"}), (small(), {"i": 3}), (small(), {"j": 0})),
        *((small(), {"distances": torch.tensor([0.1, 0.5])}), (small(), {"loss": lambda o, y: o - y})),
        (Loop(), {"layer": "a"}),
    ],
)
def test_bad_arguments_are_refused(net, change):
    with pytest.raises(ValueError, match="allowed"):
        merge_path(**{"model": net, "layer": "0", "i": 0, "j": 1, "loss": F.mse_loss, "data": (X, Y)} | change)
