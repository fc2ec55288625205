"""The reports on the papers: what they say of open parts and of confirmed ones, and the printing."""

import json
import re
import subprocess
import sys

import pytest
from browser import absent
from oracles.ledger import BASE, SHARPER, claim, write
from oracles.notebooks import executed, glued

from book.__main__ import main
from book.tools.read import chapters, sources
from book.tools.render import findings, findings_pages, pages, reports
from lmc_helpers import claims

CHAPTER = "11_exact_loss"
OPEN = BASE | {"expected": "open", "reason": "It was not run.", "price": "{hours} hours of one core"}


@pytest.fixture
def known(tmp_path, monkeypatch):
    """Findings of a toy paper with a result of each kind, beside a chapter that glued a price."""
    parts = {
        "true": BASE,
        "again": BASE | {"quantity": "y"},  # the same words at the same place, measured otherwise
        "first": BASE
        | {"statement": "It is best", "reading": "always", "whose": "reading", "one_of": "best"}
        | {"expected": "fails", "reason": "so", "in_short": "Not always", "sampled": True},
        "second": BASE | {"statement": "It is good", "reading": "nearly", "whose": "reading", "one_of": "best"},
        "more": SHARPER
        | {"statement": "It is two, nearly", "revised": {"from": {"whose": "ours"}, "why": "it is printed"}},
        "open": OPEN,
        "detail": OPEN | {"weight": "detail"},
        "own": BASE | {"whose": "ours"},
        "derived": BASE | {"statement": "It is one and one", "derivation": True},
    }
    ledger = claims.ledger(write(tmp_path, {"T1": claim("T", parts=parts)}))
    here = {id: {"verdict": part.expected} for id, part in ledger["T1"].parts.items()}
    record = {"verdict": "holds", "chapter": CHAPTER, "seeds": "abc", "date": "2026-01-01"}
    there = {"T1.true": record, "T1.again": record, "T1.own": record, "T1.derived": record}
    path = tmp_path / f"{CHAPTER}.ipynb"
    path.write_text(json.dumps(executed(CHAPTER, glued("hours", "'12'"))), encoding="utf-8")
    monkeypatch.setattr(findings, "executed", lambda profile: [path])
    return findings.Findings(ledger, here, there, dict.fromkeys(here, CHAPTER))


def test_a_report_has_each_result_where_it_belongs(known):
    said = findings_pages.report(known, "T")
    assert [s.part.id for s in said["holding"]] == ["T1.again", "T1.derived", "T1.second", "T1.more"]
    assert [s.part.id for s in said["sharper"]] == ["T1.more"]
    assert [s.part.id for group in said["undecided"].values() for s in group] == ["T1.open"]
    assert findings.prices(known, "laptop") == dict.fromkeys(("T1.open", "T1.detail"), "12 hours of one core")
    assert said["confirmed"] == [{"chapter": CHAPTER, "seeds": "abc", "date": "2026-01-01", "parts": 2}]
    assert [part.id for part in said["revised"]] == ["T1.more"]
    assert said["unconfirmed"] == 5 and said["results"] == []
    assert sorted(pages.confirmed(known)["current"]) == ["T1.again", "T1.own", "T1.true"]
    del known.where["T1.open"]
    assert findings.prices(known, "laptop")["T1.open"] == "12 hours of one core"


def test_every_price_of_the_ledger_names_numbers_that_a_chapter_of_its_claim_glues():
    where = findings.checked_in(sources.Sources())
    for claim_ in claims.ledger().values():
        names = {where[id] for id in claim_.parts if id in where}
        text = "".join((chapters.NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8") for name in names)
        for part in claim_.parts.values():
            for name in findings.NAME.findall(part.price):
                stem = name.partition("_")[0]
                assert f" {name}=" in text or f'f"{stem}_{{' in text, (part.id, name)
    assert findings.priced("{hours} of {all}", {"hours": "1", "all": "2"}) == "1 of 2"
    assert findings.priced("{hours} of {all}", {"hours": "1"}) == ""
    assert findings.priced("nothing", {}) == "nothing" and findings.priced("", {}) == ""


def test_without_a_browser_or_a_book_the_error_is_one_line(known, tmp_path, monkeypatch, capsys):
    page = tmp_path / "html" / "book" / "reports" / "T.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>", encoding="utf-8")
    monkeypatch.setattr(reports.shutil, "which", lambda name: None)
    assert main(["reports", "--html", str(tmp_path / "html"), "--out", str(tmp_path / "out")]) == 1
    assert re.fullmatch(r"error: no Chromium [^\n]+\n", capsys.readouterr().err)
    assert main(["reports", "--html", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.endswith("run: make book\n")


def test_a_report_is_printed_without_addresses_of_this_machine(html, root, tmp_path):
    if not reports.chromium():
        absent("no browser: install chromium to print the reports")
    command = [sys.executable, "-m", "book", "reports", "--html", str(html), "--out", str(tmp_path), "--paper", "P"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / 'P.pdf'}\n"
    content = (tmp_path / "P.pdf").read_bytes()
    assert content.startswith(b"%PDF") and len(content) > 20_000
    addresses = re.findall(rb"/URI \(([^)]*)\)", content)
    assert addresses and all(address.startswith(b"https://") for address in addresses)
