"""The ledger's files: one a paper, read alone, refused in words, or not there at all."""

import re

import pytest
from oracles.ledger import BASE, CORRECTED, claim, step, write

from lmc_helpers.claims import reading
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.reading import ledger, part


def test_the_ledger_has_every_claim():
    claims = ledger()
    counted = {paper: sum(id.startswith(paper) for id in claims) for paper in "ZPGIX"}
    assert counted == {"Z": 19, "P": 9, "G": 11, "I": 19, "X": 10}
    assert list(dict.fromkeys(id[0] for id in claims)) == list("ZPGIX")
    for id, found in claims.items():
        assert found.id == id and id[0] == found.paper and found.says and found.where
        assert all(name == it.id and name.startswith(f"{id}.") for name, it in found.parts.items())
    with pytest.raises(LedgerError, match=r"part 'Z3.bottom' is not in the ledger; known: Z3.exact"):
        part("Z3.bottom")
    with pytest.raises(LedgerError, match=r"known: Z1, Z2.*, I19, X1"):
        part("Q9.x")
    with pytest.raises(LedgerError, match="known: none of this claim"):
        part("X7.a")


def test_a_part_reads_its_own_paper_only_and_a_paper_that_is_not_known_comes_last(tmp_path):
    write(tmp_path, {id: claim(id[0]) for id in ("A1", "Z1", "G1", "G2")})
    assert list(ledger(tmp_path)) == ["Z1", "G1", "G2", "A1"]
    write(tmp_path, {"T1": claim(parts={"a": BASE})})
    (tmp_path / "U.yml").write_text("U1: [")
    assert part("T1.a", tmp_path).id == "T1.a"
    with pytest.raises(LedgerError, match=r"^U.yml, line 1: expected the node content"):
        ledger(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"T1": claim(misprints=[{"where": "x", "printed": "a"}])}, "T.yml: T1.misprints.0.meant: the field is missi"),
        ({"T1": claim("Z")}, "T.yml: T1: paper: 'Z' is not allowed; allowed: the file's letter"),
        ({"T1a": claim()}, "T.yml: T1a: string should match pattern '^[A-Z][0-9]+$', not 'T1a'"),
        ({"T1": claim(part={})}, "T.yml: T1: unknown field 'part'; allowed: paper, where, says, parts, misprints"),
        ({"T1": "a claim"}, "T.yml: T1: 'a claim' is not allowed here; allowed: a mapping with paper"),
        (
            {"T1": claim(parts={"a": CORRECTED | {"corrected": {"betwen": [1, 2]}}})},
            "T.yml: T1.a.corrected: this is not a criterion; allowed: equals (with tolerance), between, at_most or",
        ),
    ],
)
def test_a_bad_file_is_refused(tmp_path, content, message):
    with pytest.raises(LedgerError) as error:
        ledger(write(tmp_path, content))
    assert re.match(r"T\.yml, line \d+:", str(error.value))
    assert re.sub(r", line \d+", "", str(error.value)).startswith(message)


@pytest.mark.parametrize(
    ("of", "statement"), [("T1.c", BASE), ("T1.b", BASE | {"expected": "fails", "reason": "r"}), ("T1.b", CORRECTED)]
)
def test_a_step_belongs_to_a_statement_that_stands(tmp_path, of, statement):
    write(tmp_path, {"T1": claim(parts={"a": step(of), "b": statement})})
    said = rf"^T.yml, line \d+: T1.a.step_of: '{of}' is not allowed; allowed: a part of this file"
    with pytest.raises(LedgerError, match=said):
        ledger(tmp_path)
    write(tmp_path, {"T1": claim(parts={"a": step("T2.b")}), "T2": claim(parts={"b": BASE})})
    with pytest.raises(LedgerError, match="no part is a headline"):
        ledger(tmp_path)
    write(tmp_path, {"T1": claim(parts={"a": step("T2.b"), "b": BASE}), "T2": claim(parts={"b": BASE})})
    assert len(ledger(tmp_path)["T1"].parts) == 2


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    write(tmp_path, {"T1": claim(says=3, parts={"a": BASE | {"digits": 0}}), "T2": claim(where=4)})
    with pytest.raises(LedgerError) as error:
        ledger(tmp_path)
    assert [line.split(":")[1] for line in str(error.value).splitlines()] == [" T1.says", " T1.a.digits", " T2.where"]


def test_without_a_ledger_there_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LEDGER", tmp_path / "book" / "claims")
    for ask in (ledger, lambda: part("Z3.limit")):
        with pytest.raises(LedgerError) as error:
            ask()
        assert str(error.value).startswith(f"the ledger is not there: no {tmp_path}/book/claims/*.yml.")
