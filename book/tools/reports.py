"""The reports of a built book as PDF.

python -m book.tools.reports

prints ``book/reports/*.html`` of a built book to ``build/reports``, with Chromium through playwright.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import argparse
import sys
from pathlib import Path
from typing import Any

from book.tools.base import stopping
from book.tools.base.chapters import ROOT, BuildError
from book.tools.pages import browser

FOOTER = (
    '<div style="font-size: 7pt; width: 100%; padding: 0 18mm; display: flex; justify-content: space-between">'
    '<span class="title"></span><span><span class="pageNumber"></span> / <span class="totalPages"></span></span></div>'
)
#: Addresses inside the book mean nothing on paper.
UNLINK = "() => document.querySelectorAll('article a:not([href^=\"http\"])').forEach(a => a.removeAttribute('href'))"


def to_pdf(html: Path, out: Path, only: str = "?") -> list[Path]:
    """Print the reports of a built book, of all papers or of one; the files."""
    pages = sorted((html.resolve() / "book" / "reports").glob(f"{only}.html"))
    if not pages:
        raise BuildError(f"no reports in {html}; run: make book")
    path = browser.path()
    if path is None:
        raise BuildError("no Chromium to print with; install one, for example with the system's package 'chromium'")
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    written = []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=browser.flags())
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


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="reports", description="Print the reports of a built book as PDF.")
    parser.add_argument("--html", type=Path, default=ROOT / "build" / "book" / "_build" / "html")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "reports")
    parser.add_argument("--paper", default="?", help="the letter of one paper")
    given = parser.parse_args(arguments)
    return stopping.status(lambda: print(*to_pdf(given.html, given.out, given.paper), sep="\n"))


if __name__ == "__main__":
    sys.exit(main())
