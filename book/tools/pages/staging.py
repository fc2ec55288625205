"""An executed chapter as its page shows it: without what only repeats.

The boxes of its claims are written anew, from what the chapter stored, the ledger and the record at paper scale: a page
has the newest box although its chapter was not run again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from book.tools.findings import places
from book.tools.pages import moving
from book.tools.reading.literals import values
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.formulas import Address

FOLDED = "hide-input"
LABEL = "Parameters of this run"
BOOK = ".."  # the folder of the book's pages, from those of its chapters
THEOREM = re.compile(r"^# ```+\{prf:(\w+)\} ?(.*)(?:\n# :label: ([\w-]+))?", re.M)
PROMPTS = ("code_prompt_show", "code_prompt_hide")


def _tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


def _source(cell: dict) -> str:
    return "".join(cell["source"])


def repeats(injected: dict, defaults: dict) -> bool:
    """Whether an injected cell sets nothing but ``profile`` to another value than the cell of parameters does."""
    before, after = values(_source(defaults)), values(_source(injected))
    return all(name == "profile" or (name in before and repr(before[name]) == repr(v)) for name, v in after.items())


def fold_parameters(notebook: dict) -> None:
    """Leave out papermill's cell of parameters if it repeats the defaults; else fold it under a label."""
    cells = notebook["cells"]
    defaults = next((cell for cell in cells if "parameters" in _tags(cell)), None)
    injected = next((cell for cell in cells if "injected-parameters" in _tags(cell)), None)
    if injected is None or defaults is None:
        return
    if repeats(injected, defaults):
        cells.remove(injected)
    else:
        injected["metadata"] |= {
            "tags": list(dict.fromkeys([*_tags(injected), FOLDED])),
            "mystnb": {"code_prompt_show": LABEL},
        }


def label_folds(notebook: dict) -> None:
    """A folded cell has the same label when it is open."""
    for cell in notebook["cells"]:
        prompts = cell["metadata"].get("mystnb", {})
        if PROMPTS[0] in prompts:
            prompts.setdefault(PROMPTS[1], prompts[PROMPTS[0]])


def links(part: Part, errata: set[str], address: Address) -> claims.Links:
    """Where a part's box stands, and where it leads from a chapter's page."""
    return claims.Links(
        anchor=places.box(part.id),
        row=f"{BOOK}/scoreboard.html#{places.row(part.id)}",
        erratum=f"{BOOK}/{places.errata(part.id)}.html#{places.erratum(part.id)}" if part.id in errata else "",
        grammar=f"{BOOK}/{places.VERDICTS}.html",
        address=address,
    )


def rebuild_boxes(notebook: dict, shown: Shown) -> None:
    """Write every claim's box anew, from the stored verdict, the ledger and the record at paper scale."""
    run = notebook["metadata"].get("lmc", {})
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            record = output.get("metadata", {}).get(claims.MIME)
            part = shown.parts.get(record["part"]) if record else None
            if record and part and "text/html" in output["data"]:
                there = links(part, shown.errata, lambda word: shown.address(word, run.get("chapter", "")))
                output["data"]["text/html"] = claims.render(
                    part, record, shown.confirmed.get(part.id), links=there, run=run.get("profile", "")
                )


def theorems(source: str, chapter: str) -> dict[str, tuple[str, str]]:
    r"""The theorems of a chapter's source: label → chapter, and kind, number and title as a text of the ledger.

    They are counted as ``sphinx_numbers`` counts them: all kinds but proofs together.

    Examples
    --------
    >>> theorems("# ```{prf:theorem} The limit\n# :label: thm-limit\n", "12_overlap_theorem")
    {'thm-limit': ('12_overlap_theorem', 'Theorem 12.1 (The limit)')}
    """
    found = {}
    numbered = (hit for hit in THEOREM.finditer(source) if hit[1] != "proof")
    for count, hit in enumerate(numbered, 1):
        kind, title, label = hit.groups()
        if label:
            name = f"{kind.capitalize()} {int(chapter[:2])}.{count}"
            found[label] = chapter, name + (f" ({title.strip()})" if title.strip() else "")
    return found


@dataclass(frozen=True)
class Shown:
    """What the boxes of a book show besides what its chapters stored."""

    parts: dict[str, Part] = field(default_factory=dict)
    confirmed: dict[str, dict] = field(default_factory=dict)  # part → record at paper scale, with what ``changed``
    errata: set[str] = field(default_factory=set)  # parts that are in the errata in this run
    theorems: dict[str, tuple[str, str]] = field(default_factory=dict)

    def address(self, word: str, chapter: str) -> tuple[str, str] | None:
        """Address and text of the link that an id or the label of a theorem becomes on a chapter's page."""
        if word in self.parts or any(part.startswith(f"{word}.") for part in self.parts):
            return f"{BOOK}/scoreboard.html#{places.row(word)}", word
        if word not in self.theorems:
            return None
        home, text = self.theorems[word]
        return f"{'' if home == chapter else home + '.html'}#{word}", text


def stage(notebook: dict, shown: Shown) -> dict:
    """A notebook ready for its page."""
    rebuild_boxes(notebook, shown)
    fold_parameters(notebook)
    label_folds(notebook)
    moving.describe(notebook)
    return notebook
