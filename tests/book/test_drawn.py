"""What a chapter allows runs: values drawn from its rules, at smoke or smaller; by night every chapter, else one.

A run may refuse values that do not fit together, in the cell that checks them; what they cannot judge is open. ``SEED``
in the environment draws others: ``make test-slow SEED=7``.
"""

import json
import os
import random
import subprocess
import sys

import pytest

from book.tools.read import cells, chapters, profiles
from book.tools.read.chapters import NOTEBOOKS, ROOT
from lmc_helpers.chapter import Choice, Flag, Integer, ListOf, Real, Text

SEED = int(os.environ.get("SEED") or 1)
CHEAP = "42_swap_cost"
DATA = ("dataset", "other")  # as at smoke: digits, which are at hand
TRIES = 30


def drawn(rule, at, rng: random.Random):
    """An allowed value up to that at smoke; as often the lowest, or that at smoke."""
    which = rng.random()
    lowest = which < 1 / 3
    if which > 2 / 3:
        return at
    match rule:
        case Integer(low, _, step):
            return low if lowest else rng.randrange(low, max(low, at) + 1, step)
        case Real(low, high):
            return low if lowest else rng.uniform(low, min(high, at))
        case Flag():
            return rng.random() < 0.5
        case Choice(options):
            return rng.choice(options)
        case ListOf(item, least):
            some = sorted(rng.sample(range(len(at)), rng.randint(min(least, len(at)), len(at))))
            return [item.low] * least if lowest and isinstance(item, Integer) else [at[k] for k in some]
    return at


def values(chapter: str, rng: random.Random) -> dict:
    known, at_smoke = cells.sheet(NOTEBOOKS / f"{chapter}.py"), profiles.parameters(chapter, "smoke")
    kept = {"profile", *DATA, *(name for name, rule in known.rules.items() if isinstance(rule, Text))}
    at = known.parameters | at_smoke
    return {name: drawn(rule, at[name], rng) for name, rule in known.rules.items() if name not in kept}


def refused(chapter: str) -> bool:
    """True if the run ended in the cell that checks the parameters."""
    failed = json.loads((ROOT / "build" / "failed" / "smoke" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    (checks,) = (cell for cell in failed["cells"] if "chapter.begin(" in "".join(cell["source"]))
    return any(output["output_type"] == "error" for output in checks["outputs"])


@pytest.mark.parametrize(
    "chapter", [pytest.param(c, marks=() if c == CHEAP else pytest.mark.slow) for c in chapters.chapters()]
)
def test_allowed_values_run(chapter, tmp_path):
    rng = random.Random(f"{SEED} {chapter}")
    for _ in range(TRIES):
        given = values(chapter, rng)
        pairs = [word for name, value in given.items() for word in ("-p", name, json.dumps(value).strip('"'))]
        command = ["-m", "book", "execute", chapter, "--profile", "smoke", "--quiet", *pairs]
        command = [sys.executable, *command, "--output", str(tmp_path / "out.ipynb")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
        if done.returncode == 0 or not refused(chapter):
            break
    assert done.returncode == 0, f"SEED={SEED}: {' '.join(pairs)}\n{done.stdout}{done.stderr}"
