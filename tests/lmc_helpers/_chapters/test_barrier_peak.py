"""Chapter *barrier peak*: the best pairing against all permutations, and against the exact mean error halfway."""

import itertools

import numpy as np
import pytest
import torch

from lmc_helpers._chapters.barrier_peak import halfway_costs
from lmc_helpers.claims import reading
from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student import barrier_limits, best_cost, limit_peak, sample_minima


def costs(W1, W2, orders):
    """Σ ‖w_i‖ + ‖w'_p(i)‖ − ‖w_i + w'_p(i)‖ for each order p."""
    norm = torch.linalg.vector_norm
    return [float((norm(W1, dim=1) + norm(W2[p], dim=1) - norm(W1 + W2[p], dim=1)).sum()) for p in orders]


def test_against_all_permutations():
    best, algorithm = halfway_costs(6, 3, 4, seed=5)
    W1, W2 = sample_minima(6, 3, 3, 8, seed=5).split(4)
    orders = [list(p) for p in itertools.permutations(range(6))]
    for k, (a, b) in enumerate(zip(W1, W2, strict=True)):
        assert best[k] == pytest.approx(min(costs(a, b, orders)) / 3, abs=1e-12)
        assert algorithm[k] == pytest.approx(costs(a, b, [algorithm_1(a, b, leftovers="opposed")])[0] / 3, abs=1e-12)
    assert np.abs(halfway_costs(3, 3, 5, seed=1)).max() < 1e-12


def test_the_cost_is_the_mean_error_halfway():
    W1, W2 = sample_minima(8, 4, 4, 2, seed=2).split(1)
    x = torch.randn(400_000, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    x = x / x.norm(dim=1, keepdim=True)
    middle = (W1[0] + W2[0, algorithm_1(W1, W2, leftovers="opposed")[0]]) / 2
    error = (torch.relu(x @ middle.T).sum(dim=1) - torch.relu(x).sum(dim=1)).abs().mean().item()
    c_d = torch.relu(x[:, 0]).mean().item()
    assert error == pytest.approx(c_d / 2 * 4 * halfway_costs(8, 4, 1, seed=2)[1, 0], rel=0.02)


def quoted(part, height, peak):
    """Whether the reason of a part has the share in per cent by which the height at 2M is below its maximum."""
    return f" {100 * (1 - height(2.0) / height(peak)):.1f} % lower" in reading.part(f"Z7.{part}").reason


DEAR = [pytest.param(how, f"_{how.replace(' ', '_')}", marks=pytest.mark.slow) for how in ("in place", "sorted")]


@pytest.mark.parametrize(("how", "suffix"), [("random", ""), *DEAR])
def test_the_reasons_of_z7_quote_the_heights(how, suffix):
    peak = limit_peak(how)
    assert quoted(f"peak_of_barrier{suffix}", lambda r: barrier_limits(r, how)[0], peak)
    ratio = limit_peak(how, relative=True)
    assert quoted(f"peak_of_ratio{suffix}", lambda r: np.divide(*barrier_limits(r, how)), ratio)
    assert not quoted(f"peak_of_barrier{suffix}", lambda r: barrier_limits(r, how)[1], peak)


@pytest.mark.slow
def test_the_reason_of_the_best_permutation_quotes_its_height():
    assert quoted("peak_of_best", lambda r: np.mean(best_cost(r, cells=1000)) ** 2, limit_peak("best"))
