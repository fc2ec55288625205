"""Gaps between centres against brute force; their law against that of a chi variable and its limit."""

import math
from itertools import combinations

import pytest
import torch
from scipy.stats import chi

from lmc_helpers.identifiability import centre_gap as module
from lmc_helpers.identifiability.centre_gap import centre_gap, gap_quantile, separation_bound


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("m", "k"), [(2, 1), (7, 2), (30, 8), (30, 9), (40, 32)])
def test_gap_is_the_least_of_all_pairs(m, k):
    v = normal(3, m, k, seed=m)
    naive = [math.sqrt(2) * min((a - b).norm().item() for a, b in combinations(w, 2)) for w in v]
    torch.testing.assert_close(centre_gap(v), torch.tensor(naive, dtype=torch.float64), rtol=1e-13, atol=0)
    assert centre_gap(v[0]).shape == ()


@pytest.mark.parametrize("k", [3, 20])
def test_tiny_and_zero_gaps_are_exact(k):
    v = normal(50, k, seed=1)
    v[7] = v[31]
    assert centre_gap(v).item() == 0
    v[7, 0] += 1e-9
    assert centre_gap(v).item() == pytest.approx(math.sqrt(2) * (v[7] - v[31]).norm().item(), rel=1e-12)


def test_chunks_agree():
    v = normal(100, 12, seed=2)
    assert module._by_products(v, chunk=7).item() == module._by_products(v).item()


def test_volumes():
    volumes = [math.exp(module._log_unit_ball(k)) for k in (1, 2, 3)]
    assert volumes == pytest.approx([2.0, math.pi, 4 * math.pi / 3])


def test_two_centres_have_the_exact_law():
    # m = 2: one pair; n P = −ln(1 − q) replaces P = q, so the union bound is exact and the Poisson law nearly so
    for q in (1e-4, 1e-3):
        exact = 2 * chi.ppf(q, 3)
        assert gap_quantile(q, 2, 3) == pytest.approx(exact, rel=1e-3)


def test_separation_bound_holds_for_uniform_entries_too():
    # Y₀ uniform on [−1/2, 1/2]: density at most 1
    m, k, delta = 12, 1, 0.5
    U = torch.linalg.qr(normal(6, k, seed=3)).Q
    F = torch.rand(4000, m, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(4)) - 0.5
    bound = separation_bound(m, k, delta, density=1.0)
    assert (centre_gap(F @ U) < bound).double().mean().item() < delta
    assert separation_bound(m, k, delta, sigma=3.0, q=0.25) == pytest.approx(1.5 * separation_bound(m, k, delta))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: centre_gap(torch.ones(1, 3)), "m >= 2"),
        (lambda: centre_gap(torch.full((3, 9), math.nan)), "allowed: finite numbers"),
        (lambda: separation_bound(4, 2, 0.0), "delta = 0"),
        (lambda: gap_quantile(0.9, 2, 2), "probability = 0.9 with m = 2"),
    ],
)
def test_what_has_no_gap_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
