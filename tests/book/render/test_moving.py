"""Figures that move, in a real browser with the network refused: one library, loaded late, a slider for all."""

import json
import re

from browser import frame_of, outside

from book.tools.read import chapters
from book.tools.render import pictures, staging
from lmc_helpers.figures.moving import MIME

SHOWN = re.compile(r'^scene\.show\("(\w+)"\)$', re.MULTILINE)
FIGURES = [
    (chapter, name.replace("_", "-"))
    for chapter in chapters.chapters()
    for name in SHOWN.findall((chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8"))
]
LIBRARY = "plotly.min.js"
CHAPTER, FIGURE = FIGURES[0]
DRAWN = "f => f.querySelector('.lmc-moving-plot').data.map(trace => [trace.x, trace.y])"


def address(base: str, chapter: str, figure: str) -> str:
    shown = {picture.anchor: picture.page for picture in pictures.shown(chapter).values()}
    return f"{base}/book/executed/{shown[figure]}.html"


def reach(tab, figure: str):
    """Scroll to a figure and wait until it is drawn."""
    found = tab.locator(f"#{figure}")
    found.scroll_into_view_if_needed()
    found.locator(".main-svg").first.wait_for()
    return found


def settled(tab) -> None:
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def described(tab, figure: str) -> dict:
    return json.loads(tab.locator(f'script[data-figure="{figure}"]').text_content())


def test_the_description_takes_the_place_of_the_picture():
    metadata = {MIME: {"figure": "fig-a", "spec": '{"name":"</script><b>"}'}}
    output = {"output_type": "display_data", "data": {"image/png": "x"}, "metadata": metadata}
    other = {"output_type": "display_data", "data": {"image/png": "y"}, "metadata": {}}
    staging.describe_moving({"cells": [{"cell_type": "markdown"}, {"cell_type": "code", "outputs": [output, other]}]})
    assert other["data"] == {"image/png": "y"} and list(output["data"]) == ["text/html"]
    text = output["data"]["text/html"]
    assert text.count("</script>") == 1 and 'data-figure="fig-a"' in text
    assert json.loads(re.search(">(.*)</script>", text)[1]) == {"name": "</script><b>"}


def test_it_is_loaded_late_and_moved_by_keys_and_pointer(html, served, watched):
    """From a server; test_pages.py sees all of them load from disk and follow their sliders."""
    tab = watched.open(address(served, CHAPTER, FIGURE))
    assert not [url for url in watched.requests if LIBRARY in url]
    found = reach(tab, FIGURE)
    assert len([url for url in watched.requests if LIBRARY in url]) == 1
    assert outside(watched, served) == [] and [path.parent.name for path in html.rglob(LIBRARY)] == ["plotly"]

    spec, slider = described(tab, FIGURE), found.locator("input[type=range]")
    last = len(spec["frames"]) - 1
    slider.focus()
    for key, frame in (("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("End", last)):
        tab.keyboard.press(key)
        settled(tab)
        assert found.evaluate(DRAWN) == frame_of(spec, frame)
        assert slider.get_attribute("aria-valuetext").startswith(spec["layout"]["meta"]["values"][frame])
    box = slider.bounding_box()
    slider.click(position={"x": 2, "y": box["height"] / 2})
    settled(tab)
    assert found.evaluate(DRAWN) == frame_of(spec, 0)
    assert watched.trouble == []


def test_a_thumb_moves_it(html, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    tab = context.new_page()
    tab.goto(address(html.as_uri(), CHAPTER, FIGURE))
    found = reach(tab, FIGURE)
    spec, slider = described(tab, FIGURE), found.locator("input[type=range]")
    slider.scroll_into_view_if_needed()
    box, place = slider.bounding_box(), tab.evaluate("scrollY")
    ends, y = (box["x"] + 2, box["x"] + box["width"] - 2), box["y"] + box["height"] / 2
    tab.touchscreen.tap(ends[0], y)
    settled(tab)
    assert found.evaluate(DRAWN) == frame_of(spec, 0)

    def touch(kind, *points):
        places = [{"x": x, "y": y} for x in points]
        hand.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": places})

    hand = context.new_cdp_session(tab)
    touch("Start", ends[0] + 8)
    seen = set()
    for step in range(1, 6):
        touch("Move", ends[0] + 8 + step / 5 * (ends[1] - ends[0] - 8))
        settled(tab)
        seen.add(slider.input_value())
    touch("End")
    settled(tab)
    assert len(seen) > min(3, len(spec["frames"]) - 1)  # it follows the thumb
    assert found.evaluate(DRAWN) == frame_of(spec, len(spec["frames"]) - 1)
    assert tab.evaluate("scrollY") == place  # and the page stays
    context.close()


def test_without_scripts_there_is_the_picture(html, browser):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    missing = []
    for chapter, figure in FIGURES:
        tab.goto(address(html.as_uri(), chapter, figure))
        picture = tab.locator(f"#{figure} img")
        if not picture.is_visible() or picture.bounding_box()["width"] <= 300:
            missing.append(f"{chapter}#{figure}")
    context.close()
    assert missing == []


def test_it_follows_the_theme_and_gives_way_to_the_picture_on_paper(html, watched):
    tab = watched.open(address(html.as_uri(), CHAPTER, FIGURE))
    found = reach(tab, FIGURE)
    look = "f => (({font, paper_bgcolor}) => [font.color, paper_bgcolor])(f.querySelector('.lmc-moving-plot').layout)"
    seen = {}
    for theme in ("light", "dark"):
        tab.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        settled(tab)
        ink, paper = found.evaluate(look)
        seen[theme] = ink
        assert paper == "rgba(0,0,0,0)"
        style = "() => getComputedStyle(document.documentElement)"
        text = tab.evaluate(f"{style}.getPropertyValue('--pst-color-text-base')")
        assert ink == text.strip()
    assert seen["light"] != seen["dark"]
    opacity = "f => [getComputedStyle(f.querySelector('img')).opacity, f.querySelector('.lmc-moving').clientHeight > 0]"
    assert found.evaluate(opacity) == ["0", True]
    tab.emulate_media(media="print")
    assert found.evaluate(opacity) == ["1", False]


def test_the_first_load_is_small(html):
    for chapter, _ in FIGURES:
        page = html / "book" / "executed" / f"{chapter}.html"
        text = page.read_text(encoding="utf-8")
        pictures = {html / "_images" / name for name in re.findall(r'src="[^"]*_images/([^"]+)"', text)}
        size = page.stat().st_size + sum(path.stat().st_size for path in pictures)
        assert pictures and size < 3e6, chapter
        assert sum(map(len, re.findall(r'<script[^>]*class="lmc-moving-spec".*?</script>', text))) < 5e5, chapter
