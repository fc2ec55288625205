"""Small copies of the chapters' pictures: their sizes, their places, and what is said if one is not there."""

import base64
import io
import json

import pytest
from oracles import notebooks
from PIL import Image

from book.tools.read.chapters import BuildError, chapters
from book.tools.render import pictures

SOURCE = """# %% [markdown]
# :::{glue:figure} fig_left
# :name: fig-left
# :alt: A line that rises: slowly, then fast.
#
# A caption with :::{x}:::.
# :::
#
# text
#
# ::::{glue:figure} fig_right
# :alt: Another line.
# ::::
"""


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGBA", (width, height), (255, 0, 0, 255)).save(out, "PNG")
    return out.getvalue()


def executed(path, **stored):
    coded = {name: base64.b64encode(content).decode() for name, content in stored.items()}
    outputs = [notebooks.glued(name, text, "image/png") for name, text in coded.items()]
    path.write_text(json.dumps(notebooks.executed(path.stem, *outputs)))
    return path


def test_figures_are_found_with_anchor_and_words():
    found = pictures.in_text("01_toy", SOURCE)
    assert list(found) == ["fig_left", "fig_right"]
    alt = "A line that rises: slowly, then fast."
    assert found["fig_left"] == pictures.Picture("01_toy", "01_toy", "fig_left", "fig-left", alt)
    assert found["fig_right"].anchor == "fig-right"
    found = [picture for chapter in chapters() for picture in pictures.shown(chapter).values()]
    assert len(found) > 50
    assert [p.name for p in found if not p.anchor or len(p.alt) < 40] == []
    assert len({p.anchor for p in found}) == len(found)
    for size, becomes in (((1280, 640), (640, 320)), ((1698, 690), (640, 260)), ((500, 300), (500, 300))):
        small = Image.open(io.BytesIO(pictures.small(png(*size))))
        assert small.format == "WEBP" and small.size == becomes


def test_copies_are_written_once_and_their_sizes_told(tmp_path):
    path = executed(tmp_path / "07_toy.ipynb", one=png(1280, 640), two=png(300, 200), unused=png(10, 10))
    found = pictures.write({("07_toy", "one"), ("07_toy", "two")}, {"07_toy": path}, tmp_path / "thumbs")
    one, two = pictures.Small("07-one.webp", 640, 320), pictures.Small("07-two.webp", 300, 200)
    assert found == {("07_toy", "one"): one, ("07_toy", "two"): two}
    assert sorted(p.name for p in (tmp_path / "thumbs").iterdir()) == ["07-one.webp", "07-two.webp"]
    path = executed(tmp_path / "07_toy.ipynb", one=png(12, 6))
    with pytest.raises(BuildError, match=r"07_toy holds no picture 'finding'; it has: one"):
        pictures.write({("07_toy", "finding")}, {"07_toy": path}, tmp_path / "thumbs")
