"""The papers' figures: every one once, our pictures in their chapters; what is refused is in test_bad_input.py."""

import re

import yaml

from book.tools.read import chapters
from book.tools.render import gallery
from lmc_helpers import claims

FIGURES = {"Z": 15, "P": 7, "G": 4, "I": 21}  # counted in the papers, appendices included
ENTRY = {"shows": "a line", "ours": [{"chapter": "overlap_theorem", "picture": "fig_limit"}], "parts": ["Z3.limit"]}


def test_every_figure_of_the_papers_is_there_once_with_pictures_that_its_chapter_shows(tmp_path):
    found = {paper: [int(figure.number) for figure in figures] for paper, figures in gallery.read().items()}
    assert found == {paper: list(range(1, last + 1)) for paper, last in FIGURES.items()}
    for chapter, name in gallery.wanted():
        text = (chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")
        assert f'"{name}"' in text and f"{{glue:figure}} {name}\n" in text, name
    path = tmp_path / "toy.yml"
    path.write_text(yaml.safe_dump({"G": {"2": ENTRY | {"note": "smaller"}}}))
    (figure,) = gallery.read(path)["G"]
    assert (figure.anchor, figure.shows, figure.note, figure.parts) == ("figure-G-2", "a line", "smaller", ["Z3.limit"])
    assert [(p.chapter, p.name) for p in figure.ours] == [("12_overlap_theorem", "fig_limit")]


def test_parts_that_cite_a_figure_stand_beside_it():
    """Of the papers' results whose place is a figure, none is left out; none is of another paper."""
    for paper, figures in gallery.read().items():
        beside = {figure.number: figure.parts for figure in figures}
        assert all(part.startswith(paper) for parts in beside.values() for part in parts)
        for claim in claims.ledger().values():
            for part in claim.parts.values():
                cited = re.search(r"^Fig\. (\d+)|Fig\. (\d+)[a-z]?$", part.where)
                if claim.paper == paper and cited and part.whose != claims.OURS and part.weight == claims.HEADLINE:
                    assert part.id in beside[cited[1] or cited[2]], f"{part.id}: {part.where}"
