"""The first screen: a good one has no problem, and each way to spoil it has one."""

import copy

import pytest

from book.tools.read import chapters
from book.tools.render import openings, screens, staging

HEAD = """# %% [markdown]
# # Matched minima are hardest to average near $2M$
#
# *Where is the barrier largest?*
#
# Near **[[Z7.best:.2f]] $M$**, with many neurons.
#
# :::{glue:figure} fig_peak
# :alt: four curves
#
# Exact.
# :::
#
# **How sure.** Proved.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "maximum at $2M$" (sec. 4) | [near $2M$, not at it](#Z7.best) | [[Z7.best:.2f]] $M$ |
# | "reduces it" | [true](#Z7.gain) | [[Z7.gain:±]] |
# | "decreases" | [open](#Z7.open) | [[Z7.open:to]] |
#
# **Open.** Nothing.
#
# **For the authors.** Print "near".

# %% Parameters tags=["parameters"]
n: int = 3

# %% [markdown]
# ## Why
#
# One two three.
#
# :::{prf:theorem} The peak
# :label: thm-peak
#
# It is {glue:text}`late`.
# :::

# %%
show()

# %% [markdown]
# ## Evidence
#
# ### More
#
# {glue:text}`early` and [](15_barrier_peak.ipynb)
#
# :::{try}
# More.
# :::

# %% A figure
draw()
"""
VERDICTS = {"Z7.best": "false as printed, corrected", "Z7.gain": "holds", "Z7.open": "open"}
RECORDS = {part: {"value": 1.9447, "low": 1.9, "high": 2.0, "n": 5} for part in VERDICTS}
WRONG = {
    ("*Where is the barrier largest?*", "*Here it is.*"): "no question",
    ("Near **", "word " * 50 + "**"): "the answer has 5",
    ("**[[Z7.best:.2f]] $M$**", "1.94 M"): "neither a number of a record",
    ("with many neurons", "{claim}`Z7.best`"): "badge",
    ("with many neurons.", "So. So. So. So."): "more than 3 sentences",
    ("[[Z7.best:.2f]] $M$**", "[[Z7.none:.2f]] $M$**"): "Z7.none has no record",
    ("# :::{glue:figure} fig_peak\n# :alt: four curves\n#\n# Exact.\n# :::\n#\n", ""): "no picture",
    ('# | "decreases" | [open](#Z7.open) | [[Z7.open:to]] |\n', ""): "2 rows",
    ("[true](#Z7.gain)", "[not so](#Z7.gain)"): "'not so' is said of Z7.gain, which is 'holds'",
    ("[open](#Z7.open)", "[true](#Z7.open)"): "'true' is said of Z7.open, which is 'open'",
    ("[open](#Z7.open)", "[open](#Z7.open), [false](#Z7.gain)"): "'false' is said of Z7.gain, which is 'holds'",
    ("[true](#Z7.gain)", "[true](#Z7.other)"): "Z7.other is not in the ledger",
    ("[true](#Z7.gain)", "true"): "is not a row",
    ("# **Open.** Nothing.\n#\n", ""): "no line **Open.**",
    ("# **How sure.**", "# A second paragraph.\n#\n# **How sure.**"): "has no place on the first screen",
    ("# ## Evidence\n#\n", ""): "0 headings '## Evidence'",
    ("One two three.", "word " * 1801): "words of argument",
    ("# %%\nshow()", "# %%\na\n\n# %%\nb\n\n# %%\nc"): "3 code cells without a title",
}


@pytest.fixture
def problems(tmp_path, monkeypatch):
    monkeypatch.setattr(chapters, "NOTEBOOKS", tmp_path)

    def found(text: str) -> list[str]:
        (tmp_path / "15_x.py").write_text(text)
        return list(openings.problems("15_x", VERDICTS, RECORDS))

    return found


