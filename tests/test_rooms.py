"""The layout of lmc_helpers: arrows run one way, doors list their files, files have their tests, nothing is unused."""

import ast
import re

from layout import ROOT, House, name, not_listed, tree

HOUSE = House("lmc_helpers")
FILES, ROOMS = HOUSE.files, HOUSE.rooms
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
        "_chapters": FOUNDATIONS | PARTS | BOOK | {"alignment", "_chapters"},
    }
    | {"claims": BASE | {"claims"}, "figures": BASE | BOOK}
)
ALIASES = {HOUSE.folder / "overlap.py"}  # names of a room where readers look for them
FOR_READERS = {"lmc_helpers.identifiability.asymmetric.FiGLU"}  # one network; chapter 53 trains stacks of them


def test_the_rooms_are_known():
    assert {folder.name for folder in ROOMS} == set(MAY_IMPORT) - {""}


def test_arrows_run_one_way():
    checked = [path for path in FILES if path not in ALIASES]
    wrong = {name(path): HOUSE.wrong_way(path, MAY_IMPORT[HOUSE.room(name(path))]) for path in checked}
    assert {file: modules for file, modules in wrong.items() if modules} == {}


def test_there_are_no_circles():
    assert set(map(name, FILES)) <= set(HOUSE.in_order())


def test_a_door_lists_its_files():
    missing = {folder.name: not_listed(folder) for folder in ROOMS if folder.name != "_chapters"}
    assert {room: files for room, files in missing.items() if files} == {}


def test_every_file_has_its_test():
    tested = [path for path in FILES if path not in ALIASES]
    tests = [ROOT / "tests" / path.relative_to(ROOT).with_name(f"test_{path.name}") for path in tested]
    assert [str(path.relative_to(ROOT)) for path in tests if not path.exists()] == []


def test_every_public_name_is_used():
    """By a chapter, a benchmark, a tool of the book or another place of the package; a test of its own is no use."""
    users = [*FILES, *(ROOT / "notebooks").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    users += [*House("book.tools").files, *(folder / "__init__.py" for folder in ROOMS)]
    words = {}
    for path in users:
        words[path] = set()
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                words[path].add(node.id)
            elif isinstance(node, ast.Attribute):
                words[path].add(node.attr)
            elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
                words[path].update(alias.name for alias in node.names)
    unused = [
        f"{name(path)}.{node.name}"
        for path in FILES
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not re.match("_", node.name)
        and not any(node.name in words[user] for user in users)
    ]
    assert set(unused) == FOR_READERS
