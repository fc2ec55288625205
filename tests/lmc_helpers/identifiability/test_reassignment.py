"""Cheapest reassignments against all permutations."""

import itertools
import math

import numpy as np
import pytest
import torch

from lmc_helpers.identifiability.swaps import cheapest, cheapest_other


def brute(table, others):
    costs = []
    for p in itertools.permutations(range(len(table))):
        if not others or any(i != j for i, j in enumerate(p)):
            costs.append(sum(float(table[i, j] - table[i, i]) for i, j in enumerate(p) if i != j))
    return min(costs)


@pytest.mark.parametrize("m", [2, 3, 5, 6])
@pytest.mark.parametrize("strong", [0.0, 3.0])
def test_against_all_permutations(m, strong):
    rng = np.random.default_rng([m, int(strong)])
    for _ in range(10):
        table = torch.tensor(rng.exponential(size=(m, m)) + strong * (1 - np.eye(m)))
        if m > 2:
            table[0, 1] = math.inf
        for call, others in ((cheapest, False), (cheapest_other, True)):
            p, cost = call(table)
            assert cost == pytest.approx(brute(table, others), abs=1e-12)
            assert sum(float(table[i, j] - table[i, i]) for i, j in enumerate(p.tolist())) == pytest.approx(
                cost, abs=1e-12
            )
        assert not cheapest_other(table)[0].equal(torch.arange(m))


def test_one_neuron_and_impossible_swaps():
    p, cost = cheapest(torch.ones(1, 1))
    assert p.tolist() == [0] and cost == 0
    table = torch.full((3, 3), math.inf)
    table.diagonal().fill_(1.0)
    assert cheapest(table)[1] == 0 and cheapest_other(table)[1] == math.inf
    assert cheapest_other(table)[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (torch.ones(2, 3), "shape"),
        (torch.tensor([[1.0, math.nan], [1.0, 1.0]]), "not a number"),
        (torch.tensor([[math.inf, 1.0], [1.0, 1.0]]), "own function"),
    ],
)
def test_bad_tables_are_refused(table, message):
    for call in (cheapest, cheapest_other):
        with pytest.raises(ValueError, match=message):
            call(table)
    with pytest.raises(ValueError, match="at least 2"):
        cheapest_other(torch.ones(1, 1))
