"""The scoreboard: counts and rows of a toy ledger, and its page in a browser."""

import json
import re
import tempfile
from pathlib import Path

import pytest
from oracles.ledger import BASE, CORRECTED, SAMPLED, SHARPER, claim, step, write

from book.tools.render import anchors, board, errata, findings, findings_pages, pages
from lmc_helpers import claims

FAILING = BASE | {"expected": "fails", "reason": "A reason. Another one.", "in_short": "It is not two"}
READ = {"whose": "reading", "reading": "so", "one_of": "label"}
OURS = BASE | {"whose": "ours"}
OPEN = BASE | {"expected": "open", "reason": "It was not run, see T1.true. It costs a lot.", "price": "{hours} hours"}


def found(folder, content: dict, verdicts: dict[str, str], there: dict | None = None) -> findings.Findings:
    """Findings of a toy ledger: part → verdict of this run, and of the record at paper scale."""
    ledger = claims.ledger(write(Path(tempfile.mkdtemp(dir=folder)), content))
    here = {id: {"verdict": verdict, "chapter": "11_exact_loss"} for id, verdict in verdicts.items()}
    records = {id: {"verdict": verdict} for id, verdict in (there or {}).items()}
    return findings.Findings(ledger, here, records, dict.fromkeys(verdicts, "11_exact_loss"))


BROKEN, FALSE = "broken, statement stands", "false as printed, corrected"
#: A paper with each of the verdicts: name → part, and its verdict here.
TOY = {
    "true": (BASE, "holds"),
    "proved": (BASE, "holds"),
    "step": (step("T1.proved") | {"in_short": "A factor is missing"}, BROKEN),
    "more": (SHARPER, "holds, and more is true"),
    "wrong": (CORRECTED | {"in_short": "It is three"}, FALSE),
    "slip": (CORRECTED | {"weight": "slip", "in_short": "Two words"}, FALSE),
    "one": (FAILING | READ, "fails"),
    "other": (BASE | READ, "holds"),
    "not_run": (OPEN, None),
    "undecided": (OPEN, "open"),
    "derived": (BASE | {"derivation": True}, "holds"),
    "derived_wrong": (CORRECTED | {"derivation": True, "weight": "detail", "in_short": "It is four"}, FALSE),
    "own": (OURS, "holds"),
    "own_wrong": (OURS | {"expected": "fails", "reason": "because"}, "fails"),
}


@pytest.fixture
def toy(tmp_path):
    """That paper, and a second one."""
    slips = [{"where": "eq. (1)", "printed": "2", "meant": "3"}]
    parts = {name: part for name, (part, _) in TOY.items()}
    content = {"T1": claim("T", parts=parts, misprints=slips), "U1": claim("U", parts={"false": FAILING})}
    content["X1"] = claim("X", page="errata")
    verdicts = {f"T1.{name}": verdict for name, (_, verdict) in TOY.items() if verdict}
    return found(tmp_path, content, verdicts | {"U1.false": "fails"})


def test_each_statement_is_counted_once_on_both_axes(toy):
    line = {cell.axis: (cell.results, cell.details) for cell in board.cells(toy.statements, "T")}
    assert line == {
        "holds": (2, 0),  # true, and the readings one and other, of which the better counts
        "holds, and more is true": (1, 0),
        "broken, statement stands": (1, 1),  # proved, and its step
        "false as printed, corrected": (1, 0),  # the slip is none of them
        "fails": (0, 0),  # own_wrong is the book's own
        "open": (1, 0),
        "not run": (1, 0),
    }
    assert {c.axis: c.derived for c in board.cells(toy.statements, "T") if c.derived} == {"holds": 1, FALSE: 1}
    told = re.findall(r"\d (?:holds?|does|stays|was)", findings_pages.in_short(board.cells(toy.statements, "T")))
    assert told == ["4 hold", "1 does", "1 stays", "1 was", "1 holds", "1 does"]
    assert [pages.on_board(toy)[id] for id in ("T1", "T1.not_run", "T1.one")] == ["open", "not run", "fails"]
    assert [(c.results, c.details) for c in board.cells(toy.statements, "U")] == [(0, 0)] * 4 + [(1, 0), (0, 0), (0, 0)]


def test_what_is_false_has_its_erratum_and_is_counted_once(toy):
    """Scoreboard, errata and report count the same."""
    for letter in "TU":
        listed, line = errata.content(toy, letter), board.cells(toy.statements, letter)
        false = sum(c.results + c.details + c.derived for c in line if c.axis in (FALSE, "fails"))
        steps = sum(e.step_of is not None for e in listed["details"])
        assert len(listed["results"]) + len(listed["details"]) == false + steps
    assert [errata.content(toy, letter)["slips"] for letter in "TU"] == [2, 0]
    made = board.rich("*a* `b` <c> $x_1 < *y*$, as Z3.limit_of says.")
    link = '<a href="#score-Z3-limit_of">Z3.limit_of</a>'
    assert made == rf"<em>a</em> <code>b</code> &lt;c&gt; \(x_1 &lt; *y*\), as {link} says."


