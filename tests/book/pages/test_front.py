"""The first page: numbers from the run, one line a chapter, tiles that say their claim, and times that add up."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
import yaml

from book.tools.base import chapters
from book.tools.base.chapters import BuildError
from book.tools.findings import anchors
from book.tools.pages import contents, front, pages
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Claim


def written(tmp_path, **changes):
    content = yaml.safe_load(front.WORDS.read_text(encoding="utf-8")) | changes
    path = tmp_path / "toy.yml"
    path.write_text(yaml.safe_dump(content))
    return path


def finding(**changes) -> dict:
    return {
        "title": "A finding",
        "says": "It is $[[Z3.minimum:.2f]] M$.",
        "chapter": "overlap_theorem",
        "alt": "A line that falls from the left, turns, and rises to the right.",
        "parts": ["Z3.minimum"],
    } | changes


def test_numbers_stand_where_they_are_asked_for():
    values = {"Z3.limit": 0.73812, "P3.most": 3.0, "G11.distance": 14.11}
    said = "$[[Z3.limit:.2f]] M$, up to [[P3.most:.0f]], [[G11.distance:.0f]] times, $[1, 2]$"
    assert front.filled(said, values) == "$0.74 M$, up to 3, 14 times, $[1, 2]$"


def test_a_number_that_nothing_measured_is_an_error():
    with pytest.raises(BuildError, match=r"\[\[Z3\.limit:\.2f\]\]: no run measured Z3\.limit"):
        front.filled("[[Z3.limit:.2f]]", {"Z3.minimum": 2.0})


def test_no_number_of_a_finding_is_typed():
    """Digits in a finding are in names, exponents and one-figure integers."""
    for one in front.read().findings:
        text = re.sub(r"\[\[[^\]]*\]\]|Theorem \d+(\.\d+)?", "", one.title + one.says)
        assert re.findall(r"\d\d|\d\.\d|\d %", text) == []


def test_a_record_at_paper_scale_is_used_before_this_run():
    run = SimpleNamespace(records={"Z1.a": {"value": 1.0}, "Z1.b": {"value": 2.0}})
    assert front.values(run, {"Z1.b": {"value": 2.5}}) == {"Z1.a": 1.0, "Z1.b": 2.5}
    entry = SimpleNamespace(findings=[SimpleNamespace(**finding(says="[[Z1.b:.1f]]", title="[[Z1.a:.0f]]"))])
    (found,) = front.findings(entry, {"Z1.a": 1.0, "Z1.b": 2.5})
    assert (found.title, found.says, found.picture) == ("1", "2.5", ("12_overlap_theorem", "finding"))


def test_the_book_s_own_words_are_read_and_complete():
    words = front.read()
    assert sorted(words.chapters) == sorted(map(chapters.short, chapters.chapters()))
    assert 4 <= len(words.findings) <= 6
    for one in words.findings:
        source = (chapters.NOTEBOOKS / f"{chapters.find(one.chapter)}.py").read_text(encoding="utf-8")
        assert "figures.keep(" in source, one.chapter


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"half_hour": ["overlap"]}, "toy.yml: chapter 'overlap' does not exist; allowed: exact_loss, overlap_theorem"),
        ({"findings": [finding()] * 3}, "toy.yml: findings"),
        ({"findings": [finding(parts=["Z3.minimm"])] * 4}, "toy.yml: Z3.minimm is not in the ledger"),
        ({"findings": [finding(says="[[Z3.mini:.0f]]")] * 4}, "toy.yml: Z3.mini is not in the ledger"),
        ({"findings": [finding(chapter="overlap")] * 4}, "toy.yml: chapter 'overlap' does not exist"),
        ({"findings": [finding(alt="a line")] * 4}, "toy.yml: findings.0.alt"),
        ({"chapters": {"exact_loss": "x"}}, "toy.yml: no line on overlap_theorem, algorithm_1"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path, changes, says):
    with pytest.raises(BuildError) as error:
        front.read(written(tmp_path, **changes))
    assert says in re.sub(r", line \d+", "", str(error.value))


def test_a_line_that_is_too_long_is_refused(tmp_path):
    lines = front.read().chapters | {"exact_loss": "x" * 121, "step_size": "y" * 120}
    with pytest.raises(BuildError, match=r"more than 120 characters: exact_loss$"):
        front.read(written(tmp_path, chapters=lines))


TOC = [
    {
        "caption": "One",
        "chapters": [{"file": "book/executed/12_overlap_theorem"}, {"file": "book/executed/11_exact_loss"}],
    },
    {"caption": "Back", "chapters": [{"file": "book/api", "sections": [{"file": "book/api/data"}]}]},
]


def test_chapters_stand_by_part_in_the_order_of_the_table_of_contents():
    lines = {"exact_loss": "the loss", "overlap_theorem": "the overlap", "step_size": "elsewhere"}
    assert front.by_part(lines, TOC) == [
        ("One", [("12_overlap_theorem", "the overlap"), ("11_exact_loss", "the loss")]),
    ]
    assert front.toc(TOC) == {"executed/12_overlap_theorem", "executed/11_exact_loss", "api", "api/data"}


def test_every_chapter_stands_in_one_part():
    parts = [part.model_dump(exclude_none=True) for part in contents.toc().parts]
    listed = [chapter for _, here in front.by_part(front.read().chapters, parts) for chapter, _ in here]
    assert sorted(listed) == chapters.chapters()


class Tiles(HTMLParser):
    """The tiles of a page: their attributes and texts."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[dict] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.inside = True
            self.found.append(dict(attrs) | {"text": ""})

    def handle_endtag(self, tag):
        self.inside &= tag != "a"

    def handle_data(self, data):
        if self.inside:
            self.found[-1]["text"] += data


