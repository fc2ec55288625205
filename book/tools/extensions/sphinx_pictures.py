"""Sphinx extension: figures say their size, so that nothing moves when they come; those further down load late."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from PIL import Image
from sphinx.application import Sphinx

IMAGE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([^"/]+\.png)"[^>]*>')


def say_sizes(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Give each picture its width and height; all but the first of a page come when a reader gets near."""
    files = {name: Path(app.srcdir) / path for path, name in app.builder.images.items()}
    late = itertools.chain([""], itertools.repeat(' loading="lazy"'))

    def sized(image: re.Match) -> str:
        with Image.open(files[image[1]]) as picture:
            size = f'width="{picture.width}" height="{picture.height}"'
        return f"{image[0].rstrip('/> ')} {size}{next(late)}>"

    if app.builder.images:
        context["body"] = IMAGE.sub(sized, context.get("body", ""))


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", say_sizes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
