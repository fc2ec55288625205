"""The boxes of claims on the built pages: one anchor each, links that resolve, words for who does not see them."""

import html as entities
import json
import re

import pytest

from book.tools.read import halves
from book.tools.render import anchors as anchor_names
from book.tools.render import staging
from book.tools.render.findings import Findings
from lmc_helpers import claims

ID = re.compile(r'\bid="([^"]*)"')
HREF = re.compile(r'<a\b[^>]*?href="([^"]*)"')
NUMBERS = {"stderr": None, "low": 1.0, "high": 1.0, "n": 5, "place": "inside", "rival": "2: r"}
BOXES = re.compile(r'<details class="lmc-claim .*?</details>\n</details>', re.S)
BADGE = re.compile(r'<a class="lmc-badge lmc-([\w-]+) reference internal" href="[^"#]*#(claim-[\w-]+)"')
BOX = re.compile(r'<details class="lmc-claim lmc-([\w-]+)" id="([\w-]+)"')


@pytest.fixture(scope="module")
def texts(html) -> dict[str, str]:
    """The chapters' pages and those of findings, page → text."""
    return {p.relative_to(html).as_posix(): p.read_text(encoding="utf-8") for p in (html / "book").rglob("*.html")}


@pytest.fixture(scope="module")
def published(html) -> dict:
    return json.loads((html / "claims.json").read_text(encoding="utf-8"))


def resolved(page: str, address: str) -> tuple[str, str]:
    """The page and the anchor that an address on a page leads to."""
    path, _, anchor = entities.unescape(address).partition("#")
    steps = page.split("/")[:-1] if path else page.split("/")
    for step in filter(None, path.split("/")):
        steps = steps[:-1] if step == ".." else [*steps, step]
    return "/".join(steps), anchor


def test_every_part_has_one_box_in_the_book(texts, published):
    found = [(anchor, page) for page, text in texts.items() for _, anchor in BOX.findall(text)]
    expected = {anchor_names.box(id): f"book/executed/{page}.html" for id, page in halves.of_parts().items()}
    assert {r["part"] for r in published["parts"]} == set(halves.of_parts())
    assert len(found) == len(expected) and dict(found) == expected
    for page, text in texts.items():
        anchors = [id for id in ID.findall(text) if id.startswith("claim-")]
        assert len(anchors) == len(set(anchors)), page


def test_a_badge_in_the_text_says_what_its_box_says(texts):
    boxes = {anchor: slug for text in texts.values() for slug, anchor in BOX.findall(text)}
    badges = [badge for text in texts.values() for badge in BADGE.findall(text) if badge[1] in boxes]
    assert len(badges) > 400
    assert [badge for badge in badges if boxes[badge[1]] != badge[0]] == []


def test_only_a_record_that_measured_something_and_is_up_to_date_confirms(texts, published, confirmed):
    assert 300 < len(confirmed) < len(published["recorded"])
    found = [box for text in texts.values() for box in BOXES.findall(text)]
    said = {BOX.match(box)[2] for box in found if "recorded run, paper scale" in box}
    assert said == {anchor_names.box(part) for part in confirmed} & {BOX.match(box)[2] for box in found}


def test_links_of_boxes_resolve_and_lead_to_all_errata(texts):
    anchors = {page: set(ID.findall(text)) for page, text in texts.items()}
    boxes = [(page, box) for page, text in texts.items() for box in BOXES.findall(text)]
    found = [(page, *resolved(page, a)) for page, box in boxes for a in HREF.findall(box)]
    broken = [link for link in found if link[1] not in anchors or (link[2] and link[2] not in anchors[link[1]])]
    assert len(found) > 3 * 100 and broken == []
    errata = {page for page in texts if page.startswith("book/errata/")}
    entry = re.compile(r"erratum-[A-Z]\d+-(?!slip-\d)\w+")
    entries = {(page, anchor) for page in errata for anchor in anchors[page] if entry.fullmatch(anchor)}
    assert entries and {(target, anchor) for _, target, anchor in found if target in errata} == entries


