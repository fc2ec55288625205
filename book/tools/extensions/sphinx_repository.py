"""Sphinx extension: where the repository is known, pages offer to run, to edit and to report.

The one setting is ``repository: url:`` in ``_config.yml``; where it is empty no page has any of these buttons. The
theme's own buttons suppose that a page's source lies in the repository under the page's name. Here a chapter's page is
made from ``notebooks/``, and some pages are generated, so that the buttons are made in this file.

Binder takes its environment from ``environment.yml`` and opens a chapter's source with jupytext as a notebook. Colab
opens notebooks only: ``make colab`` writes them, and a chapter without one has no such button.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, urlencode

from sphinx.application import Sphinx

REPOSITORY = re.compile(r"https://(github|gitlab)\.com/([^/]+)/([^/]+?)(?:\.git)?/?")
EXECUTED = "book/executed/"
SOURCES = "book/sources.txt"  # of the staged book: the files of the repository that pages and buttons come from

ICONS = {
    "Binder": "fas fa-play",
    "Colab": "fas fa-cloud",
    "Repository": "fas fa-code-branch",
    "Suggest edit": "fas fa-pencil-alt",
    "Open issue": "fas fa-lightbulb",
}


def place(url: str) -> tuple[str, str, str]:
    """Host, owner and name of a repository.

    Examples
    --------
    >>> place("https://github.com/someone/book.git")
    ('github', 'someone', 'book')
    """
    found = REPOSITORY.fullmatch(url)
    if found is None:
        raise ValueError(
            f"_config.yml: repository: url: {url!r} is no repository; allowed: https://github.com/OWNER/NAME, and the"
            " same on gitlab.com"
        )
    return found[1], found[2], found[3]


def source(page: str) -> str:
    """The file of the repository that a page is made from.

    Examples
    --------
    >>> source("book/executed/12_overlap_theorem"), source("book/data")
    ('notebooks/12_overlap_theorem.py', 'book/data.md')
    """
    return f"notebooks/{page.removeprefix(EXECUTED)}.py" if page.startswith(EXECUTED) else f"{page}.md"


def colab(page: str) -> str:
    """The notebook of a chapter that Colab opens.

    Examples
    --------
    >>> colab("book/executed/12_overlap_theorem")
    'colab/12_overlap_theorem.ipynb'
    """
    return f"colab/{page.removeprefix(EXECUTED)}.ipynb"


def launches(url: str, branch: str, page: str, sources: set[str]) -> dict[str, str]:
    """Where a chapter can be run: what the button says → its address."""
    if not page.startswith(EXECUTED):
        return {}
    host, owner, name = place(url)
    repository = f"gh/{owner}/{name}" if host == "github" else f"gl/{owner}%2F{name}"
    inside = urlencode({"urlpath": f"notebooks/{source(page)}?factory=Notebook"}, quote_via=quote)
    found = {"Binder": f"https://mybinder.org/v2/{repository}/{quote(branch, safe='')}?{inside}"}
    if host == "github" and colab(page) in sources:
        found["Colab"] = f"https://colab.research.google.com/github/{owner}/{name}/blob/{branch}/{colab(page)}"
    return found


def origins(url: str, branch: str, page: str, title: str, sources: set[str]) -> dict[str, str]:
    """The repository, the page's source in it, and a new issue: what the button says → its address."""
    host, owner, name = place(url)
    home, middle = f"https://{host}.com/{owner}/{name}", "" if host == "github" else "/-"
    found = {"Repository": home}
    if source(page) in sources:
        found["Suggest edit"] = f"{home}{middle}/edit/{branch}/{source(page)}"
    fields = {"title": "title", "body": "body"}
    if host == "gitlab":
        fields = {"title": "issue[title]", "body": "issue[description]"}
    text = {fields["title"]: f"On the page “{title}”", fields["body"]: f"Page: {page}"}
    return found | {"Open issue": f"{home}{middle}/issues/new?{urlencode(text, quote_via=quote)}"}


def _group(label: str, says: str, icon: str, links: dict[str, str]) -> dict:
    buttons = [
        {
            "type": "link",
            "url": address,
            "text": words,
            "tooltip": words,
            "icon": ICONS[words],
            "label": f"{label}-{words.lower().replace(' ', '-')}",
        }
        for words, address in links.items()
    ]
    return {"type": "group", "tooltip": says, "icon": icon, "buttons": buttons, "label": label}


def offer(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Add the buttons to a page that has a source."""
    url = app.config.html_theme_options.get("repository_url", "")
    if not url or doctree is None or "header_buttons" not in context:
        return
    branch = app.config.html_theme_options.get("repository_branch") or "main"
    listed = Path(app.srcdir) / SOURCES
    sources = set(listed.read_text(encoding="utf-8").split()) if listed.is_file() else set()
    title = re.sub("<[^>]*>", "", context.get("title", pagename))
    here = origins(url, branch, pagename, title, sources)
    groups = [_group("source-buttons", "Repository", "fas fa-code-branch", here)]
    if links := launches(url, branch, pagename, sources):
        groups.insert(0, _group("launch-buttons", "Run this chapter", "fas fa-rocket", links))
    context["header_buttons"][:0] = groups


def check(app: Sphinx, config) -> None:
    """Refuse an address that is none, before any page is written."""
    if url := config.html_theme_options.get("repository_url", ""):
        place(url)


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", check)
    app.connect("html-page-context", offer, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
