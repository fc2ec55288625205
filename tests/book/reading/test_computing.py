"""What computes: code without comments, docstrings and cells that only show, and the modules that numbers depend on."""

import pytest

from book.tools.reading import computing


def test_comments_and_docstrings_are_not_significant():
    text = '"""A module."""\n\nimport a  # why\n\n\nclass B:\n    """A class."""\n\n    def c(self):\n'
    text += '        """Doc\n        string."""\n'
    assert computing.significant(text + '        return "#", f"{a} # {self}"\n\n# end\n').splitlines() == [
        "import a",
        "class B:",
        "    def c(self):",
        '        return "#", f"{a} # {self}"',
    ]


def test_cells_that_only_show_are_not_what_a_chapter_computes():
    plot = '# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot x"}\n'
    numbers = '# %% mystnb={"code_prompt_show": "Numbers for the text"}\n'
    text = "# ---\n# jupyter: {}\n# ---\n# %% [markdown]\n# y\n# %%\nx = [k for k in range(3)]\n"
    text += plot + "figure = k = draw(x)\n" + numbers + "show(figure)\n" + plot + "other = 2\n# %%\ncheck(other)\n"
    assert computing.cells(text) == "x = [k for k in range(3)]\nother = 2\ncheck(other)"


@pytest.mark.parametrize(
    ("gives", "needed"),
    [
        ("def f(x):\n    y = x\n    return y", False),
        ("print([y for y in range(3)], lambda y: y)", False),
        ("def y(x):\n    return x", True),
        ("import a.b as y", True),
        ("for y, z in []:\n    pass", True),
        ("print([(y := k) for k in range(3)])", True),
        ("with open(0) as y:\n    pass", True),
        ("class y:\n    x = 1", True),
    ],
)
def test_names_inside_of_functions_are_no_other_cell_s(gives, needed):
    shown = '# %% mystnb={"code_prompt_show": "Words for numbers"}\n' + gives
    assert computing.cells(f"# %%\ny = 1\n{shown}\n# %%\ncheck(y)") == "\n".join(
        ["y = 1", *([gives] if needed else []), "check(y)"]
    )


@pytest.mark.parametrize("module", ["lmc_helpers", "lmc_helpers.barrier", "lmc_helpers.claimsmen"])
def test_modules_that_compute(module):
    assert computing.computes(module)


@pytest.mark.parametrize("module", ["claims", "claims.box", "figures", "figures.style", "expect", "expect.scalars"])
def test_modules_that_judge_draw_or_refuse_compute_nothing(module):
    assert not computing.computes(f"lmc_helpers.{module}")
