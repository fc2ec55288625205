"""The errata as a claim (X2): every statement that is contradicted has all that its erratum needs. Nothing is run."""

import pytest
import yaml
from oracles.ledger import BASE, CORRECTED, SAMPLED, claim, parse_part, step, write

from book.tools.read import papers, sources
from book.tools.render import errata, findings
from lmc_helpers import claims


@pytest.fixture(scope="module")
def where():
    return findings.checked_in(sources.Sources())


@pytest.fixture(scope="module")
def expected():
    return errata.expected(claims.ledger().values())


def test_every_contradicted_part_has_all_that_its_erratum_needs(where, expected):
    assert {part.id[0] for part in expected} == set("ZPGI")
    lacking = {part.id: errata.lacking(part, where) for part in expected}
    assert {id: missing for id, missing in lacking.items() if missing} == {}


def test_formulas_of_titles_and_reasons_are_typeset(expected):
    wrong = []
    for part in expected:
        for text in filter(None, (part.statement, part.reason, part.correction, part.in_short)):
            if text.count("$") % 2 or any(sign in "".join(text.split("$")[::2]) for sign in ("_{", "^", "\\")):
                wrong.append((part.id, text))
    assert wrong == []


GOOD = CORRECTED | {"in_short": "It is three"}


def test_what_an_erratum_lacks_is_named():
    for entry, missing in (
        (GOOD | {"proof": "thm-limit"}, []),
        (CORRECTED | {"proof": "thm-limit"}, ["in_short"]),
        (GOOD | {"proof": "thm-elsewhere"}, ["thm-elsewhere in 12_overlap_theorem"]),
        (BASE | {"expected": "fails", "reason": "so", "in_short": "No"}, ["proof"]),
        (SAMPLED | {"expected": "fails", "reason": "so", "in_short": "No"}, []),
        (step("T1.a") | {"in_short": "No"}, ["proof", "correction"]),
    ):
        part = parse_part("T1.a", entry)
        assert errata.lacking(part, {"T1.a": "12_overlap_theorem"}) == missing
        assert errata.lacking(part, {})[-1] == "chapter"
    part = parse_part("T1.a", SAMPLED | {"expected": "fails", "reason": "so"})
    it = findings.Finding(part, "12_overlap_theorem", {"verdict": "open"}, {"verdict": "fails"})
    assert errata.command(it) == "make chapter NAME=overlap_theorem PROFILE=paper"


def test_entries_stand_by_weight_and_slips_by_what_they_change(tmp_path):
    parts = {
        "result": GOOD,
        "stands": BASE,
        "step": step("T1.stands") | {"in_short": "A factor"},
        "slip": GOOD | {"weight": "slip"},
        "own": BASE | {"whose": "ours", "expected": "fails", "reason": "so"},
    }
    slips = [
        {"where": "eq. (1)", "printed": "2", "meant": "3"},
        {"where": "eq. (2)", "printed": "for some c", "meant": "for all c", "changes": True},
    ]
    ledger = claims.ledger(write(tmp_path, {"T1": claim(parts=parts, misprints=slips)}))
    here = {id: {"verdict": part.expected} for id, part in ledger["T1"].parts.items()}
    listed = errata.content(findings.Findings(ledger, here, {}, dict.fromkeys(here, "12_overlap_theorem")), "T")
    assert [e.part.id for e in listed["results"]] == ["T1.result"]
    assert [(e.part.id, e.step_of.part.id) for e in listed["details"]] == [("T1.step", "T1.stands")]
    assert [e.part.id for e in listed["small"]] == ["T1.slip"]
    assert [s.anchor for s in listed["reworded"]] == ["erratum-T1-slip-2"]
    assert [s.anchor for s in listed["misprints"]] == ["erratum-T1-slip-1"]


def test_the_papers_are_those_of_the_bibliography(root):
    text = (root / "book" / "references.bib").read_text(encoding="utf-8")
    for paper in papers.papers().values():
        entry = text[text.index(f"{{{paper.cite},") :].split("\n}\n")[0]
        assert paper.arxiv in entry and all(name.split()[-1] in _plain(entry) for name in paper.authors)


def _plain(text: str) -> str:
    for tex, letter in ((r"{\c{S}}", "Ş"), (r"{\c{s}}", "ş"), (r"{\"u}", "ü")):
        text = text.replace(tex, letter)
    return text


def test_the_ledger_names_the_pages_that_answer_without_being_judged_and_no_others(root, tmp_path):
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    listed = {entry["file"] for part in toc["parts"] for entry in part["chapters"]}
    pages = {id: claim.page for id, claim in claims.ledger().items() if claim.page}
    assert pages.items() >= {"X2": "errata", "X8": "reports"}.items()
    assert {f"book/{page}" for page in pages.values()} <= listed
    for entry in (claim("X", page="errata", parts={"a": BASE}), claim("T", page="errata")):
        with pytest.raises(claims.LedgerError, match="'page'"):
            claims.ledger(write(tmp_path, {f"{entry['paper']}1": entry}))
        (tmp_path / f"{entry['paper']}.yml").unlink()
