"""What a chapter depends on: modules by Python's own list of them, files by a rule that needs no git."""

import ast
import subprocess
import sys

import pytest

from book.tools.read import chapters, inputs, sources
from book.tools.read.chapters import BuildError


def test_a_package_needs_what_its_init_imports(toy, monkeypatch):
    found = sources.Sources(toy.where).modules("01_first")
    assert {"lmc_helpers", "lmc_helpers.alpha", "lmc_helpers.alpha.core", "lmc_helpers.gamma"} <= set(found)
    assert not {"lmc_helpers.alpha.spare", "lmc_helpers.delta", "lmc_helpers.beta"} & set(found)
    assert found["lmc_helpers.alpha"] == toy.path("lmc_helpers/alpha/__init__.py")
    expected = sources.Sources(toy.where).modules("01_first")
    parsed = []
    monkeypatch.setattr(ast, "parse", lambda content, real=ast.parse: parsed.append(1) or real(content))
    assert sources.Sources(toy.where).modules("01_first") == expected and not parsed
    toy.edit("lmc_helpers/gamma.py", "return 1", "return 2")
    assert sources.Sources(toy.where).modules("01_first") == expected and len(parsed) == 1


IMPORTS = {
    "import lmc_helpers.alpha.spare as x": "lmc_helpers.delta",
    "from lmc_helpers.alpha import spare": "lmc_helpers.delta",
    "from lmc_helpers.alpha.spare import delta": "lmc_helpers.delta",
    "def f():\n    from lmc_helpers import delta": "lmc_helpers.delta",
    "from lmc_helpers.alpha.spare import *": "lmc_helpers.alpha.spare",
    "from lmc_helpers.lazy import four": "lmc_helpers.delta",
    "from lmc_helpers.lazy import *": "lmc_helpers.delta",
    "from lmc_helpers import lazy\nlazy.four()": "lmc_helpers.delta",
    "import lmc_helpers.lazy\nlmc_helpers.lazy.four()": "lmc_helpers.delta",
    "import lmc_helpers.lazy as x\nprint(x)": "lmc_helpers.delta",
}
NO_IMPORTS = (
    "from lmc_helpers.lazy import one",
    "from lmc_helpers import lazy\nlazy.one()\nx.four()",
    "from lmc_helpers import lazy as x\nx.one.four",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lmc_helpers import delta",
)
RELATIVE = {
    "from .core import value": "lmc_helpers.alpha.core",
    "from . import spare": "lmc_helpers.alpha.spare",
    "from ..delta import value": "lmc_helpers.delta",
}
LAZY = {
    "__init__.py": "from lmc_helpers.lazy import attach\n__getattr__, __dir__, __all__ = attach(__name__, __file__)\n",
    "__init__.pyi": "from lmc_helpers.delta import four as four\nfrom lmc_helpers.gamma import one as one\n",
}
WRONG = {
    "from lmc_helpers import nothing": "needs lmc_helpers.nothing, which does not exist",
    "from lmc_helpers.alpha.nothing import x": "needs lmc_helpers.alpha.nothing, which does not exist",
    "import lmc_helpers.nothing.more": "needs lmc_helpers.nothing, which does not exist",
    "x = 1\ny = (": "02_second.py, line 2: ",
}


def test_every_way_to_import_is_seen(toy):
    toy.path("lmc_helpers/lazy").mkdir()
    for name in ("__init__.py", "__init__.pyi"):
        toy.path(f"lmc_helpers/lazy/{name}").write_text(LAZY[name])
    for statement, module in IMPORTS.items():
        toy.path("notebooks/02_second.py").write_text(statement)
        assert module in sources.Sources(toy.where).modules("02_second"), statement
    for statement in NO_IMPORTS:
        toy.path("notebooks/02_second.py").write_text(statement)
        assert "lmc_helpers.delta" not in sources.Sources(toy.where).modules("02_second"), statement
    for statement, module in RELATIVE.items():
        toy.path("lmc_helpers/alpha/__init__.py").write_text(statement)
        assert module in sources.Sources(toy.where).modules("01_first"), statement
    for statement, said in WRONG.items():
        toy.path("notebooks/02_second.py").write_text(statement)
        with pytest.raises(BuildError, match=said):
            sources.Sources(toy.where).modules("02_second")


#: The modules that each piece of code makes Python execute, in processes that have imported what is not ours once.
EXECUTED = """
import os, sys
import matplotlib.pyplot, scipy.stats, torch

for code in sys.argv[1:]:
    if os.fork() == 0:
        exec(code)
        print(*(name for name in sys.modules if name.partition(".")[0] == "lmc_helpers"), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


def test_python_executes_no_module_that_the_graph_lacks():
    """Python's own list, for the chapters that import the most and the least, and one that imports what it uses."""
    known = sources.Sources()
    by_size = sorted(chapters.chapters(), key=lambda c: len(known.modules(c)))
    picked, codes = (by_size[0], by_size[-1], "63_your_networks"), []
    for chapter in picked:
        tree = ast.parse((chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8"))
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute)]
        texts = {ast.unparse(node): type(node) for node in nodes}
        code = [text for text, kind in texts.items() if kind is not ast.Attribute and "lmc_helpers" in text]
        code += [text for text in texts if text.startswith("lmc.") and text.count(".") == 1]
        codes.append("\n".join(code))
    said = subprocess.check_output([sys.executable, "-c", EXECUTED, *codes], cwd=known.root, text=True).splitlines()
    for chapter, names in zip(picked, map(str.split, said), strict=True):
        assert 2 < len(names) and set(names) <= set(known.modules(chapter)), chapter