def test_a_tile_says_its_claim_and_leads_to_its_row():
    one = Claim("Z3", "Z", "Thm 5", 'the "overlap" of $m < 2M$ & more')
    other = Claim("Z4", "Z", "Alg. 1", "the matching")
    corrected, absent = "false as printed, corrected", "not yet in the book"
    rows = [
        SimpleNamespace(claim=one, verdict=corrected, from_record=True, marks=["fails"]),
        SimpleNamespace(claim=other, verdict=absent, from_record=False, marks=[]),
    ]
    text = pages.environment().get_template("grid.md").render(rows={"Z": rows, "X": []}, anchors=anchors)
    assert "<b>Zhan, Li & Wu</b>" in text and "<b>Beyond the papers</b>" in text
    first, second = Tiles(text).found
    assert first["href"] == "scoreboard.html#score-Z3" and first["text"] == "Z3✎"
    said = 'Z3, Thm 5: the "overlap" of m < 2M & more – false as printed, corrected (recorded at paper scale)'
    said += "; besides: fails"
    assert first["title"] == first["aria-label"] == said
    assert first["class"].split() == ["lmc-tile", "lmc-false-as-printed-corrected", "lmc-differs"]
    assert second["text"] == "Z4" and second["title"].endswith("the matching – not yet in the book")
    assert second["class"].split() == ["lmc-tile", "lmc-not-yet-in-the-book"]
    assert "\n\n" not in text.strip()  # an empty line would end the block


def test_where_the_code_is_stands_on_the_page_if_it_is_known():
    template = pages.environment().get_template("start.md")
    known = template.render(repository="https://github.com/someone/book")
    assert "git clone https://github.com/someone/book\n" in known and "<https://github.com/someone/book>" in known
    unknown = template.render(repository="")
    assert "git clone" not in unknown and "http" not in unknown and "make book\n" in unknown


def test_links_to_pages_that_are_not_in_the_book_are_left_out():
    known = {"half_hour": [], "gallery": {"Z": [SimpleNamespace(anchor="figure-Z-1")]}}
    template = pages.environment().get_template("paths.md")
    without = template.render(known | {"toc": set()})
    assert "reports/Z.md" not in without and "verdicts.md" not in without and "glossary.md" not in without
    with_all = template.render(known | {"toc": {"reports/Z", "errata/Z", "errata", "verdicts", "glossary", "reuse"}})
    assert "[report](/book/reports/Z.md)" in with_all and "[errata](/book/errata/Z.md)" in with_all
    assert "(/book/verdicts.md)" in with_all and "(/book/glossary.md)" in with_all and "(/book/reuse.md)" in with_all


def test_results_and_details_of_all_papers_are_added_up():
    lines = {
        "Z": [SimpleNamespace(axis="holds", results=3, details=1), SimpleNamespace(axis="open", results=0, details=2)],
        "P": [SimpleNamespace(axis="holds", results=4, details=0), SimpleNamespace(axis="open", results=5, details=6)],
    }
    assert front.totals(lines) == {"results": {"holds": 7, "open": 5}, "details": {"holds": 1, "open": 8}}


def test_training_is_told_with_its_price():
    job = SimpleNamespace(core_minutes=90.0, gpu=False)
    assert front.training([]) == "none"
    assert front.training([job, job]) == "2 runs, 3 h of one core"
    assert front.training([job, SimpleNamespace(core_minutes=30.0, gpu=True)]) == (
        "2 runs, 2 h of one core, some for a graphics card"
    )


def test_times_are_those_of_this_run_and_of_the_records(monkeypatch):
    monkeypatch.setattr(
        front,
        "recorded",
        lambda: (
            {"Z1.a": {"chapter": "01_x", "seconds": 100.0}}
            | {f"Z2.{name}": {"chapter": "02_y", "seconds": 60.0} for name in "ab"}
        ),
    )
    monkeypatch.setattr(front.listing, "jobs", lambda name: {})
    chapter = SimpleNamespace(budget_s=50.0)
    profile = SimpleNamespace(says="what for", chapters={"x": chapter, "y": chapter}, memory_gib=2)
    monkeypatch.setattr(front.profiles, "profile", lambda name: profile)
    run = SimpleNamespace(statistics=[{"chapter": "01_x", "profile": "laptop", "seconds": 7.0}])
    smoke, laptop, paper = front.scales(run)
    assert (smoke.name, smoke.limit, smoke.took, smoke.ran) == ("smoke", 100.0, None, 0)
    assert (laptop.took, laptop.ran, paper.took, paper.ran) == (7.0, 1, 160.0, 2)


def test_tiles_say_their_claims_without_markup():
    said = [front.bare(f"{claim.id}, {claim.where}: {claim.says}") for claim in claims.ledger().values()]
    assert said and [text for text in said if re.search(r"[\\{}$*`]|^\s|\s$|[a-z]+\(\(|\(\)", text)] == []
