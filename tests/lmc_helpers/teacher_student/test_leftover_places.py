"""The law by place against its integral, against Algorithm 1 run on minima with many teachers, and bad input."""

import numpy as np
import pytest
import torch

from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student.barrier_limit import leftover_cost, leftover_tail
from lmc_helpers.teacher_student.leftover_places import leftover_tail_at
from lmc_helpers.teacher_student.minima import sample_minima


@pytest.mark.parametrize("r", [1.4, 2.0, 6.0])
def test_its_integral_is_the_law_of_all_leftovers(r):
    node, weight = np.polynomial.legendre.leggauss(30)
    a = np.array([0.0, 0.03, 0.1, 0.25, 0.4, 0.6])
    assert weight @ leftover_tail_at((node + 1) / 2, a, r) / 2 == pytest.approx(leftover_tail(a, r), abs=1e-10)


def test_against_algorithm_1():
    M, r, costs = 400, 2.0, {"order": [], "in place": []}
    for a, b in sample_minima(round(r * M), M, M, 80, seed=2).split(2):
        (x, i), (y, j) = a.max(dim=1), b.max(dim=1)
        for leftovers, found in costs.items():
            p = algorithm_1(a, b, leftovers=leftovers)
            found.append(((x + y[p] - torch.hypot(x, y[p])) * (i != j[p])).sum().item() / M)
    for leftovers, how in (("order", "random"), ("in place", "in place")):
        found = np.array(costs[leftovers])
        assert abs(found.mean() - leftover_cost(r, how)) < 4 * found.std() / len(found) ** 0.5 + 2 / M * found.mean()
    gain = np.log(np.mean(costs["in place"]) / np.mean(costs["order"]))
    assert gain == pytest.approx(np.log(leftover_cost(r, "in place") / leftover_cost(r)), abs=0.012)


@pytest.mark.parametrize(
    ("u", "a", "r", "message"),
    [
        (0.5, 0.1, 1.0, "r = m/M = 1.0; allowed: 1 < r <= 10"),
        (0.5, -0.1, 2.0, "an entry below 0"),
        (1.5, 0.1, 2.0, "a place outside"),
    ],
)
def test_bad_input_is_named(u, a, r, message):
    with pytest.raises(ValueError, match=message):
        leftover_tail_at(np.array([u]), np.array([a]), r)
