"""The pages of an executed chapter: its first screen in the book's form, and its two halves.

The text of a first screen is plain Markdown, which notebooks show as it is; here it gets the classes that the page's
style knows, its numbers, its links, and the switch for the code.
"""

import copy
import re
from collections.abc import Iterator

from book.tools.read import halves, headers, inline
from book.tools.record import glued
from book.tools.render import anchors, contents, numbers, openings, staging
from book.tools.render.staging import BOOK, Shown
from lmc_helpers import claims
from lmc_helpers.claims.numerals import signs
from lmc_helpers.claims.render.words import AUTHORS

CLAIM = re.compile(r"(?<!!)\[([^\[\]]+)\]\(#([A-Z]\d+\.\w+)\)")
CHAPTER = re.compile(r"\[\]\(((?:/book/executed/)?(\d\d_\w+)\.ipynb)\)")
SWITCH = '<label><input type="checkbox" id="lmc-code"> Show code</label>'
FILES = "{glue:text}`data_says` "
FIGURE = re.compile(r"\{glue:figure\} (\w+)")
UNBROKEN = re.compile(r"(?<=[\d)`]) (?=%)|(?<=[\d)]) (?=±)|(?<=±) (?=\d)")  # a number, its error and its sign
BOUND = re.compile(r"\{glue:text\}`([^`]+):([≤≥][^`:]+)`")
INTERVAL = re.compile(r":(?:±|to)\]\]|\b(?:low|high)\(")


def pages(notebook: dict, shown: Shown, paper: dict[str, float]) -> dict[str, dict]:
    """The pages of an executed chapter, page → notebook; ``paper`` is chapter → seconds of the recorded run."""
    chapter = notebook["metadata"]["lmc"]["chapter"]
    ready = staging.stage(notebook, shown)
    texts = [cell for cell in ready["cells"] if cell["cell_type"] == "markdown"]
    for cell in texts:
        cell["source"] = "".join(cell["source"])
    first = texts[0]["source"]
    formed = openings.HEAD.search(first)
    seconds = notebook["metadata"]["lmc"]["seconds"]
    before = halves.EVIDENCE.split("\n".join(cell["source"] for cell in texts))[0]
    tried = chapter if ":::{try}" in before else halves.evidence(chapter)
    texts[0]["source"] = opening(first, chapter, shown, seconds, tried) if formed else f"{first}\n\n{_switch('')}"
    given = {name: "".join(data[mime]) for name, data, mime in glued.outputs(ready)}
    for cell in texts:
        cell["source"] = prose(rounded(cell["source"], given), shown.measured)
    return dict(split(staging.complete(ready, paper), chapter, staging.of_images(notebook, shown)))


def rounded(text: str, given: dict[str, str]) -> str:
    """A text whose numbers of this run are rounded to the side that their format names."""
    return BOUND.sub(lambda found: signs(numbers.bound(float(given[found[1]]), found[2])), text)


def prose(text: str, measured: dict[str, dict]) -> str:
    """A text with its numbers, its verdicts in words, and the names of the chapters that it leads to."""
    text = CLAIM.sub(lambda found: f"{{verdict}}`{found[1]} <{found[2]}>`", numbers.filled(text, measured))
    return UNBROKEN.sub("\u00a0", linked(text))


def linked(text: str) -> str:
    """A text whose links to chapters say their short titles."""
    titles = contents.titles()

    def link(found: re.Match) -> str:
        title = titles.get(found[2])
        return f"[{found[2][:2]} {title}]({found[1]})" if title else found[0]

    return CHAPTER.sub(link, text)


def opening(text: str, chapter: str, shown: Shown, seconds: float, tried: str) -> str:
    """The first screen of a chapter: the classes of its parts, whom it quotes, what its intervals are.

    ``tried`` is the page that says how to run it.
    """
    found = openings.read(text)
    quoted = {row["part"][0] for row in found.rows}
    who = AUTHORS[min(quoted)] if len(quoted) == 1 and "X" not in quoted else "The papers"
    lines = {name: re.sub(r"^\*\*.+?\.\*\* ", "", said) for name, said in found.lines.items()}
    lines["For the authors"] = f"{lines['For the authors']} {_links(chapter, shown, seconds, tried)}"
    pieces = [f"# {found.title}", _box("lmc-question", found.question), _box("lmc-answer", found.answer), found.picture]
    pieces.append(_box("lmc-lines", f"How sure\n: {lines['How sure']}"))
    head = found.head.replace("The paper says", f"{who} say")
    if any(INTERVAL.search(row[0].split("|")[-2]) for row in found.rows):
        head = head.replace("By how much", "By how much (99.9 % intervals)")
    table = [head, "| --- | --- | --- |", *(row[0] for row in found.rows)]
    pieces.append("\n".join([":::{table}", ":class: lmc-findings", "", *table, ":::"]))
    pieces.append(_box("lmc-lines", "\n\n".join(f"{name}\n: {lines[name]}" for name in ("Open", "For the authors"))))
    return "\n\n".join([*pieces, _switch("The argument. Every claim opens.")])


