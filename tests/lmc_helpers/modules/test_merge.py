"""Many modules in one order against brute force; planes and curves against modules put together by hand."""

import itertools

import pytest
import torch
from cases import Masked
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

import lmc_helpers as lmc


def nets(number, seed=0, hidden=3, between=nn.ReLU):
    torch.manual_seed(seed)
    return [nn.Sequential(nn.Linear(4, hidden), between(), nn.Linear(hidden, 2)).double() for _ in range(number)]


def moved(net, p, signs=1):
    made, signs = nets(1, hidden=len(p))[0], torch.tensor(signs)
    ends = {"2.weight": net[2].weight[:, p] * signs, "2.bias": net[2].bias}
    made.load_state_dict({"0.weight": (net[0].weight[p].T * signs).T, "0.bias": net[0].bias[p] * signs} | ends)
    return made


def vector(net):
    return torch.cat([value.detach().flatten() for value in net.parameters()])


@pytest.mark.parametrize("between", [nn.ReLU, nn.Tanh])
@pytest.mark.parametrize("seed", [0, 1, 28])
def test_three_networks_are_put_in_an_order_that_no_single_one_can_improve(seed, between):
    three, x = nets(3, seed, between=between), torch.randn(30, 4, dtype=torch.float64)
    _, how = lmc.merge(three, (x, x), details=True)
    ones = torch.ones(1, 3)

    def value(orders):
        u, v, w = (vector(moved(net, *map(list, one))) for net, one in zip(three, orders, strict=True))
        return (u @ v + u @ w + v @ w).item()

    found = [(p["0"].tolist(), s.get("0", ones)[0].tolist()) for p, s in zip(how.permutations, how.signs, strict=True)]
    assert found[0] == ([0, 1, 2], [1, 1, 1])
    assert how.values[-1].item() == pytest.approx(value(found))
    signs = list(itertools.product((1, -1), repeat=3)) if between is nn.Tanh else [(1, 1, 1)]
    assert any("0" in s for s in how.signs) == (between is nn.Tanh)
    for k, p, s in itertools.product((1, 2), itertools.permutations(range(3)), signs):
        assert value([*found[:k], (p, s), *found[k + 1 :]]) <= how.values[-1].item() + 1e-9
    assert (how.values[1:].diff() >= -1e-9).all()


def test_planted_orders_come_back_and_compose():
    (net,) = nets(1, hidden=8)
    x = torch.randn(100, 4, dtype=torch.float64)
    generator = torch.Generator().manual_seed(1)
    orders = [torch.arange(8), *(torch.randperm(8, generator=generator) for _ in range(4))]
    copies = [moved(net, p.tolist()) for p in orders]
    for copy in copies:
        for value in copy.parameters():
            value.data += 0.01 * torch.randn(value.shape, generator=generator, dtype=torch.float64)
    one, how = lmc.merge(copies, (x, x), details=True)
    for found, p in zip(how.permutations, orders, strict=True):
        assert p[found["0"]].tolist() == list(range(8))
    assert (one(x) - net(x)).abs().max() < 0.1


def test_hidden_units_of_the_mean_have_the_mean_statistics_of_all():
    four, x = nets(4, hidden=6), torch.randn(200, 4, dtype=torch.float64)
    for net in four:
        net[0].register_parameter("scale", nn.Parameter(torch.tensor(1.0).double()))
    merged, how = lmc.merge(four, (x, x), details=True)
    each = torch.stack([net[0](x) for net in how.modules])  # (4, n, m)
    torch.testing.assert_close(merged[0](x).mean(dim=0), each.mean(dim=(0, 1)))
    torch.testing.assert_close(merged[0](x).std(dim=0), each.std(dim=1).mean(dim=0))
    plain = lmc.merge(four, (x, x), statistics="averaged")
    torch.testing.assert_close(vector(plain), torch.stack([vector(net) for net in how.modules]).mean(dim=0))


