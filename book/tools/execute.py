"""Execute one chapter: jupytext → papermill → a complete executed notebook, or none.

python -m book.tools.execute overlap_theorem --profile laptop -p M 9 -p trials 5000

It runs in a process of its own. In a build, that one is forked from a process that has imported everything
(:mod:`book.tools.run.forkserver`).
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.read import stopping

    stopping.watch("stopped; nothing half-done is left")
    from book.tools.run import forkserver

    forkserver.ask("book.tools.execute")

import sys
from pathlib import Path

from book.tools.read import chapters
from book.tools.run import execution


def report(output: Path) -> None:
    """A line for each claim that the chapter checked."""
    from book.tools.record.records import records

    for record in records(output):
        value = f"{record['value']:.6g}" if record["n"] else "not run"
        print(f"{record['part']:<22} {record['verdict']:<22} {record['quantity']}: {value}")
    print(f"executed notebook: {output}")


def main(arguments: list[str]) -> int:
    """Execute a chapter; return the exit status."""
    chapters.tolerate_terminal_encoding()
    chapters.separate_unverified_runs()
    return execution.run(arguments, report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
