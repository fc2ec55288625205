"""The runs shown in a box: a scale with both, a row for each, and the details folded away."""

from __future__ import annotations

import html

from lmc_helpers.claims import _scale, words
from lmc_helpers.claims.criteria import OURS, READING, Part, slug
from lmc_helpers.claims.formulas import Address, typeset
from lmc_helpers.claims.judge import AGREES
from lmc_helpers.claims.needs import says
from lmc_helpers.claims.numerals import people

THIS, CONFIRMED = "this run", "recorded run, paper scale"
KINDS = {"criterion": "stated", "corrected": "corrected", "sharper": "sharper"}


def drawn(part: Part, record: dict, confirmed: dict | None = None) -> str:
    """The scale of a part with the measurements of both runs."""
    bands = [_scale.Band(interval, KINDS[name]) for name, interval in part.criteria()]
    marks, said = [], [f"{band.kind} {words.plain(band.interval)}" for band in bands]
    for name, found in ((THIS, record), (CONFIRMED, confirmed)):
        if found and found["value"] is not None:
            marks.append(_scale.Mark(*words.drawn(part, found), slug(found["verdict"]), confirmed=name == CONFIRMED))
            said.append(f"{name}: {words.in_full(part, found)}, {words.outcome(part, found)}")
    rival = words.rival(part, record)
    said += [f"rival {people(rival)}"] if rival is not None else []
    said += [] if marks else ["nothing was measured at this scale"]
    return _scale.draw(bands, marks, rival, "Scale: " + "; ".join(said))


def rows(part: Part, record: dict, confirmed: dict | None, run: str) -> str:
    """The criteria, this run and the confirmed one: each with its key on the scale."""
    label = {OURS: "our criterion", READING: "as we read it"}.get(part.whose, "as stated")
    listed = [
        (f"band lmc-band-{KINDS[name]}", label if name == "criterion" else name, words.criterion(interval), "")
        for name, interval in part.criteria()
    ]
    listed.append(("dot", THIS + (f" ({run})" if run else ""), *_measured(part, record)))
    if confirmed and confirmed["value"] is not None and not confirmed["changed"]:
        listed.append(("diamond", f"{CONFIRMED}\n{_provenance(confirmed)}", *_measured(part, confirmed)))
    elif confirmed:
        said = _stale(confirmed) if confirmed["changed"] else words.outcome(part, confirmed)
        listed.append(("none", f"at paper scale\n{_provenance(confirmed)}", words.value(part, confirmed), said))
    items = "".join(
        f'<li class="lmc-row-{key.partition(" ")[0]}"><span class="lmc-key lmc-key-{key}" aria-hidden="true"></span>'
        f'<span class="lmc-name">{_name(name)}</span> <span class="lmc-value mathjax_process">{typeset(value)}</span> '
        f'<span class="lmc-outcome">{html.escape(outcome)}</span></li>'
        for key, name, value, outcome in listed
    )
    return f'<ul class="lmc-rows">{items}</ul>'


def _name(text: str) -> str:
    """A row's name; its second line is in small print."""
    name, _, more = text.partition("\n")
    return html.escape(name) + (f" <small>{html.escape(more)}</small>" if more else "")


def _measured(part: Part, record: dict) -> tuple[str, str]:
    shown = "–" if record["value"] is None else words.in_full(part, record)
    return shown, words.outcome(part, record)


def _provenance(record: dict) -> str:
    commit, seeds = record["commit"][:10], record.get("seeds", "")[:10]
    said = f"commit {commit}" + (", seeds from it" if seeds == commit else f", seeds from {seeds}" if seeds else "")
    return said + (f"; set later: {', '.join(record['set_later'])}" if record.get("set_later") else "")


def details(part: Part, record: dict, confirmed: dict | None, address: Address | None = None) -> str:
    """Details that few readers need, folded away."""
    found = [record, *([confirmed] if confirmed and not confirmed["changed"] else [])]
    rival = words.rival(part, record)
    value = "" if rival is None else f"{people(rival)}: "
    samples = " here, ".join(people(run["n"]) for run in found) + (" at paper scale" if len(found) > 1 else "")
    needed = f"; decided from {people(part.min_samples)} on" if part.min_samples > 1 else ""
    conditions = ", ".join(says(name, need) for name, need in part.needs.items())
    second = {True: "it rejects too", False: "it does not reject", None: AGREES if record.get("note") == AGREES else ""}
    given = [
        ("Rival", f"{value}{typeset(part.rival.says, address)}"),
        ("Samples", f"n = {samples}{needed}"),
        ("Run", f"decided with {html.escape(conditions)}" if conditions else ""),
        ("Error", words.level(part, found[-1])),
        ("Second seed", second[record.get("second_seed")]),
        ("Derivation", "an identity or a theorem of this book: checked, no measurement" if part.derivation else ""),
        ("Step of", typeset(part.step_of, address)),
        ("Readings", "one of several of this statement; the best of them counts" if part.one_of else ""),
        ("Why", typeset(part.reason, address)),
        ("Belongs to", typeset(part.where, address) if part.whose == OURS else ""),
        ("Weight", f"{words.WEIGHT[part.weight]} of {'this book, not counted' if part.whose == OURS else 'the paper'}"),
        ("Recorded", _run(confirmed)),
        ("Images at paper scale", _images(found[-1])),
    ]
    listed = "".join(f'<dt>{name}</dt><dd class="mathjax_process">{content}</dd>' for name, content in given if content)
    return f'<details class="lmc-details"><summary>Details</summary><dl>{listed}</dl></details>'


def _images(run: dict) -> str:
    """The images that the confirmed run used, without the words "this run", which mean another one on this page."""
    said = run.get("data") or ""
    for sentence in ("This run uses ", "this run uses "):
        said = said.replace(sentence, "")
    return html.escape(said)


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
    return html.escape(f"{said}; {_stale(confirmed)}" if confirmed["changed"] else said)


def _stale(confirmed: dict) -> str:
    """The changes that make a record out of date."""
    return f"out of date, changed since: {', '.join(confirmed['changed'])}"
