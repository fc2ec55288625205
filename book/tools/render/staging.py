"""An executed chapter as its page shows it, without repetitions, and examples of boxes.

The boxes of its claims are rendered again, from the chapter's stored verdict, the ledger and the record at paper scale,
hence a page has the newest box although its chapter was not run again.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import partial

from book.tools.read import chapters, halves, headers, inputs, titles
from book.tools.read.literals import values
from book.tools.record.records import boxes, other_images, outputs, recorded
from book.tools.render import anchors
from book.tools.render.findings import Findings, prices, unmeasured
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.formulas import typeset
from lmc_helpers.figures import moving

LABEL = "Parameters of this run"
BOOK = ".."  # the folder of the book's pages, from those of its chapters
THEOREM = re.compile(r"^# :::+\{prf:(\w+)\} ?(.*)(?:\n# :label: ([\w-]+))?", re.M)
TIMES, TRY = "{{ times }}", ":::{try}\n"
SOLUTION = re.compile(r"^:::\{solution\}$.*?^:::$", re.M | re.S)
WORDS, LINES = 250, 40  # of text and of code that are read in a minute
SWITCHED = "lmc-switched"  # the tag of code that the page's switch shows
IMAGES = {"mnist": "MNIST", "cifar10": "CIFAR-10", "digits": "scikit-learn's 8 × 8 digits"}
NEEDS_IMAGES = re.compile(r"needs (?:MNIST|CIFAR-10) \(here (\w+)\)[^<]*: not decided")  # the page says it once
GLUED = "application/papermill.record/"  # before the types of an output that is glued and not shown
SPEC = '<script type="application/json" class="lmc-moving-spec" data-figure="{figure}">{spec}</script>'


def _tagged(notebook: dict, tag: str) -> dict | None:
    return next((cell for cell in notebook["cells"] if tag in cell["metadata"].get("tags", ())), None)


def fold_parameters(notebook: dict) -> None:
    """Drop papermill's injected cell if it only sets ``profile``; otherwise fold it."""
    defaults, injected = _tagged(notebook, "parameters"), _tagged(notebook, "injected-parameters")
    if injected is None or defaults is None:
        return
    before, after = (values("".join(cell["source"])) for cell in (defaults, injected))
    if all(name == "profile" or (name in before and repr(before[name]) == repr(v)) for name, v in after.items()):
        notebook["cells"].remove(injected)
    else:
        tags = dict.fromkeys([*injected["metadata"]["tags"], titles.FOLDED])
        injected["metadata"] |= {"tags": list(tags), "mystnb": {"code_prompt_show": LABEL}}


def fold(notebook: dict) -> None:
    """Code that folds is shown by the page's one switch, under its title."""
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", [])
        if titles.FOLDED in tags:
            label = cell["metadata"].pop("mystnb", {}).get("code_prompt_show", "")
            cell["metadata"]["tags"] = [SWITCHED if tag == titles.FOLDED else tag for tag in tags]
            cell["source"] = f"# {label}\n" * bool(label) + "".join(cell["source"])


def hide_shown(notebook: dict) -> None:
    """A figure that a cell shows in a notebook is only where ``{glue:figure}`` puts it on a page."""
    for output in outputs(notebook):
        book = output.get("metadata", {}).get("scrapbook")
        if book and not book["mime_prefix"]:
            book["mime_prefix"] = GLUED
            output["data"] = {f"{GLUED}{mime}": content for mime, content in output["data"].items()}


def describe_moving(notebook: dict) -> None:
    """Replace the picture that a moving figure's output holds by the description of all frames, for the page's script.

    On the page the picture is where ``{glue:figure}`` puts it; viewers of notebooks show that of the output.
    """
    for output in outputs(notebook):
        if found := output.get("metadata", {}).get(moving.MIME):
            spec = found["spec"].replace("<", "\\u003c")  # no text ends the script
            output["data"] = {"text/html": SPEC.format(figure=html.escape(found["figure"]), spec=spec)}


