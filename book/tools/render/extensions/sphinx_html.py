"""Sphinx extension: additions of the book to the HTML of its theme.

Pages make no request to the network: MathJax comes from the pip package sphinx-mathjax-offline, without the parts that
no page loads, plotly.js from plotly, and the theme's script that would fetch thebe is dropped. A figure that moves
brings its script, ``book/_static/js/moving.js``, which loads plotly.js when the figure comes near the screen. A chapter
offers its source for download. Pictures have their sizes, hence nothing moves when they load. Numbers that cells give
to the page are written as people write them, −2·10⁻¹⁵ for ``-2e-15``, the search takes a number such as 46.4 for one
word, and text that follows a formula without a space stays on its line: otherwise a browser may break the line there
and begin the next one with a full stop.
"""

import gc
import importlib.util
import itertools
import re
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish
from sphinx.util.fileutil import copy_asset

from lmc_helpers.claims.numerals import signs, thousands

#: Package → where its files are, which of them the pages load, and the folder below ``_static`` that they go to.
SCRIPTS = {
    "plotly": ("package_data", ("plotly.min.js",), "plotly"),
    "sphinx-mathjax-offline": (
        "static/mathjax",
        ("tex-chtml.js", "input/tex/extensions", "output/chtml/fonts/woff-v2"),
        "mathjax",
    ),
}
#: Words and numbers of a text, in the index and in what a reader looks for; Sphinx has 46.4 as 46 and 4.
WORD = re.compile(r"[0-9]+\.[0-9]+|\w+")
SPLIT = r"var splitQuery = (query) => query.match(/[0-9]+\.[0-9]+|[\p{Letter}\p{Number}_]+/gu) ?? [];"
IMAGE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([^"/]+\.png)"[^>]*>')
CHAPTER = re.compile(r"executed/\d\dA?_")
INLINE = r"\\\((?:(?!\\\)|<).)*\\\)"
FORMULA = rf'<span class="math notranslate nohighlight">{INLINE}</span>|(?<!nohighlight">){INLINE}'
FORMULA = rf"<strong>[^<]*(?:{FORMULA})</strong>|{FORMULA}"
FOLLOWED = re.compile(rf"({FORMULA})([.,;:!?)\]’”]+|-(?=\w)[\w-]+)", re.S)


def copy_scripts(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for package, (folder, names, target) in SCRIPTS.items():
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise RuntimeError(f"the package {package} is not installed: run `make setup`")
        for name in names:
            path, copy = Path(spec.origin).parent / folder / name, Path(app.outdir) / "_static" / target / name
            copy_asset(str(path), str(copy if path.is_dir() else copy.parent))


def search_numbers(app: Sphinx, error: Exception | None) -> None:
    """Let the search look for numbers, which are in its index and which its script leaves out of what it looks for."""
    path = Path(app.outdir) / "_static" / "searchtools.js"
    if error is None and path.exists():
        path.write_text(re.sub(r"queryTerm\.match\(/\^\\d\+\$/\)", "false", path.read_text("utf-8")), "utf-8")


def write_numbers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    given = [node for node in doctree.findall(nodes.inline) if "pasted-text" in node["classes"]]
    outputs = (node for node in doctree.findall(nodes.container) if "cell_output" in node["classes"])
    tables = [table for output in outputs for table in output.findall(nodes.table)]
    for text in [text for node in (*given, *tables) for text in node.findall(nodes.Text)]:
        if not isinstance(text.parent, (nodes.math, nodes.literal)):
            text.parent.replace(text, nodes.Text(signs(str(text))))
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.math, nodes.literal, nodes.FixedTextElement)):
            text.parent.replace(text, nodes.Text(thousands(str(text))))


def drop_thebe(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Drop the theme's script that would fetch thebe from the network: the book offers no live kernels."""
    known = [(s, getattr(s, "filename", ""), getattr(s, "attributes", "")) for s in context["script_files"]]
    context["script_files"] = [script for script, *about in known if "thebe" not in str(about)]


def add_moving(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if 'class="lmc-moving-spec"' in context.get("body", ""):
        app.add_js_file("js/moving.js", loading_method="defer")


def offer_source(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Both pages of a chapter offer the one executed notebook and, beside it, its jupytext source."""
    if not pagename.startswith("book/executed/"):
        return
    chapter = re.sub("(/..)A_", r"\1_", pagename).rpartition("/")[2]
    file = f"{context['pathto']('sources', 1)}/{chapter}"
    for group in context.get("header_buttons", ()):
        if group.get("label") == "download-buttons":
            source = {
                "type": "link",
                "url": f"{file}.py",
                "text": ".py",
                "tooltip": "Download the chapter's source (jupytext)",
                "icon": "fas fa-file-code",
                "label": "download-jupytext-button",
            }
            for button in group["buttons"]:
                if button.get("text") == ".ipynb":
                    button["url"] = f"{file}.ipynb"
            group["buttons"].insert(1, source)


def say_sizes(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Give each picture its width and height; all but the first of a page load when a reader gets near."""
    files = {name: Path(app.srcdir) / path for path, name in app.builder.images.items()}
    late = itertools.chain([""], itertools.repeat(' loading="lazy"'))

    def sized(image: re.Match) -> str:
        with Image.open(files[image[1]]) as picture:
            size = f'width="{picture.width}" height="{picture.height}"'
        return f"{image[0].rstrip('/> ')} {size}{next(late)}>"

    if app.builder.images:
        context["body"] = IMAGE.sub(sized, context.get("body", ""))


def mark_number(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if CHAPTER.search(pagename) and "body" in context:
        context["body"] = re.sub(r"<h1>(\d\dA?) ", r'<h1><span class="lmc-number">\1</span> ', context["body"], count=1)


def keep_together(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if "body" in context:
        context["body"] = FOLLOWED.sub(r'<span class="lmc-keep">\1\2</span>', context["body"])


def drop_role(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Drop the roles that docutils gives a bibliography and its entries: ARIA has no use for them any more."""
    if "body" in context:
        body = context["body"].replace(' role="doc-biblioentry"', "")
        context["body"] = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')


def setup(app: Sphinx) -> dict:
    gc.set_threshold(100_000, 50, 1000)  # pages are large trees that live on: to look for garbage in them took a fifth
    app.config.mathjax_path = "mathjax/tex-chtml.js"
    SearchEnglish._word_re, SearchEnglish.js_splitter_code = WORD, SPLIT
    app.add_js_file("js/page.js", loading_method="defer")
    app.connect("doctree-resolved", write_numbers)
    for handler in (add_moving, mark_number, say_sizes, keep_together, drop_role):
        app.connect("html-page-context", handler)
    for handler in (drop_thebe, offer_source):
        app.connect("html-page-context", handler, priority=900)
    app.connect("build-finished", copy_scripts)
    app.connect("build-finished", search_numbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
