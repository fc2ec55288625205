"""The top of a chapter's page: its number, how long it takes to read and to run."""

from __future__ import annotations

import re

from book.tools.reading import headers

TIMES = "{{ times }}"
SOLUTION = re.compile(r"^```\{admonition\} Solution$.*?^```$", re.M | re.S)
WORDS, LINES = 250, 40  # of text and of code that are read in a minute


def reading_minutes(notebook: dict) -> int:
    """Minutes of reading: text with its formulas, and code that is not folded; no solutions."""
    minutes = 0.0
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            minutes += len(SOLUTION.sub(" ", text).split()) / WORDS
        elif not {"hide-input", "remove-cell", "remove-input"} & set(cell["metadata"].get("tags", ())):
            minutes += len(text.splitlines()) / LINES
    return max(1, round(minutes))


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, in words.

    Examples
    --------
    >>> duration(0.2), duration(97), duration(1000), duration(20_000)
    ('1 s', '97 s', '17 min', '6 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, round(seconds))} s"


def complete(notebook: dict, paper: dict[str, float]) -> dict:
    """Give an executed chapter its number, and its times where ``{{ times }}`` asks for them.

    ``paper`` is chapter → seconds of the recorded run. The times of training runs are in neither.
    """
    run = notebook["metadata"]["lmc"]
    chapter, profile = run["chapter"], run["profile"]
    words = f"Reading: about {reading_minutes(notebook)} min. Running: {duration(run['seconds'])} at profile {profile}"
    words += f", {duration(paper[chapter])} at paper scale" if paper.get(chapter) and profile != "paper" else ""
    words += ", after its training runs." if headers.function_name(chapter) else "."
    texts = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for cell in texts:
        cell["source"] = "".join(cell["source"]).replace(TIMES, words)
    if title := next((cell for cell in texts if cell["source"].startswith("# ")), None):
        title["source"] = f"# {chapter.partition('_')[0]} {title['source'][2:]}"
    return notebook