def rebuild_boxes(notebook: dict, shown: Shown) -> None:
    """Render every claim's box again, from the stored verdict, the ledger and the record at paper scale."""
    run = notebook["metadata"].get("lmc", {})
    chapter = run.get("chapter", "")
    for output in outputs(notebook):
        record = output.get("metadata", {}).get(claims.MIME)
        part = shown.parts.get(record["part"]) if record else None
        if record and part and "text/html" in output["data"]:
            page = shown.pages.get(part.id, chapter)
            erratum = f"{BOOK}/{anchors.errata_page(part.id)}.html#{anchors.erratum(part.id)}"
            links = claims.render.Links(
                anchor=anchors.box(part.id),
                row=f"{BOOK}/scoreboard.html#{anchors.row(part.id)}",
                erratum=erratum if part.id in shown.errata else "",
                grammar=f"{BOOK}/{anchors.VERDICTS}.html",
                address=partial(shown.address, page=page),
                counts=shown.counts.get(part.id, ""),
                price=shown.prices.get(part.id, ""),
                closed=page == chapter and chapter in shown.halved,
            )
            confirmed, profile = shown.confirmed.get(part.id), run.get("profile", "")
            box = claims.render.html(part, record, confirmed, links=links, run=profile)
            output["data"]["text/html"] = NEEDS_IMAGES.sub(r"on \1, not decided", box)


def of_images(notebook: dict, shown: Shown) -> str:
    """Two sentences on the results of a copy without the papers' images; empty if it has them."""
    found = other_images(notebook)
    if found is None:
        return ""
    asked, here = (IMAGES[name] for name in found)
    stored = any(record["part"] in shown.confirmed for record in boxes(notebook))
    recorded_are = f"Verdicts, and numbers that are said to be recorded, are from recorded runs on {asked}."
    last = recorded_are if stored else f"A verdict needs {asked}, and no such run is recorded."
    said = f"**What this copy computed below is of {here}, not of {asked}**: it shows that the code runs, and decides"
    return f"{said} nothing about the paper. {last}"


def theorems(source: str, chapter: str) -> dict[str, tuple[str, str]]:
    """The theorems of a chapter's source: label → its page, and kind, number and title as a text of the ledger.

    They are counted as ``sphinx_numbers`` counts them: all kinds but proofs together.
    """
    found: dict[str, tuple[str, str]] = {}
    numbered = (hit for hit in THEOREM.finditer(source) if hit[1] != "proof")
    for count, hit in enumerate(numbered, 1):
        kind, title, label = hit.groups()
        name = f"{kind.capitalize()} {int(chapter[:2])}.{count}" + (f" ({title.strip()})" if title.strip() else "")
        found |= {label: (halves.at(chapter, source, hit.start()), name)} if label else {}
    return found


@dataclass(frozen=True)
class Shown:
    """Content of a book's boxes in addition to what its chapters stored."""

    parts: dict[str, Part] = field(default_factory=dict)
    confirmed: dict[str, dict] = field(default_factory=dict)  # part → record at paper scale, with what ``changed``
    errata: set[str] = field(default_factory=set)  # parts that are in the errata in this run
    theorems: dict[str, tuple[str, str]] = field(default_factory=dict)
    counts: dict[str, str] = field(default_factory=dict)  # reading that does not count → the one that does
    prices: dict[str, str] = field(default_factory=dict)  # open part → what deciding it takes
    pages: dict[str, str] = field(default_factory=dict)  # part → the page with its box
    halved: set[str] = field(default_factory=set)  # chapters with a second page
    measured: dict[str, dict] = field(default_factory=dict)  # part → its record, or else what this run found

    def address(self, word: str, page: str) -> tuple[str, str] | None:
        """Address and text of the link that an id or the label of a theorem becomes on a page of a chapter."""
        if word in self.parts or any(part.startswith(f"{word}.") for part in self.parts):
            return f"{BOOK}/scoreboard.html#{anchors.row(word)}", word
        if word not in self.theorems:
            return None
        home, text = self.theorems[word]
        return f"{'' if home == page else home + '.html'}#{word}", text


def shown(findings: Findings, profile: str) -> Shown:
    """Content of boxes: the ledger, records at paper scale, errata, theorems, readings that count, and prices."""
    measured = {id: record for id, record in recorded().items() if not unmeasured(record)}
    confirmed = {id: record | {"changed": findings.stale.get(id, [])} for id, record in measured.items()}
    parts = {id: finding.part for id, finding in findings.parts.items()}
    proofs: dict[str, tuple[str, str]] = {}
    for name in chapters.chapters():
        proofs |= theorems(inputs.text(chapters.NOTEBOOKS / f"{name}.py"), name)
    counts = {id: findings.counts(id) for id in parts}
    return Shown(
        parts,
        confirmed,
        findings.differing,
        proofs,
        counts,
        prices(findings, profile),
        halves.of_parts(),
        {name for name in chapters.chapters() if len(halves.pages(name)) > 1},
        findings.here | measured,
    )


