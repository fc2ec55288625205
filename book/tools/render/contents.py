"""``_toc.yml``, ``_config.yml`` and the bibliography, checked before chapters run; the builder reads them last."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from book.tools.read import chapters, halves, inputs, papers
from book.tools.read.chapters import ROOT, BuildError
from book.tools.render import api
from lmc_helpers.claims.intervals import Entry, cut
from lmc_helpers.claims.yaml_files import place

TOC, CONFIG = ROOT / "_toc.yml", ROOT / "_config.yml"
EXECUTED = "book/executed"
CITED = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


class Leaf(Entry):
    file: str = Field(min_length=1, description="the page without its suffix; a chapter is in book/executed")
    title: str | None = Field(None, description="default: the page's own")


class Page(Leaf):
    sections: list[Leaf] | None = None


class BookPart(Entry):
    caption: str = Field(min_length=1)
    chapters: list[Page] = Field(min_length=1)


class Toc(Entry):
    format: Literal["jb-book"]
    root: str
    parts: list[BookPart] = Field(min_length=1)


def toc(path: Path = TOC) -> Toc:
    return inputs.read(path, Toc, f"a mapping with {', '.join(Toc.model_fields)}")


def titles() -> dict[str, str]:
    """Chapter → its short title, without its number."""
    return {page.file.rpartition("/")[2]: page.title or "" for part in toc().parts for page in part.chapters}


def halved() -> dict[str, Any]:
    """The table of contents with the chapters' numbers and their second pages."""
    content = toc().model_dump(exclude_none=True)
    for page in (page for part in content["parts"] for page in part["chapters"]):
        chapter = page["file"].rpartition("/")[2]
        if page["file"] == f"{EXECUTED}/{chapter}":
            if "title" in page:
                page["title"] = f"{chapter[:2]} {page['title']}"
            if second := halves.pages(chapter)[1:]:
                page["sections"] = [{"file": f"{EXECUTED}/{second[0]}", "title": f"{second[0][:3]} Evidence"}]
    return content


def files(content: Any, *steps: str | int) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """The pages that (a part of) the table of contents names, each with what leads to it in the file."""
    for name, value in content.items() if isinstance(content, dict) else enumerate(content):
        if name in ("root", "file"):
            yield value, (*steps, name)
        elif isinstance(value, (dict, list)):
            yield from files(value, *steps, name)


def generated() -> set[str]:
    """The pages that are made while the book is built: chapters, and one page per paper or package."""
    made = {f"{EXECUTED}/{chapter}" for chapter in chapters.chapters()}
    made |= {f"book/{kind}/{letter}" for kind in ("errata", "reports") for letter in papers.papers()}
    return made | {f"book/api/{name}" for name in api.names()}


def check_toc(path: Path = TOC) -> None:
    """Refuse a table of contents that names a page twice, or one that does not exist, or leaves a chapter out."""
    made, seen, wrong = generated(), set[str](), []
    for file, steps in files(toc(path).model_dump()):
        problem = "appears twice" if file in seen else ""
        if not (problem or file in made or any((path.parent / f"{file}{end}").is_file() for end in (".md", ".ipynb"))):
            allowed = f"a chapter as {EXECUTED}/NN_name, or a page below book/ without its suffix"
            problem = f"does not exist; allowed: {allowed}"
        if problem:
            wrong.append(f"{place(path, *steps)}: {file!r} {problem}")
        seen.add(file)
    absent = [chapter for chapter in chapters.chapters() if f"{EXECUTED}/{chapter}" not in seen]
    wrong += [f"{path.name}: chapter {chapter} is missing; add - file: {EXECUTED}/{chapter}" for chapter in absent]
    if wrong:
        raise BuildError("\n".join(wrong))


def config(path: Path = CONFIG) -> dict[str, Any]:
    return inputs.read(path, dict[str, Any], "a mapping with the settings of Jupyter Book")


