"""Chapter *center gap*: the gap of random centres."""

import math
from itertools import combinations, product

import numpy as np
import pytest
import torch
from oracles.draws import normal
from scipy.stats import binom, chi, kstest

from lmc_helpers._chapters import center_gap as chapter
from lmc_helpers.identifiability import cost_table


@pytest.mark.parametrize(("k", "r"), [(1, 0.5), (4, 1.2), (9, 3.0)])
def test_star_probability_by_simulation(k, r):
    a, b, c = normal(3, 200_000, k, seed=k)
    both = (((a - c).norm(dim=1) < r) & ((b - c).norm(dim=1) < r)).double()
    stderr = both.std().item() / math.sqrt(len(both))
    assert abs(both.mean().item() - chapter.star_probability(r, k)) < 4.5 * stderr
    assert chapter.star_probability(2 * r, k, sigma=2.0) == pytest.approx(chapter.star_probability(r, k), rel=1e-9)


def test_fixed_parts_have_their_law():
    F = chapter.sample_fixed(40, 50, 30, 0.25, 3.0, seed=5)
    assert (F != 0).double().mean().item() == pytest.approx(0.25, abs=0.01)
    assert F[F != 0].std().item() == pytest.approx(3, rel=0.02)
    assert chapter.sample_fixed(2, 3, 1, 1.0, 1.0, 5).equal(chapter.sample_fixed(2, 3, 1, 1.0, 1.0, 5))
    U = torch.linalg.qr(normal(50, 4, seed=6)).Q
    v = chapter.sample_fixed(200, 50, 20, 1.0, 2.0, seed=7) @ U
    torch.testing.assert_close(v.flatten(0, 1).mT.cov(), 4 * torch.eye(4).double(), rtol=0, atol=0.35)


@pytest.mark.parametrize(("k", "chunk"), [(1, 2_000_000), (3, 1), (3, 100), (12, 2_000_000)])
def test_two_sampled_centres_have_twice_a_chi_variable_as_their_gap(k, chunk, monkeypatch):
    monkeypatch.setattr(chapter, "CHUNK", chunk)
    gaps = chapter.sample_gaps(2, k, 1500, seed=3)
    assert gaps.shape == (1500,)
    assert kstest(gaps.numpy() / 2, chi(k).cdf).pvalue > 1e-4  # |v₁ − v₂| = √2 χ_k


def test_sampled_gaps_of_many_centres_are_those_of_a_plain_loop():
    rng = np.random.default_rng(5)
    plain = []
    for _ in range(1500):
        v = rng.standard_normal((6, 2))
        plain.append(math.sqrt(2) * min(np.linalg.norm(a - b) for a, b in combinations(v, 2)))
    assert kstest(chapter.sample_gaps(6, 2, 1500, seed=4).numpy(), plain).pvalue > 1e-4


def test_masked_gaps_without_a_mask_and_without_entries():
    draw = torch.Generator().manual_seed(7)
    gaps, _ = chapter.sample_masked_gaps(2, 6, 3, 800, 6, draw)  # all entries are fixed: Gaussian F
    assert kstest(gaps.numpy() / 2, chi(3).cdf).pvalue > 1e-4
    assert (chapter.sample_masked_gaps(3, 6, 2, 5, 0, draw)[0] == 0).all()  # F = 0
    # one fixed entry a row and k = d = 1: F itself
    gaps, lengths = chapter.sample_masked_gaps(2, 1, 1, 800, 1, draw)
    assert kstest(gaps.numpy() / 2, chi(1).cdf).pvalue > 1e-4
    apart, together = (math.sqrt(2) * (lengths[:, 1] + sign * lengths[:, 0]) for sign in (-1, 1))
    assert torch.minimum((gaps - apart).abs(), (gaps - together).abs()).max() < 1e-12


@pytest.mark.parametrize(("fixed", "common", "rank"), [(1, 1, 1), (2, 1, 3), (3, 0, 4)])
def test_pairs_with_common_places_by_simulation(fixed, common, rank):
    U, n, r = torch.linalg.qr(normal(9, 4, seed=3)).Q, 40_000, 0.8
    rows = np.zeros((2, n, 9))
    rng = np.random.default_rng(fixed)
    places = rng.random((n, 9)).argsort(axis=1)  # in random order: those of the first row come first
    for row, start in zip(rows, (0, fixed - common), strict=True):
        np.put_along_axis(row, places[:, start : start + fixed], rng.standard_normal((n, fixed)), axis=1)
    distance = np.linalg.norm((rows[0] - rows[1]) @ U.numpy(), axis=1)
    spectra = chapter.support_spectra(U, fixed, common, 4000, torch.Generator().manual_seed(1)).numpy()
    assert spectra.shape == (4000, rank)
    chance, slope = (x.mean() for x in chapter.ball_probability(spectra, r))
    assert (distance < r).mean() == pytest.approx(chance, abs=0.015)
    outer, inner = (chapter.ball_probability(spectra, r * x)[0].mean() for x in (1.001, 0.999))
    assert slope == pytest.approx((outer - inner) / 0.002, rel=1e-4)


