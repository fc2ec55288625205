"""The first screen of a chapter: its grammar, and the limits that it keeps.

The first cell holds, each a paragraph, in this order::

    # Title that answers
    *Question?*
    The answer, with numbers from the record as [[part:format]].
    :::{glue:figure} name … :::            the picture
    **How sure.** One line.
    | The paper says | We find | By how much |      rows: a quotation with its place; [words](#part), or two; a size
    **Open.** One line.
    **For the authors.** The sentence to print instead, in italics: quotation marks are for what a paper prints.

Words of a verdict begin with "true" where the part holds, with "open" where it is open, with neither where it is false.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from book.tools.read import chapters, halves, inputs, papers
from book.tools.read.chapters import BuildError
from book.tools.record import records
from book.tools.render import numbers, pictures
from lmc_helpers import claims

HEAD = re.compile(r"\| (The paper says|We expected) \| We find \| By how much \|")  # "expected": no paper is judged
LINK = r"\[([^\]]+)\]\(#([\w.]+)\)"
ROW = re.compile(rf"^\| (?P<says>.+?) \| (?P<links>\[[^\]]+\]\(#(?P<part>[\w.]+)\)(?:, {LINK})?) \| (?P<size>.+?) \|$")
LABEL = re.compile(r"^# (?::label: ([\w-]+)|\(([\w-]+)\)=)$", re.M)
WANTED = re.compile(r"\{(?:numref|prf:ref)\}`(?:[^`<]*<)?([\w-]+)>?`")
LINES = ("How sure", "Open", "For the authors")
TITLE, ANSWER, SENTENCES, ROWS, ARGUMENT, SHOWN = 12, 50, 3, range(3, 7), 1800, 2


@dataclass
class Opening:
    """The first screen of a chapter, as it is written."""

    title: str
    question: str = ""
    answer: str = ""
    picture: str = ""
    head: str = ""
    rows: list[re.Match] = field(default_factory=list)
    lines: dict[str, str] = field(default_factory=dict)


def words(text: str) -> int:
    """Words of a text: a formula or a number of a record is one, a link is its text, a role is none.

    >>> words("the *barrier* at $m = 2M$ is [[Z7.gain:.3f]] of [it](#Z7.gain) {cite:p}`zhan2025`")
    8
    """
    text = re.sub(r"\[\[.*?\]\]|\$[^$]*\$", "1", text, flags=re.S)
    text = re.sub(r"\{[\w:]+\}`[^`]*`|\]\([^)]*\)|[*|]", " ", text)
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def markdown(cell: str) -> str:
    """The text of a Markdown cell of a py:percent source."""
    return re.sub("^# ?", "", cell, flags=re.M).strip()


def read(text: str) -> Opening:
    """The first screen in the text of a chapter's first cell; raises what it lacks."""
    title, *rest = _pieces(text)
    found = Opening(title.removeprefix("# "))
    for piece in rest:
        name = re.match(r"\*\*(.+?)\.\*\* ", piece)
        if piece.startswith(":::{glue:figure}"):
            found.picture = piece
        elif HEAD.match(piece):
            found.head = piece.splitlines()[0]
            for row in piece.splitlines()[2:]:
                if (match := ROW.match(row)) is None:
                    raise BuildError(f"{row[:60]!r}… is not a row; allowed: | words | [verdict](#part) | size |")
                found.rows.append(match)
        elif name and name[1] in LINES:
            found.lines[name[1]] = piece
        elif not found.question and piece.startswith("*") and piece.endswith("*"):
            found.question = piece.strip("*")
        elif not found.answer:
            found.answer = piece
        else:
            raise BuildError(f"{piece[:60]!r}… has no place on the first screen; the argument begins in the next cell")
    return found


def _pieces(text: str) -> list[str]:
    """Paragraphs, tables and boxes of a text."""
    found: list[str] = []
    inside = False
    for block in re.split(r"\n\s*\n", text.strip()):
        found = [*found[:-1], f"{found[-1]}\n\n{block}"] if inside else [*found, block]
        inside = found[-1].startswith(":::{") and not block.endswith("\n:::")
    return found


def check() -> list[str]:
    """Faults in the form of the chapters, by the records at paper scale and the ledger."""
    found = records.recorded()
    verdicts = {id: found[id]["verdict"] if id in found else part.expected for id, part in papers.parts().items()}
    wrong = [line for name in chapters.chapters() for line in problems(name, verdicts, found)]
    return wrong + _labels()


