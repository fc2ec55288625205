"""Statements that can only refuse change no digest of what is computed; everything else does."""

import ast
import textwrap

import pytest

from book.tools.base import chapters
from book.tools.reading import guards, sources
from book.tools.reading.computing import SHOWN_ONLY, significant

BEFORE = '''
import torch

from lmc_helpers import seeds

LARGEST = 9


def f(W, m, rng, kind="a", xs=()):
    """What it does."""
    if m > 3:
        W = 2 * W
    for k in range(m):
        W = W + k
    return W.sum()
'''
PLACE = "    if m > 3:\n"


def with_line(statement: str, place: str = PLACE) -> str:
    return BEFORE.replace(place, textwrap.indent(statement, "    ") + "\n" + place)


ONLY_REFUSE = [
    'if m < 1:\n    raise ValueError(f"m = {m}; allowed: m >= 1")',
    'if W.ndim != 2 or min_is(W):\n    raise ValueError("W")'.replace(" or min_is(W)", " or len(W) < m"),
    'if not torch.isfinite(W).all():\n    raise ValueError(f"W is {W}; allowed: finite")',
    'if not isinstance(m, int) or isinstance(m, bool):\n    raise TypeError("m")',
    'if kind not in ("a", "b"):\n    raise ValueError(f"kind = {kind!r}; allowed: a, b")',
    "if m > LARGEST:  # why\n    # and more\n    raise ValueError(\n        f'm = {m}; at most {LARGEST}'\n    )",
    'if W.shape[-1] % 2 != 0 if W.dim() else W.numel() == 0:\n    raise ValueError("W")',
    'for k in (1, 2):\n    if W[k] < 0:\n        raise ValueError("W")',
]


@pytest.mark.parametrize("statement", ONLY_REFUSE[:-1])
def test_a_guard_changes_nothing(statement):
    assert significant(with_line(statement)) == significant(BEFORE)


def test_a_guard_in_a_loop_changes_nothing_but_its_loop():
    bare = with_line("for k in (1, 2):\n    pass")
    assert "raise" not in significant(with_line(ONLY_REFUSE[-1]))
    assert significant(with_line(ONLY_REFUSE[-1])) == significant(bare).replace("\n        pass", "")


COMPUTES = {
    "a computing line": "W = W + 0",
    "an assertion": "assert m > 0",
    "a walrus": 'if (m := m + 1) < 1:\n    raise ValueError("m")',
    "a walrus inside": 'if m < 1 or [m := 2]:\n    raise ValueError("m")',
    "a random number": 'if rng.random() < 0:\n    raise ValueError("m")',
    "a random number of torch": 'if torch.rand(1).item() < 0:\n    raise ValueError("m")',
    "a method that changes": 'if xs.pop() < 1:\n    raise ValueError("m")',
    "a function that is not known": 'if check(W):\n    raise ValueError("m")',
    "an iterator consumed": 'if m in xs:\n    raise ValueError("m")',
    "a comprehension": 'if [x for x in xs]:\n    raise ValueError("m")',
    "a call in an argument": 'if len(list(xs)) < 1:\n    raise ValueError("m")',
    "a call of what a call gave": 'if type(W)(m) < 1:\n    raise ValueError("m")',
    "in-place arithmetic of torch": 'if torch.abs(W, out=W).all():\n    raise ValueError("m")',
    "an else": 'if m < 1:\n    raise ValueError("m")\nelse:\n    m = 2',
    "another statement in the body": 'if m < 1:\n    rng.random()\n    raise ValueError("m")',
    "an error that others wait for": 'if m < 1:\n    raise StopIteration("m")',
    "a bare raise": 'if m < 1:\n    raise ValueError',
    "an error caught": 'try:\n    if m < 1:\n        raise ValueError("m")\nexcept ValueError:\n    m = 2',
    "an error suppressed": 'with suppress(ValueError):\n    if m < 1:\n        raise ValueError("m")',
    "a second statement on the line": 'm = 2; expect.shape(W)',
    "a loop": 'while m < 1:\n    raise ValueError("m")',
    "a return": "if m < 1:\n    return W",
}  # fmt: skip


@pytest.mark.parametrize("statement", COMPUTES.values(), ids=COMPUTES)
def test_all_else_is_what_is_computed(statement):
    text = with_line(statement)
    ast.parse(text)
    kept = [line.strip() for line in significant(text).splitlines()]
    assert all(line.strip() in kept for line in statement.splitlines())


def test_an_elif_that_raises_is_kept():
    text = BEFORE.replace("    for k", '    elif m < 1:\n        raise ValueError("m")\n    for k')
    assert 'elif m < 1:\n        raise ValueError("m")' in significant(text)


@pytest.mark.parametrize("own", ["def len(x):\n    return x.pop()\n", "from a import len\n", "len = print\n"])
def test_a_name_that_the_file_binds_itself_is_not_the_known_one(own):
    text = own + with_line('if len(W) < 1:\n    raise ValueError("W")')
    assert "len(W)" in significant(text)
    assert "ValueError" in significant(own.replace("len", "ValueError") + with_line(ONLY_REFUSE[0]))


