"""Variables of the templates of the scoreboard, the errata and the reports, and the pages that exist once per paper."""

import re
from collections import Counter
from collections.abc import Callable

from book.tools.read import papers
from book.tools.render import board, errata, findings
from book.tools.render.findings import RESULT, Finding, Findings, Statement
from lmc_helpers import claims
from lmc_helpers.claims import numerals
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.formulas import typeset
from lmc_helpers.claims.render import words

#: A label of a theorem of this book in a text of the ledger.
THEOREM = re.compile(r"(?<![\w.`-])(?:thm|prop|prp|lem|cor|def)-[\w-]*\w")
#: How many of a kind hold, and what becomes of others: of one, of more, and their verdicts.
HOLD = {RESULT: ("results that take a computation to judge", ", as printed or as we read them")}
HOLD[board.DERIVED] = ("statements that an identity or a theorem decides", "")
OTHERS = {
    ("does not", "do not"): (claims.CORRECTED, claims.FAILS),
    ("stays open", "stay open"): (claims.OPEN,),
    ("was not run", "were not run"): (claims.NOT_RUN,),
}
STEPS = {("is a false proof step", "are false proof steps"): (claims.BROKEN,)}


def sentence(text: str) -> str:
    """A text as a sentence: a capital at its start where that is a word, a full stop at its end.

    >>> sentence("section 4.1, last paragraph"), sentence("γ is a mean"), sentence("a law"), sentence("Is it so?")
    ('Section 4.1, last paragraph.', 'γ is a mean.', 'A law.', 'Is it so?')
    """
    text = text.strip()
    start = text[:1].upper() if re.match(r"[a-z]{2}|a ", text) else text[:1]
    return start + text[1:] + ("" if text.endswith((".", "?", "!", "…")) else ".")


def prose(text: str, cell: Callable[[str], str]) -> str:
    """A text of the ledger as Markdown, where parts that it names become the book's badges, and theorems links.

    >>> prose("as in Z4.best_pair, $m_1$ (thm-ends)", lambda text: text.replace("_", "-"))
    'as in {claim}`Z4.best_pair`, $m-1$ ({prf:ref}`thm-ends`)'
    """
    pieces = re.split(f"({board.PART.pattern})", text)
    said = "".join(f"{{claim}}`{piece}`" if at % 2 else cell(piece) for at, piece in enumerate(pieces))
    return THEOREM.sub(r"{prf:ref}`\g<0>`", said)


def came_out(part: Part, record: dict | None) -> str:
    """The measured value, with the interval that is judged and the samples or the size behind it."""
    if record is None:
        return "not run"
    samples = f" (n = {numerals.people(record['n'])})" if record["n"] > 1 else ""
    found = claims.Result(part, record)
    return words.SMALLER * (found.measured and claims.not_run(record)) + found.measurement + samples


def filters(cell: Callable[[str], str]) -> dict[str, Callable]:
    return {
        "rich": board.rich,
        "symbol": claims.symbol,
        "named": words.named,
        "heading": lambda verdict: "false step in a proof" if verdict == claims.BROKEN else words.named(verdict),
        "plain": lambda text: text.replace("$", "").replace("\\", ""),
        "came_out": came_out,
        "outcome": lambda part, record: claims.Result(part, record).outcome,
        "revised": claims.revised,
        "requires": lambda criterion: claims.criterion(criterion).removeprefix("= ").removeprefix("from "),
        "sentence": sentence,
        "lower_first": lambda text: re.sub(r"^(Section|Appendix)", lambda m: m[1].lower(), text),
        "title": findings.title,
        "quantity": lambda text: re.sub(r"\\[()]", "$", typeset(text)).replace("*", r"\*"),
        "prose": lambda text: prose(text, cell),
    }