def _labels() -> list[str]:
    """Labels of theorems, figures and sections that two chapters have, and such that nobody has."""
    homes: dict[str, list[str]] = {}
    wanted: dict[str, str] = {}
    for chapter in chapters.chapters():
        text = inputs.text(chapters.NOTEBOOKS / f"{chapter}.py")
        figures = [picture.anchor for picture in pictures.in_text(chapter, text).values()]
        for label in {*("".join(found) for found in LABEL.findall(text)), *figures}:
            homes.setdefault(label, []).append(chapter)
        wanted |= dict.fromkeys(WANTED.findall(text), chapter)
    wrong = [
        f"{' and '.join(names)}: both have the label {label!r}" for label, names in homes.items() if len(names) > 1
    ]
    return wrong + [
        f"{name}.py: nothing has the label {label!r}" for label, name in wanted.items() if label not in homes
    ]


def problems(chapter: str, verdicts: dict[str, str], recorded: dict[str, dict]) -> Iterator[str]:
    """Faults in the form of a chapter: its first screen, and the length of its argument."""
    listed = chapters.cells(inputs.text(chapters.NOTEBOOKS / f"{chapter}.py"))
    first = markdown(listed[0][1]) if listed else ""
    if not HEAD.search(first):
        return  # not in this form
    where = f"{chapter}.py, first screen"
    try:
        opening = read(first)
    except BuildError as error:
        yield f"{where}: {error}"
        return
    yield from (f"{where}: {problem}" for problem in _limits(opening, recorded))
    for said, part in (link for row in opening.rows for link in re.findall(LINK, row["links"])):
        if part not in verdicts:
            yield f"{where}: {part} is not in the ledger"
            continue
        true, unknown = verdicts[part] in (claims.HOLDS, claims.SHARPER), verdicts[part] == claims.OPEN
        if said.lower().startswith("true") != true or said.lower().startswith(("open", "not run")) != unknown:
            yield f"{where}: {said!r} is said of {part}, which is {verdicts[part]!r}"
    for loose in numbers.UNROUNDED.findall("\n".join(text for kind, text in listed if kind == "[markdown]")):
        yield f"{chapter}.py: {loose} may be rounded to the wrong side; allowed: [[…:≤.2f]], [[…:≥.2f]]"
    ends = [at for at, (kind, text) in enumerate(listed) if kind == "[markdown]" and halves.EVIDENCE.search(text)]
    if len(ends) != 1:
        yield f"{chapter}.py: {len(ends)} headings '## Evidence'; allowed: one"
        return
    argument = listed[1 : ends[0]]
    length = sum(words(prose(markdown(text))) for kind, text in argument if kind == "[markdown]")
    shown = sum(kind == "" and "claims.check(" not in text for kind, text in argument)
    if length > ARGUMENT:
        yield f"{chapter}.py: {length} words of argument before Evidence; allowed: {ARGUMENT}"
    if shown > SHOWN:
        yield f"{chapter}.py: {shown} code cells without a title before Evidence; allowed: {SHOWN}"


def prose(text: str) -> str:
    """A text without what folds: proofs, and options of boxes such as the words for those who do not see a figure."""
    text = re.sub(r"^:::\{prf:proof\}.*?^:::$", "", text, flags=re.M | re.S)
    return re.sub(r"^:(?:alt|label|name|class):.*$|^:{3,}.*$", "", text, flags=re.M)


def _limits(opening: Opening, recorded: dict[str, dict]) -> Iterator[str]:
    for name, text, most in (("title", opening.title, TITLE), ("answer", opening.answer, ANSWER)):
        if not text or words(text) > most:
            yield f"the {name} has {words(text)} words; allowed: 1 to {most}"
    if not opening.question.endswith("?"):
        yield "no question; allowed: a paragraph *…?*"
    if len(re.findall(r"[.?!](?=\s|$)", re.sub(r"\[\[.*?\]\]", "1", opening.answer))) > SENTENCES:
        yield f"the answer has more than {SENTENCES} sentences"
    if "{claim}" in opening.answer:
        yield "the answer has a badge; verdicts stand in the table"
    if not numbers.parts(opening.answer) and "proved" not in opening.answer:
        yield "the answer has neither a number of a record, [[part:format]], nor the word proved"
    for said in (opening.answer, opening.picture, *(row[0] for row in opening.rows), *opening.lines.values()):
        unrecorded = [part for part in numbers.parts(said) if part not in recorded]
        if unrecorded and "this run" not in said:
            yield f"{unrecorded[0]} has no record; say beside it that the number is from this run"
    if not opening.picture:
        yield "no picture; allowed: one :::{glue:figure}"
    if len(opening.rows) not in ROWS:
        yield f"{len(opening.rows)} rows of the table of verdicts; allowed: {ROWS[0]} to {ROWS[-1]}"
    if missing := [name for name in LINES if name not in opening.lines]:
        yield f"no line **{missing[0]}.**"
