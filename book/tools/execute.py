"""Execute one chapter: jupytext → papermill → an executed notebook that is whole, or none.

python -m book.tools.execute overlap_theorem --profile laptop -p M 9 -p trials 5000

Within a build a process that has imported everything already does it, if there is one (``book/tools/workers.py``); what
is computed is the same.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools import stopping

    stopping.watch("stopped; nothing half-done is left")

import sys

from book.tools import chapters, execution, workers


def main(arguments: list[str]) -> int:
    """Let the build's stem execute the chapter, or do it here."""
    chapters.speak_anywhere()
    chapters.keep_apart()
    try:
        status = workers.ask(arguments)
    except KeyboardInterrupt:
        return 130
    return execution.run(arguments) if status is None else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
