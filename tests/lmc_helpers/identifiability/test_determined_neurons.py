"""Weights that ReLU functions determine: rank against linear programs and explicit twins."""

import pytest
import torch

from lmc_helpers.identifiability.costs import determined, largest_change


def gaussian(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 3), (6, 3), (10, 4)])
def test_rank_and_linear_programs_agree(n, k):
    for C in (gaussian(n, k), gaussian(n, k, seed=1).abs()):
        neurons = gaussian(12, k, seed=2)
        for a, unique in zip(neurons, determined(neurons, C).tolist(), strict=True):
            assert (largest_change(a, C) < 1e-9) == unique


def test_symmetric_inputs_determine_every_weight():
    C = gaussian(4, 4)
    assert determined(gaussian(50, 4, seed=1), torch.cat([C, -C])).all()


def test_a_twin_is_a_twin():
    C = gaussian(8, 3).abs()
    a = torch.tensor([-1.0, -0.5, -0.2]).double()
    assert not determined(a, C) and largest_change(a, C) == pytest.approx(1.0)
    assert (C @ a).relu().eq((C @ (2 * a)).relu()).all()


@pytest.mark.parametrize(
    ("a", "C", "message"),
    [
        (torch.ones(2), torch.ones(3, 3), "allowed"),
        (torch.tensor([1.0, -1.0]), torch.ones(1, 2), "boundary"),
        (torch.ones(2), torch.zeros(1, 2), "boundary"),
        (torch.tensor([1.0, torch.inf]), torch.ones(1, 2), "finite"),
    ],
)
def test_bad_input_is_refused(a, C, message):
    for call in (determined, largest_change):
        with pytest.raises(ValueError, match=message):
            call(a, C)
