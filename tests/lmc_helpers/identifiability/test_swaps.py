"""The terms of eq. (16), literally, and cheapest reassignments against all permutations."""

import itertools
import math

import numpy as np
import pytest
import torch

from lmc_helpers.identifiability.costs import swap_costs
from lmc_helpers.identifiability.swaps import cheapest, cheapest_other, swap_terms


def basis(d, k):
    return torch.tensor(np.linalg.qr(np.random.default_rng([0, d, k]).standard_normal((d, k)))[0])


@pytest.mark.parametrize(("m", "d", "k"), [(2, 3, 1), (2, 1, 1), (4, 6, 6), (7, 12, 5)])
def test_three_terms_of_equation_16(m, d, k):
    rng = np.random.default_rng(m)
    F, W = (torch.tensor(rng.standard_normal((m, d))) for _ in range(2))
    D, U = torch.tensor(rng.uniform(0.5, 2, (m, d))), basis(d, k)
    terms = swap_terms(F, D, W, U)
    torch.testing.assert_close(sum(terms), swap_costs(F, D, W, U), rtol=1e-10, atol=1e-10)
    v, r, u = (F @ U).numpy(), ((D * W) @ U).numpy(), U.numpy()
    P = [np.linalg.inv(u.T @ np.diag(x**2) @ u) for x in D.numpy()]
    for i, j in itertools.permutations(range(m), 2):
        x = v[j] - v[i]
        literal = (
            x @ (P[i] + P[j]) @ x,
            2 * x @ (P[i] @ r[j] - P[j] @ r[i]),
            r[j] @ (P[i] - P[j]) @ r[j] + r[i] @ (P[j] - P[i]) @ r[i],
        )
        for term, expected in zip(terms, literal, strict=True):
            assert term[i, j].item() == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_terms_need_full_rank():
    with pytest.raises(ValueError, match="full rank"):
        swap_terms(torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.ones(2, 2), torch.eye(2))


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
    for _ in range(5):
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
