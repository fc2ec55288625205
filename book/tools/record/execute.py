"""One chapter executed, and what its claims came to: jupytext → papermill → a complete executed notebook, or none.

python -m book execute overlap_theorem --profile laptop -p M 9 -p trials 5000

It runs in a process of its own. In a build, that one is forked from a process that has imported everything
(:mod:`book.tools.run.forkserver`).
"""

from pathlib import Path

from book.tools.read import chapters, profiles
from book.tools.read.chapters import ROOT
from book.tools.run import execution, variants


def report(output: Path) -> None:
    """A line for each claim that the chapter checked."""
    from book.tools.record.records import records

    for record in records(output):
        value = f"{record['value']:.6g}" if record["n"] else "not run"
        print(f"{record['part']:<22} {record['verdict']:<22} {record['quantity']}: {value}")
    print(f"executed notebook: {output}")


def execute(
    chapter: str, profile: str, given: list[list[str]], output: Path | None, seeds: str | None, quiet: bool
) -> None:
    """Execute a chapter, and report if the outcome is not part of a build."""
    chapter = chapters.find(chapter)
    parameters = profiles.parameters(chapter, profile)
    if given:
        from book.tools.read import literals

        parameters |= literals.given(chapter, given)
    variant = variants.check(seeds or "")
    parameters |= variants.parameters(chapter, variant)
    path = output or ROOT / "build" / "chapters" / f"{chapter}.ipynb"
    execution.execute(chapter, parameters, path, quiet, {"seeds": variant} if variant else None)
    if output is None:
        report(path)
