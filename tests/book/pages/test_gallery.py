"""The papers' figures: every one once, our pictures in their chapters, and errors that name the figure."""

import re

import pytest
import yaml

from book.tools.base import chapters
from book.tools.base.chapters import BuildError
from book.tools.pages import gallery
from lmc_helpers import claims

#: Counted in the papers, appendices included.
FIGURES = {"Z": 15, "P": 7, "G": 4, "I": 21}
ENTRY = {"shows": "a line", "ours": [{"chapter": "overlap_theorem", "picture": "fig_limit"}], "parts": ["Z3.limit"]}


def refused(tmp_path, paper="Z", number="1", **changes) -> str:
    entry = {name: value for name, value in (ENTRY | changes).items() if value is not None}
    path = tmp_path / "toy.yml"
    path.write_text(yaml.safe_dump({paper: {number: entry}}))
    with pytest.raises(BuildError) as error:
        gallery.read(path)
    return re.sub(r", line \d+", "", str(error.value))


def test_every_figure_of_the_papers_is_there_once():
    listed = re.findall(r"^(?:(\w):|  '(\d+)':)$", gallery.LISTED.read_text(encoding="utf-8"), re.MULTILINE)
    found, paper = {}, ""
    for letter, number in listed:
        paper = letter or paper
        found.setdefault(paper, []).extend([int(number)] if number else [])
    assert found == {paper: list(range(1, last + 1)) for paper, last in FIGURES.items()}
    assert {paper: [int(f.number) for f in figures] for paper, figures in gallery.read().items()} == found


def test_every_picture_is_stored_and_shown_by_its_chapter():
    for chapter, name in gallery.wanted():
        text = (chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")
        assert f'"{name}"' in text and f"{{glue:figure}} {name}\n" in text, name


def test_every_part_stands_in_the_ledger_and_belongs_to_the_paper():
    known = {id for claim in claims.ledger().values() for id in claim.parts}
    for paper, figures in gallery.read().items():
        for figure in figures:
            assert set(figure.parts) <= known and all(part.startswith(paper) for part in figure.parts)


def test_parts_that_cite_a_figure_stand_beside_it():
    """Of the papers' results whose place is a figure, none is left out."""
    for paper, figures in gallery.read().items():
        beside = {figure.number: figure.parts for figure in figures}
        for claim in claims.ledger().values():
            for part in claim.parts.values():
                cited = re.search(r"^Fig\. (\d+)|Fig\. (\d+)[a-z]?$", part.where)
                if claim.paper == paper and cited and part.whose != claims.OURS and part.weight == claims.HEADLINE:
                    assert part.id in beside[cited[1] or cited[2]], f"{part.id}: {part.where}"


def test_a_figure_is_read_with_all_that_is_said(tmp_path):
    path = tmp_path / "toy.yml"
    path.write_text(yaml.safe_dump({"G": {"2": ENTRY | {"note": "smaller"}}}))
    (figure,) = gallery.read(path)["G"]
    assert (figure.anchor, figure.shows, figure.note, figure.parts) == ("figure-G-2", "a line", "smaller", ["Z3.limit"])
    assert [(p.chapter, p.name) for p in figure.ours] == [("12_overlap_theorem", "fig_limit")]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"shows": None}, "toy.yml: Z.1.shows: the field is missing"),
        ({"sows": "a line"}, "toy.yml: Z.1: unknown field 'sows'"),
        ({"parts": ["Z3.limt"]}, "toy.yml: Z, Fig. 1: Z3.limt is not in the ledger"),
        (
            {"ours": [{"chapter": "overlap", "picture": "fig_limit"}]},
            "toy.yml: Z, Fig. 1: chapter 'overlap' does not exist",
        ),
        (
            {"ours": [{"chapter": "overlap_theorem", "picture": "fig_limits"}]},
            "toy.yml: Z, Fig. 1: 12_overlap_theorem shows no figure 'fig_limits'; allowed: ",
        ),
        ({"ours": []}, "pictures of ours ('ours') or a reason why there is none ('missing')"),
        ({"missing": "it is a sketch"}, "pictures of ours ('ours') or a reason why there is none ('missing')"),
        ({"paper": "Q"}, "toy.yml: Q"),
        ({"number": "01"}, "toy.yml: Z.01"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path, changes, says):
    assert says in refused(tmp_path, **changes)
