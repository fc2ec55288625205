"""The top of a chapter's page: its number and its times."""

from book.tools.render import staging
from book.tools.render.extensions import sphinx_numbers


def text(source: str) -> dict:
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def code(source: str, *tags: str) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {"tags": list(tags)}, "outputs": []}


def chapter(*cells: dict, seconds: float = 12.4, profile: str = "laptop") -> dict:
    run = {"chapter": "12_overlap_theorem", "seconds": seconds, "profile": profile}
    return {"cells": list(cells), "metadata": {"lmc": run}}


def test_the_number_stands_before_the_title_and_nowhere_else():
    made = staging.complete(chapter(code("# a comment"), text("# The theorem\n\nText."), text("# Another")), {})
    assert [cell["source"] for cell in made["cells"]] == ["# a comment", "# 12 The theorem\n\nText.", "# Another"]
    first = {"theorem": {"thm-b": (31,), "def-a": (29,), "lem": (30,)}, "figure": {}}
    second = {"theorem": {"thm-c": (32,)}, "figure": {"fig": (9,)}}
    numbers = {"book/executed/45_x": first, "book/executed/45A_x": second, "book/figures": first}
    here, there = (sphinx_numbers.by_chapter(f"book/executed/{name}_x", numbers) for name in ("45", "45A"))
    assert here == {"theorem": {"def-a": (45, 1), "lem": (45, 2), "thm-b": (45, 3)}, "figure": {}}
    assert there == {"theorem": {"thm-c": (45, 4)}, "figure": {"fig": (45, 1)}}
    assert sphinx_numbers.by_chapter("book/figures", numbers) is first


def test_minutes_of_reading():
    solution = "\n:::{solution}\n" + "word " * 4000 + "\n:::\nword"
    for cells, minutes in (
        ([], 1),
        ([text("word " * 1000)], 4),
        ([text("$$\na = b\n$$\n" * 100)], 2),
        ([code("x = 1\n" * 120)], 3),
        ([code("x = 1\n" * 4000, "hide-input"), code("x = 1\n" * 4000, "remove-cell")], 1),
        ([text("word " * 500), code("x = 1\n" * 80)], 4),
        ([text("word " * 500 + solution)], 2),
    ):
        assert staging.reading_minutes(chapter(*cells)) == minutes, (cells, minutes)


def test_times_stand_where_the_chapter_asks():
    own, trains = "12_overlap_theorem", "52_permutation_saddles_on_mnist"
    for name, seconds, profile, paper, said in (
        (own, 12.4, "laptop", {}, "12 s at profile laptop."),
        (own, 12.4, "laptop", {own: 5400.0}, "12 s at profile laptop, 90 min at paper scale."),
        (own, 7300.0, "paper", {own: 5400.0}, "2 h at profile paper."),
        (own, 0.01, "smoke", {"13_algorithm_1": 5400.0}, "1 s at profile smoke."),
        (trains, 9.0, "laptop", {trains: 10.0}, "9 s at profile laptop, 10 s at paper scale, after its training runs."),
    ):
        notebook = chapter(text("You need: nothing. {{ times }}"), seconds=seconds, profile=profile)
        notebook["metadata"]["lmc"]["chapter"] = name
        made = staging.complete(notebook, paper)["cells"][0]["source"]
        assert made == f"You need: nothing. Reading: about 1 min. Running: {said}"
