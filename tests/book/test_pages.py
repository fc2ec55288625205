"""The built pages on a phone and a desktop, opened from disk with the network refused: each once, for all questions."""

import itertools
import json
import re
import sys
import urllib.request
from pathlib import Path
from urllib.parse import unquote, urlsplit

import matplotlib
import pytest
from browser import DESKTOP, OF_EACH_KIND, PHONE, frame_of, outside, stretched, visits

from book.tools.read import chapters, halves
from book.tools.render import contents, numbers, staging
from lmc_helpers.figures.style import STYLE

LIBRARY = "plotly.min.js"
sys.path.append(str(Path(__file__).parents[2] / "build" / "others"))


@pytest.fixture(scope="module")
def visited(html, pages, browser):
    return visits(browser, html.as_uri(), pages)


@pytest.fixture(scope="module")
def executed(visited):
    """Page of a chapter → what was found on it."""
    names = [page for chapter in chapters.chapters() for page in halves.pages(chapter)]
    return {name: visited[f"book/executed/{name}.html"] for name in names}


@pytest.fixture(scope="module")
def listed() -> list[str]:
    """Every page of the table of contents."""

    def below(entry: dict) -> list[str]:
        own = [entry["file"]] if "file" in entry else []
        return own + [name for kind in ("chapters", "sections") for e in entry.get(kind, ()) for name in below(e)]

    content = contents.halved()
    return [content["root"], *(name for part in content["parts"] for name in below(part))]


def test_links_to_the_next_page_lead_through_the_book(html, visited, listed):
    base, url = html.as_uri(), visited["index.html"].url
    assert url == f"{base}/book/index.html"  # the page in front sends the reader on
    seen = []
    while url not in seen:
        seen.append(url)
        (url,) = visited[url.removeprefix(f"{base}/")].next or [url]
    assert {url.removeprefix(f"{base}/") for url in seen} == {f"{name}.html" for name in listed}
    assert len({visited[url.removeprefix(f"{base}/")].title for url in seen}) == len(seen)


def test_no_page_needs_the_network_or_complains(html, visited):
    trouble = {name: outside(page, html.as_uri()) + page.trouble for name, page in visited.items()}
    assert {name: said for name, said in trouble.items() if said} == {}


def test_the_watch_sees_what_is_outside_missing_or_fails(browser, tmp_path):
    image = '<img src="https://example.org/x.png">'
    later = f"<script>setTimeout(() => document.body.innerHTML += '{image}', 300)</script>"
    wrong = '<article><img src="gone.png"></article><script>console.error("oh"); throw new Error("no")</script>'
    for name, text in (("now", image), ("late", later), ("wrong", wrong)):
        (tmp_path / f"{name}.html").write_text(f"<article>Text</article>{text}")
    found = visits(browser, tmp_path.as_uri(), [f"{name}.html" for name in ("now", "late", "wrong")])
    for name in ("now", "late"):
        page = found[f"{name}.html"]
        assert any("example.org" in url for url in outside(page, tmp_path.as_uri())) and page.trouble
    said = " ".join(found["wrong.html"].trouble)
    assert [word for word in ("gone.png", "console: oh", "script: no") if word not in said] == []


def test_mathematics_is_drawn(executed):
    first = {name: page for name, page in executed.items() if name[2] != "A"}
    assert {name: page.formulas for name, page in first.items() if page.formulas <= 5} == {}
    assert {name: page.wrong for name, page in executed.items() if page.wrong} == {}
    assert [name for name, page in first.items() if not any("MJXTEX" in font for font in page.fonts)] == []
    left = {n: re.findall(r"\$[^$\n]+\$|\{glue|\{prf:|\{cite|\\frac", page.text) for n, page in executed.items()}
    assert {name: texts for name, texts in left.items() if texts} == {}


def test_no_page_shows_a_number_that_was_not_filled_in(html, pages):
    code = re.compile("<pre.*?</pre>", re.S)
    texts = {name: code.sub("", (html / name).read_text(encoding="utf-8")) for name in pages}
    assert {name: found for name, text in texts.items() if (found := numbers.NUMBER.findall(text))} == {}


def test_exercises_are_numbered_in_their_chapter(html):
    numbers: dict[str, list[str]] = {}
    for page in sorted((html / "book" / "executed").glob("[0-9]*.html"), key=lambda page: page.name.replace("_", "0")):
        found = re.findall(r'"admonition-title">Exercise ([\d.]+)<', page.read_text(encoding="utf-8"))
        numbers[page.name[:2]] = numbers.get(page.name[:2], []) + found
    assert numbers == {n: [f"{n}.{k}" for k in range(1, len(found) + 1)] for n, found in numbers.items()}
    assert all(numbers.values())


def test_pictures_come_in_the_size_that_was_kept_for_them_and_are_legible(executed):
    style = matplotlib.rc_params_from_file(STYLE, use_default_template=False)
    letter = style["font.size"] / 72 * style["figure.dpi"]  # its height in pixels of the picture
    wrong = []
    for name, page in executed.items():
        for seen, pictures in ((PHONE, page.pictures), (DESKTOP, page.wide.pictures)):
            wrong += [] if pictures or name[2] == "A" else [f"{name}: no picture"]
            for picture in pictures:
                caption, figure = picture["caption"] or "", picture["figure"]
                said = {
                    "has not come": picture["natural"][0] <= 200,
                    "is stretched": stretched(picture),
                    "has few words": len(picture["alt"]) <= 40,
                    # behind a figure that moves it has no size of its own
                    "changed its size": not picture["moves"] and picture["size"] != picture["reserved"],
                }
                if seen == PHONE and not picture["moves"]:
                    said |= {
                        "is small": letter * picture["size"][0] / picture["natural"][0] < 9,
                        "ends beyond the screen": picture["size"][0] > PHONE and figure["overflow"] != "auto",
                        f"has the caption {caption!r}": len(caption) <= 20 or figure["right"] > PHONE,
                    }
                wrong += [f"{name}: {picture['src']} {what} at {seen} pixels" for what, so in said.items() if so]
    assert wrong == []


