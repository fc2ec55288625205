"""Pairs with shared fixed weights neuron by neuron and step by step, and the loss against torch's own."""

import math

import pytest
import torch

from lmc_helpers.experiments.chord_pairs import cross_entropy, train_pairs


def problem(n=40, d=7):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, d, dtype=torch.float64, generator=generator)
    return x, torch.randint(10, (n,), generator=generator)


def train(**change):
    arguments = {"scales": [0.0, 2.0], "networks": 2, "hidden": 6, "fixed": 3, "steps": 30, "seed": 4} | change
    return train_pairs(*problem(), **arguments)


def test_cross_entropy_is_that_of_torch():
    z = torch.randn(2, 3, 5, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    labels = torch.tensor([0, 9, 3, 3, 1])
    for i in range(2):
        for j in range(3):
            expected = torch.nn.functional.cross_entropy(z[i, j], labels)
            torch.testing.assert_close(cross_entropy(z, labels)[i, j], expected)


def test_fixed_entries_are_shared_and_have_their_scale():
    pairs = train(networks=40)
    assert pairs.F.shape == pairs.D.shape == (80, 1, 6, 7)
    assert ((pairs.D == 0).sum(dim=-1) == 3).all() and pairs.F[pairs.D == 1].eq(0).all()
    assert pairs.F[:40].eq(0).all()
    fixed = pairs.F[40:][pairs.D[40:] == 0]
    assert abs(fixed.std().item() - 2) < 4.5 * 2 / math.sqrt(2 * len(fixed))
    assert [c.step for c in pairs.checkpoints] == [0, 2, 6, 15, 30]


def test_outputs_neuron_by_neuron():
    pairs, (x, _) = train(), problem()
    last = pairs.checkpoints[-1]
    z = pairs.outputs(last.W, last.A, x)
    for n, end in ((0, 0), (3, 1)):
        hidden = torch.stack(
            [torch.relu(x @ (pairs.F[n, 0, i] + pairs.D[n, 0, i] * last.W[n, end, i])) for i in range(6)], dim=-1
        )
        torch.testing.assert_close(z[n, end], hidden @ last.A[n, end].T)


def test_training_lowers_the_loss_and_leaves_fixed_entries_to_weight_decay():
    pairs, (x, labels) = train(steps=60), problem()
    first, last = pairs.checkpoints[0], pairs.checkpoints[-1]
    before, after = (cross_entropy(pairs.outputs(c.W, c.A, x), labels) for c in (first, last))
    assert (after < before).all()
    held = (pairs.D == 0).expand_as(first.W)
    torch.testing.assert_close(last.W[held], first.W[held] * (1 - 0.01 * 0.01) ** 60)


def test_the_first_step_of_a_pair_has_the_size_of_the_rate():
    """AdamW's first step is the rate times the sign of the gradient, after the decay."""
    first, last = train(scales=[1.0], networks=1, steps=1).checkpoints
    assert (first.step, last.step) == (0, 1)
    moved = last.A - first.A * (1 - 0.01 * 0.01)
    assert moved.abs().max().item() == pytest.approx(0.01, rel=1e-3)
    assert not first.W[0, 0].equal(first.W[0, 1])


@pytest.mark.parametrize("change", [{"scales": []}, {"networks": 0}, {"steps": 0}, {"fixed": 7}, {"fixed": -1}])
def test_bad_settings_are_refused(change):
    with pytest.raises(ValueError, match="allowed: at least one pair"):
        train(**change)
