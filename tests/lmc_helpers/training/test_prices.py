"""Prices: what is counted against closed forms, and how they grow."""

import pytest

from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT
from lmc_helpers.training import prices
from lmc_helpers.training.prices import _count, price
from lmc_helpers.training.recipes import Descent


@pytest.mark.parametrize("model", [CNN(width=4, depth=4, pools=1), ResNet20(), ViT()], ids=lambda m: type(m).__name__)
def test_every_architecture_has_a_price(model):
    found = _count(model)
    assert found.flops > 6 * model.parameters() / 4 and found.bytes > 0


def test_more_of_anything_costs_more():
    base = {"model": MLP((64, 16, 10)), "descent": Descent(10, 100), "examples": 1000, "networks": 4, "kept": 0}
    cost = price(**base)
    for change in (
        *({"model": MLP((64, 17, 10))}, {"descent": Descent(11, 100)}, {"descent": Descent(10, 99)}),
        *({"examples": 1001}, {"networks": 5}, {"masked": 10}),
    ):
        more = price(**base | change)
        assert more.cpu_hours > cost.cpu_hours and more.gpu_hours > cost.gpu_hours
        assert more.memory_mib >= cost.memory_mib
    products, waiting = 2 * (2 * 64 * 16 + 3 * 16 * 10), 4 * (64 + 16 + 16)  # operations and bytes of an example
    work = 10 * 1000 * 4 * (products / prices.FLOPS + waiting / prices.BANDWIDTH)
    work += 10 * 10 * 4 * (65 * 16 + 17 * 10) * prices.PARAMETER  # 100 steps of four networks
    assert 3600 * cost.cpu_hours == pytest.approx(10 * 10 * prices.OVERHEAD + work)
    assert cost.memory_mib == 501
    assert price(**base | {"networks": 4000}).memory_mib > cost.memory_mib
    big = base | {"model": MLP(), "networks": 20}
    assert price(**big | {"kept": 3}).memory_mib > price(**big).memory_mib
    assert price(**base | {"descent": Descent(0, 1)}).cpu_hours == 0
