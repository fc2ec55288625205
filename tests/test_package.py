"""The wheel, in an environment of its own that holds what the mathematics needs and nothing else."""

import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NEEDED = ("torch", "numpy", "scipy", "scikit-learn", "jaxtyping", "beartype")
BOOK = ("lmc_helpers.chapter", "lmc_helpers.claims", "lmc_helpers.figures")  # they may need the book's packages
COMPUTE = """
from lmc_helpers import barrier, matching, overlap
from lmc_helpers.data.digits import digits
from lmc_helpers.identifiability import coherence, swap_costs
from lmc_helpers.linear_nets import component
from lmc_helpers.permutation_points import count_ratio
from lmc_helpers.teacher_student import population_loss, sample_minima
import lmc_helpers
W = sample_minima(4, 2, 3, n=1, seed=1)
print(lmc_helpers.__file__, round(overlap.expected_overlap(12, 6), 4), float(population_loss(W, 2).abs().max()) < 1e-12,
      count_ratio(1, 5), len(digits(5)[0]))
"""
IMPORT_ALL = """
import sys
wrong = 0
for name in sys.argv[1:]:
    try:
        __import__(name)
    except BaseException as error:
        wrong += 1
        print(f"{name}: {type(error).__name__}: {error}")
sys.exit(wrong > 0)
"""


def closure(names) -> set[str]:
    """Distributions that some distributions need, themselves among them."""
    found, todo = set(), [canonicalize_name(name) for name in names]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            needs = map(Requirement, distribution(name).requires or ())
            todo += [canonicalize_name(r.name) for r in needs if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory) -> Path:
    """A wheel built from a copy of the sources, so that nothing stale gets in."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    shutil.copytree(root / "lmc_helpers", source / "lmc_helpers", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", out, source]
    subprocess.run(build, check=True, capture_output=True)
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory) -> Path:
    """The interpreter of an environment with the wheel and what the mathematics needs, linked from this one's."""
    where = tmp_path_factory.mktemp("bare")
    venv.create(where, symlinks=True)
    (site,) = where.glob("lib/python*/site-packages")
    for name in closure(NEEDED):
        there = distribution(name)
        for top in {file.parts[0] for file in there.files if ".." not in file.parts}:
            if not (site / top).exists() and top != "__pycache__":
                (site / top).symlink_to(there.locate_file(top))
    zipfile.ZipFile(wheel).extractall(site)
    return where / "bin" / "python"


def run(python, *arguments, cwd) -> subprocess.CompletedProcess:
    return subprocess.run([python, *arguments], cwd=cwd, capture_output=True, text=True, env={"HOME": str(cwd)})


def test_the_environment_lacks_what_the_book_needs(bare, tmp_path):
    code = "import sys; from importlib.util import find_spec; print(*map(find_spec, sys.argv[1:]))"
    outcome = run(bare, "-c", code, "matplotlib", "IPython", "yaml", "tqdm", "pydantic", cwd=tmp_path)
    assert outcome.stdout.split() == ["None"] * 5, outcome.stdout + outcome.stderr


def test_the_promised_names_compute_there_and_every_module_of_the_mathematics_imports(root, bare, tmp_path):
    names = [".".join(path.relative_to(root).with_suffix("").parts) for path in (root / "lmc_helpers").rglob("*.py")]
    names = sorted(name.removesuffix(".__init__") for name in names)
    ours = [name for name in names if not name.startswith(BOOK)]
    assert len(ours) > 40
    outcome = run(bare, "-c", COMPUTE + IMPORT_ALL, *ours, cwd=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    place, *values = outcome.stdout.split()
    assert Path(place).is_relative_to(bare.parents[1])
    assert values[1:] == ["True", "2", "5"], outcome.stdout


@pytest.mark.slow  # tests/wheel/run.sh runs them in a real environment
def test_the_five_lines_and_the_examples_of_all_public_names_run_there(root, bare, tmp_path):
    outcome = run(bare, "-I", root / "tests" / "wheel" / "examples.py", cwd=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert int(outcome.stdout.split()[-4]) > 50


def test_outside_the_checkout_the_ledger_is_missed_in_one_sentence(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = "import sys; sys.path.insert(0, '.'); from lmc_helpers import claims; claims.part('Z1.sampled')"
    outcome = run(sys.executable, "-I", "-c", code, cwd=tmp_path)
    line = outcome.stderr.splitlines()[-1]
    assert line.startswith("lmc_helpers.claims.intervals.LedgerError: ")
    assert str(tmp_path / "book" / "claims") in line and "checkout" in line


def test_the_wheel_holds_the_style_and_nothing_of_the_book(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"lmc_helpers/figures/book.mplstyle", "lmc_helpers/py.typed"} <= set(names)
    assert all(name.startswith(("lmc_helpers/", "lmc-")) for name in names)