@pytest.mark.parametrize(("k", "r"), [(1, 1e-6), (5, 0.01), (32, 3.0)])
def test_probabilities_of_balls_with_equal_eigenvalues_are_those_of_a_chi_variable(k, r):
    chance, slope = chapter.ball_probability(np.full((2, k), 0.7), r)
    assert chance == pytest.approx(chi.cdf(r / math.sqrt(0.7), k), rel=1e-9)
    assert slope == pytest.approx(r / math.sqrt(0.7) * chi.pdf(r / math.sqrt(0.7), k), rel=1e-9)
    assert chapter.close_probability(r, k, math.sqrt(0.35)) == pytest.approx(chance[0], rel=1e-9)


@pytest.mark.parametrize(("m", "k"), [(60, 1), (60, 2), (60, 8), (200, 32)])
def test_law_by_simulation_within_the_proven_error(m, k):
    n = 1500
    gaps = chapter.centre_gap(normal(n, m, k, seed=k))
    for q in (0.2, 0.5, 0.8):
        level = chapter.gap_quantile(q, m, k)
        error = chapter.poisson_error(level / math.sqrt(2), m, k)
        seen = (gaps <= level).double().mean().item()
        assert abs(seen - q) < error + 4.5 * math.sqrt(q * (1 - q) / n)
        assert seen < -math.log1p(-q) + 4.5 * math.sqrt(q / n)  # union bound
    spread = gaps.log().std().item() / math.sqrt(n)
    assert chapter.expected_log_gap(m, k) == pytest.approx(gaps.log().mean().item(), abs=4.5 * spread + 0.03)


@pytest.mark.parametrize("k", [1, 2, 8])
def test_weibull_limit(k):
    m = 10**6
    for q in (0.1, 0.5, 0.9):
        limit = chapter.weibull_scale(m, k, 2.0) * (-math.log1p(-q)) ** (1 / k)
        assert chapter.gap_quantile(q, m, k, 2.0) == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("k", [1, 2, 8, 32])
def test_local_exponent_is_a_derivative_and_lies_below_its_limit(k):
    for m in (10, 1000, 10**6):
        lower, upper = (math.log(chapter.gap_quantile(0.5, m + s, k)) for s in (-1, 1))
        difference = (upper - lower) / (math.log(m + 1) - math.log(m - 1))
        assert chapter.local_exponent(m, k) == pytest.approx(difference, rel=0.02)
        assert chapter.local_exponent(m, k) < -2 / k
    assert chapter.local_exponent(10**40, k) == pytest.approx(-2 / k, rel=0.001)
    if k > 1:
        m = chapter.asymptotic_width(k, 0.05)
        assert chapter.local_exponent(round(m), k) / (-2 / k) == pytest.approx(1.05, abs=0.01)


def test_coincidences_by_simulation():
    U = torch.linalg.qr(normal(5, 2, seed=8)).Q
    gap = chapter.centre_gap(chapter.sample_fixed(6, 5, 4000, 0.4, 1.0, seed=1) @ U)
    exact = chapter.coincidence_probability(6, 5, 0.4)
    assert abs((gap == 0).double().mean().item() - exact) < 4.5 * math.sqrt(exact / 4000)
    assert np.isclose(chapter.coincidence_probability(10**6, 5, 0.4), 1)


@pytest.mark.parametrize(("k", "m1"), [(2, 256), (8, 1024), (32, 1024)])
def test_ceiling_is_above_the_simulated_exponent_and_near_the_law(k, m1):
    ceiling = chapter.exponent_ceiling(16, m1, k)
    law = math.log(chapter.gap_quantile(0.5, m1, k) / chapter.gap_quantile(0.5, 16, k)) / math.log(m1 / 16)
    assert law < ceiling < 0.93 * law
    few, many = chapter.sample_gaps(16, k, 400, 1), chapter.sample_gaps(m1, k, 60, 2)
    value, error = chapter.median_exponent(few, many, m1 / 16)
    assert value < ceiling + 4.5 * error


def test_standard_error_by_repetition():
    generator = torch.Generator().manual_seed(3)
    draws = torch.rand(400, 2, 300, dtype=torch.float64, generator=generator).add(0.5)
    found = [chapter.median_exponent(x, y, 4.0) for x, y in draws]
    values, errors = (torch.tensor(z) for z in zip(*found, strict=True))
    assert abs(values.mean().item()) < 4.5 * values.std().item() / 20
    assert 0.85 < errors.square().mean().sqrt().item() / values.std().item() < 1.2


