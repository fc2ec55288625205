"""What re-runs after an edit: all that depends on it, and nothing else."""

import os

FIRST, SECOND = "01_first", "02_second"


def test_only_what_depends_on_an_edit_runs_again(toy):
    first = toy.build()
    assert sorted(toy.ran(first)) == [FIRST, SECOND], first.stdout + first.stderr

    assert toy.ran(toy.build()) == []

    edits = [
        (("lmc_helpers/gamma.py", "return 1", "return 2 - 1"), [FIRST]),  # imported by alpha, not by the chapter
        (("lmc_helpers/alpha/__init__.py", "import value", "import value  # a door"), [FIRST]),
        (("lmc_helpers/alpha/table.csv", "1", "2"), [FIRST]),
        (("lmc_helpers/beta.py", "return 2", "return 3 - 1"), [SECOND]),
        (("lmc_helpers/delta.py", "return 4", "return 5"), []),  # imported by nobody
        (("lmc_helpers/alpha/spare.py", "delta", "delta, gamma"), []),
        (("notebooks/02_second.py", "# # second", "# # Second\n# Prose."), [SECOND]),
        (("book/claims/A.yml", "equals: 1", "equals: 1\n        tolerance: 0.5"), [FIRST]),
        (("book/claims/A.yml", "tolerance: 0.5", "tolerance: 0.5  # a comment"), []),
        (("requirements.lock", "torch==", "# edited\ntorch=="), [FIRST, SECOND]),
    ]
    for (name, old, new), expected in edits:
        toy.edit(name, old, new)
        assert sorted(toy.ran(toy.build())) == expected, name

    toy.set_parameters("smoke", first={"size": 4}, second={})
    assert toy.ran(toy.build()) == [FIRST]

    for path in toy.where.rglob("*.py"):  # a fresh checkout has new times and the same contents
        os.utime(path)
    for name in (".ipynb_checkpoints/01_first-checkpoint.py", "01_first.py~", "#01_first.py#", ".01_first.py.swp"):
        path = toy.path("notebooks") / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("what an editor leaves behind")
    assert toy.ran(toy.build()) == []

    toy.executed(SECOND).unlink()
    assert toy.ran(toy.build()) == [SECOND]

    assert sorted(toy.ran(toy.build("laptop"))) == [FIRST, SECOND]  # profiles do not share executed notebooks
    assert toy.ran(toy.build()) == []


def test_nothing_to_do_does_not_start_snakemake(toy):
    toy.built()
    toy.path("Snakefile").write_text("this is no Snakefile")
    outcome = toy.build()
    assert outcome.returncode == 0 and toy.ran(outcome) == [], outcome.stderr
    toy.executed(FIRST).unlink()
    assert toy.build().returncode == 1


def test_the_longest_chapter_starts_first_and_each_says_how_far_the_build_is(toy):
    one = ("--cores", "1")
    toy.set_parameters("smoke", second={}, first={"seconds": 3.0})  # the second one's budget is larger
    outcome = toy.build("smoke", *one)
    assert toy.ran(outcome) == [SECOND, FIRST], outcome.stderr
    lines = outcome.stdout.splitlines()[1:]
    shown = [line.partition(",")[0].rpartition(" in ")[0] for line in lines if "done" in line]
    assert shown == [f"[1/2] {SECOND}: done", f"[2/2] {FIRST}: done"]
    assert " s, about 10 s to go" in lines[1] and lines[3].endswith(" s")

    toy.edit("requirements.lock", "torch==", "# edited\ntorch==")
    assert toy.ran(toy.build("smoke", *one)) == [FIRST, SECOND]  # the first one took longer


def test_lines_are_whole_when_chapters_run_side_by_side(toy):
    outcome = toy.build()
    assert len(outcome.stdout.splitlines()) == 5
    assert all(line.startswith(("Profile", "01", "02", "[1/2] 0", "[2/2] 0")) for line in outcome.stdout.splitlines())
