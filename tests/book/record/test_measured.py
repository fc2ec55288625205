"""The test of error bars, against simulated runs whose errors are known; rules of verdicts, case by case."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from book.tools.record import measured
from book.tools.record.measured import Difference, Spread, ratio
from lmc_helpers.claims.intervals import Interval

Z = 3.2905267314919255


def part(sampled=True, expected="holds", **more):
    given = {"id": "A1.x", "min_samples": 1, "floor": 0.0, "quantity": "a difference", "price": "", "reason": ""}
    return SimpleNamespace(sampled=sampled, expected=expected, **(given | more))


def run(value=0.0, stderr=None, verdict="holds", n=100, sharper=None, half=None):
    half = Z * stderr if half is None and stderr else half or 0.0
    ends = {"low": None, "high": None} if value is None else {"low": value - half, "high": value + half}
    return SimpleNamespace(value=value, stderr=stderr, verdict=verdict, n=n, place_sharper=sharper, **ends)


def runs_with_errors(wrong: float, seeds: int, generator, samples: int = 400):
    """Means of exponential samples whose stated error is ``wrong`` times the right one."""
    drawn = generator.exponential(size=(seeds, samples))
    stated = wrong * drawn.std(axis=1, ddof=1) / math.sqrt(samples)
    return [run(m, s) for m, s in zip(drawn.mean(axis=1), stated, strict=True)]


@pytest.mark.parametrize("seeds", [3, 10])
def test_right_error_bars_are_rejected_about_once_in_a_thousand(seeds):
    generator = np.random.default_rng(1)
    found = [Spread(part(), "01_x", runs_with_errors(1.0, seeds, generator)) for _ in range(2000)]
    assert sum(bool(one.error_bars) for one in found) <= 12  # 2 are expected; the means are not quite normal
    assert abs(np.mean([one.ratio[0] ** 2 for one in found]) - 1) < 0.1


@pytest.mark.parametrize(
    ("wrong", "seeds", "said"), [(0.2, 10, "too small"), (0.1, 3, "too small"), (6.0, 10, "too large")]
)
def test_planted_wrong_error_bars_are_caught(wrong, seeds, said):
    generator = np.random.default_rng(2)
    found = [Spread(part(), "01_x", runs_with_errors(wrong, seeds, generator)) for _ in range(100)]
    caught = [one for one in found if one.error_bars == said]
    assert len(caught) >= 90
    assert math.sqrt(np.mean([one.ratio[0] ** 2 for one in found])) == pytest.approx(1 / wrong, rel=0.2)


def test_the_interval_of_the_ratio_is_that_of_a_chi_square():
    values, errors = [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 2.0]
    found, low, high = ratio(values, errors)
    assert found == pytest.approx(math.sqrt((5 / 3) / 2.5))
    draws = np.random.default_rng(3).standard_normal((400_000, 4)).var(axis=1, ddof=1)
    assert np.mean(draws > (found / low) ** 2) == pytest.approx(5e-4, rel=0.3)
    assert np.mean(draws < (found / high) ** 2) == pytest.approx(5e-4, rel=0.3)
    for values, errors in (([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, 2.0], [1.0, 0.0])):
        with pytest.raises(ValueError):
            ratio(values, errors)


SHARPER, CORRECTED = "holds, and more is true", "false as printed, corrected"


def test_what_is_decided_differently():
    for verdicts, sharper, different in (
        *((["holds"] * 3, None, False), (["holds", "open", "holds"], None, False)),
        *((["holds", "holds", "fails"], None, True), (["open", CORRECTED, "holds"], None, True)),
        *(([SHARPER, "holds"], "across", False), ([SHARPER, "holds"], "outside", True)),
    ):
        runs = [run(verdict=v, stderr=1.0, sharper=sharper if v == "holds" else "inside") for v in verdicts]
        assert Spread(part(), "01_x", runs).different == different, verdicts
    criteria = [("criterion", SimpleNamespace(low=-1.0, high=1.0))]
    for value, stderr, times in ((0.0, 0.1, 10.83 / 100), (0.5, 0.5, 10.83), (0.9, 0.1, 10.83)):
        runs = [run(value, stderr, verdict="open")] * 2
        assert Spread(part(criteria=lambda: criteria), "01_x", runs).times == pytest.approx(max(1.0, times), rel=1e-3)


def test_what_is_open_too_often():
    nine = [run(stderr=1.0)] * 9
    undecided = run(stderr=1.0, verdict="open")
    assert not Spread(part(), "01_x", [*nine, undecided]).needs_samples
    assert Spread(part(), "01_x", [*nine, undecided, undecided]).needs_samples
    few = [run(stderr=1.0, verdict="open", n=5)] * 4
    assert Spread(part(), "01_x", few).needs_samples
    assert Spread(part(min_samples=6), "01_x", few).by_design == "n = 5 here, decided from 6 on"
    assert not Spread(part(min_samples=6), "01_x", few).needs_samples
    assert not Spread(part(expected="open"), "01_x", few).needs_samples
    assert Spread(part(expected="open", min_samples=6), "01_x", few, "an hour").design == "the ledger"
    assert not Spread(part(), "01_x", few, "an hour").needs_samples
    assert Spread(part(), "01_x", few, "an hour").by_design == "an hour"


def test_exact_values_are_the_same_or_say_over_what_and_intervals_of_shares_meet():
    same = [run(0.5), run(0.5 + 1e-12)]
    assert not Spread(part(sampled=False), "01_x", same).varies
    other = [run(0.5), run(0.5001)]
    assert Spread(part(sampled=False), "01_x", other).unsaid
    said = Spread(part(sampled=False, quantity="largest difference over 20 networks"), "01_x", other)
    assert said.varies and not said.unsaid
    assert not Spread(part(sampled=False, floor=1e-3), "01_x", other).varies
    assert Spread(part(sampled=False), "01_x", [run(None, verdict="open", n=0)]).kind == measured.NOT_RUN
    apart = [run(0.1, half=0.05), run(0.3, half=0.05)]
    assert Spread(part(), "01_x", apart).kind == measured.INTERVAL and Spread(part(), "01_x", apart).ratio is None
    assert Spread(part(), "01_x", apart).error_bars == "too small"
    assert Spread(part(), "01_x", [run(0.1, half=0.2), run(0.3, half=0.2)]).error_bars == ""


def test_how_far_two_runs_are_apart():
    def size(own, other, ends=(0.5, 1.5), **more):
        of = part(criterion=Interval(*ends, ""), **({"sampled": False} | more))
        return Difference(of, run(*own), run(*other)).size

    assert size([1.0], [1.001]) == pytest.approx(0.001 / 1.5)
    assert size([1.0, 0.1], [1.05, 0.1], sampled=True) == pytest.approx(0.5)
    assert size([1e-15], [3e-15], (-1e-6, 1e-6)) == pytest.approx(2e-9)
    assert size([1e-15], [3e-15], (-1e-16, 1e-16)) == pytest.approx(2 / 3)
    assert size([1e-15], [3e-15], (-1e-16, 1e-16), floor=1e-12) == 0
