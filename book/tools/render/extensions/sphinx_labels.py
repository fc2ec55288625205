"""Sphinx extension: references are labelled by authors and year, and lead to their DOI or arXiv page.

pybtex's own alphabetic labels abbreviate names to letters, ``[BcSimcsekIG19]``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.richtext import Text
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx


def label(entry: Entry) -> str:
    """Authors and year: one name, two, or the first of more.

    >>> from pybtex.database import Entry, Person
    >>> people = [Person("Zhan, Keyao"), Person("Li, Puheng"), Person("Wu, Lei")]
    >>> [label(Entry("article", {"year": "2025"}, {"author": people[:k]})) for k in (2, 3)]
    ['Zhan & Li 2025', 'Zhan et al. 2025']
    """
    names = [str(Text.from_latex(" ".join(person.last_names))) for person in entry.persons["author"]]
    who = " & ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{who} {entry.fields['year']}"


class AuthorYear(BaseLabelStyle):
    """Labels as :func:`label`, with a letter where two would be the same."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        labels = [label(entry) for entry in sorted_entries]
        many, seen = Counter(labels), Counter[str]()
        for one in labels:
            yield one + (chr(ord("a") + seen[one]) if many[one] > 1 else "")
            seen[one] += 1


class Named(Style):
    """pybtex's plain style with these labels, sorted by author."""

    default_label_style = AuthorYear
    default_sorting_style = "author_year_title"


def setup(app: Sphinx) -> dict:
    register_plugin("pybtex.style.formatting", "named", Named)
    app.config.bibtex_default_style = "named"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
