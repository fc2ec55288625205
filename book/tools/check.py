"""Check every file that people edit, in seconds, before anything runs: say what is wrong, where, and what is allowed.

python -m book.tools.check

Profiles, the ledger, the chapters' sources and the recorded outcomes are what chapters need; the table of contents, the
configuration, the bibliography and the words of the pages are what the pages need besides. A build begins with this.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from book.tools.base import chapters
from book.tools.base.chapters import NOTEBOOKS, ROOT, BuildError
from book.tools.reading import sources
from lmc_helpers.claims.intervals import LedgerError

PASSED = ROOT / "build" / "checked.json"


def problems(target: str = "book") -> list[str]:
    """All that is wrong with what a target needs, one line each; ``book`` needs the words of the pages too."""
    wrong = _told(_notebooks) + _told(_ledger) + _told(_profiles) + _told(_settings) + _told(_records)
    if not wrong:
        wrong = _told(_parts)
    if target == "book":
        wrong += _pages()
    return list(dict.fromkeys(wrong))


def _told(check: Callable[..., object], *arguments: object) -> list[str]:
    """What a check finds: what it raises, or the list that it returns; another result says that nothing is wrong."""
    try:
        found = check(*arguments)
    except (BuildError, LedgerError) as error:
        return str(error).splitlines()
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else []


def _settings() -> object:
    from book.tools.running import variants

    return variants.settings() if variants.SETTINGS.exists() else []


def _notebooks() -> list[str]:
    from book.tools.reading import cells

    if not chapters.chapters():
        return ["notebooks: there is no chapter; allowed: NN_name.py"]
    wrong, known = cells.misnamed(), sources.Sources()
    for chapter in chapters.chapters():
        own = _told(cells.sheet, NOTEBOOKS / f"{chapter}.py")
        wrong += own or _told(_imports, known, chapter)
    return wrong


def _imports(known: sources.Sources, chapter: str) -> list[str]:
    """Modules of the package that a chapter imports and that are not there, and the function that its header names."""
    from book.tools.reading import headers, parsing

    found, trains = known.modules(chapter), headers.function_name(chapter)
    module, _, function = (trains or "").rpartition(".")
    if trains and module not in found:
        return [f"{chapter}.py: its header names {trains}, but it does not import {module}"]
    if trains and function not in parsing.defines(found[module]):
        return [f"{chapter}.py: its header names {trains}, but {module} defines no {function}"]
    return []


def _ledger() -> None:
    from lmc_helpers.claims import reading

    wrong = []
    for path in reading.files(reading.LEDGER):
        wrong += _told(reading.paper, path)
    if wrong:
        raise BuildError("\n".join(wrong))


def _profiles() -> list[str]:
    from book.tools.reading import profiles

    names = sorted(path.stem for path in profiles.PROFILES.glob("*.yaml"))
    wrong = [] if names else ["notebooks/profiles: there is no profile; allowed: NAME.yaml"]
    return wrong + [said for name in names for said in _told(_profile, name)]


def _profile(name: str) -> list[str]:
    """What is wrong with a profile: with the file, and with the parameters that it gives to chapters."""
    from book.tools.reading import cells, profiles
    from lmc_helpers.claims.yaml_files import place

    path, read = profiles.PROFILES / f"{name}.yaml", profiles.profile(name)
    wrong = []
    for chapter in chapters.chapters():
        short = chapters.short(chapter)
        if short not in read.chapters:
            wrong.append(f"{place(path, 'chapters')}: profile {name!r} has no entry for chapter {short!r}; add one")
            continue
        try:
            known = cells.sheet(NOTEBOOKS / f"{chapter}.py")
        except BuildError:
            continue  # said of the chapter
        given = {"profile": name} | read.chapters[short].parameters
        for parameter, value in given.items():
            said = cells.refused(parameter, value, known)
            where = place(path, "chapters", short, "parameters", parameter) if said else ""
            wrong += [f"{where}: {short}: {one}" for one in said]
        checked = {part for part, _ in known.checks}
        for id in sorted(set(read.chapters[short].open) - checked):
            where = place(path, "chapters", short, "open", id)
            wrong.append(f"{where}: {short}: open: {id!r} is not checked there; allowed: {', '.join(sorted(checked))}")
        others = sorted({other.stem for other in profiles.PROFILES.glob("*.yaml")} - {name})
        for id, larger in read.chapters[short].open.items():
            if larger not in others:
                where = place(path, "chapters", short, "open", id)
                wrong.append(f"{where}: {short}: open: {id}: {larger!r}; allowed: {', '.join(others)}")
    return wrong


def _recorded(path: Path) -> object:
    from book.tools.outcomes import published, records, standing, sweep_records

    if path.name == standing.LAPTOP.name:
        return standing.at_laptop()
    kind, _, profile = path.stem.partition("-")
    if kind in sweep_records.KINDS:
        return sweep_records.Record(kind, profile).read()
    return published.refused(path, records.recorded(path.stem))


def _records() -> list[str]:
    from book.tools.outcomes import records

    return [said for path in sorted(records.RECORDED.glob("*.json")) for said in _told(_recorded, path)]


def _parts() -> list[str]:
    """Parts that a chapter checks and the ledger lacks, that two chapters check, or that none does."""
    from book.tools.reading import cells
    from lmc_helpers import claims

    parts = {id: part for claim in claims.ledger().values() for id, part in claim.parts.items()}
    seen: dict[str, str] = {}
    wrong = []
    for chapter in chapters.chapters():
        for part, line in cells.sheet(NOTEBOOKS / f"{chapter}.py").checks:
            where = f"{chapter}.py, line {line}"
            if part not in parts:
                same = [id for id in parts if id.partition(".")[0] == part.partition(".")[0]]
                wrong.append(f"{where}: part {part!r} is not in the ledger; known: {', '.join(same or parts)}")
            if part in seen:
                wrong.append(f"{where}: {part} is checked in {seen[part]} too")
            seen[part] = where
    expected = {id: part.expected for id, part in parts.items() if id not in seen}
    lost = {id: verdict for id, verdict in expected.items() if verdict != claims.OPEN}
    return wrong + [
        f"{id} stands in the ledger as {verdict!r}, but no chapter checks it" for id, verdict in lost.items()
    ]


def _pages() -> list[str]:
    from book.tools.pages import contents, front, gallery, glossary, notation
    from book.tools.reading import papers

    checks = (papers.papers, contents.check_toc, contents.check_config, contents.check_citations)
    words = (front.read, gallery.read, glossary.check, notation.letters)
    return [said for check in (*checks, *words) for said in _told(check)]


def before(target: str) -> None:
    """Check before a build, unless nothing has changed since it passed."""
    now = {target: sources.Sources().book_summary()}
    if sources.read(PASSED).get(target) == now[target]:
        return
    if wrong := problems(target):
        raise BuildError("\nerror: ".join(wrong))
    sources.write(PASSED, sources.read(PASSED) | now)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="check", description="Check every file that people edit.")
    parser.parse_args(arguments)
    chapters.speak_anywhere()
    wrong = problems()
    for said in wrong:
        print(f"error: {said}", file=sys.stderr)
    if not wrong:
        found = chapters.chapters()
        print(f"{len(found)} chapters, their profiles, the ledger and the words of the pages: nothing is wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
