"""A small book in a copy of the repository: its graph, runner and ledger are the real ones, its chapters are toys."""

import compileall
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from forked import interpreter
from oracles.ledger import claim, write

CHAPTER = """# ---
# jupyter:
#   kernelspec: {{display_name: Python 3, language: python, name: python3}}
# ---

# %% [markdown]
# # {title}

# %% tags=["parameters"]
size: int = 3  # anything
seconds: float = 0.0  # to sleep
seed: int = 1
profile: str = "laptop"

# %%
import time
from lmc_helpers import claims, {module}
from lmc_helpers.chapter import COMMON as _common, Integer, Real, validate

begin = lambda names, **rules: validate({{**names}}, rules | _common)  # without torch
begin(globals(), size=Integer(1, 9), seconds=Real(0, 600))

# %%
time.sleep(seconds)
claims.check("{claim}.value", {module}.value() + 0 * size, n=1)

# %%
print("0.0 s on an abacus, wood")
"""


MODULES = {  # alpha leads to its core, which needs gamma; nobody needs delta and alpha/spare
    "__init__.py": "",
    "alpha/__init__.py": "from lmc_helpers.alpha.core import value\n",
    "alpha/core.py": "from .. import gamma\n\ndef value():\n    return gamma.value()\n",
    "alpha/spare.py": "from lmc_helpers import delta\n",
    "alpha/table.csv": "1\n",
    "beta.py": "def value():\n    return 2\n",
    "gamma.py": "def value():\n    return 1\n",
    "delta.py": "def value():\n    return 4\n",
}


FIRST, SECOND = "01_first", "02_second"

STALE = """
import json, sys
from pathlib import Path
from book.tools.read.sources import Sources
from book.tools.run.targets import Targets, basis

profile, accept = sys.argv[1:]
targets = Targets(profile, Path("build/book"))
print(*targets.stale())
for chapter, path in targets.executed.items() if accept else ():
    content = json.loads(path.read_text())
    content["metadata"]["lmc"]["sources"] = basis(Sources(), chapter, profile, "")
    path.write_text(json.dumps(content))
"""

CALLS = """
import contextlib, io, json, sys

from book.__main__ import main

verb, answers = sys.argv[1], []
for arguments in json.loads(sys.argv[2]):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main([verb, *arguments])
        except SystemExit as end:
            code = end.code
    answers.append([code, out.getvalue(), errors.getvalue()])
print(json.dumps(answers))
"""

TORCH = """
class cuda:
    device_count = staticmethod(lambda: 0)


def set_num_threads(count):
    pass
"""

STUB = '''
import os
import time
from dataclasses import dataclass
from pathlib import Path

Path("build").mkdir(exist_ok=True)
with open("build/imported", "a") as log:
    log.write("x")


@dataclass(frozen=True)
class Price:
    cpu_hours: float


@dataclass(frozen=True)
class Toy:
    """As lmc_helpers.training.runs.Run; it takes steps of 0.1 s, and keeps each."""

    size: int
    steps: int = 1
    gpu: bool = False
    fails: bool = False
    after: int = 0  # size of the run that comes before
    stored_in = None

    @property
    def needs(self):
        return [Toy(self.after).path()] if self.after else []

    @property
    def digest(self):
        return f"{self.size:016x}"

    @property
    def title(self):
        return f"toy of size {self.size}"

    def path(self):
        return Path("build/runs") / f"{self.digest}.npz"

    def done(self):
        return self.path().exists()

    def resources(self):
        return {"cores": 1, "memory_mib": 600, "minutes": 3, "gpu": self.gpu}

    def prices(self):
        return Price(2 / 60)

    def result(self, show_progress=False):
        if not self.done():
            self.path().parent.mkdir(parents=True, exist_ok=True)
            kept = self.path().with_suffix(".kept")
            at = int(kept.read_text()) if kept.exists() else 0
            with open("build/trained", "a") as log:
                log.write(f"{self.size} from {at} at {time.time()}\\n")
            for step in range(at, self.steps):
                time.sleep(0.1)
                kept.with_suffix(".new").write_text(str(step + 1))
                kept.with_suffix(".new").replace(kept)
            if self.fails:
                raise ValueError("the loss is not finite")
            self.path().write_text(str(self.size))
        return int(self.path().read_text())


def runs(size, seconds, wants=False):
    return [Toy(size + k, 1 + round(10 * seconds), gpu=wants) for k in (0, 1)]
'''
HEADER = "#   lmc: {runs: lmc_helpers.toys.runs}\n"

