"""Readings of barriers over the width, against plain loops over hand-made lines."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import t

from lmc_helpers.experiments.width_barriers import Lines
from lmc_helpers.experiments.width_curves import Curves, bounds_of, depth_trend, place_ratio


def arches(heights, ends=0.0):
    """Losses (P, 11) that rise from ``ends`` to a height in the middle."""
    shape = 1 - (2 * torch.linspace(0, 1, 11) - 1).abs()
    return ends + torch.tensor(heights)[:, None] * shape


def curves(direct, weights, ends=0.0):
    """Curves of hand-made barriers, width → heights of the pairs."""
    return Curves(
        {m: Lines({"direct": arches(direct[m], ends), "weights": arches(weights[m], ends)}, {}) for m in direct}
    )


WEIGHTS = {3: [1.0, 1.1, 0.9, 1.0], 6: [2.0, 2.2, 1.8, 2.0], 12: [4.0, 4.1, 3.9, 4.0], 24: [1.0, 1.2, 0.8, 1.0]}
DIRECT = {m: [4.0, 4.0, 4.4, 4.0] for m in WEIGHTS}


def test_heights_are_taken_against_the_peak_between():
    found = curves(DIRECT, WEIGHTS)
    value, error = found.relative("weights", 3, over=[6, 12])
    # the peak is at 12 for either half; a half of the pairs each, in their order
    assert value == pytest.approx((1.05 / 4.05 + 0.95 / 3.95) / 2)
    assert 0 < error < 0.1
    assert found.relative("weights", 24, over=[6])[0] == pytest.approx((1.1 / 2.1 + 0.9 / 1.9) / 2)
    place, spread = found.place("weights", 1)
    assert place == 12
    assert spread >= (24 - 6) / 2 / math.sqrt(12)


def test_shares_and_their_contrast():
    found = curves(DIRECT, WEIGHTS)
    shares = {m: np.mean(WEIGHTS[m]) / np.mean(DIRECT[m]) for m in WEIGHTS}
    for m, share in shares.items():
        assert found.left(m, "weights")[0] == pytest.approx(share)
    # even pairs are farthest at 24, where odd ones have 2.2 of 8; odd ones are so at 3, where even ones have 1.9 of 8.4
    assert found.farthest("weights", "direct")[0] == pytest.approx((2.2 / 8 + 1.9 / 8.4) / 2)
    value, error = found.contrast("weights", 12, 3)
    assert value == pytest.approx(shares[12] / shares[3])
    (a, da), (b, db) = found.left(12, "weights"), found.left(3, "weights")
    assert (error / value) ** 2 == pytest.approx((da / a) ** 2 + (db / b) ** 2)


def test_farthest_is_a_factor():
    """A fourth is farther from 1 than a threefold barrier, and a fivefold one farther still."""
    weights = {3: [1.0, 1.0] * 2, 6: [3.0, 3.1] * 2, 12: [0.25, 0.26] * 2}
    direct = {m: [1.0, 1.0, 1.02, 1.02] for m in weights}
    assert curves(direct, weights).farthest("weights", "direct")[0] == pytest.approx(0.255 / 1.01, rel=1e-4)
    weights[6] = [5.0, 5.1] * 2
    assert curves(direct, weights).farthest("weights", "direct")[0] > 4


def test_what_is_farthest_by_chance_is_not_measured_where_it_was_chosen():
    """Ten equal widths: the ratio that one half finds farthest is 1 on the other half."""
    rng, found = np.random.default_rng(5), []
    for _ in range(100):
        weights = {m: (1 + rng.normal(0, 0.2, 8)).tolist() for m in range(10)}
        found.append(curves({m: [1.0] * 8 for m in weights}, weights).farthest("weights", "direct"))
    value, error = np.transpose(found)
    assert abs(value.mean() - 1) <= 4 * value.std() / math.sqrt(100)
    assert value.std() == pytest.approx(error.mean(), rel=0.3)


def test_the_highest_losses_on_lines():
    direct = {3: [2.0, 3.0], 6: [1.0, 1.5]}
    (at_3, at_6), (error_3, error_6) = curves(direct, direct, ends=0.5).summits("direct")
    assert (at_3, at_6) == pytest.approx((3.0, 1.75))  # no chord is taken off
    assert (error_3, error_6) == pytest.approx((0.5, 0.25))


def test_groups_are_counted_where_they_are_fewest():
    found = Curves({3: Lines({"direct": arches([1.0] * 6)}, {}, each=2), 6: Lines({"direct": arches([1.0] * 5)}, {})})
    assert (found.groups, found.only([6]).groups) == (3, 5)


def peaked(place, widths=(3, 6, 12, 24, 48)):
    samples = {m: [1.0 if m == place else 0.1] * 4 for m in widths}
    return curves(samples, samples)


def test_the_slope_is_that_of_the_places():
    assert depth_trend({2: peaked(6), 3: peaked(6), 4: peaked(6)}, "weights", 1)[0] == pytest.approx(0)
    slope, error = depth_trend({2: peaked(6), 3: peaked(12), 4: peaked(24)}, "weights", 1)
    assert slope == pytest.approx(math.log(2))
    assert error > 0


def test_a_curve_that_only_rises_or_falls_has_no_peak():
    assert [peaked(place).peaks("weights") for place in (3, 6, 24, 48)] == [False, True, True, False]
    some = {3: peaked(12), 4: peaked(12), 5: peaked(24)}
    more = {2: peaked(3), 6: peaked(48)}
    assert depth_trend(some | more, "weights", 1) == depth_trend(some, "weights", 1)
    assert depth_trend({3: peaked(12), 4: peaked(12)} | more, "weights", 1) is None


def test_places_are_compared_as_a_ratio():
    value, error = place_ratio(peaked(24), peaked(6), "weights", 1)
    (a, da), (b, db) = (peaked(place).place("weights", 1) for place in (24, 6))
    assert value == pytest.approx(4)
    assert (error / value) ** 2 == pytest.approx((da / a) ** 2 + (db / b) ** 2)


def test_pairs_that_share_a_network_are_one_sample():
    """Errors over groups are right where pairs of a group go together; errors over pairs are too small."""
    rng = np.random.default_rng(2)
    covered = {1: 0, 3: 0}  # by the number of pairs that are one sample
    for _ in range(400):
        heights = (1 + rng.normal(0, 0.3, (12, 1)) + rng.normal(0, 0.1, (12, 3))).ravel()
        for each in (1, 3):
            read = Curves({3: Lines({"direct": arches(heights.tolist())}, {}, each=each)})
            (value,), (error,) = read.summits("direct")
            covered[each] += abs(value - 1) <= t.isf(0.025, 36 // each - 1) * error
    assert abs(covered[3] - 400 * 0.95) <= 4 * math.sqrt(400 * 0.05 * 0.95)
    assert covered[1] < 0.85 * 400


def test_bounds_are_student_s_and_of_the_largest():
    def half(n):
        return t.isf(0.0005, n - 2)

    value, low, high = bounds_of(10, (2.0, 0.1))
    assert (value, low, high) == pytest.approx((2.0, 2 - half(10) / 10, 2 + half(10) / 10))
    value, low, high = bounds_of(10, (2.0, 0.1), (1.5, 0.5))
    assert (value, low, high) == pytest.approx((2.0, 2 - half(10) / 10, 1.5 + half(10) / 2))
    assert bounds_of(0, (2.0, 0.1)) == bounds_of(3, (2.0, 0.1))
    value, low, high = bounds_of(10, (2.0, 0.1), (2.1, 0.5), of_all=min)
    assert (value, low, high) == pytest.approx((2.0, 2.1 - half(10) / 2, 2 + half(10) / 10))


def test_bounds_cover_the_larger_of_two_means():
    rng = np.random.default_rng(3)
    draws = rng.standard_normal((10_000, 2, 6))
    means, errors = draws.mean(axis=2), draws.std(axis=2, ddof=1) / math.sqrt(6)
    missed = 0
    for (u, v), (du, dv) in zip(means, errors, strict=True):
        _, low, high = bounds_of(6, (u, du), (v, dv))
        missed += not low <= 0 <= high
    assert missed <= 0.0015 * len(draws) + 4 * math.sqrt(0.0015 * len(draws))


def test_widths_increase_and_some_may_be_taken():
    found = curves(DIRECT, WEIGHTS)
    assert (found.widths, found.only([6, 12]).widths) == ([3, 6, 12, 24], [6, 12])
    for at in ({}, {6: found.at[6], 3: found.at[3]}):
        with pytest.raises(ValueError, match="allowed: at least one, increasing"):
            Curves(at)
