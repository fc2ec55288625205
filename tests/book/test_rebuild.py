"""What re-runs after an edit: all that depends on it, and nothing else."""

import os

FIRST, SECOND = "01_first", "02_second"


def test_only_what_depends_on_an_edit_runs_again(toy):
    first = toy.build()
    assert toy.ran(first) == [FIRST, SECOND], first.stdout + first.stderr

    assert toy.ran(toy.build()) == []

    edits = [
        (("lmc_helpers/gamma.py", "return 1", "return 2 - 1"), [FIRST]),  # imported by alpha, not by the chapter
        (("lmc_helpers/beta.py", "return 2", "return 3 - 1"), [SECOND]),
        (("lmc_helpers/delta.py", "return 4", "return 5"), []),  # imported by nobody
        (("notebooks/02_second.py", "# # second", "# # Second\n# Prose."), [SECOND]),
        (("book/claims.yml", "equals: 1", "equals: 1\n        tolerance: 0.5"), [FIRST]),
        (("requirements.lock", "torch==", "# edited\ntorch=="), [FIRST, SECOND]),
    ]
    for (name, old, new), expected in edits:
        toy.edit(name, old, new)
        assert toy.ran(toy.build()) == expected, name

    toy.set_parameters("smoke", first={"size": 4}, second={})
    assert toy.ran(toy.build()) == [FIRST]

    for path in toy.where.rglob("*.py"):  # a fresh checkout has new times and the same contents
        os.utime(path)
    assert toy.ran(toy.build()) == []

    toy.executed(SECOND).unlink()
    assert toy.ran(toy.build()) == [SECOND]

    assert toy.ran(toy.build("laptop")) == [FIRST, SECOND]  # profiles do not share executed notebooks
    assert toy.ran(toy.build()) == []