@pytest.mark.parametrize(("d", "p", "probability"), [(40, 0.25, 0.5), (60, 0.2, 0.1), (40, 0.25, 0.9)])
def test_width_by_the_binomial_law(d, p, probability):
    m = chapter.coincidence_width(d, p, probability)
    assert abs(binom.sf(1, round(m), (1 - p) ** d) - probability) < 1e-3


@pytest.mark.parametrize(("d", "p"), [(1, 0.3), (3, 0.5), (4, 1.0)])
def test_failure_by_all_masks(d, p):
    m, delta = 5, 0.3
    t = chapter.separation_bound(m, 1, delta, q=2 * p - p * p) / math.sqrt(2)
    total = 0.0
    for mask in product((0, 1), repeat=2 * d):
        n = sum(mask)
        mass = p**n * (1 - p) ** (2 * d - n)
        total += mass * (math.erf(t / math.sqrt(2 * n / d)) if n else 1.0)
    assert abs(chapter.line_failure(m, d, p, delta) / (10 * total / delta) - 1) < 1e-12


@pytest.mark.parametrize(("m", "k"), [(2, 1), (7, 2), (30, 8), (200, 9), (40, 32)])
def test_gap_is_the_least_of_all_pairs(m, k):
    v = normal(3, m, k, seed=m)
    naive = [math.sqrt(2) * min((a - b).norm().item() for a, b in combinations(w, 2)) for w in v]
    torch.testing.assert_close(chapter.centre_gap(v), torch.tensor(naive, dtype=torch.float64), rtol=1e-13, atol=0)
    assert chapter.centre_gap(v[0]).shape == ()
    assert chapter._by_products(v[0], chunk=7).item() == chapter._by_products(v[0]).item()


@pytest.mark.parametrize("k", [1, 2, 3, 20])
def test_tiny_and_zero_gaps_are_exact(k):
    v = normal(50, k, seed=1)
    v[7] = v[31]
    assert chapter.centre_gap(v).item() == 0
    v[7, 0] += 1e-9
    assert chapter.centre_gap(v).item() == pytest.approx(math.sqrt(2) * (v[7] - v[31]).norm().item(), rel=1e-12)


def test_two_centres_have_the_exact_law_and_the_largest_constant_meets_the_hypothesis():
    # m = 2: one pair; n P = −ln(1 − q) replaces P = q, so the union bound is exact and the Poisson law nearly so
    for q in (1e-4, 1e-3):
        exact = 2 * chi.ppf(q, 3)
        assert chapter.gap_quantile(q, 2, 3) == pytest.approx(exact, rel=1e-3)
    m, k, delta, q, nu = 30, 3, 0.2, 0.4, 0.1
    C, Lambda = chapter.largest_constant(m, k, delta, q, nu), math.log(4 * k * m * m / delta)
    assert C * (math.sqrt(q * nu * Lambda) + nu * Lambda) == pytest.approx(q)


@pytest.mark.parametrize("constant", [False, True])
def test_a_fixed_bias_is_out_of_reach_unless_the_inputs_represent_a_constant(constant):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 7))
    x[:, 0] = 1 if constant else x[:, 0]
    W, bias, d = rng.normal(size=(4, 7)), rng.normal(size=4), np.r_[np.ones(7), 0]
    full = np.c_[x, np.ones(40)]
    U = np.linalg.svd(full, full_matrices=False)[2][: np.linalg.matrix_rank(full)].T
    F, free = np.c_[np.zeros((4, 7)), bias], np.c_[W, np.zeros(4)]
    table = cost_table(*(torch.from_numpy(part) for part in (F, np.tile(d, (4, 1)), free, U.copy()))).numpy()
    for i, j in product(range(4), repeat=2):
        wanted = x @ W[j] + bias[j] - bias[i]  # what the trained weights of i have to give
        w = np.linalg.lstsq(x, wanted, rcond=None)[0]  # the shortest of the best
        reached = np.allclose(x @ w, wanted, atol=1e-9)
        assert reached == (constant or i == j)
        assert table[i, j] == pytest.approx(w @ w if reached else math.inf)


def test_relu_neurons_with_other_biases_share_functions_with_few_active_inputs_only():
    inputs = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    assert chapter.within_reach(3 * inputs[:, 0] - 2, inputs, bias=-1.0)  # one active input: as 2 x − 1 has
    assert chapter.within_reach(0 * inputs[:, 0] - 2, inputs, bias=-0.5)  # none: both compute 0
    both = 3 * inputs[:, 0] + 2
    assert [chapter.within_reach(both, inputs, bias) for bias in (2.0, 1.9, -1.0)] == [True, False, False]