def test_a_run_surprises_only_where_no_larger_one_stands(tmp_path):
    for here, there, surprising in (("fails", None, True), ("fails", "open", False), ("open", "fails", True)):
        it = found(tmp_path, {"T1": claim(parts={"it": OPEN})}, {"T1.it": here}, {"T1.it": there} if there else {})
        assert it.surprises == ["T1.it"] * surprising


def test_a_row_says_what_differs_worst_first(toy):
    rows = {row.claim.id: row for row in board.rows(toy)}
    assert [s.part.id for s in rows["T1"].wrong] == ["T1.wrong", "T1.derived_wrong", "T1.step", "T1.slip"]
    told = "1 of the 8 results was not run. It is three; and 3 more. In another reading: It is not two."
    assert rows["T1"].phrase == f"It was not run, see T1.true. {told}"
    assert rows["T1"].verdict == "open"  # the worst of its results
    assert rows["T1"].marks == ["false as printed, corrected", "broken, statement stands"] and rows["U1"].marks == []
    assert rows["T1"].carried_by == ["T1.undecided"] and rows["U1"].carried_by == []
    assert rows["U1"].verdict == "fails" and rows["U1"].phrase == "It is not two."
    assert rows["X1"].verdict == "a page of the book" and rows["X1"].parts == []
    assert toy.counting(["T1.one", "T1.true", "T1.other"]) == ["T1.other", "T1.true"]
    assert toy.counts("T1.one") == "T1.other: holds" and toy.counts("T1.other") == toy.counts("T1.wrong") == ""


def test_where_nothing_differs_a_row_says_what_there_is(tmp_path):
    for part, verdict, phrase in (
        (BASE, "holds", ""),
        (SHARPER, "holds, and more is true", "it is two to a hundredth"),
        (OPEN, "open", "It was not run, see T1.true."),
        (BASE, "open", "Too few samples at this scale."),
    ):
        rows = board.rows(found(tmp_path, {"T1": claim(parts={"it": part})}, {"T1.it": verdict}))
        assert [row.phrase for row in rows] == [phrase]
    it = {"one": FAILING | READ, "other": BASE | READ}
    it = found(tmp_path, {"T1": claim(parts=it)}, {"T1.one": "fails", "T1.other": "holds"})
    assert board.content(it)["differs"] == set()
    assert [(r.phrase, r.carried_by) for r in board.rows(it)] == [("In another reading: It is not two.", ["T1.other"])]
    parts = {"one": OPEN, "other": BASE | {"reason": "It crosses the border. So."}}  # the first was not run
    it = found(tmp_path, {"T1": claim(parts=parts)}, {"T1.other": "open"})
    assert board.rows(it)[0].phrase == "It crosses the border. 1 of the 2 results was not run."


def test_an_up_to_date_record_decides_and_shows_its_number_as_in_the_part_s_box(tmp_path):
    for entry, here, there, verdict, recorded in (
        (BASE, "holds", None, "holds", False),
        (BASE, "open", "holds", "holds", True),
        (BASE, None, "holds", "holds", True),
        (OPEN, "open", "open", "open", False),
        (BASE, "holds", "fails", "fails", True),
        (SAMPLED, "fails", "open", "open", True),  # a rejection that the larger run does not repeat is none
        (SHARPER, "holds", "holds, and more is true", "holds, and more is true", True),
        (SAMPLED, "fails", "holds", "holds", True),
    ):
        run, record = ({"T1.it": one} if one else {} for one in (here, there))
        finding = found(tmp_path, {"T1": claim(parts={"it": entry})}, run, record).parts["T1.it"]
        assert (finding.verdict, finding.from_record) == (verdict, recorded), (here, there)
    it = found(tmp_path, {"T1": claim(parts={"it": OPEN})}, {"T1.it": "open"}, {"T1.it": "open"}).parts["T1.it"]
    it.run["value"] = 2.0
    assert it.record is it.run
    it.paper["value"] = 3.0
    assert it.record is it.paper  # the recorded run goes first


@pytest.fixture
def scoreboard(html, watched):
    """The scoreboard, opened at an address after its #."""

    def opened(hash: str = ""):
        watched.tab.goto("about:blank")
        return watched.open(f"{html.as_uri()}/book/scoreboard.html{hash}")

    return opened


def shown(tab) -> tuple[int, int]:
    """How many claims and parts a reader sees, counted in the page; folded parts count."""
    return tuple(
        tab.evaluate(
            """() => [[...document.querySelectorAll('tbody.board-claim')].filter(c => c.offsetHeight),
                      [...document.querySelectorAll('tbody.board-claim li')].filter(p => !p.hidden
                          && p.closest('tbody').offsetHeight)].map(found => found.length)"""
        )
    )


def counts(tab) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", tab.locator(".board-filter output").inner_text())]


