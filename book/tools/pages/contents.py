"""What Jupyter Book is told: ``_toc.yml``, ``_config.yml`` and the bibliography, read and checked.

The builder itself looks at them only when every chapter has run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from book.tools.base import chapters, inputs
from book.tools.base.chapters import ROOT, BuildError
from book.tools.pages import api
from book.tools.reading import papers
from lmc_helpers.claims.intervals import Entry, cut
from lmc_helpers.claims.yaml_files import place

TOC, CONFIG = ROOT / "_toc.yml", ROOT / "_config.yml"
EXECUTED = "book/executed"
CITED = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


class Leaf(Entry):
    """A page below another one."""

    file: str = Field(min_length=1, description="the page without its suffix; a chapter stands in book/executed")
    title: str | None = Field(None, description="default: the page's own")


class Page(Leaf):
    """A page of a part."""

    sections: list[Leaf] | None = None


class BookPart(Entry):
    """A part of the book."""

    caption: str = Field(min_length=1)
    chapters: list[Page] = Field(min_length=1)


class Toc(Entry):
    """The table of contents."""

    format: Literal["jb-book"]
    root: str
    parts: list[BookPart] = Field(min_length=1)


def toc(path: Path = TOC) -> Toc:
    """The table of contents."""
    return inputs.read(path, Toc, f"a mapping with {', '.join(Toc.model_fields)}")


def files(contents: Toc) -> list[tuple[str, tuple[str | int, ...]]]:
    """The pages that the table of contents names, each with what leads to it in the file."""
    found: list[tuple[str, tuple[str | int, ...]]] = [(contents.root, ("root",))]
    for k, part in enumerate(contents.parts):
        for j, page in enumerate(part.chapters):
            here = ("parts", k, "chapters", j)
            found.append((page.file, here))
            found += [(leaf.file, (*here, "sections", i)) for i, leaf in enumerate(page.sections or ())]
    return found


def generated() -> set[str]:
    """The pages that are made while the book is built: chapters, and one page a paper or a package."""
    made = {f"{EXECUTED}/{chapter}" for chapter in chapters.chapters()}
    made |= {f"book/{kind}/{letter}" for kind in ("errata", "reports") for letter in papers.papers()}
    return made | {f"book/api/{package.name}" for package in api.packages()}


def check_toc(path: Path = TOC) -> None:
    """Refuse a table of contents that names a page twice, or one that there is not, or leaves a chapter out."""
    made, seen, wrong = generated(), set[str](), []
    for file, steps in files(toc(path)):
        where = f"{place(path, *steps)}: {file!r}"
        if file in seen:
            wrong.append(f"{where} stands twice")
        elif file not in made and not any((path.parent / f"{file}{end}").is_file() for end in (".md", ".ipynb")):
            close = f"a chapter as {EXECUTED}/NN_name, or a page below book/ without its suffix"
            wrong.append(f"{where} does not exist; allowed: {close}")
        seen.add(file)
    absent = [chapter for chapter in chapters.chapters() if f"{EXECUTED}/{chapter}" not in seen]
    wrong += [f"{path.name}: chapter {chapter} is missing; add - file: {EXECUTED}/{chapter}" for chapter in absent]
    if wrong:
        raise BuildError("\n".join(wrong))


def config(path: Path = CONFIG) -> dict[str, Any]:
    """The configuration of the builder."""
    return inputs.read(path, dict[str, Any], "a mapping with the settings of Jupyter Book")


def check_config(path: Path = CONFIG) -> None:
    """Refuse settings that Jupyter Book does not know or would not take, and files that are not there."""
    from jupyter_book.config import get_validator

    validator, settings, wrong = get_validator(), config(path), []
    known = [*validator.schema["properties"], "only_build_toc_files"]
    for name in settings:
        if name not in known:
            wrong.append(f"{place(path, name)}: unknown setting {name!r}; allowed: {', '.join(known)}")
    for error in validator.iter_errors(settings):
        steps = list(error.absolute_path)
        said = error.message[:1].lower() + error.message[1:]
        wrong.append(f"{place(path, *steps)}: {'.'.join(map(str, steps))}: {said}")
    if not wrong:
        wrong = [
            f"{place(path, *steps)}: {'.'.join(map(str, steps))}: {file} does not exist"
            for file, steps in _named(settings)
            if not (path.parent / file).exists()
        ]
    if wrong:
        raise BuildError("\n".join(wrong))


def _named(settings: dict[str, Any]) -> list[tuple[str, tuple[str | int, ...]]]:
    """The files and folders that the configuration names."""
    bibliographies = settings.get("bibtex_bibfiles") or []
    found: list[tuple[str, tuple[str | int, ...]]] = [
        (file, ("bibtex_bibfiles", at)) for at, file in enumerate(bibliographies)
    ]
    if icon := (settings.get("html") or {}).get("favicon"):
        found.append((icon, ("html", "favicon")))
    local = (settings.get("sphinx") or {}).get("local_extensions") or {}
    return found + [(f"{folder}/{name}.py", ("sphinx", "local_extensions", name)) for name, folder in local.items()]


def bibliography(path: Path) -> set[str]:
    """The keys of a bibliography."""
    from pybtex.database import BibliographyDataError
    from pybtex.database.input.bibtex import Parser
    from pybtex.exceptions import PybtexError
    from pybtex.scanner import PybtexSyntaxError

    source = inputs.text(path)
    try:
        entries = Parser().parse_string(source).entries
    except PybtexSyntaxError as error:
        raise BuildError(f"{path.name}, line {error.lineno}: {error.args[0]}") from None
    except (BibliographyDataError, PybtexError) as error:
        raise BuildError(f"{path.name}, line {_line_of(str(error), source)}: {error}") from None
    wrong = []
    for key, entry in entries.items():
        lacking = [name for name in ("title", "year") if name not in entry.fields]
        lacking += [] if entry.persons or "key" in entry.fields else ["author"]
        if lacking:
            wrong.append(f"{path.name}, line {_line(source, key)}: {key}: no {', '.join(lacking)}")
    if wrong:
        raise BuildError("\n".join(wrong))
    if not entries:
        raise BuildError(f"{path.name}, line 1: no entry; allowed: BibTeX, @article{{key, title = ...}}")
    return set(entries.keys())


def _line(source: str, key: str) -> int:
    """The line in which an entry of a bibliography begins; of a key that stands twice the last one; 0: none."""
    hits = [hit.start() for hit in re.finditer(rf"@\w+\s*\{{\s*{re.escape(key)}\s*,", source, re.IGNORECASE)]
    return source.count("\n", 0, hits[-1]) + 1 if hits else 0


def _line_of(said: str, source: str) -> int:
    """The line of what a message is about: a key, or a name between quotes."""
    quoted = re.search(r"'([^']+)'", said)
    if quoted and quoted[1] in source:
        return source.count("\n", 0, source.index(quoted[1])) + 1
    return max((_line(source, word) for word in re.findall(r"[\w:.-]+", said)), default=0) or 1


def check_citations(root: Path = ROOT) -> None:
    """Refuse a bibliography that cannot be read, and citations of what does not stand in it."""
    named = config(root / "_config.yml").get("bibtex_bibfiles") or []
    keys = {key for file in named for key in bibliography(root / file)}
    pages = [*sorted((root / "notebooks").glob("*.py")), *sorted((root / "book").glob("*.md"))]
    wrong = []
    for path in pages:
        for number, line in enumerate(inputs.text(path).splitlines(), 1):
            cited = [key.strip() for hit in CITED.finditer(line) for key in hit[1].split(",")]
            wrong += [f"{path.name}, line {number}: {cut(k)} stands in no bibliography" for k in cited if k not in keys]
    for letter, paper in papers.papers(root / "book" / "papers.yml").items():
        if paper.cite not in keys:
            where = place(root / "book" / "papers.yml", letter, "cite")
            wrong.append(f"{where}: {letter}.cite: {paper.cite!r} stands in no bibliography")
    if wrong:
        raise BuildError("\n".join(wrong))
