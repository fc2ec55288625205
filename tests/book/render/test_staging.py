"""What a page shows of an executed notebook: no repeated parameters, labels, new boxes."""

from dataclasses import asdict

from oracles.ledger import BASE, parse_part

from book.tools.read import literals
from book.tools.render import screens, staging
from lmc_helpers import claims
from lmc_helpers.claims.judge import judge


def cell(source: str, *tags: str, **metadata) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {"tags": list(tags), **metadata}, "outputs": []}


DEFAULTS = 'M: int = 6  # neurons\nrate: float = 0.5\nsizes: list = [1, 2]\ndeep: bool = True\nprofile: str = "laptop"'
REPEATS = ('profile = "smoke"', '# Parameters\nprofile = "laptop"\nM = 6\nsizes = [1, 2]\n', "rate = 5e-1")
SAYS = ("M = 7", "deep = 1", "M = 6.0", "unknown = 6", 'rate = float("inf")')


def test_injected_parameters_are_shown_where_they_say_something():
    for injected in (*REPEATS, *SAYS):
        shown = cell(injected, "injected-parameters")
        notebook = {"cells": [cell(DEFAULTS, "parameters", "hide-input"), shown, cell("M")]}
        staging.fold_parameters(notebook)
        assert (shown not in notebook["cells"]) == (injected in REPEATS), injected
        if injected in SAYS:
            assert shown["metadata"]["tags"] == ["injected-parameters", "hide-input"]
            assert shown["metadata"]["mystnb"] == {"code_prompt_show": "Parameters of this run"}
    plain = {"cells": [cell(DEFAULTS, "parameters"), cell("M")]}
    staging.fold_parameters(plain)
    assert plain == {"cells": [cell(DEFAULTS, "parameters"), cell("M")]}
    assert literals.values('a = float("inf")\nb: int\nc = d = 3') == {"a": "float('inf')", "c": 3, "d": 3}


def test_code_folds_under_its_title_and_a_figure_is_shown_once():
    folded, shown = cell("x", "hide-input", mystnb={"code_prompt_show": "Imports"}), cell("y", "remove-output")
    staging.fold({"cells": [folded, shown]})
    assert folded == cell("# Imports\nx", staging.SWITCHED) and shown == cell("y", "remove-output")
    picture = {"data": {"image/png": "…"}, "metadata": {"scrapbook": {"name": "fig_a", "mime_prefix": ""}}}
    hidden = {"data": {"x/text/plain": "3"}, "metadata": {"scrapbook": {"name": "three", "mime_prefix": "x/"}}}
    staging.hide_shown({"cells": [{"outputs": [picture, hidden]}]})
    assert list(picture["data"]) == [f"{staging.GLUED}image/png"] and list(hidden["data"]) == ["x/text/plain"]
    assert picture["metadata"]["scrapbook"]["mime_prefix"] == staging.GLUED


RECORD = {"value": 2.04, "stderr": None, "low": 2.04, "high": 2.04, "n": 7, "place": "inside", "verdict": "holds"}
RECORD |= {"rival": "2.5: r", "changed": [], "commit": "abc", "seeds": "abc", "date": "d", "device": "CPU"}
SHOWN = staging.Shown(
    parts={id: parse_part(id, BASE | {"statement": "two, by thm-two of T1.b"}) for id in ("T1.a", "T1.b")},
    confirmed={"T1.a": RECORD},
    errata={"T1.b"},
    theorems={"thm-two": ("12_other", "Theorem “Two”")},
)


def outputs_of(parts: list[str]) -> list[dict]:
    found = []
    for part in parts:
        record = asdict(judge(parse_part(part, BASE), 1.95, n=3))
        data = {"text/plain": "as it was", "text/html": "<p>as it was</p>"}
        found.append({"output_type": "display_data", "data": data, "metadata": {claims.MIME: record}})
    return found


def test_boxes_are_written_anew_from_record_and_ledger():
    outputs = outputs_of(["T1.a", "T1.b", "T9.gone"])
    notebook = {"cells": [cell("claims.check") | {"outputs": outputs}]}
    notebook["metadata"] = {"lmc": {"chapter": "11_here", "profile": "smoke"}}
    staging.rebuild_boxes(notebook, SHOWN)
    first, second, gone = (output["data"]["text/html"] for output in outputs)
    assert "this run (smoke)" in first and "1.95" in first and "2.04" in first and "commit abc, seeds from it" in first
    assert 'id="claim-T1-a"' in first and 'href="#claim-T1-a"' in first
    assert 'href="../scoreboard.html#score-T1-a"' in first and 'href="../verdicts.html"' in first
    assert '<a href="12_other.html#thm-two">Theorem “Two”</a>' in first
    assert '<a href="../scoreboard.html#score-T1-b">T1.b</a>' in first
    assert "erratum" not in first and 'href="../errata/T.html#erratum-T1-b"' in second
    assert gone == "<p>as it was</p>"
    assert all(output["data"]["text/plain"] == "as it was" for output in outputs)
    assert SHOWN.address("Z3", "11_here") is None and SHOWN.address("thm-three", "11_here") is None
    assert SHOWN.address("T1", "11_here") == ("../scoreboard.html#score-T1", "T1")


def test_a_copy_without_the_papers_images_says_so_once():
    needs = {"dataset": "mnist", "width": 512}
    record = asdict(
        judge(parse_part("T1.a", BASE | {"needs": needs}), 1.95, n=3, used={"dataset": "digits", "width": 16})
    )
    data = {"text/plain": "", "text/html": ""}
    outputs = [{"output_type": "display_data", "data": data, "metadata": {claims.MIME: record}}]
    text = {"cell_type": "markdown", "metadata": {}, "source": "## Evidence\n\n{glue:text}`data_says` More."}
    first = {"cell_type": "markdown", "metadata": {}, "source": "# A title"}
    notebook = {"cells": [first, text, cell("claims.check") | {"outputs": outputs}]}
    notebook["metadata"] = {"lmc": {"chapter": "51_width_barriers", "profile": "smoke", "seconds": 1}}
    second = screens.pages(notebook, SHOWN, {})["51A_width_barriers"]["cells"]
    assert (
        "on digits, not decided" in data["text/html"]
        and "dataset mnist" not in data["text/html"].partition("Details")[0]
    )
    assert second[0]["source"].count("8 × 8 digits, not of MNIST") == 1 and "data_says" not in second[0]["source"]
    assert second[0]["source"].endswith("More.")


def test_theorems_are_found_where_they_stand():
    source = (
        "# :::{prf:remark} No label\n# Text.\n# :::\n# :::{prf:proof}\n# :::\n"
        "# %% [markdown]\n# :::{prf:theorem} The limit of $T$\n# :label: thm-limit\n#\n# Text.\n# :::\n"
        "# ::::{prf:lemma}\n# :label: lem-a\n# ::::\n# :::{prf:proof}\n# Of lem-b.\n# :::\n"
    )
    limit, lemma = ("12_x", "Theorem 12.2 (The limit of $T$)"), ("12_x", "Lemma 12.3")
    assert staging.theorems(source, "12_x") == {"thm-limit": limit, "lem-a": lemma}
    assert staging.Shown(theorems=staging.theorems(source, "12_x")).address("lem-a", "12_x") == ("#lem-a", "Lemma 12.3")
