"""Typing of rows near minima and the pair barriers against the general functions, row by row."""

import pytest
import torch

from lmc_helpers.barrier import loss_barrier
from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student.between_minima import permuted_and_direct, snap
from lmc_helpers.teacher_student.minima import sample_minima
from lmc_helpers.teacher_student.population import population_loss


def test_snap_is_the_nearest_point_of_the_rays():
    W = torch.randn(5, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    snapped = snap(W, 3)
    for w, s in zip(W.reshape(-1, 6), snapped.reshape(-1, 6), strict=True):
        candidates = [torch.zeros(6, dtype=torch.float64)]
        for j in range(3):
            ray = torch.zeros(6, dtype=torch.float64)
            ray[j] = max(float(w[j]), 0.0)
            candidates.append(ray)
        best = min(candidates, key=lambda c: float((w - c).norm()))
        torch.testing.assert_close(s, best)
    minima = sample_minima(7, 3, 5, 4, seed=1)
    assert snap(minima, 3).equal(minima)


@pytest.mark.parametrize("M", [0, 7])
def test_snap_refuses(M):
    with pytest.raises(ValueError, match="allowed: 1 <= M <= d"):
        snap(torch.zeros(2, 6), M)


@pytest.mark.parametrize("chunk", [1, 3, 50])
def test_pair_barriers_do_not_depend_on_the_chunks_and_agree_with_one_pair_at_a_time(chunk):
    W1, W2 = sample_minima(8, 3, 4, 10, seed=4).split(5)
    noise = 1e-4 * torch.randn(5, 8, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = permuted_and_direct(W1 + noise, W2 - noise, 3, chunk)
    for k in range(5):
        p = algorithm_1(W1[k], W2[k])
        a, b = (W1 + noise)[k], (W2 - noise)[k]
        for row, end in zip(found, (b[p], b), strict=True):
            torch.testing.assert_close(row[k], loss_barrier(lambda W: population_loss(W, 3), a, end))