def stage(notebook: dict, shown: Shown) -> dict:
    rebuild_boxes(notebook, shown)
    fold_parameters(notebook)
    fold(notebook)
    hide_shown(notebook)
    describe_moving(notebook)
    return notebook


def reading_minutes(notebook: dict) -> int:
    """Minutes of reading a chapter's first page: text with its formulas, and code that is shown; no solutions."""
    minutes = 0.0
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if halves.EVIDENCE.search(text):
                break
            minutes += len(SOLUTION.sub(" ", text).split()) / WORDS
        elif not {SWITCHED, titles.FOLDED, "remove-cell", "remove-input"} & set(cell["metadata"].get("tags", ())):
            minutes += len(text.splitlines()) / LINES
    return max(1, round(minutes))


def duration(seconds: float) -> str:
    r"""Seconds, minutes or hours, in words.

    >>> duration(0.2), duration(97), duration(1000), duration(2e4), duration(1e8)
    ('1 s', '97 s', '17 min', '6 h', '27\u202f778 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}".replace(",", "\u202f")
    return f"{max(1, round(seconds))} s"


def complete(notebook: dict, paper: dict[str, float]) -> dict:
    """Give an executed chapter its number, its times where ``{{ times }}`` asks for them, and the command that runs it.

    ``paper`` is chapter → seconds of the recorded run. The times of training runs are in neither.
    """
    run = notebook["metadata"]["lmc"]
    chapter, profile = run["chapter"], run["profile"]
    words = f"Reading: about {reading_minutes(notebook)} min. Running: {duration(run['seconds'])} at profile {profile}"
    words += f", {duration(paper[chapter])} at paper scale" if paper.get(chapter) and profile != "paper" else ""
    after = ", after its training runs" if headers.function_name(chapter) else ""
    command = f"make chapter NAME={chapters.short(chapter)}" + f" PROFILE={profile}" * (profile != "laptop")
    again = f"{TRY}The whole chapter, {duration(run['seconds'])} at profile {profile}{after}: `{command}`\n\n"
    texts = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for cell in texts:
        cell["source"] = "".join(cell["source"]).replace(TIMES, f"{words}{after}.").replace(TRY, again)
    if title := next((cell for cell in texts if cell["source"].startswith("# ")), None):
        title["source"] = f"# {chapter.partition('_')[0]} {title['source'][2:]}"
    return notebook


#: The meaning of each verdict, in the order of the page on verdicts.
SAYS = {
    claims.HOLDS: "The measurement lies inside the criterion.",
    claims.SHARPER: "It lies inside a sharper criterion too, which the chapter proves.",
    claims.CORRECTED: "It lies outside the criterion, "
    "and inside that of a corrected statement, which the chapter proves.",
    claims.BROKEN: "A step of a printed proof is contradicted; the statement that it serves is true.",
    claims.FAILS: "It lies outside the criterion, and nothing is proved in its place.",
    claims.OPEN: "The measurement does not decide: its interval touches the border, or no second seed repeats a "
    "rejection. One that is not run (–) is open because no run that could decide it has been made; its box has the "
    "price.",
}
#: The parts that show a verdict best.
EXAMPLES = {
    claims.HOLDS: ("Z4.low", "Z6.gain"),
    claims.SHARPER: ("Z3.minimum_at_6",),
    claims.CORRECTED: ("Z3.limit",),
    claims.BROKEN: ("Z5.cross_block",),
    claims.FAILS: ("Z13.counts",),
    claims.OPEN: ("Z17.up", "Z14.lower"),
}


def examples(findings: Findings) -> list[tuple[str, str, dict | None]]:
    """Each verdict, its meaning, and a part that has it in a run: one of those named, or else the first."""
    records = {id: r for id, r in findings.here.items() if r["value"] is not None and id in findings.parts}
    found = []
    for verdict, says in SAYS.items():
        named = filter(records.__contains__, EXAMPLES[verdict])
        id = next((id for id in [*named, *records] if records[id]["verdict"] == verdict), None)
        example = None
        if id is not None:
            part = findings.parts[id].part
            address = f"executed/{halves.of_parts()[id]}.html#{anchors.box(id)}"
            scale = claims.render.scale(part, records[id])
            example = {"id": id, "address": address, "quantity": typeset(part.quantity), "scale": scale}
        found.append((verdict, says, example))
    return found
