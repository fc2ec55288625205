"""A record stands as long as its criterion, quantity, parameters and reference do."""

import copy

from book.tools.read import sources
from book.tools.record import records, standing
from lmc_helpers import claims

PART = "Z4.low"  # sampled, and measured at smoke


def shift(by: float):
    def change(record):
        half = (record["reference"]["high"] - record["reference"]["low"]) / 2 / 3.29
        for name in ("value", "low", "high"):
            record["reference"][name] += by * half

    return change


def parameter(record):
    name = next(name for name in record["parameters"] if name not in standing.VARY)
    record["parameters"][name] = 12345


CHANGES = [
    (lambda r: None, []),
    (lambda r: r["parameters"].update(seed=5), []),
    (shift(0.5), []),
    (shift(-1.5), ["number at smoke"]),
    (lambda r: r["reference"].update(n=r["reference"]["n"] + 1), ["number at smoke"]),
    (lambda r: r["reference"].update(profile="laptop"), ["no number at laptop any more"]),
    (lambda r: r.update(criteria="another"), ["criterion"]),
    (lambda r: r.update(quantity="another"), ["quantity"]),
    (parameter, ["parameters"]),
    (lambda r: r.update(chapter="21_merging_neurons"), ["chapter"]),
    (lambda r: r.update(chapter="99_gone"), ["chapter"]),
    (lambda r: r.update(part="Z4.gone"), ["chapter"]),
]


def test_what_has_changed_is_named():
    record = records.recorded()[PART]
    assert claims.part(PART).sampled and record["reference"]["profile"] == "smoke"
    for change, said in CHANGES:
        changed = copy.deepcopy(record)
        change(changed)
        assert standing.changes(changed) == said
    known, found = sources.Sources(), records.recorded()
    changed = {id: said for id, entry in found.items() if (said := standing.changes(entry, known))}
    assert changed == {}
    lacking = [id for id, entry in found.items() if id in standing.references() and not entry.get("reference")]
    assert lacking == []


def test_conditions_may_move_as_long_as_they_leave_open_the_same(monkeypatch):
    record, part = records.recorded()[PART], claims.part(PART)
    assert record["verdict"] != "open"
    size, used = next((name, v) for name, v in record["parameters"].items() if isinstance(v, int))
    for conditions, stands in (
        *(({"min_samples": record["n"]}, True), ({"min_samples": record["n"] + 1}, False)),
        *(({"needs": {size: used}}, True), ({"needs": {size: used + 1}}, False), ({"needs": {"later": 1}}, False)),
    ):
        monkeypatch.setattr(claims, "part", lambda id, c=conditions: part.model_copy(update=c))
        assert standing.changes(record) == ([] if stands else ["criterion"])
        for place, otherwise in (("inside", stands), ("across", False)):  # left open then: is it to be decided now?
            was_open = record | {"verdict": "open", "place": place}
            assert bool(standing.changes(was_open)) == otherwise


def test_a_record_is_judged_anew_where_only_the_criterion_has_changed(monkeypatch):
    """Its interval stays, and it says by what it was judged first; a rejection is left to a run with a second seed."""
    record, part = records.recorded()[PART], claims.part(PART)
    old = record | {"criteria": "another", "criterion": "≤ 1000", "verdict": "open"}
    anew = standing.judged_anew(old)
    assert anew | {"first_judged_by": None} == {"lacks": ""} | record | {"first_judged_by": None}
    assert anew["first_judged_by"] == "≤ 1000" and standing.changes(anew) == []
    assert standing.judged_anew(record) is None and standing.judged_anew(old | {"quantity": "another"}) is None
    far = {"value": 9.0, "stderr": None, "low": 8.9, "high": 9.1}
    if not part.criterion.contains(claims.judge.Interval(8.9, 9.1, "")):
        assert standing.judged_anew(old | far) is None
        assert standing.judged_anew(old | far | {"place": "outside"})["verdict"] == "open"
