"""Bad input: each file that people edit is spoiled in turn; a sentence says what is wrong, where, what is allowed."""

import json
from pathlib import Path

from small_book import FIRST, complete

PROFILE, LEDGER, CHAPTER = "notebooks/profiles/smoke.yaml", "book/claims/A.yml", f"notebooks/{FIRST}.py"
FRONT, FIGURES, PAPERS = "book/front.yml", "book/figures.yml", "book/papers.yml"
BIB, RECORDS = "book/references.bib", "book/recorded/paper.json"
WRITE, CUT = "write", "cut"
KERNEL, TAG, OPEN = "name: python3}\n", 'tags=["parameters"]', "parameters: {}"
UTF8 = "the byte 0xe9 is not UTF-8"
NEEDS = "weight: headline\n      needs: {{{}}}"

#: File → what is done to it: an old text and a new one (or WRITE and the content, None to delete it; or CUT and from
#: where), and words of the line that says so, which names the file.
CASES = {
    PROFILE: [
        ("budget_s: 5", "budget: 5", "chapters.first: unknown field 'budget'; allowed: budget_s"),
        ("budget_s: 5", "budget_s: .inf", "chapters.first.budget_s: "),
        ("  first:", "  fist:", "names chapters that do not exist: fist"),
        ("  second:\n    budget_s: 4\n    parameters: {}\n", "", "has no entry for chapter 'second'; add"),
        (OPEN, "parameters: {sise: 4}", "first: unknown parameter 'sise' = 4 (did you mean 'size'?)"),
        (OPEN, "parameters: {size: 10}", "first: parameter size = 10 (int) is not allowed; allowed: integer in [1, 9]"),
        (OPEN, "parameters: {size: {a: 1}}", "chapters.first.parameters.size"),
        (OPEN, "open: {B1.value: laptop}", "first: open: 'B1.value' is not checked there; allowed: A1.value"),
        (OPEN, "open: {A1.value: smoke}", "first: open: A1.value: 'smoke'; allowed: laptop"),
    ],
    LEDGER: [("weight:", "wieght:", "A1.value: unknown field 'wieght'; allowed: whose, weight")],
    CHAPTER: [
        (WRITE, "", "line 1: no header"),
        (CUT, "# %% [markdown]", "it has no cells"),
        ("A1.value", "A2.value", "part 'A2.value' is not in the ledger; known: A1.value"),
        ("time.sleep(seconds)", "%matplotlib inline", "'%matplotlib inline' is a command of IPython"),
        ("# # first", "# # caf\xe9", UTF8),
        ("# # first", "# # \x00", "null bytes"),
        ("# # first", "# # first\n# The {term}`depth`", "the glossary has no term"),
        (TAG, "", "no cell is tagged parameters"),
        (TAG, 'tags=["parameter"]', "unknown tag 'parameter'; allowed: "),
        (TAG, 'tags=["parameters"', "cannot be r"),
        (KERNEL, "name: julia-1.10}\n", "line 3: kernelspec "),
        ("kernelspec:", "kernelspecs:", "the header names no kernel"),
        (KERNEL, KERNEL + "#   lmc: {runs: lmc_helpers.gamma.runs}\n", "but lmc_helpers.gamma defines no runs"),
        ("size: int = 3", "size: int = 10", "parameter size = 10 (int) is not allowed"),
        ("size: int = 3", "size: int = max(1, 2)", "'max(1, 2)' is not a literal"),
        ("size: int = 3", "import math", "'import math' is not a parameter"),
        ("size: int = 3", "size = 3\nsize: int = 4", "'size' appears twice"),
        ("Integer(1, 9)", "Integer(1)", "size: 'Integer(1)' is not a rule"),
        ("begin(globals()", "print(globals()", "it does not call chapter.begin"),
    ],
    "_toc.yml": [
        (WRITE, None, "cannot be read: No such file"),
        ("01_first", "01_fist", "line 6: 'book/executed/01_fist' does not exist"),
        ("      - file: book/executed/01_first\n", "", "chapter 01_first is missing; add - file: book/exec"),
        ("02_second", "01_first", "line 7: 'book/executed/01_first' appears twice"),
        ("- file: book/executed/01", "- fil: book/executed/01", "unknown field 'fil'; allowed: f"),
    ],
    "_config.yml": [
        ("title: Toy", "titel: Toy", "line 1: unknown setting 'titel'; allowed: title, author"),
        ('url: ""', "url: 3", "line 4: repository.url: 3 is not of type 'string'"),
        ("references.bib", "reference.bib", "line 2: bibtex_bibfiles.0: book/reference.bib does not e"),
        ("sphinx_claims", "sphinx_claim", "line 7: sphinx.local_extensions.sphinx_claim: "),
    ],
    BIB: [
        (WRITE, None, "cannot be read: No such file"),
        (WRITE, "", "line 1: no entry"),
        (WRITE, "@article{caf\xe9,}", UTF8),
        (CUT, "  year", "premature end of file"),
        ("  year = {2025},\n", "", "line 1: author2025: no year"),
        ("@article", "@misc{author2025, title={}}\n@article", "line 2: repeated bibliography entry"),
    ],
    PAPERS: [
        ("2501.00001", "arXiv:2501", "line 6: A.arxiv: "),
        ('"author2025"', '"author2024"', "line 7: A.cite: 'author2024' is in no bibliography"),
    ],
    "book/notes.md": [("`author2025`", "`author2024`", "line 3: 'author2024' is in no bibliography")],
    FRONT: [
        ("  first: one\n", "", "no line on first"),
        ("first: one", f"first: {'x' * 121}", "more than 120 characters: first"),
        ("chapter: first", "chapter: fist", "line 4: chapter 'fist' does not exist; allowed: first, sec"),
        ("parts: [A1.value]", "parts: [A1.valeu]", "A1.valeu is not in the ledger"),
        ("says: the first", "says: '[[A1.valeu:.0f]]'", "A1.valeu is not in the ledger"),
        ("alt: a line", "alt: a\n    lat: x", "line 6: findings.0: unknown field 'lat'; allowed: title"),
    ],
    FIGURES: [
        ("'1':", "one:", "line 2: Z.one: "),
        ("fig_one", "fig_two", "line 2: Z, Fig. 1: 01_first shows no figure 'fig_two'; allowed: fig_"),
        ("chapter: first", "chapter: fist", "Z, Fig. 1: chapter 'fist' does not exist"),
        ("[A1.value]", "[A1.valeu]", "Z, Fig. 1: A1.valeu is not in the ledger"),
        ("shows: a line\n", "shows: a line\n    missing: it is a sketch\n", "'ours'"),
    ],
    "book/glossary.md": [("01_first", "01_fist", "line 6: chapter '01_fist' does not exist")],
    "book/notation.yml": [
        (WRITE, "{a: 1}\n", "line 1: {'a': 1} is not allowed here; allowed: a list"),
        ("chapters: [1]", "chapters: [9]", "line 3: $a$: chapters 9 of 'one': there are none"),
        ("chapters: [1]", "chapters: [one]", "line 3: $a$: chapters 'one'; allowed: numbers"),
    ],
    RECORDS: [
        (CUT, '"seconds"', "the file is cut off"),
        (WRITE, '{"part": 1}', "allowed: a list of records, each with its part"),
        ('  "value": 1.0,\n', "", "A1.value: value: the field is missing"),
        ('"value": 1.0', '"value": "1.0"', "A1.value: value: "),
        ('"verdict": "holds"', '"verdict": "hold"', "A1.value: verdict: 'hold' is not allowed"),
        ('"n": 1', '"n": 1, "n": 2', "'n' stands twice in one record"),
    ],
    "notebooks/3_third.py": [(WRITE, "", "this name is not allowed")],
    "notebooks/03_third.ipynb": [(WRITE, "{}", "chapters are py:percent sources")],
    "notebooks/profiles/big.yaml": [(WRITE, "", "line 1: is empty; allowed: a mapping with says, pages_s")],
}
#: What is told of another file than the one that was spoiled.
ELSEWHERE = [
    (LEDGER, "weight: headline", NEEDS.format("sise: 1"), "01_first.py, line 30: A1.value needs 'sise'; allowed: "),
    (LEDGER, "weight: headline", NEEDS.format("size: 10"), "A1.value needs size ≥ 10; allowed: integer in [1, 9]"),
    (LEDGER, "weight: headline", NEEDS.format("size: [1]"), "A1.value needs size with 1; allowed: integer in [1, 9]"),
    ("notebooks/03_first.py", WRITE, "", "notebooks: 2 chapters have the name first"),
    (CHAPTER, '"A1.value"', '"B1.value"', "02_second.py, line 25: B1.value is checked in 01_first.py, line "),
    (CHAPTER, 'claims.check("A1.value"', 'print("A1.value"', "A1.value is in the ledger as 'holds', but no chapter"),
]
#: Checks of the book with one file after the other spoiled, in one process that forgets what it has read.
CHECKS = """
import contextlib, io, json, sys, traceback
from pathlib import Path
from book.__main__ import main

def put(path, text):
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text.encode("latin-1"))

def checked():
    for name in [name for name in sys.modules if name.startswith(("book.", "lmc_helpers."))]:
        for found in vars(sys.modules[name]).values():
            if hasattr(found, "cache_clear") and found.__name__ != "_parsed":
                found.cache_clear()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            return main(["check"]), said.getvalue()
        except Exception:
            return 99, traceback.format_exc()

answers = []
for name, before, after in json.loads(Path("cases.json").read_text()):
    put(Path(name), after)
    answers.append(checked())
    put(Path(name), before)
print(json.dumps([*answers, checked()]))
"""


