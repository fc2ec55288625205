"""The real book at smoke, stopped at random moments: `make torture`, nightly. MOMENTS says how many, SEED which.

Each moment takes chapters, training runs or the pages away, starts a build, waits for a line of its choice and
some seconds more, and sends a signal. The build that follows the last one has to go through, and leaves nothing.
"""

import json
import os
import random
import signal
import subprocess
import sys
import zipfile

import pytest
from killing import Started

pytestmark = pytest.mark.torture
OUT, RUNS = "build/torture-book", "build/torture-runs"  # nobody else's pages and training runs are touched
COMMAND = [sys.executable, "-m", "book", "build", "--profile", "smoke", "--out", OUT]
LINES = ("Profile ", ": training ", ": running at ", ": running at ", ": done in ", "pages: building")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


def take_away(root, chance: random.Random) -> None:
    """Make something stale: what is left to do differs from moment to moment."""
    notebooks = sorted((root / "build" / "executed" / "smoke").glob("*.ipynb"))
    trained = sorted((root / RUNS).glob("*.npz"))
    for path in chance.sample(notebooks, min(3, len(notebooks))) + chance.sample(trained, min(1, len(trained))):
        if path in notebooks or chance.random() < 0.5:
            path.unlink()
    if chance.random() < 0.5:
        (root / OUT / "_build" / "html" / ".built").unlink(missing_ok=True)


def whole(root) -> None:
    """What lies there is whole, however many builds were killed."""
    for path in (root / "build" / "executed" / "smoke").glob("*.ipynb"):
        assert json.loads(path.read_text())["metadata"]["lmc"]["profile"] == "smoke"
    for path in (root / RUNS).glob("*.npz"):
        assert zipfile.ZipFile(path).testzip() is None
    if (root / OUT).exists():
        assert (root / OUT / "_build" / "html" / "book" / "index.html").exists()


@pytest.fixture
def environment(root):
    return os.environ | {"PYTHONPATH": str(root), "CI": "1", "LMC_RUNS": str(root / RUNS)}


def test_moments(root, environment, capsys):
    seed, missed = int(os.environ.get("SEED") or 0), 0
    for moment in range(int(os.environ.get("MOMENTS") or 12)):
        chance = random.Random(f"{seed} {moment}")
        take_away(root, chance)
        number, line, delay = chance.choice(SIGNALS), chance.choice(LINES), chance.uniform(0, 4)
        with capsys.disabled():
            print(f"\nmoment {moment} of seed {seed}: {number.name}, {delay:.1f} s after {line!r}", end=" ", flush=True)
        build = Started(COMMAND, root, environment)
        build.until(lambda: line in build.said.read_text() or build.process.poll() is not None, seconds=1800)  # noqa: B023
        try:
            build.process.wait(delay)
        except subprocess.TimeoutExpired:
            build.check(number)
        else:  # it was done, and no such line came
            assert build.process.returncode == 0, build.errors.read_text()
            missed += 1
        build.forget()
        whole(root)
    assert missed <= moment
    with capsys.disabled():
        print(f"\n{missed} build(s) were done before their moment", end=" ", flush=True)


def test_the_book_after_all(root, environment):
    """The next build goes through; the one after it finds nothing to do, and nothing is left."""
    for _ in range(2):
        outcome = subprocess.run(COMMAND, cwd=root, env=environment, capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "running at" not in outcome.stdout and "pages" not in outcome.stdout
    whole(root)
    left = [path for path in (root / "build" / "running").rglob("*") if path.suffix in (".ipynb", ".json")]
    left += [path for path in (root / "build").glob(".torture-book-*")]
    left += list((root / RUNS).glob(".*"))
    assert left == []