def test_the_page_on_verdicts_has_all_six(texts):
    page = texts["book/verdicts.html"]
    for verdict in claims.VERDICTS:
        assert f'<div class="lmc-example lmc-{claims.slug(verdict)}">' in page
        words = "statement holds, a step of its proof breaks" if verdict == claims.BROKEN else verdict
        assert claims.symbol(verdict) in page and words in page
    examples = re.findall(r'For example <a[^>]*href="executed/([\w]+)\.html#(claim-[\w-]+)"', page)
    assert len(examples) >= 4
    assert all(f'id="{anchor}"' in texts[f"book/executed/{chapter}.html"] for chapter, anchor in examples)


def test_the_first_visit_follows_the_system(html, browser):
    for theme in ("light", "dark"):
        tab = browser.new_page(color_scheme=theme)
        tab.goto(f"{html.as_uri()}/book/verdicts.html", wait_until="load")
        tab.wait_for_function("t => document.documentElement.dataset.theme == t", arg=theme)
        ground = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 384) == (theme == "dark")
        tab.close()


def chapter_with_boxes(texts) -> str:
    return max((page for page in texts if "/executed/" in page), key=lambda page: len(BOX.findall(texts[page])))


def test_details_open_with_the_keyboard_and_scales_have_words_for_who_does_not_see_them(html, texts, watched):
    tab = watched.open(f"{html.as_uri()}/{chapter_with_boxes(texts)}")
    scales = tab.get_by_role("img", name=re.compile("^Scale: stated "))
    tab.evaluate("() => document.querySelectorAll('details.lmc-claim').forEach(box => { box.open = true; })")
    assert scales.count() == tab.locator(".lmc-claim svg.lmc-scale").count() > 0
    details = tab.locator("details.lmc-details").first
    assert not details.locator("dl").is_visible()
    details.locator("summary").focus()
    tab.keyboard.press("Enter")
    assert details.locator("dl").is_visible()


def test_links_to_theorems_have_the_theorem_s_number(texts):
    head = r'id="{}">\s*<p class="admonition-title"><span class="caption-number">([^<]*?) *<'
    seen = 0
    for page, text in texts.items():
        for anchor, name in re.findall(r'Proof: <a[^>]*href="#([\w-]+)"[^>]*>([^<(]*)', text):
            number = re.search(head.format(anchor), text)
            assert number and name.strip() == number[1].strip(), (page, anchor)
            seen += 1
    assert seen > 10


def test_examples_are_parts_that_have_the_verdict():
    records = {
        id: {"verdict": verdict, "value": 1.0, "chapter": "12_x"} | NUMBERS
        for id, verdict in (("Z3.limit", claims.HOLDS), ("Z4.low", claims.HOLDS), ("Z3.minimum", claims.FAILS))
    }
    records["Z6.gain"] = {"verdict": claims.OPEN, "value": None, "chapter": "12_x"} | NUMBERS
    findings = Findings(claims.ledger(), records, {}, {})
    found = {verdict: example and example["id"] for verdict, _, example in staging.examples(findings)}
    assert list(found) == [verdict for verdict, _ in staging.EXAMPLES.items()] and set(found) == set(claims.VERDICTS)
    assert found[claims.HOLDS] == "Z4.low" and found[claims.FAILS] == "Z3.minimum"  # a named one, and the first
    assert found[claims.OPEN] is None and found[claims.BROKEN] is None


def test_named_examples_are_expected_to_have_the_verdict_or_to_be_decided_at_paper_scale():
    known = {id: part for claim in claims.ledger().values() for id, part in claim.parts.items()}
    for verdict, ids in staging.EXAMPLES.items():
        assert all(known[id].expected == verdict or verdict == claims.OPEN for id in ids)
