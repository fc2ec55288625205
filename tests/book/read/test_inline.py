"""Expressions in the text of a chapter, and the hidden cell that gives them to it."""

import pytest

from book.tools.read import inline, sources, titles
from book.tools.read.chapters import BuildError

SOURCE = """
# %% [markdown]
# {glue:text}`a` pairs of {glue:text}`profile`, {glue:text}`given:.2f`, {glue:text}`later`, {glue:text}`b['x'] + a:.1f`:
# {glue:text}`several` {glue:text}`tau` {glue:text}`sum(i for i in range(a))` {glue:text}`word`
# {glue:text}`b['x'] + a:.3f`

# %%
from math import tau

chapter.begin(globals(), n=Integer(1, 2))
a, b = 1, {"x": 2}
named = {"several": a}
several, b["y"] = 2, 3
figures.numbers(given=a, **named)
word = [i for i in b]

# %%
i = 3
i = 4
"Not of the text: {glue:text}`i`"
"""
FOUND = ["a", "b['x'] + a", "tau", "sum(i for i in range(a))", "word"]


def test_a_name_with_two_values_and_what_is_not_python_are_refused():
    for text, said in {"i + 1": "assigns i 2 times; allowed: once", "a +": "invalid syntax"}.items():
        with pytest.raises(BuildError, match=rf"^01_a\.py: the text shows '{text}', but .*{said}".replace("+", r"\+")):
            inline.expressions(SOURCE + f"\n# %% [markdown]\n# {{glue:text}}`{text}:.1f`\n", "01_a.py")
    assert inline.expressions(SOURCE, "01_a.py") == FOUND


def test_a_hidden_cell_before_the_last_one_computes_them(tmp_path):
    path = tmp_path / "01_a.py"
    path.write_text(SOURCE)
    *_, cell, last = titles.read(path).cells
    assert cell.metadata["tags"] == ["remove-cell"] and last.source.startswith("i = 3")
    stored = {}
    exec(
        cell.source,
        {"a": 1, "b": {"x": 2}, "word": ["x"], "tau": 6, "figures": type("", (), {"numbers": stored.update})},
    )
    assert stored == dict(zip(FOUND, (1, 3, 6, 0, ["x"]), strict=True))


def test_an_expression_is_code_and_its_format_is_not(toy):
    path = toy.path("notebooks/01_first.py")
    path.write_text(SOURCE)
    first = sources.Sources(toy.where).chapter("01_first").code
    for old, new, same in (
        ("+ a:.1f", "+ a:.2f", True),
        ("# {glue:text}`several` {glue:text}`tau` {glue:text}`sum(i for i in", "# {glue:text}`max(i for i in", False),
    ):
        path.write_text(SOURCE.replace(old, new))
        assert (sources.Sources(toy.where).chapter("01_first").code == first) == same, new
