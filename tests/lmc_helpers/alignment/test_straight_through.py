"""Straight-through matching: planted permutations, no loss against its start, and one step by hand."""

import pytest
import torch
from oracles.draws import labelled

from lmc_helpers.alignment.midpoint import data_loss
from lmc_helpers.alignment.straight_through import straight_through
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.permutations import permute, random_permutations


def problem(model):
    return labelled(60, *model.input_shape, classes=model.classes, seed=1)


def halfway(model, a, b, p, x, y):
    """Cross-entropy halfway, by hand."""
    moved = permute(b, model.symmetry(), p)
    outputs = model.forward({name: (value + moved[name]) / 2 for name, value in a.items()}, x)
    return -outputs.log_softmax(dim=-1)[:, torch.arange(len(y)), y].mean(dim=1)


@pytest.mark.parametrize("rate", [1e-2, 1.0])
def test_what_is_returned_is_the_best_of_what_was_seen(rate):
    model = MLP((6, 8, 8, 3))
    x, y = problem(model)
    a, b = (model.initial(seeds, torch.float64).params for seeds in ([1, 2, 3], [4, 5, 6]))
    start = random_permutations(model.symmetry(), 3, torch.Generator().manual_seed(2))
    found = straight_through(a, b, model.symmetry(), data_loss(model, x, y), steps=20, rate=rate, start=start)
    assert found.losses.shape == (22, 3)
    torch.testing.assert_close(found.losses[0], halfway(model, a, b, start, x, y))
    torch.testing.assert_close(found.losses.min(dim=0).values, halfway(model, a, b, found.permutations, x, y))
    matched = weight_matching(a, b, model.symmetry(), start=start).permutations
    torch.testing.assert_close(found.losses[1], halfway(model, a, b, matched, x, y))
    assert (found.losses[2:] != found.losses[1]).any()  # the free weights moved to other permutations
    flat = straight_through(
        a, b, model.symmetry(), lambda params: 0 * params["0.bias"].sum(dim=1), steps=2, start=start
    )
    assert all(flat.permutations[g].equal(p) for g, p in start.items())  # the first of equals


def test_the_gradient_is_that_of_the_midpoint():
    """One step: the gradient of the loss at (a + π b)/2 in π b; Adam moves b̃ by its sign times the rate."""
    model = MLP((4, 3, 2))
    x, y = problem(model)
    a, b = (model.initial([seed], torch.float64).params for seed in (1, 2))
    seen = []

    def step_loss(params, step):
        seen.append({name: value.detach().clone() for name, value in params.items()})
        return data_loss(model, x, y)(params)

    straight_through(a, b, model.symmetry(), data_loss(model, x, y), steps=2, rate=1e-2, step_loss=step_loss)
    first = weight_matching(a, b, model.symmetry()).permutations
    moved = permute(b, model.symmetry(), first)
    free = {name: ((value + moved[name]) / 2).requires_grad_() for name, value in a.items()}
    data_loss(model, x, y)(free).sum().backward()
    for name, value in free.items():
        torch.testing.assert_close(seen[0][name], value.detach())
    shifted = {name: a[name] - 1e-2 * free[name].grad.sign() for name in a}
    second = weight_matching(shifted, b, model.symmetry(), start=first).permutations
    after = permute(b, model.symmetry(), second)
    for name in a:
        torch.testing.assert_close(seen[1][name], (a[name] + after[name]) / 2)
    model = MLP((4, 5, 2))
    x, y = problem(model)
    a, b = model.initial([1]).params, model.initial([2]).params
    found = straight_through(a, b, model.symmetry(), data_loss(model, x.float(), y), steps=0)
    assert found.losses.shape == (2, 1) and all(value.grad is None for value in a.values())
