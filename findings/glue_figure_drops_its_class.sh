#!/usr/bin/env bash
# One would guess: `{glue:figure}` puts its options `alt`, `width` and `class` on the picture, as `{image}` and `{figure}` do.
# What happens: `alt` and `width` arrive; `class` is accepted and gone, without a warning. `figclass`, on the figure around the
#   picture, works.
# Versions: myst-nb 1.4.0, sphinx 8.2.3, nbformat 5.10.4
# Why it matters: a picture that a style sheet shows on phones only, or turns dark, is shown everywhere as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q myst-nb==1.4.0 sphinx==8.2.3 nbformat==5.10.4
mkdir "$folder/book"
cd "$folder/book"
printf 'extensions = ["myst_nb"]\nnb_execution_mode = "off"\n' > conf.py
"$folder/venv/bin/python" - <<'PYTHON'
import base64
import struct
import zlib

import nbformat
from nbformat import v4


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
open("dot.png", "wb").write(png)
glued = {"scrapbook": {"name": "dot", "mime_prefix": "application/papermill.record/"}}
data = {"application/papermill.record/image/png": base64.b64encode(png).decode()}
text = """# Pictures

```{glue:figure} dot
:alt: glued
:width: 40px
:class: narrow
:figclass: outer

A caption.
```

```{image} dot.png
:alt: plain
:width: 40px
:class: narrow
```
"""
code = v4.new_code_cell("1", outputs=[v4.new_output("display_data", data, metadata=glued)])
kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell(text), code], metadata=kernel), "index.ipynb")
PYTHON
"$folder/venv/bin/sphinx-build" -q -W -b html . out  # -W: a warning would be an error
"$folder/venv/bin/python" - <<'PYTHON'
import re

page = open("out/index.html", encoding="utf-8").read()
pictures = {re.search('alt="([^"]*)"', tag)[1]: tag for tag in re.findall("<img[^>]*>", page)}
for name, tag in pictures.items():
    print(f"{name}: width {'width: 40px' in tag}, class {'narrow' in tag}")
assert "width: 40px" in pictures["plain"] and 'class="narrow"' in pictures["plain"]
assert "width: 40px" in pictures["glued"] and "narrow" not in pictures["glued"]
assert 'class="outer' in page
PYTHON
