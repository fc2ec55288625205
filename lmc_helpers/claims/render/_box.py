"""The box of a part as HTML, styled by ``book/_static/css/boxes.css``: a line, and what is behind it.

Behind it stand the statement, the verdict, a scale with a row for each criterion and each run, and details folded away.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from lmc_helpers.claims.criteria import BROKEN, HOLDS, NOT_RUN, OPEN, OURS, READING, Part, slug, symbol
from lmc_helpers.claims.formulas import Address, typeset
from lmc_helpers.claims.judge import AGREES
from lmc_helpers.claims.needs import says
from lmc_helpers.claims.numerals import people
from lmc_helpers.claims.render import _scale, words
from lmc_helpers.claims.render.words import Result

OTHER_READING = "other reading"  #: the style of what does not count, for another reading of it is better
THIS, CONFIRMED = "this run", "recorded run, paper scale"
KINDS = {"criterion": "stated", "corrected": "corrected", "sharper": "sharper"}


@dataclass(frozen=True)
class Links:
    """Position of a box in the book and its links; empty in a notebook."""

    anchor: str = ""
    row: str = ""  # the part's row on the scoreboard
    erratum: str = ""  # its entry in the errata, if it is one in this run
    grammar: str = ""  # the page that says how to read a verdict
    address: Address | None = None  # of ids of the ledger and labels of theorems in texts
    counts: str = ""  # of a reading that does not count: the one that does, and its verdict
    price: str = ""  # of deciding it, in words
    closed: bool = False  # True if the box is one line until a reader opens it


def html(part: Part, record: dict, confirmed: dict | None = None, *, links: Links | None = None, run: str = "") -> str:
    """The box of a part.

    ``record`` is the verdict of this run as :func:`~lmc_helpers.claims.check` stores it, ``confirmed`` that of the
    confirmatory run with its provenance and ``changed``, the changes in its basis since; ``run`` is the scale of this
    run.
    """
    links, here = links or Links(), Result(part, record)
    stands = Result(part, confirmed) if confirmed and not confirmed["changed"] else None
    leading = stands or here
    anchor = f' id="{escape(links.anchor)}"' if links.anchor else ""
    kind = "Derived" if part.derivation else "Measured"
    inner = [
        _source(part, links),
        _verdict(here, leading, links),
        _instead(part, leading.verdict, links),
        _paragraph("quantity", f"{kind}: {_ended(typeset(part.quantity, links.address))}"),
        _paragraph("revised", _ended(typeset(said, links.address))) if (said := words.revised(part)) else "",
        _scale_of(here, stands),
        _rows(here, stands, confirmed, run),
        _details(here, stands, confirmed, links.address),
    ]
    style = slug(OTHER_READING if links.counts else leading.verdict)
    given = f'class="lmc-claim lmc-{style}"{anchor}' + ("" if links.closed else ' open=""')
    return "\n".join([f"<details {given}>", _line(leading, links), *filter(None, inner), "</details>"])


def _line(leading: Result, links: Links) -> str:
    """The line of a closed box: sign, statement, measured value, criterion."""
    verdict, part = leading.verdict, leading.part
    named = OTHER_READING if links.counts else words.named(verdict)
    sign = f'<span class="lmc-sign" role="img" aria-label="{named}">{symbol(verdict)}</span>'
    label = words.SMALLER.strip() if verdict == NOT_RUN else "measured"
    other = "<small>in another reading</small> " if links.counts else ""
    shown = {
        "says": f" {typeset(part.statement, links.address)} {other}",
        "measured": f"<small>{label * leading.measured}</small> {typeset(leading.measurement)} ",
        "allowed": f"<small>allowed</small> {typeset(part.criterion.shown)}",
    }
    cells = "".join(f'<span class="lmc-{name} mathjax_process">{said}</span>' for name, said in shown.items())
    return f"<summary>{sign}{cells}</summary>"


def _paragraph(name: str, content: str) -> str:
    return f'<p class="lmc-{name} mathjax_process">{content}</p>'


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(".") else sentence + "."


def _source(part: Part, links: Links) -> str:
    """Whose statement it is, where it is made, and how its words are read."""
    who = f"<b>{escape(words.authors(part))}</b>"
    if part.whose != OURS:
        who += f", {typeset(part.where)}"
    if part.whose == READING:
        who += f", <b>as we read it</b>: {_ended(typeset(part.reading, links.address))}"
    return _paragraph("statement", who)


def _badge(verdict: str, where: str, style: str) -> str:
    sign = f'<span class="lmc-symbol" aria-hidden="true">{symbol(verdict)}</span>'
    return f'<span class="lmc-badge lmc-{slug(style or verdict)}">{sign} {words.named(verdict)}{where}</span>'


def _link(address: str, content: str, title: str, name: str) -> str:
    given = f'href="{escape(address)}" title="{title}" aria-label="{title}" class="lmc-{name}"'
    return f"<a {given}>{content}</a>" if address else ""


def _verdict(this: Result, leading: Result, links: Links) -> str:
    """The verdict, of both runs where they differ, and the links of the box."""
    here, there, part = this.verdict, leading.verdict, this.part
    runs = {here: ""} if here == there else {there: " at paper scale", here: " in this run"}
    style = OTHER_READING if links.counts else ""
    badges = " ".join(_badge(verdict, where, style) for verdict, where in runs.items())
    said = words.SAID.get(there, "")
    if links.counts:
        said = f"In this reading; what counts is another, {typeset(links.counts, links.address)}."
    said += f" Price: {typeset(links.price)}." if links.price else ""
    said = f"<span>{said}</span>" if said else ""
    id = f"<code>{part.id}</code>"
    to = [
        _link(links.row, id, f"{part.id} on the scoreboard", "id") or f'<span class="lmc-id">{id}</span>',
        _link(links.erratum, "erratum", "its entry in the errata", "erratum"),
        _link(links.anchor and f"#{links.anchor}", "¶", "link to this box", "permalink"),
        _link(links.grammar, "?", "how to read a verdict", "grammar"),
    ]
    return f'<p class="lmc-verdict">{badges} {said} <span class="lmc-links">{" ".join(filter(None, to))}</span></p>'


def _instead(part: Part, verdict: str, links: Links) -> str:
    """The corrected or sharper statement and its proof."""
    content = part.correction or part.sharpening
    if not content or (verdict in (HOLDS, OPEN, NOT_RUN) and part.correction):
        return ""
    label = "More is true" if part.sharpening else "What stands" if verdict == BROKEN else "What holds instead"
    target = links.address(part.proof) if links.address and part.proof else None
    proof = f' Proof: <a href="{escape(target[0])}">{typeset(target[1])}</a>.' if target else ""
    return _paragraph("instead", f"<b>{label}:</b> {typeset(content, links.address)}{proof}")


def scale(part: Part, record: dict) -> str:
    """The scale of a part with the measurement of a run."""
    return _scale_of(Result(part, record), None)


def _scale_of(this: Result, confirmed: Result | None) -> str:
    """The scale of a part with the measurements of both runs."""
    bands = [_scale.Band(interval, KINDS[name]) for name, interval in this.part.criteria()]
    marks, said = [], [f"{band.kind} {words.plain(band.interval)}" for band in bands]
    for name, found in ((THIS, this), (CONFIRMED, confirmed)):
        if found and found.measured:
            marks.append(_scale.Mark(*found.drawn, slug(found.record["verdict"]), confirmed=found is confirmed))
            said.append(f"{name}: {found.in_full}, {found.outcome}")
    said += [f"rival {people(this.rival)}"] if this.rival is not None else []
    said += [] if marks else ["no value"]
    return _scale.draw(bands, marks, this.rival, "Scale: " + "; ".join(said))


def _rows(this: Result, stands: Result | None, confirmed: dict | None, run: str) -> str:
    """The criteria, this run and the confirmed one: each with its key on the scale."""
    label = {OURS: "our criterion", READING: "as we read it"}.get(this.part.whose, "as stated")
    listed = [
        (f"band lmc-band-{KINDS[name]}", label if name == "criterion" else name, words.criterion(interval), "")
        for name, interval in this.part.criteria()
    ]
    listed.append(("dot", THIS + f" ({run})" * bool(run), this.in_full if this.measured else "–", this.outcome))
    if confirmed and stands and stands.measured:
        listed.append(("diamond", f"{CONFIRMED}\n{_provenance(confirmed)}", stands.in_full, stands.outcome))
    elif confirmed:
        said, value = stands.outcome if stands else _stale(confirmed), Result(this.part, confirmed).value
        listed.append(("none", f"at paper scale\n{_provenance(confirmed)}", value, said))
    items = "".join(
        f'<li class="lmc-row-{key.partition(" ")[0]}"><span class="lmc-key lmc-key-{key}" aria-hidden="true"></span>'
        f'<span class="lmc-name">{_name(name)}</span> <span class="lmc-value mathjax_process">{typeset(value)}</span> '
        f'<span class="lmc-outcome">{escape(outcome)}</span></li>'
        for key, name, value, outcome in listed
    )
    return f'<ul class="lmc-rows">{items}</ul>'


def _name(text: str) -> str:
    """A row's name; its second line is in small print."""
    name, _, more = text.partition("\n")
    return escape(name) + (f" <small>{escape(more)}</small>" if more else "")