def _box(name: str, text: str) -> str:
    return f"::::{{container}} {name}\n{text}\n::::"


def _switch(words: str) -> str:
    """The line between a head and what follows it, with the switch for the code of a page."""
    return f'```{{raw}} html\n<div class="lmc-begins"><p>{words}</p>{SWITCH}</div>\n```'


def _links(chapter: str, shown: Shown, seconds: float, tried: str) -> str:
    """Where an author goes on: errata, reply, evidence, and how to run the chapter."""
    here = [part for part, page in shown.pages.items() if page in (chapter, halves.evidence(chapter))]
    second, links = halves.evidence(chapter), []
    read = {part for part, found in shown.parts.items() if found.whose != claims.OURS}
    pages = sorted(((page, part) for part, page in shown.pages.items() if part in read), reverse=True)
    homes = {part.partition(".")[0]: page[:2] for page, part in pages}  # the first chapter with a part of the paper
    theirs = [claim for id, claim in claims.ledger().items() if homes.get(id) == chapter[:2]]
    slips = {f"{claim.id}.slip-{k}": slip for claim in theirs for k, slip in enumerate(claim.misprints, 1)}
    slip = min(slips, key=lambda id: not slips[id].changes, default="")  # one that changes a statement, if any
    if wrong := next((part for part in here if part in shown.errata), slip):
        word = "Erratum" if wrong in shown.errata or slips[wrong].changes else "Slip"
        links.append(f'<a href="{BOOK}/{anchors.errata_page(wrong)}.html#{anchors.erratum(wrong)}">{word}</a>')
    links.append("{ref}`Reply <reply>`")
    links.append(f"[Evidence ({chapter[:2]}A)]({second}.ipynb)")
    takes = "" if headers.function_name(chapter) else f" ({staging.duration(seconds)})"
    links.append(f'<a href="{tried}.html#try-it">Run it{takes}</a>')
    return " · ".join(links)


def split(notebook: dict, chapter: str, images: str = "") -> Iterator[tuple[str, dict]]:
    """The pages of a chapter, each as a notebook; both hold the values that their texts show."""
    at = next((n for n, cell in enumerate(notebook["cells"]) if _begins(cell)), None)
    if at is None:
        yield chapter, notebook
        return
    second = notebook["cells"][at:]
    head, _, rest = "".join(second[0]["source"]).partition("## Evidence")
    first = notebook["cells"][:at] + ([second[0] | {"source": head.strip()}] if head.strip() else [])
    lead = _switch(f'What <a href="{chapter}.html">chapter {chapter[:2]}</a> rests on.')
    if images:
        lead += f"\n\n{_box('lmc-images', images)}"
    second[0] = second[0] | {"source": f"# {chapter[:2]}A Evidence\n\n{lead}\n\n{rest.strip()}"}
    if images:  # the message about missing files is for those who build the book
        texts = ("".join(cell["source"]) for cell in second)
        second = [c | {"source": t.replace(FILES, "")} if FILES in t else c for c, t in zip(second, texts, strict=True)]
    second = [_raised(cell) if cell["cell_type"] == "markdown" else cell for cell in second]
    for name, cells in ((chapter, first), (halves.evidence(chapter), second)):
        yield name, notebook | {"cells": [*cells, *_glued(notebook["cells"], cells)]}


def _begins(cell: dict) -> bool:
    return cell["cell_type"] == "markdown" and bool(halves.EVIDENCE.search("".join(cell["source"])))


def _raised(cell: dict) -> dict:
    """A cell of the second page, its headings one level higher."""
    return cell | {"source": re.sub(r"^##(#+ )", r"#\1", "".join(cell["source"]), flags=re.M)}


def _glued(everywhere: list[dict], here: list[dict]) -> list[dict]:
    """A hidden cell with the values that texts of a page show and cells of the other page computed."""
    texts = ["".join(cell["source"]) for cell in here]
    wanted = {name for text in texts for shown in (FIGURE, inline.ROLE) for name in shown.findall(text)}
    outputs = []
    for cell in everywhere:
        if not any(cell is mine for mine in here):
            outputs += [o for o in cell.get("outputs", ()) if _name(o).removesuffix("_narrow") in wanted]
    if not outputs:
        return []
    cell = {"cell_type": "code", "execution_count": None, "id": "glued", "metadata": {"tags": ["remove-cell"]}}
    return [cell | {"outputs": copy.deepcopy(outputs), "source": ""}]


def _name(output: dict) -> str:
    return output.get("metadata", {}).get("scrapbook", {}).get("name", "")
