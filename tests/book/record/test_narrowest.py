"""A criterion that stood when a part was measured is not widened without a word."""

import pytest

from book.tools.record import narrowest
from book.tools.record.narrowest import Stood
from lmc_helpers.claims.criteria import Part, PartEntry

FIELDS = {
    **{"whose": "reading", "reading": "r", "weight": "headline", "where": "here", "statement": "s", "quantity": "q"},
    **{"criterion": {"equals": 2, "tolerance": 0.05}, "rival": {"says": "r"}, "expected": "holds"},
}
WHY = {"why": "the print says so"}


def part(**fields) -> Part:
    return Part.model_construct(id="Z7.peak", **dict(PartEntry.model_validate(FIELDS | fields)))


STOOD = Stood.of(part())
OURS = {"whose": "ours", "reading": ""}


def between(low, high):
    return {"criterion": {"between": [low, high]}}


@pytest.mark.parametrize(
    ("now", "refused"),
    [
        ({}, ""),
        (between(1.96, 2.05), ""),
        (between(1.96, 2.06), "criterion in [1.96, 2.06] is wider"),
        ({"criterion": {"at_least": 1.95}}, "allowed: an interval inside [1.95, 2.05], or 'revised'"),
        (between(1.9, 2.1) | {"revised": {"from": {"criterion": FIELDS["criterion"]}} | WHY}, ""),
        (between(1.9, 2.1) | {"revised": {"from": between(1.9, 2.0)} | WHY}, "wider"),
        (between(1.9, 2.1) | {"revised": {"from": {"whose": "ours"}} | WHY}, "wider"),
        (OURS, "whose 'ours'; allowed: 'reading'"),
        (OURS | {"revised": {"from": {"whose": "reading"}} | WHY}, ""),
    ],
)
def test_what_is_wider_is_refused_unless_it_says_what_stood(now, refused):
    found = STOOD.problems(part(**now))
    assert [line for line in found if line.startswith("Z7.peak: ")] == found and len(found) == bool(refused)
    assert refused in " ".join(found)


def test_what_was_revised_keeps_saying_so_and_the_table_has_every_part_that_was_measured():
    stood = Stood.of(part(**between(1.9, 2.1), revised={"from": {"criterion": FIELDS["criterion"]}} | WHY))
    assert "'revised' is missing" in stood.problems(part(**between(1.9, 2.1)))[0]
    from book.tools.record import records, standing

    measured = {id for id, record in records.recorded().items() if record["value"] is not None}
    assert measured | standing.references().keys() <= {stood.part for stood in narrowest.table()}
    assert narrowest.problems() == []