SAME = (
    ("def value", "# a comment\ndef value"),
    ("def value():", 'def value():\n    """One."""\n'),
    ("return 1", "return (\n        1\n    )"),
)


def test_words_make_nothing_stale_and_code_does(toy):
    def summary():
        return sources.Sources(toy.where).sums_behind("lmc_helpers.gamma")

    path = toy.path("lmc_helpers/gamma.py")
    text = path.read_text()
    first = summary()
    for old, new in SAME:
        path.write_text(text.replace(old, new))
        assert summary() == first, new
    path.write_text(text.replace("1", "'1'"))
    assert summary() != first


CELLS = '# ---\n# x\n# ---\n\n# %% [markdown]\n# Text.\n\n# %% tags=["a"]\nx = 1\n\n# %%\n"text"\n'
OTHER = (
    *(("x = 1", "x = 2"), ('"a"', '"b"'), ("# x", "# y"), ("# %%\n", ""), ('"text"', '"t"')),
    ("x = 1", "x = 1\n\n# %%"),
)


def test_a_chapter_is_its_cells_with_their_tags(toy):
    def code(text):
        toy.path("notebooks/02_second.py").write_text(text)
        return sources.Sources(toy.where).chapter("02_second").code

    first = code(CELLS)
    same = ("Text", "Other"), ("x = 1", "x = 1  # y"), ("[markdown]", "[markdown] tags=[]"), ("Text.", "a\n# b")
    for old, new in same:
        assert code(CELLS.replace(old, new)) == first, new
    for old, new in OTHER:
        assert code(CELLS.replace(old, new)) != first, new


def test_a_recorded_second_seed_is_a_source_below_paper_scale(monkeypatch):
    def summaries() -> list[str]:
        return [sources.Sources().summary("15_barrier_peak", profile) for profile in ("laptop", "paper")]

    before = summaries()
    monkeypatch.setattr(inputs, "listed", lambda path: [])
    assert [a == b for a, b in zip(before, summaries(), strict=True)] == [False, True]


@pytest.mark.parametrize(
    ("chapter", "part"),
    [
        ("18_sparsity", "Z9.uniform_least_equal"),
        ("14_barrier_rate", "Z5.rate_unsorted"),
        ("43_center_gap", "I6.exponent_2"),
    ],
    ids=["constant", "variable", "f-string"],
)
def test_a_record_that_a_chapter_draws_is_a_source(monkeypatch, chapter, part):
    listed = inputs.listed

    def summary(changed: str) -> str:
        def drawn(path):
            return [one | {"value": 0.5} if one["part"] == changed else one for one in listed(path)]

        monkeypatch.setattr(inputs, "listed", drawn)
        return sources.Sources().summary(chapter, "paper")

    assert summary(part) != summary("") == summary("P1.same_loss")


LEFT_BEHIND = [
    *("notebooks/.ipynb_checkpoints/01_first-checkpoint.py", "book/.DS_Store", "book/api.md~", "book/#api.md#"),
    *("book/.api.md.swp", "lmc_helpers/__pycache__/beta.cpython-311.pyc", "lmc_helpers/beta.pyc", "book/api.md.orig"),
    *("lmc_helpers/.mypy_cache/x.json", "lmc_companion.egg-info/PKG-INFO", "book/.#api.md", "book/x.tmp"),
]


def test_what_is_no_source_makes_nothing_stale(toy):
    before = sources.Sources(toy.where).book_summary()
    for name in LEFT_BEHIND:
        toy.path(name).parent.mkdir(parents=True, exist_ok=True)
        toy.path(name).write_text("left behind")
    assert sources.Sources(toy.where).book_summary() == before
    toy.path("book/new.md").write_text("a source")
    assert sources.Sources(toy.where).book_summary() != before


def test_every_tracked_file_is_a_source_and_no_ignored_one(root):
    git = ["git", "-C", str(root)]
    trees = ("book", "lmc_helpers", "notebooks")
    listed = subprocess.run([*git, "ls-files", "-z", "--", *trees], capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    found = {path.relative_to(root).as_posix() for tree in trees for path in sources.files(root / tree)}
    tracked = {name for name in listed.stdout.split("\0") if name and (root / name).exists()}
    assert tracked <= found
    ignored = subprocess.run([*git, "check-ignore", *sorted(found)], capture_output=True, text=True)
    assert ignored.stdout.split() == []
