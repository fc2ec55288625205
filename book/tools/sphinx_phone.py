"""Sphinx extension: on narrow screens a figure's panels stand one below the other.

The executed chapters hold each figure twice (``book/tools/staging.py``). myst-nb calls the file of an image by the
SHA-256 of its bytes; the picture for phones lies under the same name in ``phone/``, from where the browser takes it
when the screen is narrow. Alternative text, caption and size stay those of the image.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

FOLDER = "phone"
NARROW = "(max-width: 600px)"
IMAGE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([0-9a-f]{64}\.png)"[^>]*>')


def offer_phone_pictures(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Let each image that has a picture for phones offer it."""
    folders = [Path(app.confdir) / extra / FOLDER for extra in app.config.html_extra_path]
    known = {path.name for folder in folders if folder.is_dir() for path in folder.iterdir()}

    def wrapped(image: re.Match) -> str:
        if image[1] not in known:
            return image[0]
        source = f"{context['pathto'](FOLDER, 1)}/{image[1]}"
        return f'<picture><source media="{NARROW}" srcset="{source}">{image[0]}</picture>'

    if known and "body" in context:
        context["body"] = IMAGE.sub(wrapped, context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", offer_phone_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
