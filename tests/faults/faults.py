"""Does the suite notice a small fault? Draw some, plant them one by one, and run the tests that import the file.

python tests/faults/faults.py draw COMMIT              # 45 faults in the mathematics, 15 in the pipeline → faults.json
python tests/faults/faults.py run NAME [--tree TREE]   # → NAME.json; goes on where it was stopped

``run`` works in a scratch clone of TREE (by default this repository). For each fault it runs the tests that import the
file, nearest first, then the chapters that import it under nbval, to the first failure and for ten minutes at most.
A fault is found again by its function and its line, so that it can be planted after the code has moved; ``now`` in
faults.json has those whose line was rewritten.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMIT_S = 600
MATHEMATICS, PIPELINE = 45, 15
#: The pipeline; the rest of lmc_helpers is mathematics.
PIPELINE_FILES = ("book/tools/", "lmc_helpers/claims/", "lmc_helpers/chapter.py", "lmc_helpers/training/_run_files.py")
#: Not drawn from: what only draws or refuses arguments, pages (the runs have no built book), what is being replaced.
LEFT_OUT = re.compile(
    r"expect/|figures/|data/download|/pages/|/extensions/|guards|computing|parsing|numpy_algebra|workers|prepared"
    r"|kernels|stamps|supervise|leftovers|locking|alone|whole|yaml_files|machines|sweep|schemas|archive|reports|compare"
    r"|cluster|lock\.py|training/progress|assemble|spread"
)
SWAPS = {
    ast.Add: ("+", "-", "sign"),
    ast.Sub: ("-", "+", "sign"),
    ast.Mult: ("*", "/", "factor"),
    ast.Div: ("/", "*", "factor"),
    ast.Lt: ("<", "<=", "off by one"),
    ast.LtE: ("<=", "<", "off by one"),
    ast.Gt: (">", ">=", "off by one"),
    ast.GtE: (">=", ">", "off by one"),
    ast.Eq: ("==", "!=", "condition"),
    ast.NotEq: ("!=", "==", "condition"),
    ast.And: ("and", "or", "condition"),
    ast.Or: ("or", "and", "condition"),
}
NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "any": "all", "all": "any"}
NAMES |= {"sum": "mean", "mean": "sum", "sin": "cos", "cos": "sin", "ceil": "floor", "amax": "amin", "amin": "amax"}

NAMED = (  # two that a draw would hardly hit
    (
        "skipped second seed",
        "lmc_helpers/claims/judge.py",
        "judge",
        0,
        'if part.sampled and places["criterion"] == OUTSIDE and again is not None:',
        'if part.sampled and places["criterion"] == OUTSIDE and again is None:',
    ),
    ("stale cache", "book/tools/running/listing.py", "jobs", 0, "if not _fits(entry, key):", "if not entry:"),
)


@dataclass(frozen=True)
class Fault:
    """One line of one function, as it is and as it should not be."""

    number: int
    kind: str
    file: str
    function: str
    occurrence: int  # of the line in the function
    before: str
    after: str
    now: dict[str, str] | None = None  # function, before and after, where the line was rewritten since


# ---- drawing


def candidates(path: Path, file: str) -> Iterator[tuple[str, str, int, str, str]]:
    """Every small fault of a file: its kind, function, occurrence of the line, the line before and after."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for name, function in functions(ast.parse(text)):
        body = [line.strip() for line in lines[function.lineno - 1 : function.end_lineno]]
        for kind, row, first, last, new in sorted(set(_changes(function, lines))):
            line = lines[row - 1]
            after = (line[:first] + new + line[last:]).strip()
            occurrence = body[: row - function.lineno].count(line.strip())
            yield kind, name, occurrence, line.strip(), after


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods, by their names; a function inside another belongs to it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")


