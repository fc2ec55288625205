"""The book's own fields in a chapter's header, in addition to those of Jupyter.

    jupyter:
      lmc: {runs: lmc_helpers._chapters.swaps_on_images.Parameters, networks_of: asymmetric_mlps}

``runs``         a dataclass of some of its parameters, whose method ``runs`` gives its training runs
``networks_of``  the chapter whose networks these are: in runs with seeds from a commit both have one seed, hence
                 shared networks are trained once
"""

import re
from typing import Any

from book.tools.read import chapters
from book.tools.read.chapters import PACKAGE, BuildError
from lmc_helpers.claims.yaml_files import parsed

HEADER = re.compile(r"# ---\n((?:#.*\n)*?)# ---\n")


def header(text: str, name: str) -> Any:
    """The header of a chapter's source, parsed as YAML; None if there is none."""
    found = HEADER.match(text)
    return found and parsed(re.sub("^# ?", "", found[1], flags=re.MULTILINE), name, first=2)


def _entries(chapter: str) -> dict:
    text = (chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")
    try:
        read = (header(text, chapter) if "lmc:" in text else None) or {}
        return dict((read.get("jupyter") or {}).get("lmc") or {})
    except (AttributeError, TypeError, ValueError):
        raise BuildError(f"chapter {chapter}: its header is not YAML of keys and values") from None


def function_name(chapter: str) -> str | None:
    """The class, or function, that gives the runs of a chapter, None if it trains nothing."""
    name = _entries(chapter).get("runs")
    if name is not None and not re.fullmatch(rf"{PACKAGE}(\.\w+)+\.\w+", str(name)):
        raise BuildError(
            f"chapter {chapter}: lmc.runs = {name!r} in its header is not allowed; allowed: the full name of a class"
            f" of {PACKAGE}, for example {PACKAGE}._chapters.width_barriers.Parameters"
        )
    return name


def networks_of(chapter: str) -> str:
    """The chapter whose networks a chapter looks at: itself, if its header names no other."""
    name = _entries(chapter).get("networks_of")
    if name is None:
        return chapter
    others = {chapters.short(one): one for one in chapters.chapters() if one != chapter}
    if name not in others or "networks_of" in _entries(others[name]):
        raise BuildError(
            f"chapter {chapter}: lmc.networks_of = {name!r} in its header is not allowed; allowed: a chapter without"
            f" its number, which has networks of its own"
        )
    return others[name]
