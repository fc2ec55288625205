"""What a run must be to judge a part: which runs meet a need, and what one that does not says."""

from dataclasses import asdict

import pytest
from oracles.ledger import BASE, SAMPLED, parse_part

from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.judge import judge
from lmc_helpers.claims.needs import met
from lmc_helpers.claims.render.words import Result


@pytest.mark.parametrize(
    ("stated", "yes", "no"),
    [
        ("mnist", ["mnist"], ["digits", "mnist, from other files", None]),
        (512, [512, 1024, [4, 512]], [511, [4, 8], None]),
        (0.75, [0.75, 1], [0.5, []]),
        ([25, 100], [[100, 6, 25], (25, 100)], [[25]]),
        ({"exactly": 20}, [20], [21, 19]),
        ({"exactly": [8, 16]}, [[8, 16]], [[16, 8], [8, 16, 3]]),
    ],
)
def test_which_values_meet_a_need(stated, yes, no):
    need = parse_part("T1.a", BASE | {"needs": {"x": stated}}).needs["x"]
    assert [met(need, value) for value in yes] == [True] * len(yes)
    assert [met(need, value) for value in no] == [False] * len(no)


NEEDY = BASE | {"needs": {"width": 512, "data": "mnist"}, "min_samples": 4}


@pytest.mark.parametrize(
    ("used", "n", "value", "verdict", "lacks"),
    [
        ({"width": 512, "data": "mnist"}, 4, 9.0, "fails", ""),
        ({"width": 512, "data": "mnist"}, 3, 9.0, "open", "3 of the 4 samples that this part needs"),
        ({"width": 64, "data": "mnist"}, 4, 9.0, "open", "needs width ≥ 512 (here 64)"),  # smaller: shown
        ({"width": 600, "data": "digits"}, 4, None, "open", "needs data mnist (here digits)"),  # another experiment
        ({"width": 64, "data": "digits"}, 4, None, "open", "needs width ≥ 512 (here 64), data mnist (here digits)"),
    ],
)
def test_a_run_that_lacks_something_decides_nothing_and_says_what(used, n, value, verdict, lacks):
    part = parse_part("T1.a", NEEDY)
    found = judge(part, 9.0, n=n, used=used | {"seed": 1})
    assert (found.value, found.verdict, found.lacks, found.n) == (value, verdict, lacks, n if value else 0)
    if lacks.startswith("needs"):
        assert Result(part, asdict(found)).outcome == f"{lacks}: not decided"


def test_a_need_of_no_parameter_is_refused():
    with pytest.raises(LedgerError, match="needs width, data: no parameter of the chapter; it has: seed"):
        judge(parse_part("T1.a", NEEDY), 9.0, n=4, used={"seed": 1})
    part = parse_part("T1.a", SAMPLED | {"needs": {"width": 512}})
    assert judge(part, 9.0, stderr=0.1, n=9, used={"width": 1}, second_seed=lambda: 1 / 0).verdict == "open"


@pytest.mark.parametrize("stated", [True, [], None, [[1]], {"about": 1}, {}])
def test_what_is_no_need_is_refused(stated):
    with pytest.raises(LedgerError, match=r"needs\.x"):
        parse_part("T1.a", BASE | {"needs": {"x": stated}})
