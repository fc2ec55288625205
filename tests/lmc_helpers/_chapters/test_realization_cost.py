"""What chapter *realization cost* computes: ranks of masked bases; rank and linear programs agree."""

import pytest
import torch
from oracles.draws import normal as gaussian

from lmc_helpers._chapters.realization_cost import class_dimension, determined, twin_distance


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 3), (6, 3), (10, 4)])
def test_rank_and_linear_programs_agree(n, k):
    for C in (gaussian(n, k), gaussian(n, k, seed=1).abs()):
        neurons = gaussian(8, k, seed=2)
        for a, unique in zip(neurons, determined(neurons, C).tolist(), strict=True):
            assert (twin_distance(a, C) < 1e-9) == unique


def test_symmetric_inputs_determine_every_weight():
    C = gaussian(4, 4)
    assert determined(gaussian(50, 4, seed=1), torch.cat([C, -C])).all()


def test_a_twin_is_a_twin():
    C = gaussian(8, 3).abs()
    a = torch.tensor([-1.0, -0.5, -0.2]).double()
    assert not determined(a, C) and twin_distance(a, C) == pytest.approx(1.0)
    assert (C @ a).relu().eq((C @ (2 * a)).relu()).all()


@pytest.mark.parametrize(("d", "k", "masked"), [(6, 3, 0), (6, 3, 4), (6, 1, 6), (3, 3, 1)])
def test_class_dimension(d, k, masked):
    D = torch.ones(2, d).double()
    D[1, :masked] = 0
    assert class_dimension(D, torch.linalg.qr(gaussian(d, k)).Q).tolist() == [k, min(k, d - masked)]
