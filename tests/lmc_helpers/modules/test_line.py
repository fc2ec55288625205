"""Lines between modules against modules on them that are made and called by hand, and errors against simulation."""

import copy
import math
from functools import partial

import numpy as np
import pytest
import torch
from oracles.networks import numbers as normal
from oracles.networks import scattered
from scipy.stats import t as student
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.utils.data import DataLoader, TensorDataset

from lmc_helpers.barrier import GRID
from lmc_helpers.modules.line import Line, interpolate, line


def dense():
    return nn.Sequential(nn.Linear(5, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.5), nn.Linear(12, 3))


def convolutional():
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(5, 6)
        self.outside = nn.Linear(6, 1)
        self.register_buffer("mask", torch.full((6,), -math.inf).diag_embed())
        self.register_buffer("steps", torch.tensor(3))

    def forward(self, x, scale=1.0):
        return self.outside(torch.tanh(self.inside(x))).squeeze(-1) * scale


def between(a, b, lam):
    """λ a + (1 − λ) b from its definition."""
    made = copy.deepcopy(a)
    with torch.no_grad():
        for (name, value), other in zip(made.state_dict().items(), b.state_dict().values(), strict=True):
            if value.is_floating_point() and name != "mask":
                value.copy_(lam * value + (1 - lam) * other)
    return made.eval()


def pair(make=dense):
    return scattered(make(), 1), scattered(make(), 2)


X, Y = normal(90, 5, seed=3), torch.arange(90) % 3


@pytest.mark.parametrize("data", ["pair", "list", "loader", "iterator"])
def test_losses_are_those_of_modules_on_the_line(data):
    a, b = pair()
    parts = list(zip(X.split(40), Y.split(40), strict=True))
    loader = DataLoader(TensorDataset(X, Y), 32, shuffle=True)
    given = {"pair": (X, Y), "list": parts, "loader": loader, "iterator": iter(parts)}
    found = line(a, b, cross_entropy, given[data])
    for k, lam in enumerate(GRID):
        outputs = between(a, b, lam)(X)
        assert found.losses[k].item() == pytest.approx(cross_entropy(outputs, Y).item(), rel=1e-10)
        assert found.accuracies[k].item() == pytest.approx((outputs.argmax(1) == Y).double().mean().item())
    above = found.losses - torch.tensor([x * found.losses[-1] + (1 - x) * found.losses[0] for x in GRID])
    assert found.barrier == pytest.approx(above.max().item(), rel=1e-12)
    assert found.buffers == "running statistics of 1 batch norms interpolated like weights"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_other_types_stay_as_they_are(dtype):
    a, b = (net.to(dtype) for net in pair())
    found = line(a, b, cross_entropy, (X, Y), [0, 0.5, 1])
    exact = line(a.double(), b.double(), cross_entropy, (X, Y), [0, 0.5, 1])
    assert found.losses.dtype == torch.float64
    torch.testing.assert_close(found.losses, exact.losses, rtol=50 * torch.finfo(dtype).eps, atol=0)


def test_interpolation_is_exact_at_the_ends_and_changes_nothing():
    a, b = pair(Regression)
    before = [copy.deepcopy(net.state_dict()) for net in (a, b)]
    for lam, end in ((1, a), (0, b)):
        for name, value in interpolate(a, b, lam).state_dict().items():
            assert value.equal((a if name == "steps" else end).state_dict()[name])
    half = interpolate(a.half(), b.half(), 0.25)
    assert half.inside.weight.dtype == torch.float16 and half.mask.isinf().sum() == 6 and a.training
    expected = 0.25 * before[0]["inside.bias"] + 0.75 * before[1]["inside.bias"]
    torch.testing.assert_close(half.inside.bias.double(), expected, rtol=2e-3, atol=0)
    a, b = pair()
    plain = line(a, b, cross_entropy, (X, Y), [0, 0.5, 1])
    wrapped = line(nn.DataParallel(a), torch.compile(b, backend="eager"), cross_entropy, (X, Y), [0, 0.5, 1])
    assert wrapped.losses.equal(plain.losses)


class Worded(nn.Linear):
    def __init__(self, word):
        super().__init__(5, 3)
        self.word = word


