"""Every matcher under its name, on every architecture: functions stay as they are, planted permutations are found."""

import pytest
import torch
from oracles.networks import numbers, perturbed

from lmc_helpers._chapters.matchers import methods
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import random_permutations
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT

QUICK = methods(restarts=3, steps=3, batch=7)
MODELS = [
    MLP((6, 7, 6, 3), norm="layer"),
    CNN(4, 4, pools=1, input_shape=(2, 4, 4), classes=3),
    ResNet20(1, 1, base=3, input_shape=(2, 8, 8), classes=3),
    ViT(patch=2, dimension=6, depth=2, heads=3, ratio=2, input_shape=(2, 4, 4), classes=3),
]


def data(model, n=12):
    return numbers(n, *model.input_shape), torch.arange(n) % 3


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", QUICK)
def test_the_permuted_networks_are_the_same_functions(name, model):
    a, b = perturbed(model, 2, seed=1), perturbed(model, 2, seed=2)
    x, y = data(model)
    p = QUICK[name](a, b, x, y, 1)
    assert {g: tuple(one.shape) for g, one in p.items()} == {g: (2, m) for g, m in model.symmetry().sizes.items()}
    torch.testing.assert_close(b.permuted(p).forward(x), b.forward(x), rtol=1e-10, atol=1e-10)
    again = QUICK[name](a, b, x, y, 1)
    assert all(one.equal(again[g]) for g, one in p.items())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", ["weights, restarts", "activations"])
def test_planted_permutations_are_found_in_every_architecture(name, model):
    a, (x, y) = perturbed(model, 2), data(model, 60)
    planted = random_permutations(model.symmetry(), 2, torch.Generator().manual_seed(3))
    p = methods(restarts=20)[name](a, a.permuted(planted), x, y, 1)
    assert all(p[g].equal(one.argsort(dim=-1)) for g, one in planted.items())


@pytest.mark.parametrize("name", [name for name in QUICK if name not in ("identity", "random", "Sinkhorn")])
def test_planted_permutations_of_a_small_network_are_found_at_once(name):
    model = MLP((6, 7, 6, 3))
    start = model.initial([1], torch.float64)
    a, (x, _) = Stack(model, {key: 3 * value for key, value in start.params.items()}), data(model, 40)
    planted = random_permutations(model.symmetry(), 1, torch.Generator().manual_seed(2))
    p = QUICK[name](a, a.permuted(planted), x, a.forward(x)[0].argmax(dim=1), 1)
    assert all(p[g].equal(one.argsort(dim=-1)) for g, one in planted.items())
