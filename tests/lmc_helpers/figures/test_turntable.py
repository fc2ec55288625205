"""Turntables: what stands in the HTML, and what a browser draws from it."""

import json
import os
import re
import shutil

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lmc_helpers import figures
from lmc_helpers.figures.turntable import Picture, draw, turntable

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXES = ("x", "y", "z")


def plane(height, rows=3, columns=4):
    x, y = np.meshgrid(np.linspace(-1, 1, columns), np.linspace(-1, 1, rows))
    return np.stack([x, y, np.full_like(x, height)], axis=-1)


def data(text):
    return json.loads(re.search(r"data = (\{.*?\});\n", text).group(1))


def test_the_html_holds_the_points_and_nothing_from_outside():
    patches = [(2 * plane(0.25), "#0072B2"), (2 * plane(-1.0, 2, 2), "#D55E00")]
    text = turntable([Picture("a", patches), Picture("b </script>", patches[:1])], AXES, 2.0, 'alt "of" {{DATA}} & <b>')
    assert not re.search(r"https?:|src=|href=|import|fetch|\{\{ALT", text)
    assert text.count("<canvas") == text.count("</canvas>") == text.count("<script>") == text.count("</script>") == 1
    assert 'aria-label="alt &quot;of&quot; {{DATA}} &amp; &lt;b&gt;"' in text
    found = data(text)
    assert [scene["title"] for scene in found["scenes"]] == ["a", "b </script>"] and found["axes"] == list(AXES)
    first, second = found["scenes"][0]["patches"]
    assert first["n"] == 4 and first["c"] == [0, 0x72, 0xB2] and second["n"] == 2
    np.testing.assert_allclose(np.reshape(first["p"], (3, 4, 3)), plane(0.25), atol=5e-4)


def test_a_static_picture_has_every_quadrilateral_and_looks_alike_from_both_sides():
    figure, axes = figures.panels(2, subplot_kw={"projection": "3d"})
    patch = plane(0.25)
    for axis, points in zip(axes, (patch, patch[::-1]), strict=True):  # reversed rows turn round the normal
        draw(axis, Picture("title", [(points, "#0072B2"), (plane(-1.0, 2, 2), "#D55E00")]), AXES, 1.0)
    figure.canvas.draw()
    faces = []
    for axis in axes:
        assert axis.get_title() == "title" and axis.get_zlabel() == "z" and axis.get_xlim() == (-1, 1)
        colours = axis.collections[0].get_facecolor()
        assert len(colours) == 2 * 3 + 1  # of a patch of 3 × 4 points, and of one of 2 × 2
        faces.append(sorted(map(tuple, colours.round(9).tolist())))
    assert faces[0] == faces[1]
    flat = 0.55 + 0.45 * 0.84  # of the light falls on a horizontal face
    assert any(np.allclose(face[:3], flat * np.array([0, 0x72, 0xB2]) / 255, atol=1e-3) for face in faces[0])
    with pytest.raises(ValueError, match="colour 'red'; allowed: '#rrggbb'"):
        draw(axes[0], Picture("", [(patch, "red")]), AXES, 1.0)
    plt.close(figure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: turntable([], AXES, 1, ""), "no picture; allowed"),
        (lambda: turntable([Picture("", [(plane(0)[0], "#000000")])], AXES, 1, ""), r"shape \(4, 3\); allowed"),
        (lambda: turntable([Picture("", [(plane(0, 1), "#000000")])], AXES, 1, ""), r"shape \(1, 4, 3\); allowed"),
        (lambda: turntable([Picture("", [(plane(-1.5), "#000000")])], AXES, 1, ""), "coordinate -1.5; allowed: ±1"),
        (lambda: turntable([Picture("", [(plane(np.nan), "#000000")])], AXES, 1, ""), "coordinate nan; allowed"),
        (lambda: turntable([Picture("", [(plane(0), "red")])], AXES, 1, ""), "colour 'red'; allowed: '#rrggbb'"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_browser_draws_and_turns_it(tmp_path):
    if BROWSER is None:
        if os.environ.get("CI"):
            pytest.fail("no browser")
        pytest.skip("no browser: install chromium to test the turntable")
    from playwright.sync_api import sync_playwright

    page = tmp_path / "page.html"
    patches = [(plane(-0.9), "#0000ff"), (plane(0.9), "#ff0000")]
    page.write_text(f"<!doctype html><meta charset=utf-8>{turntable([Picture('t', patches)], AXES, 1, 'alt')}")
    middle = "c => [...c.getContext('2d').getImageData(c.width / 2, c.height * 0.53, 1, 1).data]"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 600, "height": 700})
        trouble, requests = [], []
        tab.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(page.as_uri())
        canvas = tab.locator("canvas")
        canvas.focus()

        def press(key, times):
            for _ in range(times):
                tab.keyboard.press(key)
            tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            return canvas.evaluate(middle)

        red, _, blue, _ = press("ArrowDown", 20)  # from above
        assert red > 100 and blue < 20
        red, _, blue, _ = press("ArrowUp", 40)  # from below
        assert blue > 100 and red < 20
        assert press("ArrowDown", 15) == [0, 0, 0, 0]  # from the side, between the planes: nothing drawn
        before = canvas.evaluate("c => c.toDataURL()")
        box = canvas.bounding_box()
        tab.mouse.move(box["x"] + 50, box["y"] + 50)
        tab.mouse.down()
        tab.mouse.move(box["x"] + 120, box["y"] + 60, steps=4)
        tab.mouse.up()
        press("Shift", 1)
        assert canvas.evaluate("c => c.toDataURL()") != before
        assert trouble == [] and requests == [page.as_uri()]

        both = [Picture("s", patches[:1]), Picture("t", patches[:1])]
        page.write_text(f"<!doctype html><meta charset=utf-8>{turntable(both, AXES, 1, 'alt')}")
        tab.goto(page.as_uri())
        shape = "c => c.clientHeight / c.clientWidth"
        assert canvas.evaluate(shape) == pytest.approx(1 / 2, rel=0.02)
        tab.set_viewport_size({"width": 390, "height": 700})  # on a phone one picture below the other
        tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert canvas.evaluate(shape) == pytest.approx(2, rel=0.02)
        lower = "c => [...c.getContext('2d').getImageData(0, c.height / 2, c.width, c.height / 2).data].some(v => v)"
        assert canvas.evaluate(lower)
        browser.close()
