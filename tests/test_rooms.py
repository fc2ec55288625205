"""The layout of lmc_helpers: arrows run one way, doors list their files, files have their tests, nothing is unused."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lmc_helpers"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
ROOMS = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
PARTS = {"teacher_student", "permutation_points", "linear_nets", "symmetry", "identifiability"}
BOOK = {"claims", "figures"}  # what the chapters show, no mathematics
BASE = {"", "expect"}  # the files beside the rooms, and what arguments may be
FOUNDATIONS = BASE | {"data", "networks", "training"}
MAY_IMPORT = (
    {room: FOUNDATIONS | {room} for room in PARTS}
    | {
        "": BASE,
        "expect": {"expect"},
        "data": BASE | {"data"},
        "networks": BASE | {"networks"},
        "training": FOUNDATIONS,
        "alignment": BASE | {"networks", "alignment"},
        "experiments": FOUNDATIONS | PARTS | {"alignment", "experiments"},
    }
    | {room: BASE | {room} for room in BOOK}
)
ALIASES = {PACKAGE / "overlap.py"}  # names of a room where readers look for them
WAITING = {  # for the chapters on real networks
    "lmc_helpers.identifiability.asymmetric.FiGLU",
}
WAITING_FILES = (
    *(f"lmc_helpers.networks.{file}." for file in ("permutations", "segments", "cnn", "resnet", "vit")),
    "lmc_helpers.alignment.",
)


def name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if (PACKAGE / parts[1]).is_dir() else ""


def imported(path: Path) -> set[str]:
    """Modules of the package that a file imports, at its top or inside a function, but not in examples."""
    known = {name(file) for file in [*FILES, *(folder / "__init__.py" for folder in ROOMS)]}
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lmc_helpers"):
            modules = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found |= modules or {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("lmc_helpers")}
    return found


def test_the_rooms_are_known():
    assert {folder.name for folder in ROOMS} == set(MAY_IMPORT) - {""}


@pytest.mark.parametrize("path", FILES, ids=name)
def test_arrows_run_one_way(path):
    if path not in ALIASES:
        here = room(name(path))
        wrong = [module for module in sorted(imported(path)) if room(module) not in MAY_IMPORT[here]]
        assert not wrong


def test_there_are_no_circles():
    graph = {name(path): imported(path) - {name(path)} for path in FILES}
    list(TopologicalSorter(graph).static_order())  # raises CycleError


@pytest.mark.parametrize("folder", ROOMS, ids=lambda folder: folder.name)
def test_a_door_lists_its_files(folder):
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    missing = [path.stem for path in folder.glob("*.py") if path.name != "__init__.py" and path.stem not in text]
    assert not missing


@pytest.mark.parametrize("path", FILES, ids=name)
def test_every_file_has_its_test(path):
    if path not in ALIASES:
        assert (ROOT / "tests" / path.relative_to(ROOT).with_name(f"test_{path.name}")).exists()


def test_every_public_name_is_used():
    """By a chapter, a benchmark, a tool of the book or another place of the package; a test of its own is no use."""
    users = [*FILES, *(ROOT / "notebooks").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    users += [*(ROOT / "book" / "tools").glob("*.py"), *(folder / "__init__.py" for folder in ROOMS)]
    words = {}
    for path in users:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        names += [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)]
        if path.name == "__init__.py":
            names += [a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names]
        words[path] = set(names)
    unused = [
        f"{name(path)}.{node.name}"
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not re.match("_", node.name)
        and not any(node.name in words[user] for user in users)
    ]
    assert {public for public in unused if not public.startswith(WAITING_FILES)} == WAITING
