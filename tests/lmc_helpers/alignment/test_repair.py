"""REPAIR against statistics of networks of torch.nn with hooks."""

import pytest
import torch
from oracles.networks import as_module, numbers
from torch import nn

from lmc_helpers.alignment.repair import _statistics, repair
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT


def scattered(model, seeds):
    """Networks with gains and shifts that differ, so that nothing cancels."""
    stack = model.initial(seeds, torch.float64)
    g = torch.Generator().manual_seed(sum(seeds))
    for name, value in stack.params.items():
        if not name.endswith("weight"):
            value += 0.3 * torch.randn(value.shape, generator=g, dtype=torch.float64)
    return stack


def by_hand(stack, n, x):
    """What every norm of network n makes, or every map but the last, units last, from layers of torch.nn."""
    net, seen = as_module(stack, n)[0], []
    torch.testing.assert_close(net(x), stack.forward(x)[n])
    of = lambda *kinds: [layer for layer in net.modules() if isinstance(layer, kinds)]  # noqa: E731
    for layer in of(nn.LayerNorm, nn.GroupNorm) or of(nn.Linear, nn.Conv2d)[:-1]:
        layer.register_forward_hook(lambda _m, _x, z: seen.append(z.detach().movedim(1, -1).flatten(0, -2)))
    net(x)
    return seen


MODELS = [
    MLP((5, 9, 8, 7, 3)),
    MLP((5, 9, 8, 3), "gelu", "layer"),
    MLP((5, 9, 8, 3), "relu", "layer", bias=False),
    MLP((5, 1, 4, 3), "tanh"),
    CNN(3, 4, pools=1, input_shape=(2, 4, 4), classes=3),
    CNN(4, 3, pools=0, norm="layer", input_shape=(2, 4, 3), classes=3),
    ResNet20(1, 2, base=2, input_shape=(2, 8, 8), classes=3),
    ResNet20(1, 1, norm_groups=None, base=3, input_shape=(2, 8, 8), classes=3),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("lam", [0.5, 0.2])
def test_all_units_have_the_interpolated_statistics(model, lam):
    a, b, x = scattered(model, [1, 2]), scattered(model, [3, 4]), numbers(40, *model.input_shape)
    found = repair(a, b, x, lam, batch=17)
    assert not any(dead.any() for dead in found.dead.values())
    for n in range(2):
        for za, zb, z in zip(*(by_hand(nets, n, x) for nets in (a, b, found.stack)), strict=True):
            torch.testing.assert_close(z.mean(0), lam * za.mean(0) + (1 - lam) * zb.mean(0))
            deviation = lam * za.std(0, correction=0) + (1 - lam) * zb.std(0, correction=0)
            torch.testing.assert_close(z.std(0, correction=0), deviation)
    for name in list(a.params)[-2:]:
        if name.split(".")[0] not in found.ratios:  # outputs stay merged
            torch.testing.assert_close(found.stack.params[name], lam * a.params[name] + (1 - lam) * b.params[name])


def test_the_ends_of_the_line_stay_as_they_are():
    a, b, x = scattered(MODELS[0], [1]), scattered(MODELS[0], [2]), numbers(40, 5)
    for lam, end in ((1, a), (0, b)):
        torch.testing.assert_close(repair(a, b, x, lam).stack.forward(x), end.forward(x))


def test_the_collapse_is_what_random_networks_show():
    """Independent weights half-way: variance 1/2, hence ratios near 1/√2 in the first layer."""
    a, b = MLP((50, 400, 400, 3)).initial([1], torch.float64), MLP((50, 400, 400, 3)).initial([2], torch.float64)
    ratio = repair(a, b, numbers(200, 50)).ratios["0"]
    assert abs(ratio.mean().item() - 0.5**0.5) < 0.03


def test_dead_units_are_reported_and_get_their_mean():
    model, x = MLP((5, 6, 4, 3)), numbers(40, 5)
    a, b = scattered(model, [1]), scattered(model, [2])
    a.params["0.weight"][0, 2] = 0
    b.params["0.weight"][0, 2] = 0  # constant in all three
    a.params["0.weight"][0, 4] = -b.params["0.weight"][0, 4]  # constant half-way only
    found = repair(a, b, x)
    assert found.dead["0"].tolist() == [[False, False, True, False, True, False]]
    za, zb, z = (_statistics(model, nets.params, "0.bias", x)[0] for nets in (a, b, found.stack))
    torch.testing.assert_close(z, (za + zb) / 2)
    assert all(value.isfinite().all() for value in found.stack.params.values())


def test_float32_networks_are_set_to_their_precision():
    (a, b), x = (MLP((5, 9, 8, 3)).initial([seed]) for seed in (1, 2)), numbers(40, 5).float()
    found = repair(a, b, x)
    means = [_statistics(net.model, net.params, "1.bias", x)[0] for net in (a, b, found.stack)]
    torch.testing.assert_close(means[2], (means[0] + means[1]) / 2, rtol=1e-4, atol=1e-5)
    assert found.stack.params["0.weight"].dtype == torch.float32


def test_fixed_parts_become_weights():
    model, x = MLP((5, 9, 8, 3)), numbers(40, 5)
    F, D = torch.ones(1, 9, 5, dtype=torch.float64), torch.zeros(1, 9, 5, dtype=torch.float64)
    a, b = (model.initial([seed], torch.float64, {"0.weight": (F, D)}) for seed in (1, 2))
    plain = repair(a.ordinary(), b.ordinary(), x).stack
    assert not repair(a, b, x).stack.fixed
    torch.testing.assert_close(repair(a, b, x).stack.forward(x), plain.forward(x))


VIT = ViT(2, 4, 1, 2, 1, 0.1, (1, 4, 4)).initial([1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"b": MLP((5, 8, 3)).initial([1])}, "one architecture"),
        ({"b": MLP((5, 9, 3)).initial([1, 2])}, "P pairs"),
        (
            {"a": MLP((5, 9, 3), bias=False).initial([1]), "b": MLP((5, 9, 3), bias=False).initial([1])},
            "biases or norms",
        ),
        ({"a": VIT, "b": VIT, "x": torch.ones(4, 1, 4, 4)}, "allowed: MLPs, CNNs and ResNets"),
        ({"x": torch.full((4, 5), torch.nan)}, "finite"),
    ],
)
def test_bad_input_is_refused(change, said):
    arguments = {"a": MLP((5, 9, 3)).initial([1]), "b": MLP((5, 9, 3)).initial([2]), "x": torch.ones(4, 5)}
    with pytest.raises(ValueError, match=said):
        repair(**arguments | change)