def check_config(path: Path = CONFIG) -> None:
    """Refuse settings that Jupyter Book does not know or would not take, and files that do not exist."""
    from jupyter_book.config import get_validator

    validator, settings = get_validator(), config(path)
    known = [*validator.schema["properties"], "only_build_toc_files"]
    wrong = [
        f"{place(path, name)}: unknown setting {name!r}; allowed: {', '.join(known)}"
        for name in settings
        if name not in known
    ]
    found = [(list(e.absolute_path), e.message[:1].lower() + e.message[1:]) for e in validator.iter_errors(settings)]
    if not wrong and not found:
        named = _files(settings)
        found = [(steps, f"{file} does not exist") for steps, file in named if not (path.parent / file).exists()]
    wrong += [f"{place(path, *steps)}: {'.'.join(map(str, steps))}: {problem}" for steps, problem in found]
    if wrong:
        raise BuildError("\n".join(wrong))


def _files(settings: dict[str, Any]) -> list[tuple[list, str]]:
    """The files and folders that the configuration names, each with what leads to it."""
    found = [(["bibtex_bibfiles", at], file) for at, file in enumerate(settings.get("bibtex_bibfiles") or [])]
    if icon := (settings.get("html") or {}).get("favicon"):
        found.append((["html", "favicon"], icon))
    local = (settings.get("sphinx") or {}).get("local_extensions") or {}
    return found + [(["sphinx", "local_extensions", name], f"{folder}/{name}.py") for name, folder in local.items()]


def bibliography(path: Path) -> set[str]:
    from pybtex.database.input.bibtex import Parser
    from pybtex.exceptions import PybtexError
    from pybtex.scanner import PybtexSyntaxError

    source = inputs.text(path)
    try:
        entries = Parser().parse_string(source).entries
    except PybtexSyntaxError as error:
        raise BuildError(f"{path.name}, line {error.lineno}: {error.args[0]}") from None
    except PybtexError as error:
        raise BuildError(f"{path.name}, line {_line(str(error), source)}: {error}") from None
    wrong = []
    for key, entry in entries.items():
        lacking = [name for name in ("title", "year") if name not in entry.fields]
        lacking += [] if entry.persons or "key" in entry.fields else ["author"]
        if lacking:
            wrong.append(f"{path.name}, line {_line(key, source)}: {key}: no {', '.join(lacking)}")
    if not entries:
        wrong = [f"{path.name}, line 1: no entry; allowed: BibTeX, @article{{key, title = ...}}"]
    if wrong:
        raise BuildError("\n".join(wrong))
    return set(entries.keys())


def _line(message: str, source: str) -> int:
    """The line that a message is about: that of a name between quotes, or the last entry of a key in it; else 1."""
    quoted = re.search(r"'([^']+)'", message)
    if quoted and quoted[1] in source:
        return source.count("\n", 0, source.index(quoted[1])) + 1
    keys = "|".join(map(re.escape, re.findall(r"[\w:.-]+", message)))
    hits = re.finditer(rf"@\w+\s*\{{\s*({keys})\s*,", source, re.IGNORECASE)
    return max((source.count("\n", 0, hit.start()) + 1 for hit in hits), default=1)


def check_citations(root: Path = ROOT) -> None:
    """Refuse an unreadable bibliography, and citations that it does not contain."""
    named = config(root / "_config.yml").get("bibtex_bibfiles") or []
    keys = {key for file in named for key in bibliography(root / file)}
    wrong = []
    for path in [*sorted((root / "notebooks").glob("*.py")), *sorted((root / "book").glob("*.md"))]:
        for number, line in enumerate(inputs.text(path).splitlines(), 1):
            cited = [key.strip() for hit in CITED.finditer(line) for key in hit[1].split(",")]
            wrong += [f"{path.name}, line {number}: {cut(k)} is in no bibliography" for k in cited if k not in keys]
    path = root / "book" / "papers.yml"
    for letter, paper in papers.papers(path).items():
        if paper.cite not in keys:
            wrong.append(f"{place(path, letter, 'cite')}: {letter}.cite: {paper.cite!r} is in no bibliography")
    if wrong:
        raise BuildError("\n".join(wrong))
