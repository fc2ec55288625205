"""The packages below lmc_helpers and book/tools: imports run one way, nothing is unused."""

import ast
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = {"teacher_student", "permutation_points", "linear_nets", "orbits", "identifiability"}
SHOWN = {"claims", "figures"}  # what chapters show, no mathematics
BASE = {""}  # the files beside the packages
FOUNDATIONS = BASE | {"data", "networks", "training"}
HELPERS = {part: FOUNDATIONS | {part} for part in PARTS}
HELPERS |= {name: BASE | {name} for name in ("claims", "data", "networks")} | {"figures": BASE | SHOWN}
HELPERS |= {"": BASE, "training": FOUNDATIONS, "alignment": FOUNDATIONS | {"alignment"}}
HELPERS["modules"] = FOUNDATIONS | PARTS | {"alignment", "figures", "modules"}
HELPERS["_chapters"] = FOUNDATIONS | PARTS | SHOWN | {"alignment", "modules", "_chapters"}
ORDER = ("read", "run", "record", "render")
TOOLS = {name: set(ORDER[: k + 1]) for k, name in enumerate(ORDER)} | {"": set(ORDER)}
MAY_IMPORT = {"lmc_helpers": HELPERS, "book.tools": TOOLS}
#: What is beside the packages because readers look for it there: names of them, and the command.
ALIASES = {"lmc_helpers", "lmc_helpers.__main__", "lmc_helpers.overlap", "lmc_helpers.theory"}
CROSSES = {"lmc_helpers._chapters"}  # private, and yet imported from elsewhere: a chapter's own code
#: Most lines of Python in each, stubs included; a commit that raises a number says why.
BUDGETS = {"lmc_helpers": 23_260, "lmc_helpers/_chapters": 7_480, "book": 8_245, "tests": 27_610, "notebooks": 33_860}


def name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def files(package: str) -> list[Path]:
    return sorted(ROOT.joinpath(*package.split(".")).rglob("*.py"))


@cache
def modules(package: str) -> set[str]:
    return set(map(name, files(package)))


@cache
def imported(path: Path, package: str) -> set[str]:
    """Modules of the package that a file imports, at its top or inside a function."""
    known, found = modules(package), set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & known or {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith(package)}
    return found - {name(path)}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_run_one_way(package):
    def subpackage(module: str) -> str:
        first = module.removeprefix(package).removeprefix(".").partition(".")[0]
        return first if (ROOT.joinpath(*package.split(".")) / first).is_dir() else ""

    graph = {name(path): imported(path, package) for path in files(package)}
    wrong = {
        module: other
        for module, others in graph.items()
        for other in others
        if module not in ALIASES and subpackage(other) not in MAY_IMPORT[package][subpackage(module)]
    }
    assert wrong == {}
    assert set(graph) <= set(TopologicalSorter(graph).static_order())  # a CycleError names a circle


def test_nothing_private_crosses_a_border():
    """A private module is imported inside the folder that holds it, a private name in the folder of its module."""
    others = [path for folder in ("notebooks", "benchmarks") for path in (ROOT / folder).glob("*.py")]
    crossed = []
    for path in [*files("lmc_helpers"), *files("book.tools"), *others]:
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for steps in ((module + alias.name).split(".") for alias in node.names):
                k = next((k for k, step in enumerate(steps) if step.startswith("_")), None)
                if steps[0] not in ("lmc_helpers", "book") or k is None or ".".join(steps[: k + 1]) in CROSSES:
                    continue
                home = ROOT.joinpath(*steps[:k])
                if not (home in path.parents if home.is_dir() else home.parent == path.parent):
                    crossed.append((name(path), ".".join(steps)))
    assert crossed == []


def test_one_file_one_chapter():
    """Each file of _chapters is imported by one notebook and by no other file; what two need belongs to a package."""
    folder = "lmc_helpers._chapters"
    assert [name(path) for path in files(folder) if imported(path, folder)] == []
    used = Counter(module for path in (ROOT / "notebooks").glob("*.py") for module in imported(path, folder))
    assert used == Counter(map(name, files(folder)[1:]))


@pytest.mark.parametrize("folder", BUDGETS)
def test_no_package_exceeds_its_budget(folder):
    paths = [path for path in (ROOT / folder).rglob("*.py*") if path.suffix != ".pyc"]
    inner = [ROOT / other for other in BUDGETS if other.startswith(f"{folder}/")]
    counted = [path for path in paths if not any(other in path.parents for other in inner)]
    assert sum(len(path.read_text("utf-8").splitlines()) for path in counted) <= BUDGETS[folder]


def test_every_public_name_is_used():
    """By a chapter, a benchmark, a tool of the book or the package itself; a test of its own is no use."""
    others = [path for folder in ("notebooks", "benchmarks") for path in (ROOT / folder).glob("*.py")]
    words = set(import_module("lmc_helpers").__all__)  # the front door; a stub of a package below uses nothing
    for path in [*files("lmc_helpers"), *files("book.tools"), *others]:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                words.add(node.id)
            elif isinstance(node, ast.Attribute):
                words.add(node.attr)
            elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
                words |= {alias.name for alias in node.names}
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {node.name for path in files("lmc_helpers") for node in tree(path).body if isinstance(node, kinds)}
    assert not {made for made in defined - words if not made.startswith("_")}