def spoiled(text: str | None, old: str, new: str | None) -> str | None:
    """The text of a file, its bytes as Latin-1, after a mistake; None if there is no file."""
    if old == WRITE:
        return new
    assert (new if old == CUT else old) in text, (old, new)
    return text[: text.index(new)] if old == CUT else text.replace(old, new, 1)


def test_one_sentence_says_what_is_wrong(toy):
    complete(toy.where)
    cases = [(file, *case[:2], Path(file).stem, case[2]) for file, some in CASES.items() for case in some]
    cases += [(file, old, new, "", words) for file, old, new, words in ELSEWHERE]
    texts = {file: path.read_text("latin-1") if (path := toy.path(file)).exists() else None for file, *_ in cases}
    changes = [(file, texts[file], spoiled(texts[file], old, new)) for file, old, new, *_ in cases]
    toy.path("cases.json").write_text(json.dumps(changes))
    *answers, (unspoiled, said) = json.loads(toy.python("-c", CHECKS).stdout)
    assert unspoiled == 0, said
    wrong = []
    for case, (status, said) in zip(cases, answers, strict=True):
        lines = said.splitlines()
        one_each = all(line.startswith("error: ") and len(line) < 600 for line in lines)
        named = any(case[3] in line and case[4] in line for line in lines)
        if status != 1 or not one_each or not named:
            wrong.append(f"{case}: {status}, {said}")
    assert not wrong, "\n".join(wrong)
