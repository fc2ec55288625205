"""Every script, style and font of the built pages is the book's own or of a package whose licence is shipped."""

import hashlib
from importlib.metadata import distribution

from book.tools.render import licences

#: Files that the build writes or changes, from templates of these packages.
MADE = ("documentation_options.js", "language_data.js", "pygments.css", "basic.css", "mystnb.")
MADE += ("copybutton.js", "searchtools.js")
SUFFIXES = (".js", ".css", ".woff2", ".woff", ".ttf")


def digest(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_file_belongs_to_somebody(html, root):
    known = {digest(path) for path in (root / "book").rglob("*") if path.is_file()}
    for name in licences.SHIPPED:
        found = distribution(name)
        known |= {digest(path) for file in found.files if (path := found.locate_file(file)).is_file()}
    built = [path for path in (html / "_static").rglob("*") if path.suffix in SUFFIXES]
    strangers = [p.name for p in built if digest(p) not in known and not p.name.startswith(MADE)]
    assert len(built) > 30 and strangers == []


def test_the_texts_lie_beside_the_pages_and_the_page_leads_there(html):
    text = (html / licences.FILE).read_text(encoding="utf-8")
    assert 'href="../licences.txt"' in (html / "book" / "reuse.html").read_text(encoding="utf-8")
    for words in ("MathJax", "plotly.js", "Font Awesome", "Apache License", "SIL OFL", "Permission is hereby granted"):
        assert words in text
    for name in licences.SHIPPED:
        assert f"\n{name} {distribution(name).version}: " in text


def test_every_package_has_a_licence_and_its_text():
    for name in licences.SHIPPED:
        found = distribution(name)
        assert len(licences.licence(found)) > 2, name
        assert any(len(text) > 300 for text in licences.texts(found).values()) or name == "sphinx-mathjax-offline", name
