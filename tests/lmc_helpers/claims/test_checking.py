"""What is judged, shown and stored: the worst of a sequence, quantities, contradictions after the box."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from oracles.ledger import BASE, claim, write

from lmc_helpers import chapter, claims
from lmc_helpers.claims import Contradiction, reading
from lmc_helpers.claims.checking import MIME, RECORDED_ONLY
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
    assert "the second seed at paper scale agrees" in shown[-1][0]["text/html"]
    assert asked({}, profile="paper") and asked({}, run="1")
    for changes in ({"second_seed": None}, {"verdict": "open"}, {"criteria": "0"}, {"quantity": "another"}):
        assert asked(changes)
