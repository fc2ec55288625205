"""What chapter *barrier rate* computes: minima and their matched mass; power laws against numpy."""

import numpy as np
import pytest
import torch

from lmc_helpers._chapters.barrier_rate import minima_with_matched_share, power_law
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


def test_a_power_law_is_found_with_its_error():
    rng = np.random.default_rng(4)
    x, n = np.array([10.0, 20.0, 80.0]), 400
    spread = np.array([0.1, 0.5, 0.3])[:, None]
    found = np.array(
        [power_law(x, 3 * x[:, None] ** -1.5 * (1 + spread * rng.normal(size=(3, n)))) for _ in range(2000)]
    )
    assert found[:, 0].mean() == pytest.approx(-1.5, abs=4 * found[:, 0].std() / np.sqrt(2000) + 1e-3)
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.06)
    y = rng.uniform(1, 2, size=(3, 5))  # numpy's weighted fit, which takes 1/σ
    weights = y.mean(axis=1) * np.sqrt(5) / y.std(axis=1, ddof=1)
    fit, covariance = np.polyfit(np.log(x), np.log(y.mean(axis=1)), 1, w=weights, cov="unscaled")
    assert power_law(x, y) == pytest.approx((fit[0], np.sqrt(covariance[0, 0])))
