"""Results of runs with other seeds and in other settings, for the terminal and for the statistics page."""

import sys
from collections import Counter
from itertools import groupby

from scipy.stats import norm, t

from book.tools.read import papers, profiles, sources
from book.tools.read.chapters import plural, short
from book.tools.record import records
from book.tools.record.measured import ERROR, EXACT, INTERVAL, LEDGER, PROFILE, SAMPLES, Difference, Spread, contradict
from book.tools.record.repeats import KINDS, Chapter, Record, differences
from book.tools.run import listing, prices, variants
from lmc_helpers import claims
from lmc_helpers.claims.needs import unmet
from lmc_helpers.claims.numerals import people
from lmc_helpers.claims.render import words

TAIL = 0.9995  # of the two-sided level 10⁻³
MANY = 1e4  # a larger factor of samples means that the value lies on the border


def spreads(content: dict[str, Chapter], profile: str) -> list[Spread]:
    """Every part that a profile's record holds and the ledger has, chapter by chapter."""
    parts = papers.parts()
    return [
        Spread(parts[id], chapter, runs, deciding(chapter, id, profile))
        for chapter, entry in sorted(content.items())
        for id, runs in entry.parts.items()
        if id in parts
    ]


def deciding(chapter: str, part: str, profile: str) -> str:
    """The run that decides a part left open by design in a profile, in words; empty if the profile should decide it."""
    known = profiles.profile(profile).chapters.get(short(chapter))  # a record may be of one that no longer exists
    if known is None:
        return ""
    if lacks := unmet(claims.part(part).needs, listing.parameters(chapter, profile))[0]:
        return f"needs {lacks}"
    if part not in known.open:
        return ""
    larger = known.open[part]
    return f"decided at {larger}, at most {prices.price(profiles.settings(chapter, larger).budget_s / 60)}"


def findings(content: dict[str, Chapter], profile: str) -> tuple[list[str], list[str]]:
    """Contradictions to the book, and notes, each in a line."""
    wrong: list[str] = []
    notes: list[str] = []
    for part in spreads(content, profile):
        name, shares = f"{part.part.id} ({part.chapter})", counted(part)
        if part.different:
            wrong.append(f"{name} is decided differently: {shares}")
        if part.needs_samples:
            times = f"about {part.times:.2g} times the" if part.times >= 2 else "a few more"
            price = f"; {times} samples would decide it" if part.times < MANY else ""
            wrong.append(f"{name} is open for more than one seed in ten: {shares}{price}")
        if part.error_bars:
            line = f"{name}: the error bars are {part.error_bars}: "
            line += f"spread {part.deviation:.3g}, stated error {part.stated:.3g}"
            line += f", ratio {part.ratio[0]:.3g} in [{part.ratio[1]:.3g}, {part.ratio[2]:.3g}]" if part.ratio else ""
            (wrong if part.error_bars == "too small" else notes).append(line)
        if part.unsaid:
            ends = f"{min(part.values):.6g} to {max(part.values):.6g}"
            wrong.append(f"{name} is exact and depends on the seed, {ends}, and its quantity does not say over what")
    return wrong, notes


def failed(content: dict[str, Chapter]) -> list[str]:
    """Runs that ended in an error, each in a line: they say nothing about a claim."""
    found = [(variants.title(name, run), said) for name, e in sorted(content.items()) for run, said in e.failed.items()]
    return [f"{title} failed: {said}" for title, said in found]


def counted(part: Spread) -> str:
    return ", ".join(f"{words.named(v)} {count}/{len(part.runs)}" for v, count in part.verdicts.most_common())


def report_seeds(content: dict[str, Chapter], profile: str) -> int:
    """Print the results with other seeds; return the exit status."""
    wrong, notes = findings(content, profile)
    for line in notes:
        print(f"note: {line}")
    counts = sorted({len(entry.runs) for entry in content.values()})
    seeds = "–".join(map(str, dict.fromkeys(counts[:1] + counts[-1:])))
    parts = sum(len(entry.parts) for entry in content.values())
    done = ", ".join([plural(len(content), "chapter"), f"{seeds} seeds", plural(parts, "part")])
    return _status(wrong, failed(content), done, f", {plural(len(notes), 'note')}")


def report_settings(content: dict[str, Chapter]) -> int:
    """Print the differences between settings; return the exit status."""
    found = differences(content)
    wrong = [f"{one.part.id} ({one.chapter}, {one.setting}): {line}" for one in found for line in one.complaints()]
    return _status(wrong, failed(content), f"{plural(len(content), 'chapter')}, {plural(len(found), 'comparison')}")


def _status(wrong: list[str], failed: list[str], done: str, more: str = "") -> int:
    for line in wrong + failed:
        print(f"error: {line}", file=sys.stderr)
    print(f"{done}: {plural(len(wrong), 'contradiction')}{more}" + (f"; {len(failed)} failed" if failed else ""))
    return min(1, len(wrong + failed))


def _digits(value: float) -> str:
    return people(float(f"{value:.3g}"))