def quantised(k):
    return torch.ao.quantization.quantize_dynamic(scattered(nn.Sequential(nn.Linear(5, 3), nn.PReLU()), k))


OTHERS = [
    ("'1' is ReLU in a and Tanh", *([nn.Linear(5, 3), nn.ReLU()], [nn.Linear(5, 3), nn.Tanh()])),
    ("'1' is nothing in a and ReLU", *([nn.Linear(5, 3)], [nn.Linear(5, 3), nn.ReLU()])),
    ("'0.self_attn.num_heads'", *([nn.TransformerEncoderLayer(4, n, 8)] for n in (2, 4))),
    ("'0.word'", *([Worded((w, 1))] for w in "ab")),
    ("'0.word'", *([Worded(f)] for f in (torch.relu, torch.tanh))),
    ("'0.word'", *([Worded(partial(nn.functional.dropout, p=p))] for p in (1, 0))),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:torch.*deprecated")
def test_what_is_no_state_must_be_equal():
    for what, *layers in OTHERS:
        a, b = (nn.Sequential(*each) for each in layers)
        with pytest.raises(ValueError, match=f"{what} .* b.*; allowed: equal ones"):
            interpolate(a, b, 0.0)
        interpolate(a, copy.deepcopy(a), 0.5)
    with pytest.raises(ValueError, match=r"'0._packed_params._packed_params', of the state, differs"):
        interpolate(quantised(1), quantised(2), 0.5)


def test_recomputed_statistics_are_those_of_the_data():
    """One batch: its own mean and unbiased variance; many equal ones: their means."""
    a, b = pair(convolutional)
    x, y = normal(30, 2, 4, 4), torch.arange(30) % 3
    for sizes in ([30], [12, 18], [29, 1]):
        data = list(zip(x.split(sizes), y.split(sizes), strict=True))
        found = line(a, b, cross_entropy, data, [0, 0.5, 1], "recomputed")
        middle = between(a, b, 0.5)
        parts = [middle[0](part) for part in x.split(sizes) if len(part) > 1]
        n = [len(part) / sum(map(len, parts)) for part in parts]
        middle[1].running_mean = sum(w * z.mean((0, 2, 3)) for w, z in zip(n, parts, strict=True)).detach()
        middle[1].running_var = sum(w * z.var((0, 2, 3)) for w, z in zip(n, parts, strict=True)).detach()
        assert found.losses[1].item() == pytest.approx(cross_entropy(middle(x), y).item(), rel=1e-10)
        assert "recomputed" in found.buffers


def test_regression_and_inputs_of_several_kinds():
    a, b = pair(Regression)
    y = normal(90, seed=4)
    expected = [mse_loss(between(a, b, lam)(X, 2.0), y).item() for lam in GRID]
    one = [(dict(x=x, scale=2.0), y) for x, y in zip(X.split(50), y.split(50), strict=True)]
    two = [((x, torch.tensor(2.0)), y) for x, y in zip(X.split(50), y.split(50), strict=True)]
    each = lambda outputs, y: (outputs - y).square()  # noqa: E731
    three = ((X, torch.full((90,), 2.0)), y)
    for data, loss in ((one, mse_loss), (two, nn.MSELoss()), (one, each), (three, each)):
        found = line(a, b, loss, data)
        assert found.accuracies is None
        np.testing.assert_allclose(found.losses, expected, rtol=1e-10)


def test_sequences_have_accuracies():
    a, b = (scattered(nn.Linear(5, 4), seed) for seed in (1, 2))
    x, y = normal(12, 7, 5), torch.arange(84).view(12, 7) % 4
    found = line(a, b, lambda out, y: cross_entropy(out.flatten(0, 1), y.flatten()), (x, y), [0, 1])
    assert found.accuracies[1].item() == pytest.approx((a(x).argmax(-1) == y).double().mean().item())


def test_errors_are_the_spread_of_the_barrier_over_samples():
    """Batches of a line with one highest place, of two sizes: errors against the deviation, intervals against truth."""
    rng, lambdas = np.random.default_rng(1), [0, 0.25, 0.5, 0.75, 1]
    truth, sizes = np.array([0.2, 0.9, 1.4, 1.0, 0.4]), torch.tensor([6.0] * 12 + [24.0] * 8, dtype=torch.float64)
    half = student.ppf(0.975, 19)
    values, errors = [], []
    for _ in range(600):
        common = rng.normal(size=(20, 1))
        noise = (common + 0.3 * rng.normal(size=(20, 5))) / np.sqrt(sizes.numpy())[:, None]
        kinds = Line(torch.tensor(lambdas), torch.tensor(truth + noise), sizes, None, "").barrier_kinds
        values.append([kind.value for kind in kinds.values()])
        errors.append([kind.error for kind in kinds.values()])
    values, errors = np.array(values), np.array(errors)
    np.testing.assert_allclose(errors.mean(0), values.std(0), rtol=0.08)
    exact = Line(torch.tensor(lambdas), torch.tensor(truth)[None], torch.ones(1).double(), None, "").barrier_kinds
    inside = np.abs(values - [kind.value for kind in exact.values()]) < half * errors
    assert ((inside.mean(0) > 0.92) & (inside.mean(0) < 0.98)).all(), inside.mean(0)
    assert all(math.isnan(kind.error) for kind in exact.values())  # one batch


@pytest.mark.parametrize("loss", [cross_entropy, nn.CrossEntropyLoss(), lambda out, y: 2 * cross_entropy(out, y)])
def test_cross_entropy_of_one_output_is_refused(loss):
    a, b = (scattered(nn.Linear(5, 1), seed) for seed in (1, 2))
    with pytest.raises(ValueError, match="allowed"):
        line(a, b, loss, (X, torch.zeros(90, dtype=torch.long)))


def spoiled(net):
    with torch.no_grad():
        net[4].bias[0] = torch.nan
    return net


def huge(net):
    with torch.no_grad():
        net[4].bias[0] = 1e308
    return net


@pytest.mark.parametrize(
    "change",
    [
        {"data": (X, Y + 1)},
        {"data": (X, Y - 1)},
        {"data": (X[:0], Y[:0])},
        {"data": (X, Y[:5])},
        {"data": []},
        {"data": X},
        {"data": [X, X, X]},
        {"data": {"x": X}},
        {"loss": mse_loss, "data": (X, X[:, 0])},  # torch would broadcast it
        {"loss": lambda out, y: out},
        {"loss": lambda out, y: "1"},
        {"a": nn.Linear(5, 3).double()},
        {"b": spoiled(pair()[1])},
        {"a": huge(pair()[0]), "loss": lambda out, y: out.square().mean()},
        {"lambdas": [0, 0.5]},
        {"lambdas": [0, 1, 0.5]},
    ],
)
def test_bad_input_is_refused(change):
    a, b = pair()
    with pytest.raises((TypeError, ValueError), match="allowed"):
        line(**{"a": a, "b": b, "loss": cross_entropy, "data": (X, Y)} | change)


@pytest.mark.parametrize("only", [["0"], ["0", "4.bias"], ["1", "0", "4"]])
def test_some_layers_move_and_the_others_stay_those_of_a(only):
    a, b = pair()
    moved = copy.deepcopy(a)
    for name, value in moved.state_dict().items():
        if any(name == one or name.startswith(f"{one}.") for one in only):
            value.copy_(b.state_dict()[name])
    found = line(a, b, cross_entropy, (X, Y), only=only)
    torch.testing.assert_close(found.losses, line(a, moved, cross_entropy, (X, Y)).losses)
    if len(only) == 3:
        assert torch.equal(found.losses, line(a, b, cross_entropy, (X, Y)).losses)


@pytest.mark.parametrize("only", [[], ["2"], ["0", "nought"], ["4.b"]])
def test_unknown_layers_are_refused(only):
    with pytest.raises(ValueError, match="allowed: names of modules with parameters, or of parameters"):
        line(*pair(), cross_entropy, (X, Y), only=only)


def test_targets_are_not_rounded_to_the_type_of_the_weights():
    class Half(nn.Linear):
        def forward(self, x):
            return super().forward(x.bfloat16()).float()

    a, b, x, y = Half(3, 1).bfloat16(), Half(3, 1).bfloat16(), torch.randn(20, 3), torch.rand(20, 1)
    expected = [mse_loss(net(x), y).item() for net in (b, a)]
    assert line(a, b, mse_loss, [(x, y)], [0, 1]).losses.tolist() == pytest.approx(expected, rel=1e-6)