FIGURE = "# :::{glue:figure} fig_one\n# :name: fig-one\n# :alt: a line\n# :::\n# as {cite:p}`author2025` has it\n"
TOY = Path(__file__).with_name("toy")  # what the pages of the small book need


class Toy:
    """The copy: build it, look at what ran, edit it."""

    def __init__(self, where: Path):
        self.where = where
        self.environment = os.environ | {"PYTHONPATH": str(where), "CI": "1"}
        self.interpreter = interpreter()  # a test of signals, locales or start-up files sets Python itself

    def path(self, name: str) -> Path:
        return self.where / name

    def executed(self, chapter: str, profile: str = "smoke") -> Path:
        return self.where / "build" / "executed" / profile / f"{chapter}.ipynb"

    def command(self, *arguments: str) -> list[str]:
        """A command for a process that is not forked."""
        return [sys.executable, "-m", *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        return self._run([self.interpreter, "-m", *arguments])

    def python(self, *arguments: str) -> subprocess.CompletedProcess:
        """A program that must succeed."""
        done = self._run([self.interpreter, *arguments])
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def calls(self, verb: str, *calls: tuple[str, ...]) -> list[subprocess.CompletedProcess]:
        """What a command answers to several lists of arguments, all in one process that imports it once."""
        done = self.python("-c", CALLS, verb, json.dumps(calls))
        return [subprocess.CompletedProcess(calls, *answer) for answer in json.loads(done.stdout)]

    def stale(self, profile: str = "smoke", accept: bool = False) -> list[str]:
        """The chapters that a build would execute, which are then accepted as if it had; none is started."""
        return self.python("-c", STALE, profile, "yes" * accept).stdout.split()

    def _run(self, command: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run(
            command,
            cwd=self.where,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",  # of those that speak Latin-1
            timeout=300,
        )

    def build(self, profile: str = "smoke", *more: str) -> subprocess.CompletedProcess:
        return self.run("book", "build", "--profile", profile, "--target", "executed", "--cores", "2", *more)

    def built(self, profile: str = "smoke", *more: str) -> subprocess.CompletedProcess:
        """A build that must succeed, else the test says all that it said."""
        outcome = self.build(profile, *more)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        return outcome

    def ran(self, outcome: subprocess.CompletedProcess) -> list[str]:
        """Chapters that a build executed, in the order in which they started."""
        return re.findall(r"^(\w+): running at", outcome.stdout, re.MULTILINE)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.path(name)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def set_parameters(self, profile: str, **chapters: dict) -> None:
        content = {"says": "toy", "pages_s": 1, "memory_gib": 1, "disk_gib": 0.1}
        content["chapters"] = {name: {"budget_s": 5, "parameters": values} for name, values in chapters.items()}
        for number, entry in enumerate(content["chapters"].values()):
            entry["budget_s"] -= number  # the first one is the longest
        self.path(f"notebooks/profiles/{profile}.yaml").write_text(yaml.safe_dump(content))


@pytest.fixture
def toy(tmp_path, root) -> Toy:
    return make(tmp_path, root)


@pytest.fixture(scope="session")
def first_build(tmp_path_factory, root) -> tuple[Toy, subprocess.CompletedProcess]:
    """A small book that nobody edits, and what its one build said."""
    book = make(tmp_path_factory.mktemp("small"), root)
    return book, book.built()


@pytest.fixture
def built(first_build, tmp_path) -> Toy:
    """The small book after its first build: a copy of one that was built once."""
    return copy(first_build[0], tmp_path)


def copy(book: Toy, where: Path) -> Toy:
    """A built book in another folder: with the times of its files, without what holds the old folder's name."""
    shutil.copytree(book.where, where, dirs_exist_ok=True, ignore=shutil.ignore_patterns("listed"))
    return Toy(where)


@functools.cache
def compiled(root: Path) -> tuple[Path, ...]:
    """The packages, compiled once for all small books."""
    packages = root / "lmc_helpers", root / "book" / "tools"
    for package in packages:
        compileall.compile_dir(package, quiet=1)
    return packages


def make(tmp_path: Path, root: Path) -> Toy:
    """The small book in a folder."""
    for package in compiled(root):
        shutil.copytree(package, tmp_path / package.relative_to(root))
    shutil.copytree(root / "book" / "slurm", tmp_path / "book" / "slurm")
    for name in ("Snakefile", "requirements.lock", "_config.yml", "_toc.yml", "book/settings.yml", "book/__main__.py"):
        shutil.copy(root / name, tmp_path / name)
    (tmp_path / "notebooks" / "profiles").mkdir(parents=True)
    made = Toy(tmp_path)
    for name, text in MODULES.items():
        path = tmp_path / "lmc_helpers" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for number, (name, module, id) in enumerate((("first", "alpha", "A1"), ("second", "beta", "B1")), start=1):
        text = CHAPTER.format(title=name, module=module, claim=id)
        (tmp_path / "notebooks" / f"{number:02d}_{name}.py").write_text(text)
    part = {"where": "w", "quantity": "q", "rival": {"value": 9, "says": "nine"}, "expected": "holds"}
    part |= {"whose": "paper", "weight": "headline", "statement": "s"}
    values = {"A1": 1, "B1": 2}
    (tmp_path / "book" / "claims").mkdir()
    write(
        tmp_path / "book" / "claims",
        {id: claim(id[0], parts={"value": part | {"criterion": {"equals": value}}}) for id, value in values.items()},
    )
    for profile in ("smoke", "laptop"):
        made.set_parameters(profile, first={}, second={})
    return made


def complete(where: Path) -> None:
    """Give a small book the files that its pages need."""
    shutil.copytree(TOY, where, dirs_exist_ok=True)
    chapter = where / "notebooks/01_first.py"
    chapter.write_text(chapter.read_text().replace("# # first\n", "# # first\n" + FIGURE))


@pytest.fixture
def clone(toy) -> Toy:
    """The small book as a clone without a commit; what makes one, after an edit."""

    def git(*arguments):
        done = subprocess.run(["git", "-C", str(toy.where), *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(*edit):
        if edit:
            toy.edit(*edit)
        git("add", "--all")
        git("commit", "--quiet", "--message", "a commit")
        return git("rev-parse", "HEAD")

    toy.path(".gitignore").write_text("build/\n.snakemake/\n__pycache__/\n")
    git("init", "--quiet")
    git("config", "user.name", "a")
    git("config", "user.email", "a@b")
    toy.git, toy.commit = git, commit
    return toy


@pytest.fixture
def trained(toy) -> Toy:
    return with_runs(toy)


def with_runs(toy: Toy) -> Toy:
    """The small book, with two runs in front of each chapter, of which they share one; they train without torch."""
    toy.path("torch.py").write_text(TORCH)
    toy.path("lmc_helpers/toys.py").write_text(STUB)
    for chapter in (FIRST, SECOND):
        name = f"notebooks/{chapter}.py"
        toy.edit(name, "name: python3}\n", "name: python3}\n" + HEADER)
        toy.edit(name, "import claims, ", "import claims, toys, ")
        toy.edit(name, "time.sleep(seconds)\n", "print([run.result() for run in toys.runs(size, 0.0)])\n")
    toy.set_parameters("smoke", first={}, second={"size": 4})
    toy.set_parameters("laptop", first={}, second={})
    return toy
