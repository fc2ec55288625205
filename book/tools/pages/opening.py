"""What the top of a chapter's page says of it that its source cannot know: its number, and how long it takes."""

from __future__ import annotations

import re

from book.tools.reading import headers

TIMES = "{{ times }}"
SOLUTION = re.compile(r"^```\{solution\}$.*?^```$", re.M | re.S)
WORDS, LINES = 250, 40  # of text and of code that are read in a minute


def number_title(notebook: dict, number: str) -> None:
    """Write a chapter's number before its title."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and source.startswith("# "):
            cell["source"] = f"# {number} {source[2:]}"
            return


def reading_minutes(notebook: dict) -> int:
    """Minutes of reading: text with its formulas, and the code that stands open; no folded code, no solutions."""
    minutes = 0.0
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            minutes += len(SOLUTION.sub(" ", text).split()) / WORDS
        elif not {"hide-input", "remove-cell", "remove-input"} & set(cell["metadata"].get("tags", ())):
            minutes += len(text.splitlines()) / LINES
    return max(1, round(minutes))


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as people say them.

    Examples
    --------
    >>> duration(0.2), duration(97), duration(1000), duration(20_000)
    ('1 s', '97 s', '17 min', '6 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, round(seconds))} s"


def tell_times(notebook: dict, seconds: float, profile: str, paper: float | None = None, trains: bool = False) -> None:
    """Put the times of reading and running where a chapter asks for them with ``{{ times }}``.

    ``seconds`` is what this run took at its profile, ``paper`` the recorded run at paper scale, if there is one;
    ``trains`` says that the chapter has training runs in front of it, whose time is in neither.
    """
    words = f"Reading: about {reading_minutes(notebook)} min. Running: {duration(seconds)} at profile {profile}"
    words += f", {duration(paper)} at paper scale" if paper and profile != "paper" else ""
    words += ", after its training runs." if trains else "."
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and TIMES in source:
            cell["source"] = source.replace(TIMES, words)


def complete(notebook: dict, paper: dict[str, float]) -> dict:
    """An executed chapter with its number and its times; ``paper`` is chapter → seconds of the recorded run."""
    run = notebook["metadata"]["lmc"]
    number_title(notebook, run["chapter"].partition("_")[0])
    trains = headers.function_name(run["chapter"]) is not None
    tell_times(notebook, run["seconds"], run["profile"], paper.get(run["chapter"]), trains)
    return notebook