def check_links(html, tab):
    """Links lead from a row to its erratum and back."""
    hrefs = tab.evaluate("() => [...document.querySelectorAll('table.board a[href]')].map(a => a.getAttribute('href'))")
    anchors: dict[str, set[str]] = {}
    for href in set(hrefs):
        page, _, anchor = href.partition("#")
        path = html / "book" / (page or "scoreboard.html")
        assert path.exists(), href
        if page not in anchors:
            anchors[page] = set(re.findall(r'\bid="([^"]+)"', path.read_text(encoding="utf-8")))
        assert not anchor or anchor in anchors[page], href
    errata = {href for href in hrefs if href.startswith("errata/")}
    assert errata
    for letter in "ZPGI":
        text = (html / "book" / "errata" / f"{letter}.html").read_text(encoding="utf-8")
        for anchor in re.findall(r'href="../scoreboard.html#([^"]+)"', text):
            assert anchor in anchors[""], anchor
        listed = {a for a in re.findall(r'id="(erratum-[^"]+)"', text) if "-slip-" not in a}
        assert {f"errata/{letter}.html#{anchor}" for anchor in listed} <= errata


def test_every_claim_and_part_has_its_row_with_links_that_lead_somewhere(html, scoreboard):
    tab = scoreboard()
    ids = set(tab.evaluate("() => [...document.querySelectorAll('tbody.board-claim, tbody li')].map(e => e.id)"))
    ledger = claims.ledger()
    assert ids >= {anchors.row(id) for id in ledger} | {anchors.row(p) for c in ledger.values() for p in c.parts}
    assert shown(tab) == (len(ledger), sum(len(c.parts) for c in ledger.values()))
    statements = len({(id, p.one_of or name) for id, c in ledger.items() for name, p in c.parts.items()})
    assert counts(tab) == [shown(tab)[0], len(ledger), statements, statements]
    check_links(html, tab)


def test_filters_keep_their_state_in_the_address_and_work_from_the_keyboard(scoreboard, watched):
    tab = scoreboard()
    tab.select_option("select[name=paper]", "G")
    tab.select_option("select[name=whose]", "paper")
    wanted = [p for c in claims.ledger().values() for p in c.parts.values() if c.paper == "G" and p.whose == "paper"]
    before = shown(tab)
    assert before == (len({p.id.partition(".")[0] for p in wanted}), len(wanted))
    assert counts(tab)[0] == before[0] and counts(tab)[2] <= before[1] and tab.url.endswith("#paper-G--whose-paper")
    again = scoreboard("#paper-G--whose-paper")
    assert shown(again) == before and again.locator("select[name=paper]").input_value() == "G"
    again.locator("button[type=reset]").click()
    again.wait_for_function("() => !location.hash")
    assert shown(again)[0] == len(claims.ledger())

    tab = scoreboard("#paper-P")
    every = shown(tab)
    tab.locator("input[name=differs]").focus()
    tab.keyboard.press("Space")
    assert 0 < shown(tab)[1] < every[1] and tab.url.endswith("#paper-P--differs")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")  # show all
    tab.wait_for_function("() => !location.hash")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")  # unfold
    tab.wait_for_function("() => document.querySelectorAll('tbody.board-claim details:not([open])').length == 0")
    assert watched.trouble == []


def test_a_number_of_the_table_on_top_is_that_of_the_filter_which_it_leads_to(scoreboard):
    tab = scoreboard()
    cells = tab.locator("table.board-top td a[href^='#']")
    assert cells.count() > 10
    for at in range(0, cells.count(), 5):
        number, target = cells.nth(at).inner_text(), cells.nth(at).get_attribute("href")
        tab.evaluate("hash => { location.hash = hash }", target)
        says = "n => document.querySelector('.board-filter output').innerText.includes(`, ${n} of`)"
        tab.wait_for_function(says, arg=number)
        assert shown(tab)[1] >= int(number)  # several readings of a statement


def test_an_address_of_a_part_unfolds_and_draws_it(scoreboard):
    tab = scoreboard("#score-Z3-limit")
    part = tab.locator("#score-Z3-limit")
    assert part.is_visible() and "board-target" in part.get_attribute("class")
    tab.wait_for_function("() => document.querySelectorAll('#score-Z3-limit mjx-container').length > 1")
    said = part.inner_text()
    assert "$" not in said and "T(2M, M) at M = 10\u202f000: 0.7" in said


def test_the_errata_are_what_the_records_or_else_the_run_contradict(html, confirmed):
    known = json.loads((html / "claims.json").read_text(encoding="utf-8"))
    ledger = claims.ledger()
    here = {r["part"]: r["verdict"] for r in known["parts"]} | {id: r["verdict"] for id, r in confirmed.items()}
    wrong = ("false as printed, corrected", "fails", "broken, statement stands")
    parts = {id: p for c in ledger.values() for id, p in c.parts.items() if p.whose != "ours"}
    for letter in "ZPGI":
        text = (html / "book" / "errata" / f"{letter}.html").read_text(encoding="utf-8")
        for id, part in parts.items():
            if id[0] != letter or here.get(id, "open") == "open":
                continue
            siblings = ledger[id.partition(".")[0]].parts.values()
            listed = f'id="{anchors.erratum(id)}"' in text
            if not part.one_of:
                assert listed == (here[id] in wrong), id
            elif any(here.get(other.id) not in wrong for other in siblings if other.one_of == part.one_of):
                assert not listed, id
