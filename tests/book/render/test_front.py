"""The first page: numbers from the run, one line a chapter, tiles that say their claim, and times that add up."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

from book.tools.read import chapters, papers
from book.tools.record import records
from book.tools.render import anchors, board, contents, front, pages
from book.tools.render.board import Cell
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Claim


def test_the_findings_of_the_book_type_no_number_and_have_a_picture():
    """Digits in a finding are in names, exponents and one-figure integers."""
    for one in front.read().findings:
        text = re.sub(r"\[\[[^\]]*\]\]|Theorem \d+(\.\d+)?", "", one.title + one.says)
        assert re.findall(r"\d\d|\d\.\d|\d %", text) == []
        source = (chapters.NOTEBOOKS / f"{chapters.find(one.chapter)}.py").read_text(encoding="utf-8")
        assert "figures.keep(" in source, one.chapter


def test_chapters_stand_by_part_in_the_order_of_the_table_of_contents():
    files = [{"file": "book/executed/12_overlap_theorem"}, {"file": "book/executed/11_exact_loss"}]
    api = {"file": "book/api", "sections": [{"file": "book/api/data"}]}
    toc = [{"caption": "One", "chapters": files}, {"caption": "Back", "chapters": [api]}]
    lines = {"exact_loss": "the loss", "overlap_theorem": "the overlap", "step_size": "elsewhere"}
    first_part = [("12_overlap_theorem", "the overlap"), ("11_exact_loss", "the loss")]
    assert front.by_part(lines, toc) == [("One", first_part)]
    assert front.toc(toc) == {"executed/12_overlap_theorem", "executed/11_exact_loss", "api", "api/data"}
    parts = [part.model_dump(exclude_none=True) for part in contents.toc().parts]
    listed = [chapter for _, here in front.by_part(front.read().chapters, parts) for chapter, _ in here]
    assert sorted(listed) == chapters.chapters()


class Tiles(HTMLParser):
    """The tiles of a page: their attributes and texts."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[dict] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs) | {"text": ""})

    def handle_data(self, data):
        if self.lasttag == "a" and not data.isspace():
            self.found[-1]["text"] += data


def test_a_tile_says_its_claim_and_leads_to_its_row():
    one = Claim("Z3", "Z", "Thm 5", 'the "overlap" of $m < 2M$ & more')
    other = Claim("Z4", "Z", "Alg. 1", "the matching")
    corrected, step, absent = "false as printed, corrected", claims.BROKEN, "not yet in the book"
    rows = [
        SimpleNamespace(claim=one, verdict=corrected, from_record=True, marks=[step], wrong=[1], phrase="It is 3"),
        SimpleNamespace(claim=other, verdict=absent, from_record=False, marks=[], wrong=[]),
    ]
    text = pages.environment().get_template("grid.md").render(rows={"Z": rows, "X": []}, anchors=anchors)
    first, second = Tiles(text).found
    assert first["href"] == "scoreboard.html#score-Z3" and first["text"].startswith("Z3")
    assert first["title"] == first["aria-label"] and 'the "overlap" of m < 2M & more' in first["title"]
    also = "also: statement holds, a step of its proof breaks. It is 3"
    said = "Z3, Thm 5", corrected, "recorded at paper scale", also
    assert all(words in first["title"] for words in said)
    assert first["class"].split() == ["lmc-tile", "lmc-false-as-printed-corrected", "lmc-differs"]
    assert second["text"] == "Z4" and second["title"].endswith(f"the matching – {absent}")
    assert second["class"].split() == ["lmc-tile", "lmc-not-yet-in-the-book"]
    assert "\n\n" not in text.strip()  # an empty line would end the block


def test_the_address_of_the_code_stands_on_the_page_if_it_is_known():
    template = pages.environment().get_template("start.md")
    where = "https://github.com/someone/book"
    assert f"git clone {where}\n" in template.render(repository=where)
    unknown = template.render(repository="")
    assert "git clone" not in unknown and "http" not in unknown and "make book\n" in unknown
    said = [front.bare(f"{claim.id}, {claim.where}: {claim.says}") for claim in claims.ledger().values()]
    assert said and [text for text in said if re.search(r"[\\{}$*`]|^\s|\s$|[a-z]+\(\(|\(\)", text)] == []


def test_links_to_pages_that_are_not_in_the_book_are_left_out():
    template, optional = pages.environment().get_template("paths.md"), {"reports/Z", "errata/Z", "verdicts", "glossary"}
    for toc in (set(), optional):
        known = {
            "half_hour": [],
            "gallery": {"Z": [SimpleNamespace(anchor="figure-Z-1")]},
            "author": "us",
            "repository": "",
        }
        known |= {"read": {"Z": papers.papers()["Z"]}, "toc": toc, "lines": {"Z": [Cell("holds", 3, 1, 7)]}}
        text = template.render(known) + pages.environment().get_template("papers.md").render(known)
        assert {page for page in optional if f"(/book/{page}.md)" in text} == toc


def test_results_and_details_of_all_papers_are_added_up():
    lines = {"Z": [Cell("holds", 3, 1, 7), Cell("open", 0, 2)], "P": [Cell("holds", 4, 0, 1), Cell("open", 5, 6)]}
    found = board.totals(lines)
    assert found.pop("derived") == {"holds": 8} and not found.pop("standing")
    assert found == {"results": {"holds": 7, "open": 5}, "details": {"holds": 1, "open": 8}}
    run = SimpleNamespace(records={"Z1.a": {"value": 1.0}, "Z1.b": {"value": 2.0}, "Z1.c": {"value": None}})
    found = front.measured(run, {"Z1.b": {"value": 2.5}})
    assert found == {"Z1.a": {"value": 1.0}, "Z1.b": {"value": 2.5}}
    words = {"title": "[[Z1.a:.0f]]", "says": "[[Z1.b:.1f]]", "chapter": "overlap_theorem", "alt": "", "parts": []}
    (shown,) = front.findings(SimpleNamespace(findings=[SimpleNamespace(**words)]), found)
    assert (shown.title, shown.says, shown.picture) == ("1", "2.5", ("12_overlap_theorem", "finding"))


def test_times_are_those_of_this_run_and_of_the_records(monkeypatch):
    known = {"Z1.a": ("01_x", 100.0), "Z2.a": ("02_y", 60.0), "Z2.b": ("02_y", 60.0)}
    records = {id: {"chapter": chapter, "seconds": seconds} for id, (chapter, seconds) in known.items()}
    monkeypatch.setattr(front, "recorded", lambda: records)
    monkeypatch.setattr(front.listing, "jobs", lambda name: {})
    chapter = SimpleNamespace(budget_s=50.0)
    profile = SimpleNamespace(says="what for", chapters={"x": chapter, "y": chapter}, memory_gib=2)
    monkeypatch.setattr(front.profiles, "profile", lambda name: profile)
    run = SimpleNamespace(statistics=[{"chapter": "01_x", "profile": "laptop", "seconds": 7.0}])
    smoke, laptop, paper = front.scales(run)
    assert (smoke.name, smoke.limit, smoke.took, smoke.ran) == ("smoke", 100.0, None, 0)
    assert (laptop.took, laptop.ran, paper.took, paper.ran) == (7.0, 1, 160.0, 2)


def test_the_readme_has_the_findings_of_the_first_page():
    text = " ".join((chapters.ROOT / "README.md").read_text(encoding="utf-8").split())
    for finding in front.findings(front.read(), records.recorded()):
        assert " ".join(f"**{finding.title}.** {finding.says}".split()) in text
