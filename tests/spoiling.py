"""Spoil files of a small book one after the other, and let ``make check`` look at each.

python spoiling.py CASES ANSWERS, in the folder of the book; a case is [what, file, old, new], the answer to it is
[exit status, what was said]. Every check runs in a process that is forked from one that has imported what is needed.
"""

import json
import os
import sys
import traceback
from pathlib import Path

PAPER = {"title": "t", "authors": ["A. Author"], "short": "Author", "venue": "v", "arxiv": "2501.00001"}
PAPER |= {"cite": "author2025", "read": "r", "topic": "toys", "adds": ["a proof"]}
FIGURE = "# ```{glue:figure} fig_one\n# :name: fig-one\n# :alt: a line\n# ```\n# as {cite:p}`author2025` has it\n"
BIBLIOGRAPHY = "@article{author2025,\n  author = {Author, Ann},\n  title = {T},\n  year = {2025},\n}\n"
FINDING = """  - title: one
    says: the first
    chapter: first
    alt: a line that falls from the left to the right, and then rises
    parts: [A1.value]
"""
PAGES = {
    "book/papers.yml": "A:\n" + "".join(f"  {name}: {json.dumps(value)}\n" for name, value in PAPER.items()),
    "book/references.bib": BIBLIOGRAPHY,
    "book/front.yml": "findings:\n" + 4 * FINDING + "half_hour: [first]\nchapters:\n  first: one\n  second: two\n",
    "book/figures.yml": """Z:
  '1':
    shows: a line
    ours: [{chapter: first, picture: fig_one}]
    parts: [A1.value]
""",
    "book/glossary.md": """# Words

```{glossary}
width
  a number.
  Defined in [](/book/executed/01_first.ipynb).
```
""",
    "book/notation.yml": """- letter: $a$
  means:
    - {says: one, chapters: [1]}
    - {says: two, chapters: [1-2]}
""",
    "book/notes.md": "# Notes\n\nSee {cite:t}`author2025`.\n",
    "_toc.yml": """format: jb-book
root: book/notes
parts:
  - caption: One
    chapters:
      - file: book/executed/01_first
      - file: book/executed/02_second
        sections:
          - file: book/errata/A
""",
    "_config.yml": """title: Toy
bibtex_bibfiles: [book/references.bib]
repository:
  url: ""
sphinx:
  local_extensions:
    sphinx_claims: book/tools/extensions
""",
    "book/recorded/paper.json": "",
}
RECORD = {
    **dict.fromkeys(("verdict", "expected"), "holds"),
    **dict.fromkeys(("quantity", "criterion", "corrected", "sharper", "rival", "place", "criteria", "note"), "w"),
    **dict.fromkeys(("device", "commit", "date", "seeds"), "w"),
    **dict.fromkeys(("low", "high", "stderr", "place_corrected", "place_sharper", "second_seed"), None),
    **{"part": "A1.value", "whose": "paper", "weight": "headline", "value": 1.0, "n": 1, "chapter": "01_first"},
    **{"profile": "paper", "parameters": {"size": 3}, "seconds": 0.5},
}


def complete(where: Path) -> None:
    """Give a small book the files that its pages need."""
    for name, text in PAGES.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (where / "book/recorded/paper.json").write_text(json.dumps([RECORD], indent=1) + "\n")
    chapter = where / "notebooks/01_first.py"
    chapter.write_text(chapter.read_text().replace("# # first\n", "# # first\n" + FIGURE))


def spoil(path: Path, what: str, old: str, new: str) -> None:
    """Change a file: write it, delete it, or replace the first ``old`` in it; bytes are written as Latin-1."""
    before = path.read_bytes() if path.is_file() else b""
    if what == "delete":
        path.unlink()
    elif what == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(new.encode("latin-1"))
    elif what == "cut":
        path.write_bytes(before[: before.index(old.encode())])
    else:
        assert old.encode() in before, f"{path} holds no {old!r}"
        path.write_bytes(before.replace(old.encode(), new.encode("latin-1"), 1))


def answer_of(answer: Path) -> tuple[int, str]:
    """The exit status of a check, and what it says."""
    if (child := os.fork()) == 0:
        with answer.open("w") as out:
            sys.stdout = sys.stderr = out
            status = 99
            try:
                status = check.main([])
            except BaseException:
                traceback.print_exc(file=out)
            out.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, answer.read_text()


if __name__ == "__main__":
    import jupyter_book.config  # noqa: F401
    import pybtex.database.input.bibtex  # noqa: F401

    from book.tools import check
    from book.tools.base import chapters
    from book.tools.outcomes import published, repeats  # noqa: F401
    from book.tools.pages import contents, front, gallery, glossary, notation  # noqa: F401
    from book.tools.reading import cells, headers, papers, sources  # noqa: F401
    from book.tools.running import listing, variants  # noqa: F401

    known = sources.Sources()
    for chapter in chapters.chapters():
        known.modules(chapter)  # parsed once, so that every check parses only what is spoiled
    cases, answers = map(Path, sys.argv[1:])
    found = []
    for what, name, old, new in json.loads(cases.read_text()):
        path = Path(name)
        before = path.read_bytes() if path.is_file() else None
        spoil(path, what, old, new)
        found.append(answer_of(answers.with_suffix(".txt")))
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)
    answers.write_text(json.dumps(found))