def test_every_chapter_has_the_form(problems):
    texts = {name: (chapters.NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8") for name in chapters.chapters()}
    assert [name for name, text in texts.items() if not openings.HEAD.search(chapters.cells(text)[0][1])] == []
    assert problems(HEAD) == []
    assert problems("# %% [markdown]\n# # Title\n#\n# Text.\n") == []  # not in this form


@pytest.mark.parametrize("change", WRONG, ids=WRONG.values())
def test_each_way_to_spoil_it_is_named(problems, change):
    assert change[0] in HEAD
    assert any(WRONG[change] in line for line in problems(HEAD.replace(*change)))


def test_one_notebook_gives_two_pages(problems):
    assert problems(HEAD) == []  # the source is there
    glued = [
        {
            "metadata": {"scrapbook": {"name": name, "mime_prefix": "x/"}},
            "data": {"x/text/plain": name},
            "output_type": "",
        }
        for name in ("late", "early", "nowhere")
    ]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": openings.markdown(text)}
        if kind == "[markdown]"
        else {"cell_type": "code", "metadata": {}, "source": text, "outputs": []}
        for kind, text in chapters.cells(HEAD)
    ]
    cells[3]["outputs"], cells[5]["outputs"] = [glued[1]], [glued[0], glued[2]]
    run = {"chapter": "15_x", "profile": "smoke", "seconds": 1.0}
    notebook = {"cells": cells, "metadata": {"lmc": run}}
    tried = copy.deepcopy(notebook)
    found = screens.pages(notebook, staging.Shown(measured=RECORDS), {})
    assert list(found) == ["15_x", "15A_x"]
    first, second = ("\n".join("".join(cell["source"]) for cell in page["cells"]) for page in found.values())
    assert "Near **1.94 $M$**" in first and "{verdict}`near $2M$, not at it <Z7.best>`" in first
    assert first.startswith("# 15 Matched") and second.startswith("# 15A Evidence")
    assert "## More" in second and "[15 Where the barrier peaks](15_barrier_peak.ipynb)" in second
    assert "## Why" in first and "show()" in first and "draw()" in second
    assert '<a href="15A_x.html#try-it">Run it (1 s)</a>' in first
    assert ":::{try}\nThe whole chapter, 1 s at profile smoke: `make chapter NAME=x PROFILE=smoke`" in second
    tried["cells"][2]["source"] += "\n\n:::{try}\n:::"
    argument, _ = screens.pages(tried, staging.Shown(measured=RECORDS), {}).values()
    assert 'href="15_x.html#try-it"' in "".join("".join(cell["source"]) for cell in argument["cells"])
    carried = [[o["metadata"]["scrapbook"]["name"] for o in page["cells"][-1]["outputs"]] for page in found.values()]
    assert carried == [["late"], ["early"]]


def test_a_verdict_is_what_stands_in_its_own_brackets_and_a_number_is_not_parted_from_its_error():
    said = "for $x \\in [0, 1)$ | [true for $x$](#I9.bound) | [not a part](#top) | [a](b.md)"
    shown = said.replace("[true for $x$](#I9.bound)", "{verdict}`true for $x$ <I9.bound>`")
    assert screens.prose(said, {}) == shown
    said = "{glue:text}`100 * x:.1f` %, 25.6 ± 1.6 % and (a ± b), `x % 2`"
    kept = "{glue:text}`100 * x:.1f`_%, 25.6_±_1.6_% and (a ± b), `x % 2`".replace("_", "\u00a0")
    assert screens.prose(said, {}) == kept


def test_a_bound_of_this_run_is_rounded_to_its_side():
    said = "{glue:text}`x[1:]:≤.2f`, {glue:text}`x[1:]:≥.0e`, {glue:text}`x[1:]:.2f`"
    assert screens.rounded(said, {"x[1:]": "0.1201"}) == "0.13, 0.1, {glue:text}`x[1:]:.2f`"


def test_a_theorem_is_on_the_page_that_shows_it():
    assert staging.theorems(HEAD, "15_x") == {"thm-peak": ("15_x", "Theorem 15.1 (The peak)")}
    moved = HEAD.replace("# ## Evidence\n", "").replace("# ## Why\n", "# ## Evidence\n")
    assert staging.theorems(moved, "15_x") == {"thm-peak": ("15A_x", "Theorem 15.1 (The peak)")}
