"""Every matcher under its name: permutations that leave the function as it is, and planted ones found."""

import pytest
import torch

from lmc_helpers.alignment.methods import METHODS
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import random_permutations


@pytest.mark.parametrize("name", METHODS)
def test_the_permuted_networks_are_the_same_functions(name):
    model = MLP((6, 7, 6, 3), norm="layer")
    a, b = model.initial([1, 2], torch.float64), model.initial([3, 4], torch.float64)
    x = torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    y = torch.arange(40) % 3
    p = METHODS[name](a, b, x, y, 1)
    assert {g: tuple(one.shape) for g, one in p.items()} == {"0": (2, 7), "1": (2, 6)}
    torch.testing.assert_close(b.permuted(p).forward(x), b.forward(x), rtol=1e-12, atol=1e-12)
    again = METHODS[name](a, b, x, y, 1)
    assert all(one.equal(again[g]) for g, one in p.items())


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("identity", "random", "Sinkhorn")])
def test_planted_permutations_are_found_but_by_the_published_objective(name):
    model = MLP((6, 7, 6, 3))
    start = model.initial([1], torch.float64)
    a = Stack(model, {key: 3 * value for key, value in start.params.items()})
    planted = random_permutations(model.symmetry(), 1, torch.Generator().manual_seed(2))
    x = torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    p = METHODS[name](a, a.permuted(planted), x, a.forward(x)[0].argmax(dim=1), 1)
    found = [p[g].equal(one.argsort(dim=-1)) for g, one in planted.items()]
    assert all(found) != (name == "activations, as published")
