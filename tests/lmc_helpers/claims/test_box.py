"""What is shown and stored: every kind of box, the worst of a sequence, contradictions after the box."""

import html
import json
import re
from dataclasses import asdict
from xml.etree import ElementTree

import numpy as np
import pytest
from oracles.ledger import BASE, CORRECTED, SHARPER, claim, parse_part, write

from lmc_helpers import chapter, claims
from lmc_helpers.claims import Contradiction, reading
from lmc_helpers.claims.box import MIME, RECORDED_ONLY
from lmc_helpers.claims.judge import judge
from lmc_helpers.error_bars import over_clusters


@pytest.fixture
def shown(monkeypatch):
    """What ``check`` displays: data and record."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda data, metadata, raw: found.append((data, metadata[MIME])))
    return found


@pytest.fixture
def ledger_of(tmp_path, monkeypatch):
    """Make a ledger with the one part T1.a."""

    def make(entry):
        monkeypatch.setattr(reading, "LEDGER", write(tmp_path, {"T1": claim(parts={"a": entry})}))

    return make


@pytest.mark.parametrize(
    ("computed", "expected", "raises"),
    [(2.0, "holds", False), (3.0, "holds", True), (3.0, "fails", False), (2.0, "fails", True), (3.0, "open", False)],
)
def test_only_a_contradiction_raises_and_only_after_the_outcome_is_shown(ledger_of, shown, computed, expected, raises):
    ledger_of(BASE | {"expected": expected, "reason": "because"})
    if raises:
        with pytest.raises(Contradiction, match=f"T1.a: computed .*, the ledger expects '{expected}'"):
            claims.check("T1.a", computed, n=1)
    else:
        claims.check("T1.a", computed, n=1)
    ((data, record),) = shown
    assert record["value"] == computed and record["verdict"] in data["text/plain"]
    assert record == asdict(judge(reading.part("T1.a"), computed, n=1))


def test_a_sequence_is_judged_by_its_worst_value(ledger_of, shown):
    ledger_of(BASE)
    claims.check("T1.a", [1.95, 2.08, 2.0])
    claims.check("T1.a", np.array([[1.91], [2.0]]), n=7)
    with pytest.raises(Contradiction):
        claims.check("T1.a", [2.0, 1.0])
    assert [(record["value"], record["n"]) for _, record in shown] == [(2.08, 3), (1.91, 7), (1.0, 2)]


def test_a_sequence_must_hold_exact_values(ledger_of, shown):
    ledger_of(BASE)
    for values, more in (([2.0], {"stderr": 0.1}), ([2.0], {"second_seed": lambda: (2.0, 0.1)})):
        with pytest.raises(ValueError, match=r"allowed: a sequence of exact values"):
            claims.check("T1.a", values, **more)
    with pytest.raises(ValueError, match="n is missing"):
        claims.check("T1.a", 2.0)
    with pytest.raises(ValueError, match="finite"):
        claims.check("T1.a", [2.0, float("nan"), 9.0])
    assert not shown


def test_a_quantity_is_asked_of_a_second_experiment_only_where_the_first_rejects(ledger_of, shown):
    ledger_of(BASE | {"sampled": True, "expected": "fails", "reason": "because"})

    def made():
        raise AssertionError("an experiment that nobody asked for")

    exactly, between = (lambda x: (x, 0.01)), (lambda x: (x, x - 0.01, x + 0.02))
    claims.check("T1.a", exactly, of=2.1, again=made, n=9)
    claims.check("T1.a", exactly, of=3.0, n=9)
    claims.check("T1.a", exactly, of=3.0, again=lambda: 2.0, n=9)
    claims.check("T1.a", exactly, of=3.0, again=4.0, n=9)
    claims.check("T1.a", between, of=3.0, again=4.0, n=9)
    found = [(record["verdict"], record["second_seed"]) for _, record in shown]
    assert found == [("open", None), ("open", None), ("open", False), ("fails", True), ("fails", True)]
    assert shown[0][1] == asdict(judge(reading.part("T1.a"), 2.1, stderr=0.01, n=9))
    assert (shown[-1][1]["low"], shown[-1][1]["high"]) == (2.99, 3.02)
    with pytest.raises(AssertionError, match="nobody asked for"):
        claims.check("T1.a", exactly, of=3.0, again=made, n=9)


def test_too_few_samples_for_a_quantity_leave_the_part_open(ledger_of, shown):
    """They have no error, or there are none; with enough samples the same is an error of the chapter."""
    ledger_of(BASE | {"sampled": True, "min_samples": 3})
    claims.check("T1.a", over_clusters, of=[2.0], n=1)
    claims.check("T1.a", [], n=5)
    assert [record["lacks"].split()[:4] for _, record in shown] == [["1", "of", "the", "3"], ["none", "of", "the", "3"]]
    assert all(record["value"] is None and record["verdict"] == "open" for _, record in shown)
    with pytest.raises(ValueError, match="1 clusters; allowed: at least 2"):
        claims.check("T1.a", over_clusters, of=[2.0], n=3)


def test_a_recorded_rejection_is_not_repeated_but_in_runs_that_are_recorded(ledger_of, shown, tmp_path, monkeypatch):
    ledger_of(BASE | {"sampled": True, "expected": "fails", "reason": "because"})
    part, path = reading.part("T1.a"), tmp_path / "paper.json"
    record = {"part": "T1.a", "verdict": "fails", "second_seed": True}
    record |= {"criteria": part.digest(), "quantity": part.quantity}
    monkeypatch.setattr(reading, "RECORD", path)

    def asked(changes: dict, profile: str = "laptop", run: str = "") -> bool:
        path.write_text(json.dumps([record | changes]))
        reading._records.cache_clear()
        monkeypatch.setattr(chapter, "_in_use", {"profile": profile})
        monkeypatch.setenv(RECORDED_ONLY, run)
        claims.check("T1.a", 3.0, 0.01, n=9, second_seed=lambda: (3.0, 0.01))
        return shown[-1][1]["second_seed"] is True

    assert not asked({}) and "the second seed at paper scale agrees" in shown[-1][0]["text/plain"]
    assert "the second seed at paper scale agrees" in words_of(shown[-1][0]["text/html"])
    assert asked({}, profile="paper") and asked({}, run="1")
    for changes in ({"second_seed": None}, {"verdict": "open"}, {"criteria": "0"}, {"quantity": "another"}):
        assert asked(changes)


def words_of(shown: str) -> str:
    return " ".join("".join(ElementTree.fromstring(shown).itertext()).split())


def box(entry: dict, value: float = 2.0, id: str = "Z1.a", confirmed: dict | None = None, **more) -> str:
    part = parse_part(id, entry)
    record = asdict(judge(part, value, **({"n": 9} | more)))
    return claims.render(part, record, confirmed and record | RUN | confirmed)


RUN = {"changed": [], "commit": "c" * 40, "seeds": "5" * 40, "date": "2026-01-02", "device": "CPU, 1 thread(s)"}
READ = {"whose": "reading", "reading": "as the mean"}
OURS = {"whose": "ours", "expected": "open", "reason": "r"}


def test_the_first_line_says_whose_statement_it_is():
    line = "✓ it is two measured 2 allowed = 2 ± 0.1 "
    assert words_of(box(BASE)).startswith(f"{line}Zhan, Li & Wu, eq. (1) ✓ holds")
    assert words_of(box(BASE | READ)).startswith(f"{line}Zhan, Li & Wu, eq. (1), as we read it: as the mean. ✓ holds")
    ours = words_of(box(BASE | OURS))
    assert ours.startswith(f"{line}This book ✓ holds") and "our criterion" in ours
    assert "printed" not in ours and "as stated" not in ours


def test_what_holds_instead_or_beyond_is_said_with_its_proof():
    links = claims.Links(anchor="claim-T1-a", address={"thm": ("#thm", "Theorem “Three”")}.get)
    part = parse_part("T1.a", CORRECTED)
    shown = claims.render(part, asdict(judge(part, 3.0, n=1)), links=links)
    assert "<b>What holds instead:</b> three" in shown and 'Proof: <a href="#thm">Theorem “Three”</a>' in shown
    assert "What holds instead" not in claims.render(part, asdict(judge(part, 2.0, n=1)), links=links)
    assert "More is true: it is two to a hundredth" in words_of(box(SHARPER))


def test_both_runs_stand_in_one_box():
    entry = BASE | {"sampled": True}
    decided = {"verdict": "holds", "value": 2.0, "stderr": 0.001, "low": 1.9967, "high": 2.0033, "place": "inside"}
    shown = box(entry, 2.1, stderr=0.1, confirmed=decided)
    said = words_of(shown)
    assert "✓ holds at paper scale ? open in this run" in said
    assert "touches the border of what is stated: not decided" in said
    assert f"recorded run, paper scale commit {'c' * 10}, seeds from {'5' * 10} 2.0000 ± 0.0010, tested" in said
    assert shown.startswith('<details class="lmc-claim lmc-holds"')
    assert shown.count("lmc-mark ") == 2 and "<circle" in shown and "<path" in shown


def test_a_record_out_of_date_gives_no_verdict():
    shown = box(BASE, confirmed={"verdict": "fails", "value": 9.0, "changed": ["criterion"]})
    said = words_of(shown)
    assert "out of date, changed since: criterion" in said and "fails" not in said
    assert shown.startswith('<details class="lmc-claim lmc-holds"') and shown.count("lmc-mark ") == 1
    old = {"seeds": "", "stderr": None, "low": None, "high": None, "changed": ["criterion"]}
    assert f"at paper scale commit {'c' * 10} 2 out of date" in words_of(box(BASE, confirmed=old))


def test_a_closed_box_is_its_line_and_formulas_are_where_mathjax_looks():
    part = parse_part("T1.a", BASE)
    for closed in (True, False):
        shown = claims.render(part, asdict(judge(part, 2.0, n=1)), links=claims.Links(closed=closed))
        tree = ElementTree.fromstring(shown)
        assert tree.tag == "details" and tree[0].tag == "summary" and (tree.get("open") is None) == closed
    shown = ElementTree.fromstring(box(BASE | {"statement": "$x < 2$", "criterion": {"equals": 2, "tolerance": 0.1}}))
    places = [e for e in shown.iter() if r"\(" in "".join(e.itertext()) and "mathjax_process" in e.get("class", "")]
    assert places and r"\(x < 2\)" in "".join(places[0].itertext())


def test_what_was_not_run_shows_no_number():
    said = words_of(box(BASE, 12345.0, n=0))
    assert "nothing was measured at this scale" in said and "12345" not in said and "12\u202f345" not in said
    assert "? open" in said


def test_links_lead_where_they_are_told():
    links = claims.Links("claim-T1-a", "../s.html#score-T1-a", "../errata/T.html#erratum-T1-a", "../verdicts.html")
    part = parse_part("T1.a", BASE)
    tree = ElementTree.fromstring(claims.render(part, asdict(judge(part, 2.0, n=1)), links=links))
    assert tree.get("id") == "claim-T1-a"
    found = {a.text or a[0].text: a.get("href") for a in tree.iter("a")}
    assert found == {"T1.a": links.row, "erratum": links.erratum, "¶": "#claim-T1-a", "?": links.grammar}
    bare = ElementTree.fromstring(box(BASE))
    assert bare.get("id") is None and not list(bare.iter("a"))


def test_a_box_says_what_was_changed_after_a_measurement():
    stood = {"criterion": {"equals": 2, "tolerance": 0.05}, "whose": "ours"}
    part = parse_part("T1.a", BASE | {"revised": {"from": stood, "why": "the print says “near”"}})
    box = claims.render(part, asdict(judge(part, 2.0, n=1)))
    before = "Changed after a measurement, before: = 2 ± 0.05; as the book's own. Why: the print says “near”."
    assert before in html.unescape(re.sub("<[^>]+>", "", box))
    assert "Changed" not in claims.render(parse_part("T1.a", BASE), asdict(judge(part, 2.0, n=1)))


@pytest.mark.parametrize(("epochs", "label"), [(20, "in a smaller run"), (100, "measured")])
def test_a_value_of_a_run_that_is_too_small_to_judge_is_labelled_so(epochs, label):
    part = parse_part("T1.a", BASE | {"needs": {"epochs": 100}})
    box = claims.render(part, asdict(judge(part, 2.0, n=1, used={"epochs": epochs})))
    assert re.search(r"<small>(.+?)</small> 2\b", box)[1] == label
