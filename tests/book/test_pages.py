"""The built pages in a real browser with the network refused: from disk and served."""

import json
import re
import urllib.request

import jupytext
import nbformat
import pytest
import yaml

from book.tools.base import chapters
from book.tools.pages import staging


@pytest.fixture(scope="module")
def listed(root) -> list[str]:
    """Every page of the table of contents."""

    def below(entry: dict) -> list[str]:
        own = [entry["file"]] if "file" in entry else []
        return own + [name for kind in ("chapters", "sections") for e in entry.get(kind, ()) for name in below(e)]

    content = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [content["root"], *(name for part in content["parts"] for name in below(part))]


def test_from_page_to_page_without_the_network(html, pages, listed, watched):
    """From disk: page after page by the link to the next one, then those that no such link leads to."""
    base = html.as_uri()
    tab = watched.open(f"{base}/index.html")
    assert tab.url.endswith("/book/index.html")
    seen, titles = [tab.url], [tab.title()]
    while tab.locator("a.right-next").count():
        tab.locator("a.right-next").click()
        watched.settle()
        seen.append(tab.url)
        titles.append(tab.title())
        assert len(seen) < 100
    assert len(set(titles)) == len(seen)
    assert {url.partition("#")[0] for url in seen} == {f"{base}/{name}.html" for name in listed}
    for name in pages:
        if f"{base}/{name}" not in seen:
            watched.open(f"{base}/{name}")
    assert [url for url in watched.requests if not url.startswith((base, "data:", "blob:"))] == []
    assert watched.trouble == []


