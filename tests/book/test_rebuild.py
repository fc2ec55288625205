"""What re-runs after an edit: all that depends on it, and nothing else."""

import json
import os

from small_book import FIRST, SECOND


def test_the_first_build_executes_all_and_its_lines_are_whole(first_build):
    toy, outcome = first_build
    assert sorted(toy.ran(outcome)) == [FIRST, SECOND]
    lines = outcome.stdout.splitlines()
    assert len(lines) == 5
    assert all(line.startswith(("Profile", "01", "02", "[1/2] 0", "[2/2] 0")) for line in lines)


def test_only_what_depends_on_an_edit_is_stale(built):
    edits = [
        (("lmc_helpers/alpha/__init__.py", "import value", "import value  # the package"), []),
        (("lmc_helpers/alpha/core.py", "():", '():\n    """One."""'), []),
        (("lmc_helpers/alpha/table.csv", "1", "2"), [FIRST]),
        (("lmc_helpers/beta.py", "return 2", "return 3 - 1"), [SECOND]),
        (("lmc_helpers/delta.py", "return 4", "return 5"), []),  # imported by nobody
        (("lmc_helpers/alpha/spare.py", "delta", "delta, gamma"), []),
        (("notebooks/02_second.py", "# # second", "# # Second\n# Prose."), []),
        (("notebooks/02_second.py", "time.sleep(seconds)", "time.sleep(seconds)  # a while"), []),
        (("notebooks/02_second.py", "time.sleep(seconds)", "time.sleep(1 * seconds)"), [SECOND]),
        (("book/claims/A.yml", "statement: s", "statement: t"), []),
        (("book/claims/A.yml", "equals: 1", "equals: 1\n        tolerance: 0.5"), [FIRST]),
        (("book/claims/A.yml", "tolerance: 0.5", "tolerance: 0.5  # a comment"), []),
        (("requirements.lock", "torch==", "# edited\ntorch=="), [FIRST, SECOND]),
        (("lmc_helpers/gamma.py", "return 1", "return 2 - 1"), [FIRST]),  # imported by alpha, not by the chapter
    ]
    assert built.stale() == []
    for (name, old, new), expected in edits:
        built.edit(name, old, new)
        assert built.stale(accept=True) == expected, name

    built.set_parameters("smoke", first={"size": 4}, second={})
    assert built.stale() == [FIRST]
    assert built.ran(built.built()) == [FIRST]

    for path in built.where.rglob("*.py"):  # a fresh checkout has new times and the same contents
        os.utime(path)
    assert built.stale() == []
    assert built.stale("laptop") == [FIRST, SECOND]  # profiles do not share executed notebooks
    built.executed(SECOND).unlink()
    assert built.stale() == [SECOND]


def test_new_prose_is_taken_over_and_nothing_runs(built):
    before = json.loads(built.executed(SECOND).read_text())
    built.edit("notebooks/02_second.py", "# # second", "# # Second\n# Prose.")
    built.edit("notebooks/02_second.py", '# %%\nprint("', '# %% [markdown]\n# More.\n\n# %%\n# the end\nprint("')
    built.edit("book/claims/B.yml", "where: w", "where: page 7")
    assert built.ran(built.built()) == []
    after = json.loads(built.executed(SECOND).read_text())
    assert "".join(after["cells"][0]["source"]) == "# Second\nProse."
    last = ["# the end\n", 'print("0.0 s on an abacus, wood")']
    assert [cell["source"] for cell in after["cells"][-2:]] == [["More."], last]
    code, now = ([c for c in found["cells"] if c["cell_type"] == "code"] for found in (before, after))
    assert len(now) == 5 and [c["id"] for c in now] == [c["id"] for c in code]
    assert [c["source"] for c in now[:-1]] == [c["source"] for c in code[:-1]]  # the parameters of the run among them
    assert [c["metadata"] for c in now] == [c["metadata"] for c in code]
    (box,), (was,) = now[3]["outputs"], code[3]["outputs"]
    said = "".join(box["data"]["text/plain"] + box["data"]["text/html"])
    assert box["metadata"] == was["metadata"] and "page 7" in said
    assert [c["outputs"] for c in now[4:]] == [c["outputs"] for c in code[4:]]
    assert after["metadata"] | {"lmc": None} == before["metadata"] | {"lmc": None}
    stored = built.executed(SECOND).read_bytes()
    assert built.ran(built.built()) == [] and built.executed(SECOND).read_bytes() == stored and built.stale() == []


def test_nothing_to_do_does_not_start_snakemake(built):
    built.path("Snakefile").write_text("this is no Snakefile")
    outcome = built.built()
    assert built.ran(outcome) == []
    built.executed(FIRST).unlink()
    assert built.build().returncode == 1


def test_the_longest_chapter_starts_first_and_each_says_how_far_the_build_is(toy):
    """The first one has the larger budget, and took less time in an earlier build."""
    times = toy.path("build/times/smoke.json")
    times.parent.mkdir(parents=True)
    times.write_text(json.dumps({FIRST: 1.05, SECOND: 10.05}))  # what is kept has one decimal
    outcome = toy.built("smoke", "--cores", "1")
    assert toy.ran(outcome) == [SECOND, FIRST], outcome.stderr
    lines = outcome.stdout.splitlines()[1:]
    shown = [line.partition(",")[0].rpartition(" in ")[0] for line in lines if "done" in line]
    assert shown == [f"[1/2] {SECOND}: done", f"[2/2] {FIRST}: done"]
    assert " s, about 10 s to go" in lines[1] and lines[3].endswith(" s")
    taken = json.loads(times.read_text())
    assert taken.keys() == {FIRST, SECOND} and taken[FIRST] != 1.05 and taken[SECOND] != 10.05