def _changes(function: ast.FunctionDef, lines: list[str]) -> Iterator[tuple[str, int, int, int, str]]:
    """Changes in a function: kind, row, first and last column, new text; nothing in what refuses or words errors."""
    todo: deque[ast.AST] = deque(function.body)
    while todo:
        node = todo.popleft()
        if _only_refuses(node):
            continue
        todo.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare):
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) else None
            parts = parts or (node.values if isinstance(node, ast.BoolOp) else [node.left, *node.comparators])
            kinds = node.ops if isinstance(node, ast.Compare) else [node.op] * (len(parts) - 1)
            for a, op, b in zip(parts, kinds, parts[1:], strict=False):
                if _is_text(a) or _is_text(b):  # a path
                    continue
                if type(op) in SWAPS and a.end_lineno == b.lineno:
                    old, new, kind = SWAPS[type(op)]
                    gap = lines[b.lineno - 1].encode()[a.end_col_offset : b.col_offset].decode()
                    if gap.strip() == old and lines[b.lineno - 1].isascii():
                        yield kind, b.lineno, a.end_col_offset, b.col_offset, gap.replace(old, new)
            one = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Constant)
            if one and node.left.value == 1 and _short(node, lines):
                yield "swapped λ", node.lineno, node.col_offset, node.end_col_offset, ast.unparse(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _short(node, lines):
            if not isinstance(node.operand, ast.Constant):
                yield "sign", node.lineno, node.col_offset, node.end_col_offset, ast.unparse(node.operand)
        elif isinstance(node, ast.keyword) and node.arg in ("dim", "axis") and _short(node.value, lines):
            axis = {"-1": "-2", "-2": "-1", "0": "1", "1": "0"}.get(ast.unparse(node.value))
            if axis:
                value = node.value
                yield "wrong axis", value.lineno, value.col_offset, value.end_col_offset, axis
        elif isinstance(node, ast.Subscript):
            for index in ast.walk(node.slice):
                if isinstance(index, ast.Constant) and type(index.value) is int and _short(index, lines):
                    yield "index", index.lineno, index.col_offset, index.end_col_offset, str(index.value + 1)
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and _short(node.func, lines)
        ):
            name = ast.unparse(node.func)
            last = name.rpartition(".")[2]
            if last in NAMES:
                end = node.func.end_col_offset
                yield "function", node.lineno, end - len(last), end, NAMES[last]
            if last == "range" and len(node.args) == 1 and _short(node.args[0], lines):
                value = node.args[0]
                yield "off by one", value.lineno, value.end_col_offset, value.end_col_offset, " - 1"
        elif isinstance(node, ast.If) and _short(node.test, lines):
            test = node.test
            yield "condition", test.lineno, test.col_offset, test.end_col_offset, f"not ({ast.unparse(test)})"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _short(node, lines):
            yield "skipped step", node.lineno, node.col_offset, node.end_col_offset, "pass"


