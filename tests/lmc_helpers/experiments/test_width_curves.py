"""Readings of barriers over the width, against plain loops over hand-made lines."""

import math

import numpy as np
import pytest
import torch

from lmc_helpers.experiments.width_barriers import Lines
from lmc_helpers.experiments.width_curves import Curves, depth_trend


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
    assert found.farthest("weights", "direct")[0] == pytest.approx(shares[3])
    value, error = found.contrast("weights", 12, 3)
    assert value == pytest.approx(shares[12] / shares[3])
    (a, da), (b, db) = found.left(12, "weights"), found.left(3, "weights")
    assert (error / value) ** 2 == pytest.approx((da / a) ** 2 + (db / b) ** 2)


def test_farthest_is_a_factor():
    """A fourth is farther from 1 than a threefold barrier, and a fivefold one farther still."""
    weights = {3: [1.0, 1.0], 6: [3.0, 3.1], 12: [0.25, 0.26]}
    found = curves({m: [1.0, 1.01] for m in weights}, weights)
    assert found.farthest("weights", "direct")[0] == pytest.approx(0.255 / 1.005)
    weights[6] = [5.0, 5.1]
    assert curves({m: [1.0, 1.01] for m in weights}, weights).farthest("weights", "direct")[0] > 4


def test_the_lowest_of_the_highest_losses():
    direct = {3: [2.0, 3.0], 6: [1.0, 1.5]}
    value, error = curves(direct, direct, ends=0.5).lowest_summit("direct")
    assert value == pytest.approx(1.75)  # no chord is taken off
    assert error == pytest.approx(0.25)


def test_the_slope_is_that_of_the_places():
    def of(place):
        return curves(DIRECT, {m: [1.0 if m == place else 0.1] * 4 for m in WEIGHTS})

    assert depth_trend({2: of(6), 3: of(6), 4: of(6)}, "weights", 1)[0] == pytest.approx(0)
    slope, error = depth_trend({2: of(6), 3: of(12), 4: of(24)}, "weights", 1)
    assert slope == pytest.approx(math.log(2))
    assert error > 0


def test_widths_increase_and_some_may_be_taken():
    found = curves(DIRECT, WEIGHTS)
    assert (found.widths, found.only([6, 12]).widths) == ([3, 6, 12, 24], [6, 12])
    for at in ({}, {6: found.at[6], 3: found.at[3]}):
        with pytest.raises(ValueError, match="allowed: at least one, increasing"):
            Curves(at)
