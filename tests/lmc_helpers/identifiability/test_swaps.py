"""The terms of eq. (16), literally."""

import itertools

import numpy as np
import pytest
import torch
from oracles.draws import basis

from lmc_helpers.identifiability import swap_costs, swap_terms


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
        constant = r[j] @ (P[i] - P[j]) @ r[j] + r[i] @ (P[j] - P[i]) @ r[i]
        literal = x @ (P[i] + P[j]) @ x, 2 * x @ (P[i] @ r[j] - P[j] @ r[i]), constant
        for term, expected in zip(terms, literal, strict=True):
            assert term[i, j].item() == pytest.approx(expected, rel=1e-8, abs=1e-8)