def part_row(part: Spread) -> dict[str, str]:
    measured = part.kind in (ERROR, INTERVAL, EXACT)
    remarks = [
        "**decided differently**" if part.different else "",
        "**open too often**" if part.needs_samples else "",
        f"open by design: {part.by_design}" if part.open_share and part.by_design else "",
        f"**error bars {part.error_bars}**" if part.error_bars else "",
        "**depends on the seed**" if part.unsaid else "the worst of random instances" if part.varies else "",
    ]
    return {
        "id": part.part.id,
        "verdicts": counted(part),
        "value": _digits(part.mean) if measured else "not run",
        "spread": _digits(part.deviation) if measured else "–",
        "stated": "exact" if part.kind == EXACT else _digits(part.stated) if part.stated else "–",
        "ratio": "{} in [{}, {}]".format(*map(_digits, part.ratio)) if part.ratio else "–",
        "says": "; ".join(filter(None, remarks)),
    }


def _row(chapter: str, entry: Chapter, profile: str, known: sources.Sources) -> dict:
    stated = variants.settings().settings
    settings = [stated[name[1:]].says for run in entry.runs if (name := run.variant)[:1] == "@" and name[1:] in stated]
    commits = sorted({run.variant.partition(".")[0][:10] for run in entry.runs})
    where = [f"{run.device}, {run.machine}, Python {run.python}" for run in entry.runs[:1]]
    return {
        "chapter": chapter,
        "runs": len(entry.runs),
        "base": ", ".join(settings or commits),
        "commits": ", ".join(sorted({run.commit for run in entry.runs})),
        "day": "".join(run.date for run in entry.runs[:1]),
        "where": "".join(where),
        "current": entry.current(chapter, profile, known),
        "failed": len(entry.failed),
    }


def _seeds(found: dict[str, Chapter], profile: str, known: sources.Sources) -> dict:
    parts = spreads(found, profile)
    standing = {name: entry for name, entry in found.items() if entry.current(name, profile, known)}
    worst, _ = findings(standing, profile)
    earlier, _ = findings({name: entry for name, entry in found.items() if name not in standing}, profile)
    wide = [part for part in parts if part.ratio and part.error_bars == "too large"]
    left = Counter(part.design for part in parts if part.open_share)
    return {
        "parts": [part_row(part) | {"current": part.chapter in standing} for part in parts],
        "different": sum(part.different for part in parts),
        "open": {"all": left.total(), "ledger": left[LEDGER], "samples": left[SAMPLES], "profile": left[PROFILE]},
        "often": sum(part.needs_samples for part in parts),
        "worst": worst,
        "earlier": earlier,
        "failed": failed(found),
        "wide": {chapter: [*those] for chapter, those in groupby(wide, lambda part: part.chapter)},
    }


def _farthest(found: list[Difference]) -> list[tuple[str, str]]:
    far = max(found, key=lambda one: one.size, default=None)
    return [(far.part.id, _digits(far.size))] if far and far.size else []


def _settings(found: dict[str, Chapter], profile: str, known: sources.Sources) -> dict:
    """For each setting: the parts compared, those decided otherwise or beyond tolerance, the largest differences."""
    by_setting: dict[str, list[Difference]] = {}
    for one in differences(found):
        by_setting.setdefault(one.setting, []).append(one)
    stated = variants.settings().settings
    table = [
        {
            "says": stated[name].says if name in stated else name,
            "parts": len(here),
            "same": sum(one.reference.verdict == one.other.verdict for one in here),
            "otherwise": [(one.part.id, "") for one in here if contradict(one.reference, one.other)],
            "beyond": [(one.part.id, _digits(one.size)) for one in here if one.size > one.allowed],
            "exact": _farthest([one for one in here if not one.part.sampled]),
            "sampled": _farthest([one for one in here if one.part.sampled]),
        }
        for name, here in by_setting.items()
    ]
    return {"table": table}


def content(runs: list[dict]) -> dict:
    """Variables of ``book/templates/sweeps.md``; ``runs`` holds the provenance of this book's own chapters."""
    known, stated = sources.Sources(), variants.settings()
    found: dict[str, dict] = {}
    pythons = {run["python"] for run in runs}
    for kind, shown in zip(KINDS, (_seeds, _settings), strict=True):
        names = sorted(path.stem.partition("-")[2] for path in records.RECORDED.glob(f"{kind}-*.json"))
        stored = {name: entries for name in names if (entries := Record(kind, name).read())}
        pythons |= {run.python for entries in stored.values() for entry in entries.values() for run in entry.runs}
        found[kind] = {
            name: shown(entries, name, known) | {"rows": [_row(c, e, name, known) for c, e in sorted(entries.items())]}
            for name, entries in stored.items()
        }
    ran = {v: ", ".join(sorted(python for python in pythons if python.startswith(f"{v}."))) for v in stated.pythons}
    return {
        "sweeps": found["sweep"],
        "machines": found["machines"],
        "chapters_here": sorted(run["chapter"] for run in runs if "chapter" in run),
        "pythons": [(version, f"chapters, {on}" if on else "not tested") for version, on in ran.items()],
        "student": ", ".join(f"{_digits(t.ppf(TAIL, n - 1) / norm.ppf(TAIL))} for {n}" for n in (2, 3, 4, 5)),
        "tolerances": {"exact": people(stated.exact), "sampled": people(stated.sampled)},
    }
