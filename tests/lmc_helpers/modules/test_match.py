"""Matching of modules: planted orders are found, correlations are NumPy's, nothing of the caller's changes."""

import copy
import itertools

import numpy as np
import pytest
import torch
from cases import Experts, Layers, acted, difference, drawn, effective, made, moved, outputs
from oracles.networks import numbers as normal
from oracles.networks import scattered
from scipy.optimize import linear_sum_assignment
from torch import nn
from torch.nn.functional import mse_loss

from lmc_helpers import Axis, Symmetry, line, load_matching, match, permuted, symmetry

FACTORS = ("grouped queries", "repeated keys", "norm in heads", "packed inside heads", "partly rotary")
HEADS = ("heads on None", "heads on 0", "heads on 1", "fused slices", "fused lists", "fused entries")
PARTS = ("Layers", "Experts", "Members", "Divided", "Mixer", "Chosen", "Gathered", "heads twice", "mixed in groups")


def dense():
    return nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 9), nn.Tanh(), nn.Linear(9, 3))


class Single(nn.Sequential):
    """A norm in single precision, as in Llama."""

    def forward(self, x):
        h = self[0](x).float()
        return self[1]((h * h.square().mean(-1, keepdim=True).rsqrt()).to(x))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(2, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.inner, self.outer = nn.Conv2d(6, 8, 3, padding=1), nn.Conv2d(8, 6, 3, padding=1)
        self.side, self.head = nn.Conv2d(6, 6, 1), nn.Linear(6, 3)

    def forward(self, x):
        h = self.norm(self.stem(x)).relu()
        h = (h + self.side(h) + self.outer(self.inner(h).relu_())).relu_()
        return self.head(h.mean((2, 3)))


def attention():
    layer = nn.TransformerEncoderLayer(8, 2, 10, activation="gelu", batch_first=True, norm_first=True)
    return nn.Sequential(nn.Linear(5, 8), layer, nn.Linear(8, 3))


def shuffled(name, dtype=torch.float64):
    """A module, the same one in another order of its units, and inputs."""
    a, x = made(name)
    a, x = a.to(dtype), x if name == "GPT" else x.to(dtype)
    groups = symmetry(a, x)
    return a, permuted(a, groups, drawn(groups)), x


@pytest.mark.parametrize("by", ["weights", "activations"])
@pytest.mark.parametrize(
    "name", ["mlp", "batch norm", "UNet", "ConvNeXt", "Cells", "GPT", "LSTM", *FACTORS, *HEADS, *PARTS]
)
def test_planted_orders_are_found(name, by):
    a, b, x = shuffled(name)
    assert any(not value.equal(b.state_dict()[key]) for key, value in a.state_dict().items())
    found = match(a, b, x, by)
    assert list(found.state_dict()) == list(b.state_dict())
    for key, value in a.state_dict().items():
        torch.testing.assert_close(found.state_dict()[key], value, rtol=0, atol=0)
    torch.testing.assert_close(found(x), a(x))
    if name == "GPT":  # tied
        assert found.head.weight is found.embed.weight


def test_double_networks_that_compute_in_single_precision():
    torch.manual_seed(1)
    a, x = Single(nn.Linear(5, 300), nn.Linear(300, 2)).double(), normal(20, 5)
    groups = symmetry(a, x)
    found = match(a, permuted(a, groups, drawn(groups)), x)
    assert found[0].weight.equal(a[0].weight) and found[1].weight.equal(a[1].weight)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("by", ["weights", "activations"])
def test_other_types_stay_as_they_are(dtype, by):
    a, b, x = shuffled("mlp", dtype)
    found = match(a, b, x, by)
    assert all(value.equal(a.state_dict()[key]) for key, value in found.state_dict().items())
    assert found[0].weight.dtype == dtype


def turned(name):
    """A module, the same one with its units in another order and about half of them times −1, entry by entry."""
    a, x = made(name)
    groups, draw = symmetry(a, x, kinds="signs"), torch.Generator().manual_seed(4)
    assert any(kinds.signs for kinds in groups.kinds.values())
    signs = {g: 1 - 2 * torch.randint(2, (groups.sizes[g],), generator=draw) for g in groups.kinds}

    def act(g):
        return lambda t, units: units * signs[g] ** groups.kinds[g].signs[0][t] if groups.kinds[g].signs else units

    return a, moved(acted(a, groups, {g: act(g) for g in signs}), groups, drawn(groups)), x


SIGNED = list(itertools.product(["weight norm", "in place", "Divided", "Cells"], ["weights", "activations"]))


@pytest.mark.parametrize(("name", "by"), [*SIGNED, ("LSTM", "activations")])
def test_planted_signs_are_found(name, by):
    a, b, x = turned(name)
    if name == "in place" and by == "activations":  # of absolute values, which do not show them
        assert not match(a, b, x, by, details=True)[1].signs
        return
    made, found = match(a, b, x, by, details=True)
    weights = effective(copy.deepcopy(a)).state_dict()
    for key, value in weights.items():
        torch.testing.assert_close(made.state_dict()[key], value, rtol=0, atol=0)
    for g, signs in found.signs.items():
        assert signs.shape == (len(found.symmetry.kinds[g].signs), found.symmetry.sizes[g])
    ends = made.state_dict(), match(a, b, x, by, signs=False).state_dict()
    near, far = (sum((value * end[key]).sum() for key, value in weights.items()) for end in ends)
    assert near > 1.1 * far


def hidden(net, x):
    """Activations of a dense network's hidden layers by hand."""
    first = torch.relu(x @ net[0].weight.T + net[0].bias)
    return [one.detach().numpy() for one in (first, torch.tanh(first @ net[2].weight.T + net[2].bias))]


@pytest.mark.parametrize("sizes", [[40], [7, 33]])
def test_activations_are_correlated_where_they_are_read(sizes):
    a, b, x = scattered(dense(), 1), scattered(dense(), 2), normal(40, 5)
    made, found = match(a, b, x, "activations", data=[(part, None) for part in x.split(sizes)], details=True)
    values = []
    for group, za, zb in zip(("0", "2"), hidden(a, x), hidden(b, x), strict=True):
        m = za.shape[1]
        S = np.corrcoef(za.T, zb.T)[:m, m:]
        S = abs(S) if group == "2" else S  # a tanh
        rows, best = linear_sum_assignment(S, maximize=True)
        assert found.permutations[group].tolist() == best.tolist()
        values.append(S[rows, best].mean())
    np.testing.assert_allclose(found.values, values, rtol=1e-10)
    torch.testing.assert_close(made(x), b(x))


def test_pixels_are_samples_and_a_stream_is_read_in_several_places():
    a, b, x = scattered(Residual(), 1), scattered(Residual(), 2), normal(30, 2, 5, 5)
    _, found = match(a, b, x, "activations", details=True)
    places = []
    for net in (a.eval(), b.eval()):
        h = net.norm(net.stem(x)).relu()
        inner = net.inner(h).relu()
        last = (h + net.side(h) + net.outer(inner)).relu().mean((2, 3))
        pixels = [z.movedim(1, -1).flatten(0, -2) for z in (h, inner)]
        places.append({"stem": torch.cat([pixels[0], last]).detach(), "inner": pixels[1].detach()})
    values = []
    for group, p in found.permutations.items():
        m = len(p)
        S = np.corrcoef(places[0][group].T, places[1][group].T)[:m, m:]
        assert p.tolist() == linear_sum_assignment(S, maximize=True)[1].tolist()
        values.append(S[range(m), p].mean())
    np.testing.assert_allclose(found.values, values, rtol=1e-9)


def test_heads_are_matched_with_their_units():
    """Values are read after attention, queries and keys where they are made; heads by the sum of both."""
    a, b, x = scattered(attention(), 1), scattered(attention(), 2), normal(30, 4, 5)
    made, found = match(a, b, x, "activations", details=True)
    inside = [g for g, (_, j) in found.symmetry.within.items() if j == 0]
    (heads,) = {outer for outer, _ in found.symmetry.within.values()}
    assert len(inside) == 2 and found.symmetry.sizes[heads] == 2
    torch.testing.assert_close(made(x), b.eval()(x))
    recorded = []
    for net in (a.eval(), b.eval()):
        seen, heads_of = {}, net[1].self_attn
        net[1].norm1.register_forward_hook(lambda _m, _x, z, seen=seen: seen.update(h=z.detach()))
        heads_of.register_forward_hook(lambda _m, _x, z, seen=seen: seen.update(out=z[0].detach()))
        net(x)
        q, k, v = (seen["h"] @ heads_of.in_proj_weight.T + heads_of.in_proj_bias).detach().chunk(3, dim=-1)
        split = lambda z: z.unflatten(-1, (2, 4)).transpose(1, 2)  # noqa: E731
        read = nn.functional.scaled_dot_product_attention(*map(split, (q, k, v))).transpose(1, 2).flatten(2)
        torch.testing.assert_close(read @ heads_of.out_proj.weight.T + heads_of.out_proj.bias, seen["out"])
        recorded.append([torch.cat([z.flatten(0, 1) - z.mean((0, 1)) for z in (q, k)]), read.flatten(0, 1).detach()])
    tables = [np.corrcoef(za.T, zb.T)[:8, 8:] for za, zb in zip(*recorded, strict=True)]
    best = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for S in tables:
                block = S[4 * i : 4 * i + 4, 4 * j : 4 * j + 4]
                best[i, j] += block[linear_sum_assignment(block, maximize=True)].sum()
    order = linear_sum_assignment(best, maximize=True)[1]
    assert found.permutations[heads].tolist() == order.tolist()
    expected = best[[0, 1], order].sum() / 16
    assert any(value.item() == pytest.approx(expected, rel=1e-8) for value in found.values)


def test_weights_are_matched_without_buffers():
    a, b, x = shuffled("batch norm")
    with torch.no_grad():
        b[1].running_mean.copy_(b[1].running_mean.flip(0) * 1e6)
    made = match(a, b, x)
    assert made[0].weight.equal(a[0].weight)

    class Complex(nn.Module):
        def __init__(self, order):
            super().__init__()
            self.first = nn.Parameter(torch.complex(torch.ones(6, 5).double(), normal(6, 5))[order])
            self.last = nn.Parameter(torch.complex(torch.ones(3, 6).double(), normal(3, 6))[:, order])

        def forward(self, x):
            h = self.first @ x.T.to(self.first)
            return (self.last @ (h * h.abs())).abs()

    a, b = Complex(slice(None)), Complex([3, 0, 5, 1, 2, 4])
    assert match(a, b, normal(4, 5)).first.equal(a.first)


def test_all_restarts_are_told_and_the_best_is_taken():
    a, b, x = scattered(dense(), 1), scattered(dense(), 2), normal(40, 5)
    made, found = match(a, b, x, restarts=4, details=True)
    inner = sum((u * v).sum() for u, v in zip([*a.parameters()][:-1], [*made.parameters()][:-1], strict=True))
    assert found.values.shape == (4,)
    assert found.values.max().item() == pytest.approx(inner.item(), rel=1e-10)


@pytest.mark.parametrize("by", ["straight-through", "sinkhorn"])
def test_descent_gives_the_loss_of_the_line_s_middle(by):
    (a, b, _), x = shuffled("UNet"), normal(40, 3, 8, 8)
    y = a(x).detach()
    made, found = match(a, b, x, by, loss=mse_loss, data=[(x[:25], y[:25]), (x[25:], y[25:])], steps=20, details=True)
    middle = line(a, made, mse_loss, (x, y), [0, 0.5, 1]).losses[1]
    assert found.values.min().item() == pytest.approx(middle.item(), rel=1e-9)
    assert found.values.min() < 0.9 * found.values[0]  # that of b as it came
    torch.testing.assert_close(made(x), b(x))


def test_a_symmetry_by_hand_needs_no_inputs():
    a, b = nn.LSTM(3, 4).double(), nn.LSTM(3, 4).double()
    own = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)).double()
    groups = Symmetry({"h": (Axis("0.weight", 0), Axis("0.bias", 0), Axis("2.weight", 1))}, {"h": 3})
    moved = permuted(own, groups, {"h": torch.tensor([2, 0, 1])})
    assert match(own, moved, symmetry=groups)[0].weight.equal(own[0].weight)
    gates = tuple(Axis(f"{n}_l0", 0, 0, 4) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    lstm = Symmetry({"h": (*gates, Axis("weight_hh_l0", 1))}, {"h": 4})
    x = normal(5, 2, 3)
    made = match(a, b, symmetry=lstm)
    order = torch.cdist(made(x)[0].flatten(0, 1).T, b(x)[0].flatten(0, 1).T).argmin(1)
    torch.testing.assert_close(made(x)[0], b(x)[0][..., order])  # the units are the outputs


@pytest.mark.parametrize("by", ["weights", "activations"])
def test_wrappers_are_taken_off(by):
    a, b, x = shuffled("mlp")
    made = match(nn.DataParallel(a), torch.compile(b, backend="eager"), x, by)
    assert type(made) is nn.Sequential and made[0].weight.equal(a[0].weight)


def with_nan(net):
    with torch.no_grad():
        net[0].bias[0] = torch.nan
    return net


@pytest.mark.parametrize(
    "change",
    [
        {"b": nn.Linear(5, 3)},
        {"b": with_nan(dense())},
        {"x": None},
        {"by": "sinkhorn"},
        {"by": "straight-through", "loss": mse_loss},
        {"symmetry": Symmetry({"h": (Axis("9.weight", 0),)}, {"h": 3})},
        {"x": torch.ones(1, 5), "by": "activations"},
    ],
)
def test_bad_input_is_refused(change):
    with pytest.raises((TypeError, ValueError), match="allowed"):
        match(**{"a": dense(), "b": dense(), "x": torch.ones(4, 5)} | change)


def test_a_network_without_groups_is_told():
    a, x = nn.Linear(4, 3), normal(5, 4)
    with pytest.warns(UserWarning, match="b stays as it is: no group.*left alone by the inputs: weight"):
        match(a, nn.Linear(4, 3), x)

    class Halves(Experts):
        between = staticmethod(lambda h: h + h.mean(0))  # the units of both

        def forward(self, x):  # experts side by side on the axis of examples
            h = torch.cat([x[:2] @ self.up[0], x[2:] @ self.up[1]]).tanh() * self.router(x)[:, :1]
            h = self.between(h)
            return torch.cat([h[:2] @ self.down[0], h[2:] @ self.down[1]]) + self.bias.sum()

    with pytest.warns(UserWarning, match="up, down is a stack, all entries of which have one order of units"):
        match(Halves(), Halves(), (x := normal(4, 5)).float())

    class Apart(Halves):
        between = staticmethod(torch.sin)

    a = Apart().double()
    groups = symmetry(a, x)
    found = match(a, permuted(a, groups, drawn(groups)), x)
    assert list(groups.sizes.values()) == [4, 4] and found.up.equal(a.up) and found.down.equal(a.down)


def test_constants_of_the_architecture_stay_where_they_are():
    class Bumps(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("centres", torch.linspace(-1, 1, 4))
            self.inner, self.outer = nn.Linear(4, 6), nn.Linear(6, 2)

        def forward(self, x):
            return self.outer(self.inner((-((x[..., None] - self.centres) ** 2)).exp().sum(-2)).tanh())

    a, b, x = Bumps().double(), Bumps().double(), normal(8, 3)
    found = match(a, b, x, details=True)[1].symmetry
    assert (
        set(symmetry(a, x).sizes) == {"centres", "inner"}
        and "inner.weight[1]" in found.left["the buffer 'centres', which is equal in all modules"]
    )
    assert match(a, permuted(a, symmetry(a, x), {"centres": [2, 3, 1, 0]}), x).centres.equal(a.centres)


@pytest.mark.parametrize("kind", ["json", "safetensors"])
@pytest.mark.parametrize("name", ["resnet", "grouped queries", "Experts"])
def test_a_saved_matching_is_what_it_was(tmp_path, name, kind):
    a, b, x = shuffled(name)
    there, found = match(a, b, x, details=True)
    found.save(tmp_path / f"matched.{kind}")
    again = load_matching(tmp_path / f"matched.{kind}", b, x)
    assert again.symmetry == found.symmetry and again.symmetry.left == found.symmetry.left
    assert again.permutations.keys() == found.permutations.keys() and torch.equal(again.values, found.values)
    assert again.signs.keys() == found.signs.keys() and all(s.equal(found.signs[g]) for g, s in again.signs.items())
    assert again.symmetry.kinds == found.symmetry.kinds
    here = permuted(b, again.symmetry, again.permutations, again.signs)
    for one, two in zip(here.parameters(), there.parameters(), strict=True):
        assert torch.equal(one, two)


class Ordered(nn.Sequential):
    """A network of the same shapes whose hidden units have an order."""

    def forward(self, x):
        return self[2](self[1](self[0](x)).cumsum(1))


def test_a_matching_of_other_networks_or_no_matching_is_refused(tmp_path):
    b, x = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), normal(5, 4).float()
    found = match(b, permuted(b, symmetry(b, x), {"0": torch.tensor([1, 2, 0])}), x, details=True)[1]
    found.save(path := tmp_path / "matched.json")
    narrow, wide = (nn.Sequential(nn.Linear(4, h), nn.ReLU(), nn.Linear(h, 2)) for h in (2, 4))
    ordered = Ordered(*b)
    for net, why in ((narrow, "shape"), (wide, "shape"), (ordered, "other outputs when its units are permuted")):
        with pytest.raises(ValueError, match=rf"^[^\n]*{why}[^\n]*; allowed: [^\n]*$"):
            load_matching(path, net, x)
    for name, content in (("a.json", "[1]"), ("b.json", "{"), ("c.safetensors", "x"), ("d.npz", ""), ("e.json", "{}")):
        (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=rf"^[^\n]*{name}[^\n]*; allowed: [^\n]*$"):
            load_matching(tmp_path / name, b, x)
    (tmp_path / "twice.json").write_text(path.read_text().replace('"p 0": [2, 0, 1]', '"p 0": [2, 2, 1]'))
    with pytest.raises(ValueError, match="allowed"):
        load_matching(tmp_path / "twice.json", b, x)
    with pytest.raises(ValueError, match=r"'m\.txt' ends in '\.txt'; allowed"):
        found.save("m.txt")


def test_groups_of_a_convolution_are_matched_as_well_as_by_brute_force():
    """Two groups that may be exchanged, with two channels that each reads and two that it makes: 2 · 2⁴ orders."""

    def net(seed):
        layers = nn.Conv1d(3, 4, 1), nn.Tanh(), nn.Conv1d(4, 4, 1, groups=2), nn.Tanh(), nn.Conv1d(4, 2, 1)
        return scattered(nn.Sequential(*layers), seed).eval()

    x = normal(5, 3, 4)
    for seed in range(5):
        a, b = net(seed), net(seed + 10)
        groups = symmetry(a, x)
        assert sorted(groups.sizes.values()) == [2] * 5
        every = ([torch.tensor(p) for p in itertools.permutations(range(m))] for m in groups.sizes.values())
        orders = (dict(zip(groups.sizes, one, strict=True)) for one in itertools.product(*every))
        values = [
            sum((u * v).sum().item() for u, v in zip(a.parameters(), moved(b, groups, p).parameters(), strict=True))
            for p in orders
        ]
        found = match(a, b, x)
        value = sum((u * v).sum().item() for u, v in zip(a.parameters(), found.parameters(), strict=True))
        assert len(values) == 32
        assert value == pytest.approx(max(values))


def test_a_matching_of_some_outputs_is_made_kept_and_loaded(tmp_path):
    class States(Layers):
        def forward(self, x):
            h = self.inp(x)
            return {"out": self.out(torch.tanh(h @ self.W[0] @ self.W[1])), "states": h}

    torch.manual_seed(0)
    (a, b), x = (States().double() for _ in range(2)), normal(20, 5)
    groups = symmetry(a, x, outputs=lambda out: out["out"])
    matched, found = match(a, b, x, symmetry=groups, details=True)
    assert not torch.equal(matched(x)["states"], b(x)["states"])
    torch.testing.assert_close(matched(x)["out"], b(x)["out"])
    found.save(tmp_path / "m.json")
    loaded = load_matching(tmp_path / "m.json", b, x, outputs=lambda out: out["out"])
    assert all(p.equal(found.permutations[g]) for g, p in loaded.permutations.items())
    with pytest.raises(ValueError, match="b gives other outputs"):
        load_matching(tmp_path / "m.json", b, x)


@pytest.mark.parametrize("maps", ["orthogonal", "linear"])
@pytest.mark.parametrize("name", ["across", "pixel shuffle", "between each other"])
def test_planted_matrices_are_found(tmp_path, name, maps):
    """Of queries and keys, and of linear layers; rotations alone of the last."""
    a, x = made(name)
    groups, draw = symmetry(a, x, kinds=True), torch.Generator().manual_seed(5)

    def planted(kinds, m):
        M = torch.eye(m).double() + 0.2 * torch.randn(m, m, generator=draw, dtype=torch.float64)
        M = M if kinds.linear and maps == "linear" else torch.linalg.qr(M)[0]
        return lambda t, units: units @ (M if (kinds.linear or [1] * 99)[t] > 0 else torch.linalg.inv(M).T).T

    moves = {g: planted(kinds, groups.sizes[g]) for g, kinds in groups.kinds.items() if kinds.rotations}
    b = moved(acted(a, groups, moves), groups, drawn(groups))
    assert moves and difference(outputs(b, x), outputs(a, x)) < 1e-9
    found, how = match(a, b, x, maps=maps, details=True)
    assert set(how.maps) == set(moves)
    for key, value in a.state_dict().items():
        torch.testing.assert_close(found.state_dict()[key], value, rtol=0, atol=1e-5)
    how.save(tmp_path / "m.json")
    again = load_matching(tmp_path / "m.json", b, x)
    assert all(M.equal(how.maps[g]) for g, M in again.maps.items()) and again.maps.keys() == how.maps.keys()


def test_matrices_that_change_the_outputs_are_refused():
    net, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), normal(5, 4).float()
    groups = symmetry(net, x, kinds=True)
    with pytest.raises(ValueError, match="group '0'; allowed: an orthogonal matrix"):
        permuted(net, groups, {}, maps={"0": torch.eye(3)})
    with pytest.raises(ValueError, match=r"signs of group '0' .*; allowed: 1 and -1 of shape \(1, 1, 3\)"):
        permuted(net, groups, {}, {"0": torch.zeros(1, 3)})
    with pytest.raises(ValueError, match="maps = 'linear' with groups without kinds"):
        match(net, net, x, symmetry=symmetry(net, x), maps="linear")