def test_a_plane_has_the_losses_of_modules_put_together_by_hand():
    (a, b, c), x = nets(3), torch.randn(50, 4, dtype=torch.float64)
    y = torch.randint(2, (50,))
    weights = torch.tensor([1.0, 7.0], dtype=torch.float64)
    found = lmc.plane(a, b, c, nn.CrossEntropyLoss(weight=weights), (x, y), [-0.5, 0, 0.25, 1])
    made = moved(a, [0, 1, 2])
    for i, t in enumerate(found.places.tolist()):
        for j, s in enumerate(found.places.tolist()):
            for to, u, v, w in zip(*(net.parameters() for net in (made, a, b, c)), strict=True):
                to.data = u.data + s * (v.data - u.data) + t * (w.data - u.data)
            assert found.losses[i, j].item() == pytest.approx(cross_entropy(made(x), y, weights).item())
            assert found.accuracies[i, j].item() == pytest.approx((made(x).argmax(1) == y).double().mean().item())
    distances = torch.cdist(found.corners, found.corners)
    expected = torch.stack([torch.stack([(vector(u) - vector(v)).norm() for v in (a, b, c)]) for u in (a, b, c)])
    torch.testing.assert_close(distances, expected, rtol=1e-9, atol=1e-7)
    a, b = nets(2)
    with pytest.raises(ValueError, match="lie on one line; allowed"):
        lmc.plane(a, b, lmc.interpolate(a, b, 0.3), mse_loss, (torch.randn(9, 4).double(), torch.randn(9, 2).double()))


def test_a_curve_is_lower_than_the_line_and_has_the_losses_of_its_formula():
    x = torch.randn(300, 4, dtype=torch.float64)
    teacher, a, b = nets(3, hidden=8)
    y = teacher(x).detach()
    for net in (a, b):
        optimiser = torch.optim.Adam(net.parameters(), 0.02)
        for _ in range(300):
            optimiser.zero_grad()
            mse_loss(net(x), y).backward()
            optimiser.step()
    found = lmc.curve(a, b, mse_loss, (x, y), steps=300)
    assert found.curve.losses.max() < 0.5 * found.line.losses.max()
    made = moved(a, list(range(8)))
    for lam, loss in zip(found.curve.lambdas.tolist(), found.curve.losses.tolist(), strict=True):
        for to, u, w, v in zip(*(net.parameters() for net in (made, a, found.middle, b)), strict=True):
            to.data = lam**2 * u.data + 2 * lam * (1 - lam) * w.data + (1 - lam) ** 2 * v.data
        assert loss == pytest.approx(mse_loss(made(x), y).item())
    assert lmc.curve(a, b, mse_loss, (x, y), steps=300).curve.losses.equal(found.curve.losses)


def with_norm(seed):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2)).double()
    net(10 ** (2 * seed) * torch.randn(500, 4).double())  # running variances of very different sizes
    return net.eval()


def test_a_plane_has_no_loss_where_variances_are_negative():
    nets, x = [with_norm(seed) for seed in (0, 1, 2)], torch.randn(60, 4).double()
    data = x, torch.randint(2, (60,))
    found = lmc.plane(*nets, cross_entropy, data)
    a, b, c = (net[1].running_var for net in nets)
    for i, t in enumerate(found.places.tolist()):
        for j, s in enumerate(found.places.tolist()):
            negative = (a + s * (b - a) + t * (c - a)).min() < 0
            assert found.losses[i, j].isnan() == found.accuracies[i, j].isnan() == negative
    assert found.losses.isnan().any()
    found.figure()
    recomputed = lmc.plane(*nets, cross_entropy, data, statistics="recomputed")
    assert recomputed.losses.isfinite().all()


