"""A verdict in words: every kind of part, place and record."""

from dataclasses import asdict

import pytest
from oracles.ledger import BASE, CORRECTED, SAMPLED, SHARPER, parse_part, step

from lmc_helpers.claims.judge import judge
from lmc_helpers.claims.render import words
from lmc_helpers.claims.render.words import Result

OURS = {"whose": "ours", "expected": "open", "reason": "r"}
READ = {"whose": "reading", "reading": "as the mean"}


RANDOM, TOUCHES = {"sampled": True}, "touches the border of"


def again(*second):
    return {"stderr": 0.1, "second_seed": lambda: second}


def measured(entry: dict, value: float, id: str = "T1.a", **more) -> tuple:
    part = parse_part(id, entry)
    return part, asdict(judge(part, value, **({"n": 10} | more)))


@pytest.mark.parametrize(
    ("entry", "value", "more", "said"),
    [
        (BASE, 2.0, {}, "inside what is stated"),
        (BASE | READ, 2.0, {}, "inside what we read"),
        (BASE | OURS, 2.0, {}, "inside what we state"),
        (BASE, 9.0, {}, "outside what is stated"),
        (SHARPER, 2.0, {}, "inside the sharper statement"),
        (SHARPER, 2.05, {}, "inside what is stated"),
        (SHARPER | RANDOM, 2.0, {"stderr": 0.01}, f"inside what is stated; {TOUCHES} the sharper statement"),
        (CORRECTED, 3.0, {}, "outside what is stated, inside the corrected statement"),
        (CORRECTED, 4.0, {}, "outside what is stated, and outside the corrected statement"),
        (SAMPLED, 2.1, {"stderr": 0.1}, "touches the border of what is stated: not decided"),
        (SAMPLED, 5.0, {"stderr": 0.1}, "outside what is stated, but no second seed was run: not decided"),
        (SAMPLED, 5.0, again(2.0, 0.01), "outside what is stated, but a second seed does not repeat it: not decided"),
        (SAMPLED, 5.0, again(5.0, 0.1), "outside what is stated"),
        (CORRECTED | RANDOM, 3.1, again(3.1, 0.1), f"outside what is stated; {TOUCHES} the corrected statement"),
        (BASE | {"min_samples": 20000}, 2.0, {}, "too few samples, n = 10 where 20\u202f000 are needed: not decided"),
        (BASE | {"min_samples": 9}, 2.0, {"n": 0}, "the run met nothing to measure: not decided"),
        (step("T1.b"), 9.0, {}, "outside what is stated"),
    ],
)
def test_where_a_measurement_lies(entry, value, more, said):
    assert Result(*measured(entry, value, **more)).outcome == said


@pytest.mark.parametrize(
    ("entry", "value", "more", "said", "tested", "level"),
    [
        (BASE, 2.04, {}, "2.04", "", "point"),
        (BASE | {"floor": 1e-6}, 3e-8, {}, "below 10⁻⁶", "", "point"),
        (BASE, 3e-17, {}, "0 to rounding (below 10⁻¹²)", "", "point"),
        (SAMPLED, 2.0, {"stderr": 0.0123}, "2.000 (s.e. 0.012)", "1.960 to 2.040", "3.29"),
        (SAMPLED, 2.0, {"interval": (1.912345, 2.2)}, "2.00", "1.91 to 2.20", "two-sided 10⁻³"),
        (SAMPLED, 0.0, {"interval": (0.0, 0.03)}, "0.000", "0.000 to 0.030", "two-sided 10⁻³"),
        (BASE | {"min_samples": 9}, 2.0, {"n": 0}, "nothing to measure", "", ""),
    ],
)
def test_values_intervals_and_how_the_error_was_made(entry, value, more, said, tested, level):
    part, record = measured(entry, value, **more)
    assert Result(part, record).value == said
    assert Result(part, record).interval == tested
    assert level in Result(part, record).level and bool(level) == bool(Result(part, record).level)


def test_records_of_earlier_grammars_are_read_and_measured_rivals():
    part = parse_part("T1.a", SAMPLED)
    old = {"value": 1.025, "stderr": 2.2e-16, "n": 400}
    assert Result(part, old).value == "1.025" and Result(part, old).interval == ""
    assert Result(part, old | {"stderr": 0.01}).value == "1.025 (s.e. 0.010)"
    part, record = measured(BASE, 2.0)
    assert Result(part, record).rival == 2.5
    entry = BASE | {"rival": {"says": "the other law"}}
    part, record = measured(entry, 2.0, rival=-8.87335e14)
    assert Result(part, record).rival == pytest.approx(-8.87335e14, rel=1e-4)  # the record's text has four digits
    assert Result(part, record | {"rival": "unknown"}).rival is None


def test_criteria_in_words():
    part = parse_part("T1.a", BASE | {"criterion": {"at_most": "sqrt(2)", "says": "the root"}})
    assert words.criterion(part.criterion) == r"≤ $\sqrt{2}$ ≈ 1.414 (the root)"
    assert words.plain(part.criterion) == "at most 1.414"
    ends = [{"at_least": 0.5}, {"between": [1, 2]}, {"equals": 3}]
    parts = [parse_part("T1.a", BASE | {"criterion": criterion, "rival": {"says": "r"}}) for criterion in ends]
    assert [words.plain(part.criterion) for part in parts] == ["at least 0.5", "1 to 2", "3"]
