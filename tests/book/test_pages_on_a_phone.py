"""The built pages on a phone, served with the network refused: each opened once, for all questions."""

import itertools
import json
import urllib.request

import matplotlib
import pytest
from browser import outside, stretched, visits

from book.tools.read import chapters, halves
from lmc_helpers.figures.style import STYLE


@pytest.fixture(scope="module")
def visited(served, pages, browser):
    return visits(browser, served, pages, 390)


@pytest.fixture(scope="module")
def executed(visited):
    """Page of a chapter → what was found on it."""
    names = [page for chapter in chapters.chapters() for page in halves.pages(chapter)]
    return {name: visited[f"book/executed/{name}.html"] for name in names}


def test_every_page_opens_and_nothing_is_cut(visited):
    assert {name: page.overflow for name, page in visited.items() if page.overflow} == {}
    assert {name: page.cut for name, page in visited.items() if page.cut} == {}


def test_no_page_needs_the_network_or_complains(served, visited):
    trouble = {name: outside(page, served) + page.trouble for name, page in visited.items()}
    assert {name: said for name, said in trouble.items() if said} == {}


def test_figures_are_legible_and_end_on_the_screen_or_scroll(executed):
    style = matplotlib.rc_params_from_file(STYLE, use_default_template=False)
    letter = style["font.size"] / 72 * style["figure.dpi"]  # its height in pixels of the picture
    wrong = []
    for name, page in executed.items():
        wrong += [] if page.pictures or name[2] == "A" else [f"{name}: no picture"]
        for picture in page.pictures:
            if picture["moves"]:
                continue
            figure, caption = picture["figure"], picture["caption"] or ""
            said = {
                "has not come": picture["natural"][0] <= 200,
                "is stretched": stretched(picture),
                "is small": letter * picture["size"][0] / picture["natural"][0] < 9,
                "ends beyond the screen": picture["size"][0] > 390 and figure["overflow"] != "auto",
                "has few words": len(picture["alt"]) <= 40,
                f"has the caption {caption!r}": len(caption) <= 20 or figure["right"] > 390,
            }
            wrong += [f"{name}: {picture['src']} {what}" for what, so in said.items() if so]
    assert wrong == []


def test_no_line_begins_with_the_mark_that_follows_a_formula(visited):
    assert sum(len(page.marks) for page in visited.values()) > 1000
    apart = {name: [text for beside, text in page.marks if not beside] for name, page in visited.items()}
    assert {name: texts for name, texts in apart.items() if texts} == {}


def test_boxes_fit_and_scales_and_the_map_are_legible(executed, visited):
    assert sum(page.boxes for page in executed.values()) > 1000
    assert {name: page.beyond for name, page in executed.items() if page.beyond} == {}
    assert sum(len(page.scales) for page in executed.values()) > 100
    assert {name: min(page.scales) for name, page in executed.items() if page.scales and min(page.scales) <= 11} == {}
    assert {name: page.met for name, page in executed.items() if page.met} == {}
    heights = visited["book/index.html"].map
    assert heights and min(heights) > 9


def test_figures_that_move_are_legible(visited):
    moving = [(name, figure) for name, page in visited.items() for figure in page.movers]
    assert len({name for name, _ in moving}) >= 8
    wrong = []
    for name, figure in moving:
        said = {
            "panels beside each other": any(b[1] >= a[0] for a, b in itertools.pairwise(figure["rows"])),
            "no panel": not figure["rows"],
            "small letters": min(size for size in figure["fonts"] if size) < 9,  # subscripts are the smallest
            "a slider too thin for a thumb": figure["slider"][1] < 40,
        }
        wrong += [f"{name}#{figure['figure']}: {what}" for what, so in said.items() if so]
    assert wrong == []


def test_downloads_give_the_executed_notebook_and_its_source(executed, root):
    wrong = []
    for name, page in executed.items():
        chapter = name.replace("A_", "_", 1) if name[2] == "A" else name
        got = {url.rpartition(".")[2]: urllib.request.urlopen(url).read() for url in page.downloads if "." in url}
        notebook = json.loads(got.get("ipynb", '{"metadata": {"lmc": {"chapter": null}}, "cells": []}'))
        executed_here = any(cell.get("outputs") for cell in notebook["cells"])
        if not executed_here or notebook["metadata"]["lmc"]["chapter"] != chapter:
            wrong.append(f"{name}: its notebook")
        if got.get("py") != (root / "notebooks" / f"{chapter}.py").read_bytes():
            wrong.append(f"{name}: its source")
    assert wrong == []


def test_search_where_it_is_served(served, phone):
    tab = phone.open(f"{served}/search.html?q=overlap")
    tab.wait_for_selector("ul.search li")
    assert phone.trouble == []


def test_claims_are_published(served, watched):
    claims = json.loads(urllib.request.urlopen(f"{served}/claims.json").read())
    assert claims["parts"] and {record["chapter"] for record in claims["parts"]} <= set(chapters.chapters())
    tab = watched.open(f"{served}/book/scoreboard.html")
    page = tab.locator("article").text_content()
    assert all(id in page for id in [*claims["verdicts"], *(record["part"] for record in claims["parts"])])
    tab.locator("article a", has_text="claims.json").click()
    tab.wait_for_url("**/claims.json")
