"""Which chapters a change concerns, by the small book: alpha leads to its core, that to gamma; nobody needs delta."""

AFFECTED = """
import sys
from pathlib import Path
from book.tools.record.validate import affected

for name in sys.argv[2:]:
    path = Path(name)
    before = path.read_bytes() if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((before or b"") + b" ")
    print(*affected(sys.argv[1]))
    path.write_bytes(before) if before is not None else path.unlink()
"""
BOTH = "01_first 02_second"
#: File that changes, or that is new → the chapters that it concerns.
CONCERNS = {
    "notebooks/01_first.py": "01_first",
    "lmc_helpers/gamma.py": "01_first",
    "lmc_helpers/alpha/table.csv": "01_first",
    "lmc_helpers/delta.py": "",
    "lmc_helpers/alpha/spare.py": "",
    "book/claims/B.yml": "02_second",
    "tests/reference/02_second.ipynb": "02_second",
    "notebooks/profiles/smoke.yaml": BOTH,
    "notebooks/profiles/laptop.yaml": "",
    "requirements.lock": BOTH,
}


def test_a_change_concerns_the_chapters_that_depend_on_it_and_some_are_compared_at_laptop(clone):
    commit = clone.commit()
    said = clone.python("-c", AFFECTED, commit, *CONCERNS).stdout
    assert dict(zip(CONCERNS, said.splitlines(), strict=True)) == CONCERNS
    (bad,) = clone.calls("validate", ("--since", "nowhere"))
    assert bad.returncode == 1 and bad.stderr.startswith("error: git diff") and "nowhere" in bad.stderr, bad
    done = clone.run("book", "validate", "--profile", "laptop", "second")
    assert done.returncode == 0, done.stdout + done.stderr
    assert clone.ran(done) == ["02_second"] and "0 numbers at laptop compared" in done.stdout
