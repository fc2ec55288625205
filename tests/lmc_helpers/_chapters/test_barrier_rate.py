"""What chapter *barrier rate* computes: minima, their matching and their matched mass."""

import pytest
import torch

from lmc_helpers._chapters.barrier_rate import minima_with_matched_share
from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student.population import population_loss


@pytest.mark.parametrize(("gamma", "M"), [(0.75, 4), (0.8, 2), (0.99, 6), (1.0, 2)])
def test_a_matched_share_that_algorithm_1_leaves(gamma, M):
    a, b = minima_with_matched_share(gamma, M)
    assert population_loss(torch.stack([a, b]), M).abs().max() < 1e-14
    assert algorithm_1(a, b, tol=0).tolist() == list(range(3 * M // 2))
    matched = ((a > 0) & (b > 0)).any(dim=1)  # rows of one type at both ends
    masses = torch.stack([W[matched].sum(dim=0) for W in (a, b)])  # (2, M)
    torch.testing.assert_close(masses.mean(dim=0), torch.full((M,), gamma, dtype=torch.float64))
    assert (masses.amax(dim=0) == 1).all()