def _short(node: ast.AST, lines: list[str]) -> bool:
    return node.lineno == node.end_lineno and lines[node.lineno - 1].isascii()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _only_refuses(node: ast.AST) -> bool:
    if isinstance(node, ast.If) and all(isinstance(step, ast.Raise) for step in node.body) and not node.orelse:
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func).startswith(("expect.", "_check", "_require", "self._check"))
    return isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert | ast.FunctionDef) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def draw(commit: str) -> list[Fault]:
    """The faults that a commit's id draws: a file by chance, then a kind, then a line."""
    rng, chosen = random.Random(commit), []
    files = [
        path.relative_to(ROOT).as_posix()
        for folder in ("lmc_helpers", "book/tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    files = [file for file in files if not LEFT_OUT.search(file) and not file.endswith("__init__.py")]
    pools = [[f for f in files if f.startswith(PIPELINE_FILES) is pipeline] for pipeline in (False, True)]
    for pool, count in zip(pools, (MATHEMATICS, PIPELINE), strict=True):
        rng.shuffle(pool)
        queue = deque(pool)
        while count > (len(NAMED) if pool is pools[1] else 0):
            file = queue.popleft()
            queue.append(file)
            found = list(candidates(ROOT / file, file))
            if not found:
                continue
            kind = rng.choice(sorted({fault[0] for fault in found}))
            fault = rng.choice([fault for fault in found if fault[0] == kind])
            kind, name, occurrence, before, after = fault
            chosen.append(Fault(len(chosen), kind, file, name, occurrence, before, after))
            count -= 1
    return chosen + [Fault(len(chosen) + k, *named) for k, named in enumerate(NAMED)]


# ---- planting


def plant(fault: Fault, tree: Path) -> Path | None:
    """Write a fault into a tree; None if its line is no longer there."""
    if fault.now and (path := plant(replace(fault, now=None, **fault.now), tree)):
        return path
    folders = [tree / name for name in ("lmc_helpers", "book/tools")]
    others = sorted(path for folder in folders for path in folder.rglob("*.py"))
    last = fault.function.rpartition(".")[2]
    for path in [tree / fault.file, *others]:
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        for name, function in functions(ast.parse(text)):
            rows = range(function.lineno - 1, function.end_lineno)
            at = [row for row in rows if lines[row].strip() == fault.before]
            if name.rpartition(".")[2] == last and len(at) > fault.occurrence:
                row = at[fault.occurrence]
                lines[row] = lines[row].replace(fault.before, fault.after)
                path.write_text("".join(lines), encoding="utf-8")
                return path
    return None


# ---- the tests that import a file


def imports(path: Path, modules: dict[str, Path]) -> set[Path]:
    """The files of the repository that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        found |= {modules[name] for name in names if name in modules}
    return found


def tests_of(tree: Path, path: Path) -> list[str]:
    """Test files that import a file, nearest first, then the reference notebooks of the chapters that do."""
    sources = [p for folder in ("lmc_helpers", "book/tools", "tests") for p in sorted((tree / folder).rglob("*.py"))]
    chapters = sorted((tree / "notebooks").glob("*.py"))
    modules = {}
    for source in sources:
        parts = source.relative_to(tree).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = source
        modules[name.removeprefix("tests.")] = source
    importers: dict[Path, list[Path]] = {}
    for source in sources + chapters:
        for target in imports(source, modules) - {source}:
            importers.setdefault(target, []).append(source)
    distance, todo = {path: 0}, deque([path])
    while todo:
        here = todo.popleft()
        for source in importers.get(here, []):
            if source not in distance:
                distance[source] = distance[here] + 1
                todo.append(source)
    tests = [p for p in sources if p.name.startswith("test_") and "cluster" not in p.parts and "faults" not in p.parts]
    mirror = f"test_{path.stem}.py"
    near = sorted((p for p in tests if p in distance), key=lambda p: (p.name != mirror, distance[p], p))
    if "book" in path.relative_to(tree).parts:  # tests of builds run the tools, and need not import them
        near += [p for p in tests if p not in distance and "book" in p.relative_to(tree).parts]
    reached = [tree / "tests" / "reference" / f"{p.stem}.ipynb" for p in chapters if p in distance]
    return [p.relative_to(tree).as_posix() for p in near + [p for p in reached if p.exists()]]


def run(fault: Fault, tree: Path) -> dict:
    """Plant one fault in a clean tree and run the tests; what came of it."""
    subprocess.run(["git", "-C", str(tree), "checkout", "-q", "--", "."], check=True)
    path = plant(fault, tree)
    if path is None:
        return {"outcome": "not there"}
    start = time.time()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "--nbval-lax",
        "--nbval-current-env",
    ]
    environment = os.environ | {"PYTHONPATH": str(tree), "LMC_OFFLINE": "1"}
    try:
        done = subprocess.run(
            [*command, *tests_of(tree, path)],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return {"outcome": "not caught in time", "seconds": LIMIT_S}
    seconds = round(time.time() - start)
    by = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode == 0:
        return {"outcome": "survived", "seconds": seconds}
    return {"outcome": "caught", "by": by[1] if by else done.stdout[-300:], "seconds": seconds}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("draw").add_argument("commit")
    running = commands.add_parser("run")
    running.add_argument("name")
    running.add_argument("--tree", type=Path, default=ROOT)
    running.add_argument("--scratch", type=Path, default=ROOT / "build" / "faults")
    given = parser.parse_args()
    if given.command == "draw":
        faults = draw(given.commit)
        (HERE / "faults.json").write_text(json.dumps([asdict(fault) for fault in faults], indent=1) + "\n")
        print(Counter(fault.kind for fault in faults))
        return 0
    faults = [Fault(**entry) for entry in json.loads((HERE / "faults.json").read_text())]
    out = HERE / f"{given.name}.json"
    found = json.loads(out.read_text()) if out.exists() else {}
    if not given.scratch.exists():
        subprocess.run(["git", "clone", "-q", str(given.tree), str(given.scratch)], check=True)
    for fault in faults:
        if str(fault.number) not in found:
            found[str(fault.number)] = run(fault, given.scratch)
            out.write_text(json.dumps(found, indent=1) + "\n")
            print(fault.number, fault.kind, fault.file, found[str(fault.number)], flush=True)
    print(Counter(outcome["outcome"] for outcome in found.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
