"""Sphinx extension: on narrow screens a figure's panels stand one below the other; figures further down load late.

The executed chapters hold each figure twice (``book/tools/pages/staging.py``). myst-nb calls the file of an image by
the SHA-256 of its bytes; the picture for phones lies under the same name in ``phone/``, from where the browser takes it
when the screen is narrow. The alternative text stays that of the image; in the caption Left and Right become Top and
Bottom. Every figure says its size, so that nothing moves when it comes; all but the first of a page come when a reader
gets near.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

from sphinx.application import Sphinx

FOLDER = "phone"
NARROW = "(max-width: 600px)"
IMAGE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([0-9a-f]{64}\.png)"[^>]*>')
CAPTION = re.compile(r"(?<=</picture>)\s*<figcaption>.*?</figcaption>", re.S)
BELOW = {"Left": "Top", "Right": "Bottom", "right": "bottom", "(left)": "(top)", "(right)": "(bottom)"}
SIDE = re.compile(r"\b(?:Left|Right)\b|(?<=Middle and )right\b|\((?:left|right)\)")


def told_below(caption: str) -> str:
    """A caption whose words for panels side by side give way, on narrow screens, to those for panels in one column.

    One that speaks of rows of panels as well stays as it is.

    Examples
    --------
    >>> told_below("Left: a, above. Bottom: b.")
    'Left: a, above. Bottom: b.'
    >>> print(told_below("Left: a, to the right."))
    <span class="lmc-wide">Left</span><span class="lmc-narrow">Top</span>: a, to the right.
    """
    if re.search(r"\b(Top|Bottom)\b", caption):
        return caption
    pair = '<span class="lmc-wide">{}</span><span class="lmc-narrow">{}</span>'
    return SIDE.sub(lambda side: pair.format(side[0], BELOW[side[0]]), caption)


def size(png: Path) -> str:
    """Width and height of a PNG as attributes of HTML."""
    with png.open("rb") as file:
        width, height = struct.unpack(">2I", file.read(24)[16:])
    return f'width="{width}" height="{height}"'


def offer_phone_pictures(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Let each image say its size and offer the picture for phones that it has."""
    folders = [Path(app.confdir) / extra / FOLDER for extra in app.config.html_extra_path]
    phone = {path.name: path for folder in folders if folder.is_dir() for path in folder.iterdir()}
    wide = {Path(name).name: Path(app.srcdir) / name for name in app.env.images}
    first = IMAGE.search(context.get("body", ""))

    def wrapped(image: re.Match) -> str:
        name = image[1]
        late = "" if first and image.start() == first.start() else ' loading="lazy"'
        shown = f"{image[0].rstrip('/> ')} {size(wide[name])}{late}>" if name in wide else image[0]
        if name not in phone:
            return shown
        source = f"{context['pathto'](FOLDER, 1)}/{name}"
        return f'<picture><source media="{NARROW}" srcset="{source}" {size(phone[name])}>{shown}</picture>'

    if first:
        body = IMAGE.sub(wrapped, context["body"])
        context["body"] = CAPTION.sub(lambda caption: told_below(caption[0]), body)


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", offer_phone_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