def undecided(found: Findings, letter: str) -> dict[tuple[str, str], list[Statement]]:
    """The results of a paper that stayed open, by verdict and reason."""
    groups: dict[tuple[str, str], list[Statement]] = {}
    for s in found.of_paper(letter):
        if s.kind == RESULT and s.verdict == claims.OPEN:
            reason = s.counting.part.reason or "Too few samples at this scale."
            groups.setdefault((s.axis, reason), []).append(s)
    return groups


def confirmed(measured: list[Finding]) -> list[dict]:
    """The confirmatory runs behind some parts: chapter, commit of criteria and seeds, day, and how many parts."""
    runs = Counter((f.paper["chapter"], f.paper["seeds"], f.paper["date"]) for f in measured if f.paper)
    return [{"chapter": c, "seeds": s, "date": d, "parts": n} for (c, s, d), n in sorted(runs.items())]


def in_short(cells: list[board.Cell]) -> str:
    r"""How many of a paper's results hold, in one sentence, and apart from them of those decided without one.

    >>> said = in_short([board.Cell("holds", 29, 3, 20), board.Cell("not run", 2, 0), board.Cell("fails", 1, 0, 1)])
    >>> print(*said.split("; "), sep="\n")
    Of 32 results that take a computation to judge, 29 hold, as printed or as we read them, 1 does not, 2 were not run
    of 21 statements that an identity or a theorem decides, 20 hold, 1 does not.
    """
    said, found = [], board.totals({"": cells})
    for name, (what, how) in HOLD.items():
        count, kinds = found[name], OTHERS | (STEPS if name == board.DERIVED else {})
        stand = found["standing" if name == board.DERIVED else name][claims.BROKEN]
        others = [(sum(count[v] for v in on) - stand * (claims.BROKEN in on), words) for words, on in kinds.items()]
        n = count.total() - sum(n for n, _ in others)
        steps = f" ({stand} with a false proof step)" * (stand > 0)
        told = [f"of {count.total()} {what}, {'all' if n == count.total() else n} hold{'s' * (n == 1)}{steps}{how}"]
        said += [", ".join(told + [f"{n} {words[n > 1]}" for n, words in others if n])] * bool(count.total())
    return sentence("; ".join(said))


def report(found: Findings, letter: str) -> dict:
    statements = found.of_paper(letter)
    holding: dict[tuple[str, str, str], Statement] = {}  # one sentence that is checked twice is shown once
    for s in statements:
        if s.kind == RESULT and s.verdict in (claims.HOLDS, claims.SHARPER):
            holding.setdefault((s.part.where, s.part.statement, s.part.reading), s)
    theirs = [f for f in found.parts.values() if f.part.id[0] == letter and f.part.whose != claims.OURS]
    measured = [f for f in theirs if not f.part.derivation]
    return errata.content(found, letter) | {
        "line": (line := board.cells(found.statements, letter)),
        "in_short": in_short(line),
        "holding": list(holding.values()),
        "sharper": [s for s in statements if s.part.whose != claims.OURS and s.verdict == claims.SHARPER],
        "undecided": undecided(found, letter),
        "confirmed": confirmed(measured),
        "revised": [f.part for f in theirs if f.part.revised],
        "unconfirmed": sum(f.paper is None for f in measured),
    }


def content(found: Findings, profile: str) -> dict:
    """Variables of these templates, in addition to the common ones."""
    read = papers.papers()
    return board.content(found) | {
        "prices": findings.prices(found, profile),
        "read": read,
        "errata": {letter: errata.content(found, letter) for letter in read},
        "entries": [entry for letter in read for entry in errata.entries(found, letter)],
        "findings": found,
    }


def pages(known: dict, render: Callable[[str, dict], str]) -> dict[str, str]:
    """The errata and the report of each paper: path below ``book/`` → text."""
    texts = {}
    for letter, paper in known["read"].items():
        here = known | {"letter": letter, "paper": paper, "errata": known["errata"][letter]}
        texts[f"errata/{letter}.md"] = render("erratum.md", here)
        here["report"] = report(known["findings"], letter)
        texts[f"reports/{letter}.md"] = render("report.md", here)
    return texts