def test_the_watch_sees_an_outside_request(watched, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<img src="https://example.org/x.png">')
    watched.open(page.as_uri())
    assert any("example.org" in url for url in watched.requests) and watched.trouble


# How far a picture is from the proportions that it was drawn with.
STRETCHED = "i => Math.abs(i.clientWidth / i.clientHeight / (i.naturalWidth / i.naturalHeight) - 1)"


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_mathematics_and_pictures_are_drawn(chapter, html, watched):
    tab = watched.open(f"{html.as_uri()}/book/executed/{chapter}.html")
    assert tab.locator("mjx-container").count() > 5
    assert tab.locator("mjx-merror, .math-error").count() == 0
    assert "MJXTEX" in tab.evaluate(
        "() => [...document.fonts].filter(f => f.status == 'loaded').map(f => f.family).join()"
    )
    tab.add_style_tag(content="article pre { display: none }")  # code may hold formulas as strings
    text = tab.locator("article").inner_text()
    assert re.findall(r"\$[^$\n]+\$|\{glue|\{prf:|\{cite|\\frac", text) == []
    pictures = tab.locator("article img")
    assert pictures.count() >= 1
    for picture in pictures.all():
        room = picture.bounding_box()
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("i => i.decode().then(() => i.naturalWidth)") > 200
        assert picture.evaluate(STRETCHED) < 0.02
        came = picture.bounding_box()
        still = picture.evaluate("i => !i.closest('.lmc-moves')")  # it lies behind a figure that moves
        assert not still or (came["width"], came["height"]) == (room["width"], room["height"])
        assert len(picture.get_attribute("alt") or "") > 40
    wide = tab.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0


@pytest.mark.parametrize(
    ("chapter", "how"), [*((chapter, "file") for chapter in chapters.chapters()), (chapters.chapters()[0], "http")]
)
def test_on_a_phone_panels_stand_one_below_the_other(chapter, how, html, served, phone, watched):
    base = html.as_uri() if how == "file" else served
    names = {path.name for path in (html / "phone").iterdir()}
    tab = phone.open(f"{base}/book/executed/{chapter}.html")
    pictures = tab.locator("article picture img")
    assert pictures.count() >= 1
    for picture in pictures.all():
        assert picture.get_attribute("src").rpartition("/")[2] in names
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("i => i.decode().then(() => i.naturalWidth)") > 200
        assert re.search(r"/phone/[0-9a-f]{64}\.png$", picture.evaluate("i => i.currentSrc"))
        assert picture.evaluate(STRETCHED) < 0.02
        assert len(picture.get_attribute("alt") or "") > 40
        caption = picture.evaluate("i => i.closest('figure').querySelector('figcaption').innerText")
        assert len(caption) > 20
        assert not re.search(r"\b(Left|Right)\b", caption) or re.search(r"\b(Top|Bottom)\b", caption), caption
    assert phone.trouble == []
    if how == "file":
        for picture in watched.open(f"{base}/book/executed/{chapter}.html").locator("article picture img").all():
            picture.scroll_into_view_if_needed()
            assert "/_images/" in picture.evaluate("i => i.decode().then(() => i.currentSrc)")
        captions = watched.tab.locator("article figcaption").all_inner_texts()
        assert not any("LeftTop" in caption or "RightBottom" in caption for caption in captions)


# Formulas that end beyond the page, and those beyond their own box that does not scroll, start late or need not.
CUT = """() => [...document.querySelectorAll('article mjx-container')].filter(formula => {
    const box = formula.closest('span.math, div.math') || formula, place = box.getBoundingClientRect();
    const table = box.closest('.pst-scrollable-table-container'), edge = document.documentElement.clientWidth;
    if (!place.width || table) return false;
    const wide = box.scrollWidth > box.clientWidth, scrolls = getComputedStyle(box).overflowX == 'auto';
    return place.right > edge + 1 || (wide && !scrolls) || formula.getBoundingClientRect().left < place.left - 1;
}).map(formula => formula.textContent)"""


def test_on_a_phone_every_page_opens_and_no_formula_is_cut(pages, served, phone):
    for name in pages:
        tab = phone.open(f"{served}/{name}")
        assert (name, tab.evaluate(CUT)) == (name, [])
        wide = tab.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert (name, wide) == (name, 0)
    assert [url for url in phone.requests if not url.startswith((served, "data:", "blob:"))] == []
    assert phone.trouble == []


MARKS = r"""() => {
  const walker = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const mark = /^[.,;:!?)]/.exec(text.data), before = text.previousSibling;
    if (!mark || !before || !before.matches || text.parentElement.closest("pre, script, details:not([open])")) continue;
    const formula = before.matches("mjx-container, span.math") ? before : null;
    if (!formula || formula.matches("[display=true]") || !formula.getClientRects().length) continue;
    const range = document.createRange();
    range.setStart(text, 0);
    range.setEnd(text, 1);
    const place = range.getBoundingClientRect(), end = formula.getBoundingClientRect();
    found.push([place.top < end.bottom && place.left >= end.right - 1, text.parentElement.textContent.slice(-80)]);
  }
  return found;
}"""


@pytest.mark.parametrize("page", ["executed/44_gaussian_mixture", "executed/49_feature_hardness"])
def test_no_line_begins_with_the_mark_that_follows_a_formula(page, html, phone):
    found = phone.open(f"{html.as_uri()}/book/{page}.html").evaluate(MARKS)
    assert len(found) > 20
    assert [text for beside, text in found if not beside] == []


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_folded_cells_say_what_they_are(chapter, root, html, watched):
    tab = watched.open(f"{html.as_uri()}/book/executed/{chapter}.html")
    shown = [text.strip() for text in tab.locator("details.hide summary .collapsed").all_inner_texts()]
    cells = [c for c in jupytext.read(root / "notebooks" / f"{chapter}.py").cells if c.cell_type == "code"]
    labels = [c.metadata.get("mystnb", {}).get("code_prompt_show") for c in cells]
    folded = [label for c, label in zip(cells, labels, strict=True) if "hide-input" in c.metadata.get("tags", [])]
    assert [label for label in shown if label != staging.LABEL] == folded
    first = tab.locator("details.hide summary").first
    first.click()
    assert tab.locator("details.hide[open] summary .expanded").first.inner_text().strip() == folded[0]


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_downloads_give_the_executed_notebook_and_its_source(chapter, root, served, watched):
    tab = watched.open(f"{served}/book/executed/{chapter}.html")
    hrefs = tab.evaluate("() => [...document.querySelectorAll('.dropdown-download-buttons a')].map(a => a.href)")
    notebook = next(url for url in hrefs if url.endswith(".ipynb"))
    source = next(url for url in hrefs if url.endswith(".py"))
    got = nbformat.reads(urllib.request.urlopen(notebook).read().decode(), as_version=4)
    assert got.metadata["lmc"]["chapter"] == chapter
    assert any(cell.get("outputs") for cell in got.cells)
    assert urllib.request.urlopen(source).read() == (root / "notebooks" / f"{chapter}.py").read_bytes()


@pytest.mark.parametrize("how", ["file", "http"])
def test_search(how, html, served, watched):
    base = html.as_uri() if how == "file" else served
    tab = watched.open(f"{base}/search.html?q=overlap")
    tab.wait_for_selector("ul.search li")
    assert watched.trouble == []


def test_claims_are_published(served, watched):
    claims = json.loads(urllib.request.urlopen(f"{served}/claims.json").read())
    needed = {
        "id",
        "part",
        "verdict",
        "quantity",
        "value",
        "stderr",
        "n",
        "whose",
        "weight",
        "low",
        "high",
        "criterion",
        "criteria",
        "profile",
        "device",
        "seconds",
        "commit",
    }
    assert claims["parts"] and all(needed <= set(record) for record in claims["parts"])
    assert {record["chapter"] for record in claims["parts"]} <= set(chapters.chapters())
    tab = watched.open(f"{served}/book/scoreboard.html")
    page = tab.locator("article").text_content()
    assert all(id in page for id in claims["verdicts"])
    assert all(record["part"] in page for record in claims["parts"])
    tab.locator("article a", has_text="claims.json").click()
    tab.wait_for_url("**/claims.json")
