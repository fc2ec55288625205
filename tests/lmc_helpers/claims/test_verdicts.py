"""Every verdict has a symbol of its own, and colours that differ for eyes without the cones of middle wavelengths."""

import itertools
import re

import numpy as np
import pytest

from lmc_helpers import claims

#: Machado, Oliveira & Fernandes 2009, deuteranopia, for linear RGB.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> np.ndarray:
    encoded = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def lab(colour: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(XYZ @ np.clip(colour, 0, 1) / WHITE)  # the cubic branch: none of the colours is that dark
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(a: str, b: str) -> float:
    low, high = sorted(float((XYZ @ linear(colour))[1]) + 0.05 for colour in (a, b))
    return high / low


@pytest.fixture(scope="module")
def themes(root) -> dict[str, dict[str, str]]:
    """The variables of the light and of the dark theme."""
    text = (root / "book" / "_static" / "css" / "boxes.css").read_text(encoding="utf-8")
    light, dark = re.search(r":root \{(.*?)\}.*?html\[data-theme=\"dark\"\] \{(.*?)\}", text, re.S).groups()
    blocks = {"light": light, "dark": dark}
    return {name: dict(re.findall(r"--(lmc-[\w-]+): (#[0-9a-f]{6});", block)) for name, block in blocks.items()}


def test_every_verdict_has_a_symbol_and_a_style_of_its_own():
    symbols = [claims.symbol(verdict) for verdict in claims.VERDICTS]
    assert all(symbols) and len(set(symbols)) == len(symbols)
    assert claims.symbol("not yet in the book") == ""
    slugs = [claims.slug(verdict) for verdict in claims.VERDICTS]
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", slug) for slug in slugs) and len(set(slugs)) == len(slugs)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["", "-pale"])
def test_colours_differ_for_deuteranopes(themes, theme, kind):
    found = {verdict: themes[theme][f"lmc-{claims.slug(verdict)}{kind}"] for verdict in claims.VERDICTS}
    seen = {verdict: lab(DEUTERANOPIA @ linear(colour)) for verdict, colour in found.items()}
    for one, other in itertools.combinations(claims.VERDICTS, 2):
        far = {claims.HOLDS, claims.OPEN} == {one, other}
        assert np.linalg.norm(seen[one] - seen[other]) > (10 if far else 5), (one, other)


@pytest.mark.parametrize(("theme", "page"), [("light", "#ffffff"), ("dark", "#121212")])
def test_colours_can_be_read(themes, theme, page):
    for verdict in claims.VERDICTS:
        strong, pale = (themes[theme][f"lmc-{claims.slug(verdict)}{kind}"] for kind in ("", "-pale"))
        assert contrast(strong, page) > 4.5
        assert contrast(themes[theme]["lmc-ink"], pale) > 4.5
