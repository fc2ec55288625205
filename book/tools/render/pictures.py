"""The chapters' pictures on other pages: where each is in its chapter, and a small copy of it."""

import io
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from book.tools.read import chapters, halves, inputs
from book.tools.read.chapters import BuildError
from book.tools.record import records

WIDTH = 640  # pixels of a small copy, twice what it is shown with
FOLDER = "thumbs"  # beside the pages of the book
FIGURE = re.compile(r"^# :{3,}\{glue:figure\} (\w+)\n((?:^# :.*\n)+)", re.MULTILINE)


class Picture(NamedTuple):
    """A figure of a chapter: its page, name in the notebook, anchor and alternative text."""

    chapter: str
    page: str
    name: str
    anchor: str
    alt: str


def in_text(chapter: str, text: str) -> dict[str, Picture]:
    """The figures that a chapter's source shows, by their names in the notebook."""
    found = {}
    for hit in FIGURE.finditer(text):
        name, lines = hit.groups()
        options = dict(re.findall(r"^# :(\w+): *(.*)$", lines, re.MULTILINE))
        anchor, alt = options.get("name", name.replace("_", "-")), options.get("alt", "")
        found[name] = Picture(chapter, halves.at(chapter, text, hit.start()), name, anchor, alt)
    return found


@cache
def shown(chapter: str) -> dict[str, Picture]:
    """The figures on a chapter's page, by their names in the notebook."""
    return in_text(chapter, inputs.text(chapters.NOTEBOOKS / f"{chapter}.py"))


def small(png: bytes) -> bytes:
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=82, method=6)
    return out.getvalue()


class Small(NamedTuple):
    """A small copy: the name of its file, and its size in pixels."""

    file: str
    width: int
    height: int


def write(wanted: set[tuple[str, str]], executed: dict[str, Path], where: Path) -> dict[tuple[str, str], Small]:
    """Write small copies of pictures, each a chapter and a name, from the executed chapters to a folder."""
    where.mkdir(parents=True, exist_ok=True)
    found = {}
    stored = {chapter: records.pictures(records.notebook(executed[chapter])) for chapter in {c for c, _ in wanted}}
    for chapter, name in sorted(wanted):
        if name not in stored[chapter]:
            raise BuildError(f"{chapter} holds no picture {name!r}; it has: {', '.join(sorted(stored[chapter]))}")
        content = small(stored[chapter][name])
        file = f"{chapter.partition('_')[0]}-{name}.webp"
        (where / file).write_bytes(content)
        found[chapter, name] = Small(file, *Image.open(io.BytesIO(content)).size)
    return found