class Spectral(nn.Module):
    """A complex weight, as neural operators have."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 2, dtype=torch.complex128))

    def forward(self, x):
        return (x.to(torch.complex128) @ self.weight).abs()


def test_complex_weights_lie_in_the_plane():
    torch.manual_seed(0)
    (a, b, c), x = (Spectral() for _ in range(3)), torch.randn(20, 4).double()
    y = torch.zeros(20, 2).double()
    found = lmc.plane(a, b, c, mse_loss, (x, y), [0, 1])
    assert found.losses[0, 1].item() == pytest.approx(mse_loss(b(x), y).item())
    assert found.losses[1, 0].item() == pytest.approx(mse_loss(c(x), y).item())
    assert found.corners[1, 0].item() == pytest.approx((b.weight - a.weight).norm().item())


def test_what_has_no_mean_is_not_merged_and_what_has_no_groups_is_said():
    x = torch.randn(20, 4).double()
    with pytest.raises(ValueError, match="the buffer 'mask', a mask or integers, differs"):
        lmc.merge([Masked(4, 4).double() for _ in range(3)], (x, x))
    with pytest.warns(UserWarning, match="all orders stay as they are"):
        lmc.merge([nn.Linear(4, 4).double() for _ in range(3)], (x, x))
    three, x = nets(3, hidden=5), torch.randn(30, 4).double()
    plain = lmc.merge(three, (x, x))
    normed = [torch.nn.utils.parametrizations.weight_norm(net[0]) and net for net in three]
    torch.testing.assert_close(lmc.merge(normed, (x, x))(x), plain(x))


def test_padded_networks_compute_what_they_did_and_average_what_is_padded():
    """By hand: units apart add λ v σ(w x) and (1 − λ) v' σ(w' x), the others are averaged."""
    (a, b), x, at = nets(2, hidden=5), torch.randn(30, 4, dtype=torch.float64), 0.3
    wide = lmc.pad(a, b, x, share={"0": torch.tensor([3, 1])})
    torch.testing.assert_close([net(x) for net in wide], [net(x) for net in (a, b)])
    hidden = [[net[0](x).relu() * one for one in torch.eye(5).double()] for net in (a, b)]
    mixed, found = lmc.interpolate(a, b, at), at * a[2].bias + (1 - at) * b[2].bias
    for i in range(5):
        one, two = (h[i] @ net[2].weight.T for h, net in zip(hidden, (a, b), strict=True))
        together = (mixed[0](x).relu()[:, i : i + 1]) @ mixed[2].weight.T[i : i + 1]
        found = found + (at * one + (1 - at) * two if i in (1, 3) else together)
    torch.testing.assert_close(lmc.interpolate(*wide, at)(x), found)


def convolutional():
    """Channels with a batch norm, and channels that are flattened."""
    layers = nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 4, 3)
    net = nn.Sequential(nn.Unflatten(1, (1, 4)), *layers, nn.Flatten(), nn.Linear(16, 2)).double()
    net[2].running_mean.normal_(), net[2].running_var.uniform_(1, 2)
    return net.eval()


def deep():
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 2)).double()


@pytest.mark.parametrize("make", [convolutional, deep])
def test_all_units_apart_are_the_ensemble_in_every_layer(make):
    torch.manual_seed(3)
    a, b = make(), make()
    x = torch.randn(6, 4, *[4] * (make is convolutional), dtype=torch.float64)
    for share in (0.4, 1):
        wide = lmc.pad(a, b, x, share)
        torch.testing.assert_close([net(x) for net in wide], [net(x) for net in (a, b)])
    torch.testing.assert_close(lmc.interpolate(*wide, 0.25)(x), 0.25 * a(x) + 0.75 * b(x))


def test_the_farthest_units_are_padded_and_units_that_a_norm_counts_refused():
    a, b = nets(2, hidden=4)
    b.load_state_dict(a.state_dict())
    b[0].weight.data[2] += 1
    b[2].weight.data[:, 1] += 2
    wide = lmc.pad(a, b, torch.ones(1, 4), share=0.5)[1]
    torch.testing.assert_close(wide[0].weight[4:], b[0].weight[[1, 2]].detach())  # by 2 + 2 and 1 + 1 + 1 + 1 squares
    normed = [nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2)) for _ in range(2)]
    with pytest.raises(ValueError, match=r"with more units; allowed: groups"):
        lmc.pad(*normed, torch.ones(2, 4))


def test_only_what_leads_to_the_ensemble_is_padded():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(6, 4))

        def forward(self, x):
            return torch.relu(x @ self.weight.T) @ self.weight

    for make in (Tied, lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU())):  # the latter has no hidden units
        with pytest.raises(ValueError, match="not the ensemble; allowed"):
            lmc.pad(make(), make(), torch.randn(5, 4))
