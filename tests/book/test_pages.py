"""The built pages in a real browser with the network refused: from disk and served."""

import functools
import http.server
import json
import os
import re
import shutil
import threading
import urllib.request
from pathlib import Path

import jupytext
import nbformat
import pytest
import yaml

from book.tools import chapters, staging
from lmc_helpers.claims import ledger

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def absent(reason: str):
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; CI never skips the page tests")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def html(root) -> Path:
    folder = root / "build" / "test-book" / "_build" / "html"
    if not (folder / ".built").exists():
        absent("no test book: run `make test`, which builds one")
    return folder


@pytest.fixture(scope="module")
def pages(html) -> list[str]:
    found = [path.relative_to(html).as_posix() for path in html.rglob("*.html")]
    return sorted(name for name in found if not name.endswith("webpack-macros.html"))


@pytest.fixture(scope="module")
def served(html):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        absent("no browser: install chromium to test the pages")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def listed(root) -> list[str]:
    """Every page of the table of contents."""

    def below(entry: dict) -> list[str]:
        own = [entry["file"]] if "file" in entry else []
        return own + [name for kind in ("chapters", "sections") for e in entry.get(kind, ()) for name in below(e)]

    content = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [content["root"], *(name for part in content["parts"] for name in below(part))]


class Watched:
    """A tab that remembers every request, failure and console error."""

    def __init__(self, browser, width: int = 1280):
        self.tab = browser.new_page(viewport={"width": width, "height": 900})
        self.requests, self.trouble = [], []
        self.tab.on("request", lambda r: self.requests.append(r.url))
        self.tab.on("requestfailed", self.failed)
        self.tab.on("response", lambda r: self.trouble.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
        self.tab.on("pageerror", lambda e: self.trouble.append(f"script: {e}"))
        self.tab.on("console", lambda m: self.trouble.append(f"console: {m.text}") if m.type == "error" else None)

    def failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # the browser's own word for leaving a page early
            self.trouble.append(f"{request.failure}: {request.url}")

    def open(self, url: str):
        self.tab.goto(url, wait_until="load")
        if re.fullmatch(r"http://[^/]+/index.html|file:.*/html/index.html", url):  # it only sends the reader on
            self.tab.wait_for_url("**/book/index.html")
        self.tab.evaluate("() => window.MathJax && MathJax.startup ? MathJax.startup.promise : null")
        self.tab.evaluate("() => document.fonts.ready.then(() => null)")
        return self.settle()

    def settle(self):
        """Wait until nothing is under way: leaving a page earlier would abort its last requests."""
        self.tab.wait_for_load_state("networkidle")
        return self.tab


@pytest.fixture
def watched(browser):
    watch = Watched(browser)
    yield watch
    watch.tab.close()


@pytest.fixture
def phone(browser):
    watch = Watched(browser, width=390)
    yield watch
    watch.tab.close()


@pytest.mark.parametrize("how", ["file", "http"])
def test_every_page_opens_without_the_network(how, html, pages, listed, served, watched):
    base = html.as_uri() if how == "file" else served
    for name in pages:
        watched.open(f"{base}/{name}")
    outside = [url for url in watched.requests if not url.startswith((base, "data:", "blob:"))]
    assert outside == []
    assert watched.trouble == []
    assert set(pages) >= {f"{name}.html" for name in listed}


def test_the_watch_sees_an_outside_request(watched, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<img src="https://example.org/x.png">')
    watched.open(page.as_uri())
    assert any("example.org" in url for url in watched.requests) and watched.trouble


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
        assert picture.evaluate("i => i.complete && i.naturalWidth > 200")
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
        assert len(picture.get_attribute("alt") or "") > 40
        assert picture.evaluate("i => i.closest('figure').querySelector('figcaption').innerText.length") > 20
    assert phone.trouble == []
    if how == "file":
        wide = watched.open(f"{base}/book/executed/{chapter}.html").locator("article picture img")
        assert all("/_images/" in picture.evaluate("i => i.currentSrc") for picture in wide.all())


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


def test_navigation_and_search(html, listed, served, watched):
    tab = watched.open(f"{served}/index.html")
    assert tab.url.endswith("/book/index.html")
    seen = [tab.title()]
    while tab.locator("a.right-next").count():
        tab.locator("a.right-next").click()
        watched.settle()
        seen.append(tab.title())
        assert len(seen) < 100
    assert len(set(seen)) == len(seen) == len(listed)
    for base in (served, html.as_uri()):
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


def test_every_correction_is_on_the_errata_page(served, watched):
    claims = json.loads(urllib.request.urlopen(f"{served}/claims.json").read())
    verdicts = ("false as printed, corrected", "fails", "broken, statement stands")
    found = {record["part"]: record["verdict"] for record in claims["parts"]}
    parts = {id: part for claim in ledger().values() for id, part in claim.parts.items() if part.whose != "ours"}
    wrong = []
    for id, part in parts.items():  # of readings of one statement all are wrong, or none is listed
        same = (id.partition(".")[0], part.one_of)
        readings = [other for other, it in parts.items() if (other.partition(".")[0], it.one_of) == same]
        if all(found.get(other) in verdicts for other in (readings if part.one_of else [id])):
            wrong.append(id)
    tab = watched.open(f"{served}/book/errata.html")
    heads = tab.locator("article h3").all_inner_texts()
    assert wrong and sorted(head.partition(" ")[0] for head in heads) == sorted(wrong)
    groups = [head.rstrip("#") for head in tab.locator("article h2").all_inner_texts()]
    known = ["Results", "Details and steps of proofs", "Slips that a computation shows", "Misprints"]
    assert groups == [group for group in known if group in groups] and groups[-1] == "Misprints"
    slips = [slip for claim in ledger().values() for slip in claim.misprints]
    assert slips and tab.locator("#misprints tbody tr").count() == len(slips)