def _provenance(record: dict) -> str:
    commit, seeds = record["commit"][:10], record.get("seeds", "")[:10]
    said = f"commit {commit}" + (", seeds from it" if seeds == commit else f", seeds from {seeds}" if seeds else "")
    return said + (f"; set later: {', '.join(record['set_later'])}" if record.get("set_later") else "")


def _details(this: Result, stands: Result | None, confirmed: dict | None, address: Address | None) -> str:
    """Details that few readers need, folded away."""
    part, record, last = this.part, this.record, stands or this
    value = "" if this.rival is None else f"{people(this.rival)}: "
    samples = people(record["n"]) + (f" here, {people(stands.record['n'])} at paper scale" if stands else "")
    needed = f"; decided from {people(part.min_samples)} on" if part.min_samples > 1 else ""
    conditions = ", ".join(says(name, need) for name, need in part.needs.items())
    second = {True: "it rejects too", False: "it does not reject", None: AGREES if record.get("note") == AGREES else ""}
    given = [
        ("Rival", f"{value}{typeset(part.rival.says, address)}"),
        ("Samples", f"n = {samples}{needed}"),
        ("Run", f"decided with {escape(conditions)}" if conditions else ""),
        ("Error", last.level),
        ("Second seed", second[record.get("second_seed")]),
        ("Derivation", "an identity or a theorem of this book: checked, no measurement" if part.derivation else ""),
        ("Step of", typeset(part.step_of, address)),
        ("Readings", "one of several of this statement; the best of them counts" if part.one_of else ""),
        ("Why", typeset(part.reason, address)),
        ("Belongs to", typeset(part.where, address) if part.whose == OURS else ""),
        ("Weight", f"{words.WEIGHT[part.weight]} of {'this book, not counted' if part.whose == OURS else 'the paper'}"),
        ("Recorded", _run(confirmed)),
        ("Images at paper scale", _images(last.record)),
    ]
    listed = "".join(f'<dt>{name}</dt><dd class="mathjax_process">{content}</dd>' for name, content in given if content)
    return f'<details class="lmc-details"><summary>Details</summary><dl>{listed}</dl></details>'


def _images(run: dict) -> str:
    """The images that the confirmed run used, without the words "this run", which mean another one on this page."""
    said = run.get("data") or ""
    for sentence in ("This run uses ", "this run uses "):
        said = said.replace(sentence, "")
    return escape(said)


def _run(confirmed: dict | None) -> str:
    """When and where the confirmed run was made, and whether it is still valid."""
    if not confirmed:
        return ""
    device = confirmed["device"].replace("1 thread(s)", "1 thread")
    said = f"{confirmed['date']}, {device}; seeds from the commit that fixed the criteria"
    if later := confirmed.get("set_later"):
        said += f", but {', '.join(later)} set later"
    if first := confirmed.get("first_judged_by"):
        said += f"; judged anew when the criterion changed, which was {first} in that run"
    return escape(f"{said}; {_stale(confirmed)}" if confirmed["changed"] else said)


def _stale(confirmed: dict) -> str:
    """The changes that make a record out of date."""
    return f"out of date, changed since: {', '.join(confirmed['changed'])}"
