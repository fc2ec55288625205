"""Recipes: schedules against those of torch.optim, and what is refused."""

import pytest
import torch

from lmc_helpers.training.recipes import Descent


def rates(scheduler, optimiser, epochs):
    found = []
    for _ in range(epochs):
        found.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        scheduler.step()
    return found


def sgd(rate):
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)


def test_cosine_is_that_of_torch():
    optimiser = sgd(0.3)
    expected = rates(torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=17), optimiser, 17)
    descent = Descent(17, 1, rate=0.3, schedule="cosine")
    assert [descent.rate_in(epoch) for epoch in range(17)] == pytest.approx(expected, rel=1e-12)


def test_warm_up_multiplies_by_one_number_then_stays():
    """Bürgin et al., F.2: γ = 1.259 in 20 epochs, as ExponentialLR would go on."""
    optimiser = sgd(1e-4)
    expected = rates(torch.optim.lr_scheduler.ExponentialLR(optimiser, gamma=100 ** (1 / 20)), optimiser, 20)
    descent = Descent(100, 128, "adamw", 1e-2, schedule="warm-up", warm_up=20, start_rate=1e-4)
    assert [descent.rate_in(epoch) for epoch in range(20)] == pytest.approx(expected, rel=1e-12)
    assert {descent.rate_in(epoch) for epoch in range(20, 100)} == {1e-2}
    assert f"{descent.rate_in(8) / descent.rate_in(7):.3f}" == "1.259"


def test_constant():
    assert {Descent(5, 1, rate=0.1).rate_in(epoch) for epoch in range(5)} == {0.1}
    assert Descent(1, 1, rate=1) == Descent(1, 1, rate=1.0)
    assert repr(Descent(1, 1, rate=1).rate) == "1.0"
    assert Descent(1, 1, augment=("flip", "crop")) == Descent(1, 1, augment=("crop", "flip"))
