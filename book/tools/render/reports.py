"""The reports of a built book as PDF.

python -m book reports

prints ``book/reports/*.html`` of a built book to ``build/reports``, with Chromium through playwright.
"""

import shutil
from pathlib import Path
from typing import Any

from book.tools.read.chapters import BuildError

FOOTER = (
    '<div style="font-size: 7pt; width: 100%; padding: 0 18mm; display: flex; justify-content: space-between">'
    '<span class="title"></span><span><span class="pageNumber"></span> / <span class="totalPages"></span></span></div>'
)
#: Addresses inside the book mean nothing on paper.
UNLINK = "() => document.querySelectorAll('article a:not([href^=\"http\"])').forEach(a => a.removeAttribute('href'))"


def chromium() -> str | None:
    """The browser that prints reports and opens pages in tests: a Chromium of the system; None if there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def flags(*reached: str) -> list[str]:
    """Arguments for the browser: no address is looked up except those named.

    >>> flags("127.0.0.1")[-1]
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
    """
    quiet = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run")
    silent = ("disable-background-networking", "disable-component-update", "disable-sync")
    rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in reached)])
    return [*(f"--{name}" for name in (*quiet, *silent)), f"--host-resolver-rules={rules}"]


def to_pdf(html: Path, out: Path, only: str = "?") -> list[Path]:
    """Print the reports of a built book, of all papers or of one; return the files."""
    pages = sorted((html.resolve() / "book" / "reports").glob(f"{only}.html"))
    if not pages:
        raise BuildError(f"no reports in {html}; run: make book")
    path = chromium()
    if path is None:
        raise BuildError("no Chromium to print with; install one, for example with the system's package 'chromium'")
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    written = []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=flags())
        for page in pages:
            tab = launched.new_page(color_scheme="light")
            tab.goto(page.as_uri(), wait_until="load")
            tab.evaluate("() => window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => null) : null")
            tab.evaluate("() => { document.documentElement.dataset.theme = 'light' }")
            tab.evaluate(UNLINK)
            target = out / f"{page.stem}.pdf"
            options: dict[str, Any] = {"format": "A4", "print_background": True, "display_header_footer": True}
            options["margin"] = dict.fromkeys(("top", "bottom", "left", "right"), "18mm")
            tab.pdf(path=str(target), header_template="<span></span>", footer_template=FOOTER, **options)
            tab.close()
            written.append(target)
        launched.close()
    return written


def reports(html: Path, out: Path, paper: str) -> None:
    """Print the reports, of all papers or of one, and name the files."""
    print(*to_pdf(html, out, paper), sep="\n")
