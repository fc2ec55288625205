"""What a sweep over seeds found: what contradicts the book, and what is only to be known."""

from __future__ import annotations

import sys

from book.tools.base.chapters import short
from book.tools.outcomes.spread import Spread
from book.tools.outcomes.sweep_records import Chapter
from book.tools.reading import profiles
from book.tools.running import prices, variants
from lmc_helpers import claims

MANY = 1e4  # times the samples say that the value lies on the border, and are no price


def spreads(content: dict[str, Chapter], profile: str) -> list[Spread]:
    """Every part that a profile's record holds and the ledger has, chapter by chapter."""
    parts = {id: part for claim in claims.ledger().values() for id, part in claim.parts.items()}
    return [
        Spread(parts[id], chapter, runs, deciding(chapter, id, profile))
        for chapter, entry in sorted(content.items())
        for id, runs in entry.parts.items()
        if id in parts
    ]


def deciding(chapter: str, part: str, profile: str) -> str:
    """What a part takes that a profile leaves open by design, in words; empty if it should decide it."""
    known = profiles.profile(profile).chapters.get(short(chapter))
    larger = known.open.get(part) if known else None  # a record may be of a chapter that is no more
    if larger is None:
        return ""
    return f"decided at {larger}, at most {prices.price(profiles.settings(chapter, larger).budget_s / 60)}"


def findings(content: dict[str, Chapter], profile: str) -> tuple[list[str], list[str]]:
    """What contradicts the book, and what is only to be known, each in a line."""
    wrong: list[str] = []
    known: list[str] = []
    for chapter, entry in sorted(content.items()):
        wrong += [f"{variants.title(chapter, variant)} failed: {text}" for variant, text in entry.failed.items()]
    for part in spreads(content, profile):
        name, shares = f"{part.part.id} ({part.chapter})", counted(part)
        if part.different:
            wrong.append(f"{name} is decided differently: {shares}")
        if part.needs_samples:
            price = f"; about {part.times:.2g} times the samples would decide it" if part.times < MANY else ""
            wrong.append(f"{name} is open for more than one seed in ten: {shares}{price}")
        if part.error_bars:
            said = f"spread {part.deviation:.3g}, stated error {part.stated:.3g}"
            said += f", ratio {part.ratio[0]:.3g} in [{part.ratio[1]:.3g}, {part.ratio[2]:.3g}]" if part.ratio else ""
            (wrong if part.error_bars == "too small" else known).append(
                f"{name}: the error bars are {part.error_bars}: {said}"
            )
        if part.unsaid:
            ends = f"{min(part.values):.6g} to {max(part.values):.6g}"
            wrong.append(f"{name} is exact and depends on the seed, {ends}, and its quantity does not say over what")
    return wrong, known


def counted(part: Spread) -> str:
    """How many runs came to each verdict, in words."""
    return ", ".join(f"{verdict} {count}/{len(part.runs)}" for verdict, count in part.verdicts.most_common())


def report(content: dict[str, Chapter], profile: str) -> int:
    """Say what was found; the exit status."""
    wrong, known = findings(content, profile)
    for line in known:
        print(f"note: {line}")
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    counts = sorted({len(entry.runs) for entry in content.values()})
    seeds = "–".join(map(str, counts[:1] + counts[1:][-1:]))
    parts = sum(len(entry.parts) for entry in content.values())
    said = f"{len(wrong)} contradiction(s), {len(known)} note(s)"
    print(f"{len(content)} chapter(s), {seeds} seed(s), {parts} part(s): {said}")
    return 1 if wrong else 0