def test_no_page_is_wider_than_the_screen_and_nothing_is_cut(visited):
    too_wide = {name: (page.overflow, page.wide.overflow) for name, page in visited.items()}
    assert {name: by for name, by in too_wide.items() if by != (0, 0)} == {}
    assert {name: page.cut for name, page in visited.items() if page.cut} == {}


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


def test_the_switch_shows_the_code_that_folds_under_its_titles(executed, notebooks):
    wrong = {}
    for chapter, notebook in notebooks.items():
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        folded = [c.metadata["mystnb"]["code_prompt_show"] for c in cells if "hide-input" in c.metadata.get("tags", [])]
        found = [executed[page] for page in halves.pages(chapter)]
        labels = [line.removeprefix("# ") for page in found for line in page.switched]
        if [label for label in labels if label != staging.LABEL] != folded or any(page.before for page in found):
            wrong[chapter] = (labels, folded)
    assert wrong == {}


def test_figures_that_move_are_loaded_late_legible_and_draw_their_frames(visited):
    moving = {name: page for name, page in visited.items() if page.movers}
    assert {name: page.undrawn for name, page in visited.items() if page.undrawn} == {}
    sources = {path.stem: path for path in chapters.NOTEBOOKS.glob("*.py")}
    chapters_of = {re.sub(r"(/..)A_", r"\1_", name).rpartition("/")[2].removesuffix(".html") for name in moving}
    assert chapters_of == {n for n, path in sources.items() if "\nscene.show(" in path.read_text(encoding="utf-8")}
    assert len(moving) >= 8
    asked = {name: (page.early, sum(LIBRARY in url for url in page.requests)) for name, page in visited.items()}
    assert {name: counts for name, counts in asked.items() if counts != (0, int(name in moving))} == {}
    wrong = []
    for name, page in moving.items():
        for figure in page.movers:
            spec = json.loads(figure["spec"])
            last, meta = len(spec["frames"]) - 1, spec["layout"]["meta"]
            assert [frame for frame, *_ in figure["drawn"]] == [meta["start"], 0, last], name
            said = {
                f"frame {frame}": drawn != frame_of(spec, frame) or not words.startswith(meta["values"][frame])
                for frame, drawn, words in figure["drawn"]
            } | {
                "words for who does not see it": len(figure["named"]) < 2 or not all(figure["named"]),
                "buttons": figure["bars"],
                "panels beside each other": any(b[1] >= a[0] for a, b in itertools.pairwise(figure["rows"])),
                "no panel": not figure["rows"],
                "small letters": min(size for size in figure["fonts"] if size) < 9,  # subscripts are the smallest
                "a slider too thin for a thumb": figure["slider"][1] < 40,
            }
            wrong += [f"{name}#{figure['figure']}: {what}" for what, so in said.items() if so]
    assert wrong == []


def test_icons_are_drawn(visited):
    assert [name for name, page in visited.items() if len(page.icons) <= 3] == []
    bad = [name for name, page in visited.items() if page.missing or not all(d and all(d) for d in page.icons)]
    assert bad == []


@pytest.mark.parametrize("names", [OF_EACH_KIND, pytest.param([], marks=pytest.mark.slow)], ids=["kinds", "all"])
def test_axe_finds_no_barrier(html, pages, watched, names):
    """The rules of WCAG 2.1, A and AA, on a page of each kind or on all, light and dark; Sphinx marks up signatures."""
    rules = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js").read_text("utf-8")
    run = """() => axe.run({exclude: [[".sig"]]}, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(found =>
        found.violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 120)}`)))"""
    found = {}
    for scheme in ("light", "dark"):
        watched.tab.emulate_media(color_scheme=scheme)
        for name in names or pages:
            tab = watched.open(f"{html.as_uri()}/{name}")
            tab.evaluate(rules)
            found[scheme, name] = tab.evaluate(run)
    assert {where: said for where, said in found.items() if said} == {}


def test_a_page_is_printed_in_light_colours_whatever_the_screen_shows(html, watched):
    watched.tab.emulate_media(color_scheme="dark")
    watched.open(f"{html.as_uri()}/book/executed/42_swap_cost.html")
    for medium, theme in (("screen", "dark"), ("print", "light"), ("screen", "dark")):
        watched.tab.emulate_media(media=medium)
        watched.tab.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'", timeout=10_000)


def test_search_from_disk(html, watched):
    for words, page in (("theorem 12.3", "12_overlap_theorem.html#"), ("barrier peak", "15_barrier_peak.html")):
        tab = watched.open(f"{html.as_uri()}/search.html?q={words}")
        first = tab.wait_for_selector("ul.search li a")
        assert page in first.get_attribute("href")
    for number, page in (("2.127", "15_barrier_peak"), ("46.4", "50_accuracy_drops")):  # ours, and a paper's
        tab = watched.open(f"{html.as_uri()}/search.html?q={number}")
        tab.wait_for_selector(f"ul.search li a[href*='{page}']")
        found = tab.eval_on_selector_all("ul.search li > a", "links => links.map(link => link.href)")
        pages = [Path(unquote(urlsplit(href).path)) for href in found]
        assert all(number in one.read_text("utf-8") for one in pages), pages
    assert watched.trouble == []
