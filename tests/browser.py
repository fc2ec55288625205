"""The built pages in a real browser with the network refused, for the tests that open them."""

import functools
import http.server
import itertools
import os
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from book.tools.render import reports

KINDS = ["index", "scoreboard", "figures", "statistics", "verdicts", "your_networks", "errata/Z", "reports/P"]
KINDS += ["bibliography", "api/modules", "executed/15_barrier_peak", "executed/53A_asymmetric_mlps"]
OF_EACH_KIND = [f"book/{name}.html" for name in KINDS]
PHONE, DESKTOP = 390, 1280
VISIT = Path(__file__).with_name("visit.js").read_text(encoding="utf-8")


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
    if not reports.chromium():
        absent("no browser: install chromium to test the pages")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=reports.chromium(), args=reports.flags("127.0.0.1"))
        yield launched
        launched.close()


class Watched:
    """A tab that remembers every request, failure and console error of the page that it shows."""

    def __init__(self, tab):
        self.tab = tab
        self.requests, self.trouble = [], []
        self.tab.on("request", lambda r: self.requests.append(r.url))
        self.tab.on("requestfailed", self.failed)
        self.tab.on("response", lambda r: self.trouble.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
        self.tab.on("pageerror", lambda e: self.trouble.append(f"script: {e}"))
        self.tab.on("console", lambda m: self.trouble.append(f"console: {m.text}") if m.type == "error" else None)

    def failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # the browser's own word for leaving a page early
            self.trouble.append(f"{request.failure}: {request.url}")

    def go(self, url: str):
        self.tab.goto(url, wait_until="load")
        if re.fullmatch(r"http://[^/]+/index.html|file:.*/html/index.html", url):  # it only sends the reader on
            self.tab.wait_for_url("**/book/index.html")

    def open(self, url: str):
        self.go(url)
        self.tab.evaluate("() => window.MathJax && MathJax.startup ? MathJax.startup.promise : null")
        self.tab.evaluate("() => document.fonts.ready.then(() => null)")
        return self.settle()

    def settle(self):
        """Wait until nothing is under way: leaving a page earlier would abort its last requests."""
        self.tab.wait_for_load_state("networkidle")
        return self.tab

    def visit(self, url: str) -> SimpleNamespace:
        """What visit.js finds on a page, its requests and its trouble, to which later ones are added."""
        self.requests, self.trouble = [], []
        self.tab.bring_to_front()  # one in the background draws a frame a second
        self.tab.set_viewport_size(screen(PHONE))
        self.go(url)
        found = self.tab.evaluate(VISIT)
        self.tab.set_viewport_size(screen(DESKTOP))
        wide = SimpleNamespace(**self.tab.evaluate(VISIT, True))
        return SimpleNamespace(**found, wide=wide, requests=self.requests, trouble=self.trouble)


def screen(width: int) -> dict[str, int]:
    return {"width": width, "height": 900}


def visits(browser, base: str, names: list[str]) -> dict[str, SimpleNamespace]:
    """Every page, loaded once on a phone, whose screen then grows to a desktop's (`wide`).

    A page stays open during the next visit, so that late requests are seen.
    """
    context = browser.new_context()
    tabs = [Watched(context.new_page()) for _ in range(2)]
    found = {name: tab.visit(f"{base}/{name}") for name, tab in zip(names, itertools.cycle(tabs), strict=False)}
    for watch in tabs:
        watch.settle()
    context.close()
    return found


def outside(page: SimpleNamespace, base: str) -> list[str]:
    """Requests of a page that leave the book."""
    return [url for url in page.requests if not url.startswith((base, "data:", "blob:"))]


def stretched(picture: dict) -> bool:
    """Whether a picture is shown in other proportions than it was drawn with."""
    (width, height), (natural_width, natural_height) = picture["shown"], picture["natural"]
    return abs(width * natural_height - height * natural_width) >= 0.02 * height * natural_width


def frame_of(spec: dict, frame: int) -> list:
    """What a figure that moves draws in one frame, from its description."""
    data = [[trace["x"], trace["y"]] for trace in spec["data"]]
    moved = spec["frames"][frame]
    for trace, change in zip(moved["traces"], moved["data"], strict=True):
        data[trace] = [change.get("x", data[trace][0]), change.get("y", data[trace][1])]
    return data


@pytest.fixture
def watched(browser):
    watch = Watched(browser.new_page(viewport=screen(DESKTOP)))
    yield watch
    watch.tab.close()


@pytest.fixture
def phone(browser):
    watch = Watched(browser.new_page(viewport=screen(PHONE)))
    yield watch
    watch.tab.close()
