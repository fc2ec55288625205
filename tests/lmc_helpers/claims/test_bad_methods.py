"""Bad arguments for every public method of the room: one sentence that says what is allowed."""

import math

from bad_arguments import Other, Row, Text, methods_without_a_row, refused, rows, runs
from oracles.ledger import BASE, claim, parse_part

from lmc_helpers.claims.criteria import Claim, ClaimEntry
from lmc_helpers.claims.intervals import Interval
from lmc_helpers.claims.scale import Axis

ENTRY = ClaimEntry.model_validate(claim(parts={"a": BASE}))
PART = Claim.of("T1", ENTRY).parts["T1.a"]
WITHIN = Interval(0.0, 1.0, "in [0, 1]")
OTHER = Other(WITHIN, {"a pair": (0.0, 1.0), "a number": 0.5, "nothing": None, "a string": "in [0, 1]"})
RIVAL = Other(Interval(-9.0, -8.0, "far"), OTHER.wrong)
VALUE = {"nan": math.nan, "a string": "1", "nothing": None, "complex": 1j, "a bool": True, "a list": [1.0]}

TABLE = [
    Row(Claim.of, {"id": Text("T1"), "entry": Other(ENTRY, {"a dict": {}, "nothing": None, "a part": PART})}),
    Row(parse_part("T1.a", BASE).exclude, {"rival": RIVAL}),
    Row(PART.refuse, {"rival": RIVAL}),
    *(Row(method, {"other": OTHER}) for method in (WITHIN.contains, WITHIN.meets, WITHIN.place_of)),
    *(Row(Axis(1.0, 10.0, log).at, {"value": Other(2.0, VALUE)}) for log in (False, True)),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("claims", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)


def test_infinity_is_beyond_both_ends():
    axis = Axis(1.0, 10.0)
    assert axis.at(-math.inf) == axis.at(0.0) < axis.at(10.0) == axis.at(math.inf)
