"""Bad input: each file that people edit is spoiled in turn; a sentence says what is wrong, where, what is allowed."""

import json
import re
import subprocess

import pytest
from small_book import FIRST, make
from spoiling import complete

PROFILE, LEDGER, CHAPTER = "notebooks/profiles/smoke.yaml", "book/claims/A.yml", f"notebooks/{FIRST}.py"
TOC, CONFIG, BIB = "_toc.yml", "_config.yml", "book/references.bib"
FRONT, FIGURES, PAPERS = "book/front.yml", "book/figures.yml", "book/papers.yml"
GLOSSARY, NOTATION, RECORDS = "book/glossary.md", "book/notation.yml", "book/recorded/paper.json"
WRITE = ("write", "")
UTF8 = r"the byte 0xe9 is not UTF-8; allowed: a text in UTF-8"

#: What is done to which file: ("write", "", text), ("delete", "", ""), ("cut", at, ""), or (old, new); the answer.
CASES = [
    # files that are no YAML, empty, a word, in Latin-1, or of another kind; one reader reads them all
    *(
        (file, (*WRITE, text), rf"^{file.rpartition('/')[2]}, line {line}: .*{says}")
        for text, line, says, files in (
            ("a: [1\nb: 2\n", 2, "(did not find expected|expected ',' or ']')", (PROFILE, TOC)),
            ("", 1, r"is empty; allowed: (a mapping|a list)", (LEDGER, CONFIG)),
            ("word\n", 1, r"'word' is not allowed here; allowed: (a mapping|a list)", (FRONT,)),
            ("# caf\xe9\n", 1, UTF8, (FIGURES, PAPERS)),
            ("- {a: 1}\n", 1, r"\[.*is not allowed here; allowed: a mapping", (PROFILE, LEDGER, TOC)),
            ("{a: 1}\n", 1, "is not allowed here; allowed: a list", (NOTATION,)),
        )
        for file in files
    ),
    *(
        (file, ("delete", "", ""), rf"{file.rpartition('/')[2]}: cannot be read: No such file")
        for file in (TOC, CONFIG, FRONT, FIGURES, PAPERS, GLOSSARY, NOTATION, BIB)
    ),
    # names that stand twice
    (PROFILE, ("says: toy", "says: toy\nsays: other"), r"^smoke.yaml, line \d+: found duplicate key .says."),
    (
        PROFILE,
        ("says: toy", "says: !!python/object/apply:os.getcwd []"),
        r"line \d+: could not determine a constructor",
    ),
    (PROFILE, ("says: toy", "says: *there"), r"line \d+: found undefined alias"),
    (PROFILE, ("says: toy", "says: a\x07b"), r"smoke.yaml, line \d+: (control characters|the character 0x7)"),
    (PROFILE, ("says: toy", "says: 2020-13-45"), r"^smoke.yaml.*month must be in 1..12"),
    # profiles
    (PROFILE, ("pages_s: 1\n", ""), r"^smoke.yaml, line 1: pages_s: the field is missing$"),
    (
        PROFILE,
        ("budget_s: 5", "budget: 5"),
        r"^smoke.yaml, line \d+: chapters.first: unknown field 'budget'; allowed: b",
    ),
    (PROFILE, ("    budget_s: 5\n", ""), r"^smoke.yaml, line \d+: chapters.first.budget_s: the field is missing$"),
    (PROFILE, ("budget_s: 5", "budget_s: soon"), r"chapters.first.budget_s: .*valid number.*, not 'soon'$"),
    (PROFILE, ("budget_s: 5", "budget_s: .inf"), r"chapters.first.budget_s: .*finite number, not inf$"),
    (PROFILE, ("budget_s: 5", "budget_s: -1"), r"chapters.first.budget_s: .*greater than 0, not -1$"),
    (
        PROFILE,
        ("  first:", "  fist:"),
        r"^smoke.yaml, line \d+: profile 'smoke' names chapters that do not exist: fist$",
    ),
    (
        PROFILE,
        ("  second:\n    budget_s: 4\n    parameters: {}\n", ""),
        r"^smoke.yaml, line \d+: profile 'smoke' has no entry for chapter 'second'; add",
    ),
    (
        PROFILE,
        ("parameters: {}", "parameters: {sise: 4}"),
        r"^smoke.yaml, line \d+: first: unknown parameter 'sise' = 4 \(did you mean 'size'\?\); allowed: size \(int",
    ),
    (
        PROFILE,
        ("parameters: {}", "open: {B1.value: laptop}"),
        r"^smoke.yaml, line \d+: first: open: 'B1.value' is not checked there; allowed: A1.value$",
    ),
    (
        PROFILE,
        ("parameters: {}", "open: {A1.value: smoke}"),
        r"^smoke.yaml, line \d+: first: open: A1.value: 'smoke'; allowed: laptop$",
    ),
    (
        PROFILE,
        ("parameters: {}", "open: [A1.value]"),
        r"^smoke.yaml, line \d+: chapters.first.open: ",
    ),
    (
        PROFILE,
        ("parameters: {}", "parameters: {size: 10}"),
        r"^smoke.yaml, line \d+: first: parameter size = 10 \(int\) is not allowed; allowed: integer in \[1, 9\]$",
    ),
    (
        PROFILE,
        ("parameters: {}", "parameters: {size: 1e0}"),
        r"parameter size = 1.0 \(float\) is not allowed; allowed: i",
    ),
    (
        PROFILE,
        ("parameters: {}", "parameters: {size: {a: 1}}"),
        r"^smoke.yaml, line \d+: chapters.first.parameters.size",
    ),
    (PROFILE, ("parameters: {}", "parameters: {seconds: .nan}"), r"parameter seconds = nan \(float\) is not allowed"),
    (
        "notebooks/profiles/big.yaml",
        (*WRITE, ""),
        r"^big.yaml, line 1: is empty; allowed: a mapping with says, pages_s",
    ),
    # the ledger
    (LEDGER, ("A1:", "A1:\n  says: x"), r"^A.yml, line \d+: found duplicate key .says.$"),
    (LEDGER, ("A1:", "a1:"), r"^A.yml, line 1: a1: string should match pattern '\^\[A-Z\]\[0-9\]\+\$', not 'a1'$"),
    (LEDGER, ("paper: A", "paper: B"), r"^A.yml, line \d+: A1: paper: 'B' is not allowed; allowed: the file's letter$"),
    (LEDGER, ("weight:", "wieght:"), r"^A.yml, line \d+: A1.value: unknown field 'wieght'; allowed: whose, weight"),
    (
        LEDGER,
        ("weight: headline", "weight: heavy"),
        r"A1.value: weight 'heavy'; allowed: 'headline', 'detail', 'slip'$",
    ),
    (LEDGER, ("expected: holds", "expected: true"), r"^A.yml, line \d+: A1.value.expected: .*valid string, not True$"),
    (LEDGER, ("expected: holds", "expected: fails"), r"A1.value: expected 'fails' needs a reason$"),
    (
        LEDGER,
        ("equals: 1", "equal: 1"),
        r"A1.value.criterion: this is no criterion; allowed: equals \(with tolerance\)",
    ),
    (
        LEDGER,
        ("equals: 1", "equals: one"),
        r"^A.yml, line \d+: A1.value.criterion.*'one' is neither a number nor a closed",
    ),
    (
        LEDGER,
        ("equals: 1", "equals: .nan"),
        r"A1.value.criterion.*nan is not finite; allowed: a finite number or closed",
    ),
    (LEDGER, ("equals: 1", "equals: 10**10**10**10"), r"'10\*\*10\*\*10\*\*10' is neither a number nor a closed form"),
    (
        LEDGER,
        ("equals: 1", "between: [2, 1]"),
        r"A1.value.criterion: the criterion in \[2, 1\] is empty or cannot fail",
    ),
    (LEDGER, ("equals: 1", "at_most: 10"), r"A1.value: criterion \(≤ 10\) also accepts its rival \(9\)"),
    (LEDGER, ("value: 9", "value: .nan"), r"A1.value.rival.value: nan is not finite"),
    (LEDGER, ("value: 9", "value: 1"), r"A1.value: criterion \(= 1\) also accepts its rival \(1\)"),
    (LEDGER, ("A1:", "A2:"), rf"^{FIRST}.py, line \d+: part 'A1.value' is not in the ledger; known: "),
    ("book/claims/C.yml", (*WRITE, ""), r"^C.yml, line 1: is empty; allowed: a mapping from ids to claims$"),
    # chapters
    (CHAPTER, (*WRITE, ""), rf"^{FIRST}.py, line 1: no header"),
    (
        CHAPTER,
        ("time.sleep(seconds)", "time.sleep(seconds"),
        rf"^{FIRST}.py, line \d+: '\(' was never closed: 'time.sleep",
    ),
    (
        CHAPTER,
        ("time.sleep(seconds)", "%matplotlib inline"),
        rf"^{FIRST}.py, line \d+: '%matplotlib inline' is a command of",
    ),
    (
        CHAPTER,
        ("time.sleep(seconds)", "# !ls"),
        rf"^{FIRST}.py, line \d+: '# !ls' is a command of IPython; allowed: plain",
    ),
    (CHAPTER, ("# # first", "# # caf\xe9"), rf"^{FIRST}.py, line \d+: {UTF8}$"),
    (CHAPTER, ("# # first", "# # \x00"), rf"^{FIRST}.py.*null bytes"),
    (CHAPTER, ("cut", "# %% [markdown]", ""), rf"^{FIRST}.py: it has no cells; allowed: py:percent"),
    (CHAPTER, ('tags=["parameters"]', ""), rf"^{FIRST}.py: no cell is tagged parameters; allowed: one"),
    (
        CHAPTER,
        ('tags=["parameters"]', 'tags=["parameter"]'),
        rf"^{FIRST}.py, line \d+: unknown tag 'parameter'; allowed: p",
    ),
    (
        CHAPTER,
        ('tags=["parameters"]', 'tags=["parameters"'),
        rf"^{FIRST}.py, line \d+: 'tags=\[\"parameters\"' cannot be r",
    ),
    (
        CHAPTER,
        ("name: python3", "name: julia-1.10"),
        rf"^{FIRST}.py, line 3: kernelspec .*julia-1.10.* is not allowed; allow",
    ),
    (CHAPTER, ("language: python,", "language: [,"), rf"^{FIRST}.py, line 3: "),
    (
        CHAPTER,
        ("kernelspec:", "kernelspecs:"),
        rf"^{FIRST}.py, line 1: the header names no kernel; allowed: kernelspec",
    ),
    (
        CHAPTER,
        ("size: int = 3", "size: int = 10"),
        rf"^{FIRST}.py, line \d+: parameter size = 10 \(int\) is not allowed",
    ),
    (CHAPTER, ("size: int = 3", "size: int = max(1, 2)"), rf"^{FIRST}.py, line \d+: 'max\(1, 2\)' is no literal"),
    (
        CHAPTER,
        ("size: int = 3", "import math"),
        rf"^{FIRST}.py, line \d+: 'import math' is no parameter; allowed: name: t",
    ),
    (CHAPTER, ("size: int = 3", "size = 3\nsize: int = 4"), rf"^{FIRST}.py, line \d+: 'size' appears twice$"),
    (
        CHAPTER,
        ("Integer(1, 9)", "Integer(1)"),
        rf"^{FIRST}.py, line \d+: size: 'Integer\(1\)' is no rule; allowed: Integer",
    ),
    (CHAPTER, ("Integer(1, 9)", "open('x')"), rf"^{FIRST}.py, line \d+: size: .* is no rule; allowed: Integer, Real"),
    (
        CHAPTER,
        ("validate(\n", "print(\n"),
        rf"^{FIRST}.py: it does not call chapter.begin, which checks the parameters$",
    ),
    (
        CHAPTER,
        ('"A1.value"', '"A1.valeu"'),
        rf"^{FIRST}.py, line \d+: part 'A1.valeu' is not in the ledger; known: A1.value",
    ),
    (
        CHAPTER,
        ('"A1.value"', '"B1.value"'),
        r"^02_second.py, line \d+: B1.value is checked in 01_first.py, line \d+ too$",
    ),
    (
        CHAPTER,
        ('claims.check("A1.value"', 'print("A1.value"'),
        r"^A1.value is in the ledger as 'holds', but no chapter",
    ),
    (
        CHAPTER,
        ("import claims, alpha", "import claims, alhpa"),
        rf"^chapter {FIRST} needs lmc_helpers.alhpa, which does not",
    ),
    (
        CHAPTER,
        ("name: python3}\n", "name: python3}\n#   lmc: {runs: os.getcwd}\n"),
        rf"chapter {FIRST}: lmc.runs = 'os.get",
    ),
    (
        CHAPTER,
        ("name: python3}\n", "name: python3}\n#   lmc: {runs: lmc_helpers.gamma.runs}\n"),
        rf"^{FIRST}.py: its header names lmc_helpers.gamma.runs, but lmc_helpers.gamma defines no runs$",
    ),
    ("notebooks/3_third.py", (*WRITE, ""), r"^notebooks/3_third.py: this name is not allowed; allowed: two digits, _"),
    ("notebooks/03_third.ipynb", (*WRITE, "{}"), r"^notebooks/03_third.ipynb: chapters are py:percent sources"),
    ("notebooks/03_first.py", (*WRITE, ""), r"^notebooks: 2 chapters have the name first$"),
    # the table of contents, the configuration, the bibliography
    (TOC, ("01_first", "01_fist"), r"^_toc.yml, line 6: 'book/executed/01_fist' does not exist; allowed: a chapter as"),
    (
        TOC,
        ("      - file: book/executed/01_first\n", ""),
        r"^_toc.yml: chapter 01_first is missing; add - file: book/exec",
    ),
    (TOC, ("02_second", "01_first"), r"^_toc.yml, line 7: 'book/executed/01_first' appears twice$"),
    (
        TOC,
        ("- file: book/executed/01", "- fil: book/executed/01"),
        r"^_toc.yml, line 6: .*unknown field 'fil'; allowed: f",
    ),
    (
        TOC,
        ("root: book/notes", "root: book/none"),
        r"^_toc.yml, line 2: 'book/none' does not exist; allowed: a chapter",
    ),
    (
        TOC,
        ("format: jb-book", "format: jb-article"),
        r"^_toc.yml, line 1: format: input should be 'jb-book', not 'jb-art",
    ),
    (CONFIG, ("title: Toy", "titel: Toy"), r"^_config.yml, line 1: unknown setting 'titel'; allowed: title, author"),
    (CONFIG, ('url: ""', "url: 3"), r"^_config.yml, line 4: repository.url: 3 is not of type 'string'$"),
    (
        CONFIG,
        ("references.bib", "reference.bib"),
        r"^_config.yml, line 2: bibtex_bibfiles.0: book/reference.bib does not e",
    ),
    (
        CONFIG,
        ("sphinx_claims", "sphinx_claim"),
        r"^_config.yml, line 7: sphinx.local_extensions.sphinx_claim: .*does not ex",
    ),
    (BIB, (*WRITE, ""), r"^references.bib, line 1: no entry; allowed: BibTeX"),
    (BIB, (*WRITE, "@article{caf\xe9,}"), rf"^references.bib, line 1: {UTF8}$"),
    (BIB, ("cut", "  year", ""), r"^references.bib, line \d: premature end of file$"),
    (BIB, ("  year = {2025},\n", ""), r"^references.bib, line 1: author2025: no year$"),
    (
        BIB,
        ("  title = {T},\n", "  title = {T},\n  title = {U},\n"),
        r"^references.bib, line 1: .*duplicate title field",
    ),
    (
        BIB,
        ("@article", "@misc{author2025, title={}}\n@article"),
        r"^references.bib, line 2: repeated bibliography entry",
    ),
    (BIB, ("{author2025", "{author2024"), r"^notes.md, line 3: 'author2025' is in no bibliography$"),
    (PAPERS, ('"author2025"', '"author2024"'), r"^papers.yml, line 7: A.cite: 'author2024' is in no bibliography$"),
    # the words of the pages
    (
        PAPERS,
        ("2501.00001", "arXiv:2501"),
        r"^papers.yml, line 6: A.arxiv: string should match pattern .*, not 'arXiv:2501'$",
    ),
    (FRONT, ("  first: one\n", ""), r"^front.yml, line \d+: no line on first$"),
    (
        FRONT,
        ("chapter: first", "chapter: fist"),
        r"^front.yml, line 4: chapter 'fist' does not exist; allowed: first, sec",
    ),
    (
        FRONT,
        ("parts: [A1.value]", "parts: [A1.valeu]"),
        r"^front.yml, line 6: A1.valeu is not in the ledger$",
    ),
    (
        FRONT,
        ("alt: a line", "alt: a\n    lat: x"),
        r"^front.yml, line 6: findings.0: unknown field 'lat'; allowed: title",
    ),
    (FIGURES, ("'1':", "one:"), r"^figures.yml, line 2: Z.one: string should match pattern .*, not 'one'$"),
    (
        FIGURES,
        ("fig_one", "fig_two"),
        r"^figures.yml, line 2: Z, Fig. 1: 01_first shows no figure 'fig_two'; allowed: fig_",
    ),
    (GLOSSARY, ("01_first", "01_fist"), r"^glossary.md, line 6: chapter '01_fist' does not exist; allowed: 01_first"),
    (
        CHAPTER,
        ("# # first", "# # first\n# The {term}`depth`"),
        r"^01_first.py, line \d+: the glossary has no term",
    ),
    (
        NOTATION,
        ("chapters: [1]", "chapters: [9]"),
        r"^notation.yml, line 3: \$a\$: chapters 9 of 'one': there are none$",
    ),
    (
        NOTATION,
        ("chapters: [1]", "chapters: [one]"),
        r"^notation.yml, line 3: \$a\$: chapters 'one'; allowed: numbers, and",
    ),
    # records
    (
        RECORDS,
        ("cut", '"seconds"', ""),
        r"^paper.json, line \d+: .*the file is cut off or was edited; take it from git",
    ),
    (RECORDS, (*WRITE, ""), r"^paper.json, line 1: .*the file is cut off"),
    (
        RECORDS,
        (*WRITE, '{"part": 1}'),
        r"^paper.json: .* is not allowed; allowed: a list of records, each with its part$",
    ),
    (RECORDS, ('  "value": 1.0,\n', ""), r"^paper.json: A1.value: value: the field is missing$"),
    (RECORDS, ('"value": 1.0', '"value": "1.0"'), r"^paper.json: A1.value: value: .*valid number, not '1.0'$"),
    (
        RECORDS,
        ('"verdict": "holds"', '"verdict": "hold"'),
        r"^paper.json: A1.value: verdict: 'hold' is not allowed; allowed",
    ),
    (RECORDS, ('"n": 1', '"n": 1, "n": 2'), r"^paper.json: 'n' stands twice in one record$"),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory, root):
    """The answers of ``make check`` to all cases, and to the book as it is, which comes last."""
    book = make(tmp_path_factory.mktemp("spoiled"), root)
    complete(book.where)
    changes = [change if len(change) == 3 else ("replace", *change) for _, change, _ in CASES]
    cases = [[what, file, old, new] for (file, _, _), (what, old, new) in zip(CASES, changes, strict=True)]
    cases.append(["replace", PAPERS, "A:", "A:"])
    book.path("cases.json").write_text(json.dumps(cases))
    command = [book.command("")[0], str(root / "tests" / "spoiling.py"), "cases.json", "answers.json"]
    done = subprocess.run(command, cwd=book.where, env=book.environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(book.path("answers.json").read_text())


def test_a_book_that_is_right_passes(answers):
    assert answers[-1] == [0, "2 chapters, their profiles, the ledger and the words of the pages: nothing is wrong\n"]


def test_one_sentence_says_what_is_wrong(answers):
    wrong = []
    for (file, change, says), (status, said) in zip(CASES, answers[:-1], strict=True):
        lines = said.splitlines()
        one_each = all(line.startswith("error: ") and len(line) < 600 for line in lines)
        named = any(re.search(says, line.removeprefix("error: ")) for line in lines)
        if status != 1 or "Traceback" in said or not one_each or not named:
            wrong.append((file, change, says, status, said))
    assert wrong == []
