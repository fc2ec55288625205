"""What the statistics page says of runs with other seeds and in other settings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from book.tools.findings.sweep_findings import counted, findings, spreads
from book.tools.outcomes import records
from book.tools.outcomes.spread import ERROR, EXACT, INTERVAL, LEDGER, PROFILE, SAMPLES, Spread
from book.tools.outcomes.sweep_records import KINDS, Chapter, Record, differences
from book.tools.reading import sources
from book.tools.running import variants
from lmc_helpers.claims.numerals import people

BY = 3  # significant digits of spreads and ratios


@dataclass(frozen=True)
class Row:
    """A chapter's runs in one line."""

    chapter: str
    runs: int
    base: str  # the commit that the seeds come from, or the settings
    commits: str
    ran: str  # when and on what
    current: bool
    failed: int


@dataclass(frozen=True)
class PartRow:
    """A part's spread in one line."""

    id: str
    verdicts: str
    value: str
    spread: str
    stated: str
    ratio: str
    says: str


def _digits(value: float) -> str:
    return people(float(f"{value:.{BY}g}"))


def part_row(part: Spread) -> PartRow:
    """What the table says of a part."""
    measured = part.kind in (ERROR, INTERVAL, EXACT)
    stated = "exact" if part.kind == EXACT else _digits(part.stated) if part.stated else "–"
    found = part.ratio
    ratio = f"{_digits(found[0])} in [{_digits(found[1])}, {_digits(found[2])}]" if found else "–"
    says = [
        "**decided differently**" if part.different else "",
        "**open too often**" if part.needs_samples else "",
        f"open by design: {part.by_design}" if part.open_share and part.by_design else "",
        f"**error bars {part.error_bars}**" if part.error_bars else "",
        "**depends on the seed**" if part.unsaid else "the worst of random instances" if part.varies else "",
    ]
    mean = _digits(part.mean) if measured else "not run"
    spread = _digits(part.deviation) if measured else "–"
    return PartRow(part.part.id, counted(part), mean, spread, stated, ratio, "; ".join(filter(None, says)))


def _row(chapter: str, entry: Chapter, profile: str, known: sources.Sources) -> Row:
    first = entry.runs[0] if entry.runs else None
    bases = sorted({run.variant.partition(".")[0][:10] for run in entry.runs})
    settings = [variants.settings().settings.get(run.variant[1:]) for run in entry.runs if run.variant.startswith("@")]
    base = ", ".join(found.says for found in settings if found) if settings else ", ".join(bases)
    ran = f"{first.date}, {first.device}, {first.machine}, Python {first.python}" if first else ""
    commits = ", ".join(sorted({run.commit for run in entry.runs}))
    current = entry.current(chapter, profile, known)
    return Row(chapter, len(entry.runs), base, commits, ran, current, len(entry.failed))


def _profiles(kind: str) -> list[str]:
    return sorted(path.stem.partition("-")[2] for path in records.RECORDED.glob(f"{kind}-*.json"))


def _read() -> dict[str, dict[str, dict[str, Chapter]]]:
    """Kind → profile → chapter → runs; profiles in which nothing was run are left out."""
    every = {kind: {profile: Record(kind, profile).read() for profile in _profiles(kind)} for kind in KINDS}
    return {kind: {profile: found for profile, found in of.items() if found} for kind, of in every.items()}


def pythons(versions: set[str]) -> list[tuple[str, str]]:
    """Every version of Python that can be had → what ran on it.

    Examples
    --------
    >>> dict(pythons({"3.11.7"}))["3.12"]
    'not tested'
    """
    known = variants.settings().pythons
    ran = {version: sorted(v for v in versions if v.startswith(f"{version}.")) for version in known}
    return [(version, f"chapters, {', '.join(found)}" if found else "not tested") for version, found in ran.items()]


def content(runs: list[dict]) -> dict:
    """What ``book/templates/sweeps.md`` shows; ``runs`` is what this book's own chapters say of theirs."""
    known, read = sources.Sources(), _read()
    sweeps = {profile: _sweep(found, profile, known) for profile, found in read["sweep"].items()}
    settings = {
        profile: {
            "rows": [_row(chapter, entry, profile, known) for chapter, entry in sorted(found.items())],
            "table": table(found),
        }
        for profile, found in read["machines"].items()
    }
    ran = {run["python"] for run in runs}
    ran |= {run.python for of in read.values() for found in of.values() for one in found.values() for run in one.runs}
    stated = variants.settings()
    return {
        "sweeps": sweeps,
        "machines": settings,
        "pythons": pythons(ran),
        "tolerances": {"exact": people(stated.exact), "sampled": people(stated.sampled)},
    }


def _sweep(found: dict[str, Chapter], profile: str, known: sources.Sources) -> dict:
    """One profile's sweep: its parts counted, what was found, and the tables."""
    parts = spreads(found, profile)
    worst, notes = findings(found, profile)
    left = Counter(part.design for part in parts if part.open_share)
    return {
        "rows": [_row(chapter, entry, profile, known) for chapter, entry in sorted(found.items())],
        "parts": [part_row(part) for part in parts],
        "different": sum(part.different for part in parts),
        "open": {"all": left.total(), "ledger": left[LEDGER], "samples": left[SAMPLES], "profile": left[PROFILE]},
        "worst": worst,
        "notes": notes,
    }


def table(found: dict[str, Chapter]) -> list[dict]:
    """For each setting: the parts compared, those decided otherwise or beyond tolerance, the largest differences."""
    every, rows = differences(found), []
    for name in dict.fromkeys(one.setting for one in every):
        here = [one for one in every if one.setting == name]
        row: dict = {"says": name, "parts": len(here)}
        if name in variants.settings().settings:
            row["says"] = variants.settings().settings[name].says
        row["same"] = sum(one.own.verdict == one.there.verdict for one in here)
        row["otherwise"] = [(one.part.id, "") for one in here if one.decided_otherwise]
        row["beyond"] = [(one.part.id, _digits(one.size)) for one in here if one.too_large]
        for kind, sampled in (("exact", False), ("sampled", True)):
            chosen = [one for one in here if one.part.sampled == sampled]
            far = max(chosen, key=lambda one: one.size, default=None)
            row[kind] = [(far.part.id, _digits(far.size))] if far and far.size else []
        rows.append(row)
    return rows
