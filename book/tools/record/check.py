"""The files that people edit, checked in seconds before anything runs; errors name the place and what is allowed.

Profiles, the ledger, the chapters' sources and the recorded outcomes are needed by chapters; what the pages need in
addition is in :mod:`book.tools.render.book`. A build begins with this.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from book.tools.read import cells, chapters, headers, papers, profiles, sources
from book.tools.read.chapters import NOTEBOOKS, ROOT, BuildError
from book.tools.record import narrowest, published, records, repeats, standing
from book.tools.run import variants
from lmc_helpers import claims
from lmc_helpers.chapter import ListOf
from lmc_helpers.claims import needs, reading
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.needs import Exactly
from lmc_helpers.claims.yaml_files import place

PASSED = ROOT / "build" / "checked.json"
Checks = Callable[[], Iterable[Callable[[], object]]]


def problems(more: Checks = tuple) -> list[str]:
    """All errors in the files that chapters need, one line each, and those that more checks find."""
    wrong = [line for check in (_notebooks, _ledger, _profiles, _settings, _records) for line in _errors(check)]
    if not wrong:
        wrong = _errors(_parts) + _errors(narrowest.problems)
    return list(dict.fromkeys([*wrong, *(line for check in more() for line in _errors(check))]))


def _errors(check: Callable[..., object], *arguments: object) -> list[str]:
    """The errors that a check raises, or the lines that it returns; any other result means that nothing is wrong."""
    try:
        found = check(*arguments)
        lines = list(found) if isinstance(found, (list, Iterator)) else []
    except (BuildError, LedgerError) as error:
        return str(error).splitlines()
    return lines if all(isinstance(line, str) for line in lines) else []


def _settings() -> object:
    return variants.settings() if variants.SETTINGS.exists() else []


def _notebooks() -> list[str]:
    if not chapters.chapters():
        return ["notebooks: there is no chapter; allowed: NN_name.py"]
    wrong, known = cells.misnamed(), sources.Sources()
    for chapter in chapters.chapters():
        wrong += _errors(cells.sheet, NOTEBOOKS / f"{chapter}.py") or _errors(_imports, known, chapter)
    return wrong


def _imports(known: sources.Sources, chapter: str) -> list[str]:
    """Modules of the package that a chapter imports but do not exist, and the class that its header names."""
    found, trains = known.modules(chapter), headers.function_name(chapter)
    if not trains:
        return []
    module, _, name = trains.rpartition(".")
    if module not in found:
        return [f"{chapter}.py: its header names {trains}, but it does not import {module}"]
    body = ast.parse(found[module].read_bytes()).body
    defined = {getattr(node, "name", None) for node in body}
    defined |= {alias.asname or alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    return [] if name in defined else [f"{chapter}.py: its header names {trains}, but {module} defines no {name}"]


def _ledger() -> list[str]:
    return [line for path in reading.files(reading.LEDGER) for line in _errors(reading.paper, path)]


def _profiles() -> list[str]:
    names = sorted(path.stem for path in profiles.PROFILES.glob("*.yaml"))
    wrong = [] if names else ["notebooks/profiles: there is no profile; allowed: NAME.yaml"]
    return wrong + [line for name in names for line in _errors(_profile, name, set(names) - {name})]


def _profile(name: str, others: set[str]) -> Iterator[str]:
    """Report errors in a profile: in the file, and in the parameters that it gives to chapters."""
    path, read = profiles.PROFILES / f"{name}.yaml", profiles.profile(name)
    for chapter in chapters.chapters():
        short = chapters.short(chapter)
        if short not in read.chapters:
            yield f"{place(path, 'chapters')}: profile {name!r} has no entry for chapter {short!r}; add one"
            continue
        try:
            known = cells.sheet(NOTEBOOKS / f"{chapter}.py")
        except BuildError:
            continue  # reported by _notebooks
        settings, checked = read.chapters[short], {part for part, _ in known.checks}
        wrong = [
            (("parameters", parameter), problem)
            for parameter, value in ({"profile": name} | settings.parameters).items()
            for problem in cells.problems(parameter, value, known)
        ]
        for id, larger in settings.open.items():
            if id not in checked:
                allowed = ", ".join(sorted(checked))
                wrong.append((("open", id), f"open: {id!r} is not checked there; allowed: {allowed}"))
            if larger not in others:
                wrong.append((("open", id), f"open: {id}: {larger!r}; allowed: {', '.join(sorted(others))}"))
        for steps, problem in wrong:
            yield f"{place(path, 'chapters', short, *steps)}: {short}: {problem}"


def _records() -> list[str]:
    return [line for path in sorted(records.RECORDED.glob("*.json")) for line in _errors(_recorded, path)]


def _recorded(path: Path) -> object:
    if path.name == standing.LAPTOP.name:
        return standing.at_laptop()
    if path.name == narrowest.TABLE.name:
        return narrowest.table()
    kind, _, profile = path.stem.partition("-")
    if kind in repeats.KINDS:
        return repeats.Record(kind, profile).read()
    return published.problems(path, records.recorded(path.stem))


def _parts() -> Iterator[str]:
    """Report parts missing from the ledger, checked twice or never, or with unknown needs."""
    parts, seen = papers.parts(), dict[str, str]()
    for chapter in chapters.chapters():
        known = cells.sheet(NOTEBOOKS / f"{chapter}.py")
        for part, line in known.checks:
            where = f"{chapter}.py, line {line}"
            if part not in parts:
                same = [id for id in parts if id.partition(".")[0] == part.partition(".")[0]]
                yield f"{where}: part {part!r} is not in the ledger; known: {', '.join(same or parts)}"
            for name, need in parts[part].needs.items() if part in parts else ():
                if name not in known.rules:
                    yield f"{where}: {part} needs {name!r}; allowed: {', '.join(known.rules)}"
                elif not _allowed(need, known.rules[name]):
                    yield f"{where}: {part} needs {needs.says(name, need)}; allowed: {known.rules[name]}"
            if part in seen:
                yield f"{where}: {part} is checked in {seen[part]} too"
            seen[part] = where
    for id, expected in ((id, part.expected) for id, part in parts.items() if id not in seen):
        if expected != claims.OPEN:
            yield f"{id} is in the ledger as {expected!r}, but no chapter checks it"


def _allowed(need: Any, rule: Any) -> bool:
    """True if a chapter's parameter may take the value that a part needs."""
    if isinstance(need, Exactly):
        return rule.allows(need.exactly)
    if isinstance(need, list) and not isinstance(rule, ListOf):
        return False
    item = rule.item if isinstance(rule, ListOf) else rule
    return all(map(item.allows, need if isinstance(need, list) else [need]))


def before(target: str, more: Checks = tuple) -> None:
    """Check before a build, unless nothing has changed since it passed."""
    now = {target: sources.Sources().book_summary()}
    if sources.read(PASSED).get(target) == now[target]:
        return
    if wrong := problems(more):
        raise BuildError("\nerror: ".join(wrong))
    sources.write(PASSED, sources.read(PASSED) | now)