IMPORTS = [
    ("from lmc_helpers import seeds", "from lmc_helpers import expect, seeds"),
    ("from lmc_helpers import seeds", "from lmc_helpers import expect\nfrom lmc_helpers import seeds"),
    ("from lmc_helpers import seeds", "from lmc_helpers import (\n    expect,\n    seeds,\n)"),
    ("from lmc_helpers import seeds\n", "from lmc_helpers import expect\n"),
]


@pytest.mark.parametrize(("old", "new"), IMPORTS)
def test_calls_of_the_module_of_guards_and_its_import_change_nothing(old, new):
    before = BEFORE if "\n" not in old else BEFORE.replace(old, "")
    text = with_line('expect.shape(W, "W", "m d")\nexpect.one_of(\n    kind, f"kind{m}", ("a", LARGEST), least=1\n)')
    assert significant(text.replace(old, new)) == significant(before)


NOT_THE_MODULE = {
    "nothing imported": ("from lmc_helpers import seeds", "from lmc_helpers import seeds"),
    "another expect": ("from lmc_helpers import seeds", "from elsewhere import expect"),
    "another name": ("from lmc_helpers import seeds", "from lmc_helpers import seeds as expect"),
    "bound again": ("import torch", "from lmc_helpers import expect\nexpect = print"),
    "an argument": ("rng,", "expect,"),
}


@pytest.mark.parametrize(("old", "new"), NOT_THE_MODULE.values(), ids=NOT_THE_MODULE)
def test_what_only_bears_its_name_is_kept(old, new):
    call = 'expect.shape(W, "W")'
    text = with_line(call).replace(old, new)
    if old == "rng,":
        text = text.replace("import seeds", "import expect, seeds")
    assert call in significant(text)


USES = ['x = expect.shape(W, "W")', 'expect.shape(rng.random(), "W")', "expect.shape(*xs)", "expect.shape(W := 2)"]


@pytest.mark.parametrize("use", USES)
def test_a_call_of_the_module_that_might_do_more_is_kept(use):
    text = with_line(use).replace("import seeds", "import expect, seeds")
    assert use in significant(text)


def test_a_name_more_in_another_import_is_seen():
    assert significant(BEFORE.replace("import seeds", "import device, seeds")) != significant(BEFORE)


def test_the_digest_of_a_chapter_is_blind_to_guards_only(toy, monkeypatch):
    monkeypatch.setattr(sources.profiles, "parameters", lambda chapter, profile: {})

    def digest():
        return sources.Sources(toy.where).code("01_first", "smoke")

    before = digest()
    toy.path("lmc_helpers/expect/__init__.py").write_text("from lmc_helpers.expect.scalars import at_least\n")
    toy.path("lmc_helpers/expect/scalars.py").write_text("def at_least(x, least):\n    pass\n")
    toy.edit("lmc_helpers/gamma.py", "def value():\n", "from lmc_helpers import expect\ndef value():\n")
    toy.edit("lmc_helpers/gamma.py", "    return 1", "    expect.at_least(1, 0)\n    return 1")
    assert digest() == before
    toy.edit("lmc_helpers/expect/scalars.py", "pass", "print(x)")
    assert digest() == before
    toy.edit("lmc_helpers/gamma.py", "return 1", "return 1 + 0")
    assert digest() != before


def test_only_the_door_of_the_guards_is_used():
    """The digests leave out the whole room: what lies behind its door, and returns something, is not for others."""
    package = chapters.ROOT / chapters.PACKAGE
    for path in (*package.rglob("*.py"), *chapters.NOTEBOOKS.glob("*.py")):
        if path.parent != package / guards.NAME:
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            taken = [node for node in nodes if isinstance(node, ast.ImportFrom)]
            assert not any(node.level for node in taken), path  # by full names, so that they are seen below
            modules = [node.module or "" for node in taken]
            modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
            assert not [module for module in modules if module.startswith(guards.MODULE)], path


def test_what_guards_raise_is_caught_where_it_was_looked_at():
    """A number may depend on an error that is caught: these places turn it into another error, or catch a library's."""
    caught = set()
    for path in (guards_root := chapters.ROOT / chapters.PACKAGE).rglob("*.py"):
        room = path.relative_to(guards_root).parts[0]
        if room in SHOWN_ONLY:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                names = {"all"} if node.type is None else {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
                if names & {"ValueError", "TypeError", "Exception", "BaseException", "all"}:
                    caught.add(path.relative_to(guards_root).as_posix())
    assert caught == {
        "data/download.py",  # pooch's checksum
        "data/images.py",  # files that cannot be read: another error
        "expect/numpy_arrays.py",  # what is no array: another error
        "experiments/measured_pairs.py",  # a damaged file: another error
        "experiments/merge_runs.py",  # the same
        "identifiability/swaps.py",  # SciPy's infeasible assignment, in a call of its own
        "training/checkpoints.py",  # a damaged file: another error
        "training/run_files.py",  # the same
        "training/runs.py",  # the same
    }
