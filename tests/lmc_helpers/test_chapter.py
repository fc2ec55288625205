"""Parameters: what is allowed passes, everything else is one error that names it and what is allowed."""

import math
from dataclasses import dataclass

import pytest

from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Flag, Integer, ListOf, ParameterError, Real, parameters, validate

RULES = {
    "M": Integer(1, 10),
    "rate": Real(0, 1),
    "law": Choice(("equal", "exponential")),
    "plot": Flag(),
    "widths": ListOf(Integer(1, 9), least=2),
    "sizes": ListOf(Integer(1, 9), 3, 3),
    "places": Integer(4, 1000, step=2, zero=True),
}
GOOD = {"M": 3, "rate": 0.5, "law": "equal", "plot": True, "widths": [1, 2], "sizes": [1, 1, 1], "places": 6}


def test_good_parameters_pass():
    namespace = GOOD | {"math": math, "Integer": Integer, "_hidden": 3, "In": ["code"], "Out": {}}
    assert validate(namespace, RULES) == GOOD
    assert validate(GOOD | {"rate": 1}, RULES)["rate"] == 1
    assert all(validate(GOOD | {"places": n}, RULES) for n in (0, 4, 1000))

    @dataclass(frozen=True)
    class Parameters:
        widths: list
        M: int

    assert parameters(Parameters, GOOD | {"math": math}) == Parameters(GOOD["widths"], GOOD["M"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("M", 11, "parameter M = 11 (int) is not allowed; allowed: integer in [1, 10]"),
        ("M", 0, "parameter M = 0 (int)"),
        ("M", 3.0, "parameter M = 3.0 (float)"),
        ("M", "3", "parameter M = '3' (str)"),
        ("M", True, "parameter M = True (bool)"),
        ("M", None, "parameter M = None (NoneType)"),
        ("rate", math.nan, "parameter rate = nan (float) is not allowed; allowed: number in [0, 1]"),
        ("rate", math.inf, "parameter rate = inf"),
        ("rate", False, "parameter rate = False"),
        ("law", "normal", "allowed: one of equal, exponential"),
        ("plot", 1, "parameter plot = 1 (int) is not allowed; allowed: true or false"),
        ("widths", [1], "allowed: list of 2 or more, each integer in [1, 9]"),
        ("widths", [1, 99], "parameter widths = [1, 99] (list)"),
        ("widths", 5, "parameter widths = 5 (int)"),
        ("widths", "[6, 15]", 'each integer in [1, 9]; with papermill: -y "widths: [6, 15]"'),
        ("sizes", [1, 2, 3, 4], "allowed: list of 3, each integer in [1, 9]"),
        ("places", 5, "allowed: 0 or integer in [4, 1000] in steps of 2"),
        ("places", 2, "parameter places = 2 (int)"),
    ],
)
def test_bad_value_is_named(name, value, message):
    with pytest.raises(ParameterError) as error:
        validate(GOOD | {name: value}, RULES)
    assert message in str(error.value)


def test_unknown_missing_and_several_at_once():
    given = {k: v for k, v in GOOD.items() if k != "plot"} | {"rat": 2, "M": 99}
    with pytest.raises(ParameterError) as error:
        validate(given, RULES)
    text = str(error.value)
    assert "unknown parameter 'rat' = 2 (did you mean 'rate'?); allowed: M (integer in [1, 10]), rate" in text
    assert "parameter M = 99" in text and "parameter plot is missing; allowed: true or false" in text
    with pytest.raises(ParameterError, match=r"seed = 8 .* integer in \[0, 7\]"):
        chapter.begin({"seed": 8, "profile": "smoke"}, seed=Integer(0, 7))


def test_begin_checks_and_may_be_run_again():
    namespace = {"M": 3, "seed": 1, "profile": "smoke"}
    chapter.begin(namespace, M=Integer(1, 5))
    namespace |= {"result": 7}  # a reader re-runs the cell after the whole notebook
    chapter.begin(namespace, M=Integer(1, 5))
    with pytest.raises(ParameterError, match="M = 9"):
        chapter.begin(namespace | {"M": 9}, M=Integer(1, 5))
    with pytest.raises(ParameterError, match="unknown parameter 'N'"):
        chapter.begin({"M": 3, "N": 1, "seed": 1, "profile": "smoke"}, M=Integer(1, 5))
    assert "Python" in chapter.end()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 1}, "parameter profile is missing"),
        ({"seed": 2**32 - 1, "profile": "smoke"}, "parameter seed = 4294967295"),
        ({"seed": 1, "profile": "quick"}, "one of smoke, laptop, paper, custom"),
    ],
)
def test_every_chapter_has_a_seed_and_a_profile(given, message):
    with pytest.raises(ParameterError, match=message):
        chapter.begin(given)
