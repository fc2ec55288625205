"""Git commands on this clone, and the commits that its history contains."""

import subprocess
from collections.abc import Iterable

from book.tools.read.chapters import ROOT, BuildError


def git(*arguments: str) -> str:
    """Output of a git command."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise BuildError("git is not installed; a confirmatory run takes its seeds from a commit") from None
    except subprocess.CalledProcessError as error:
        raise BuildError(f"git {' '.join(arguments)}: {error.stderr.strip()}") from None
    return done.stdout.strip()


def unreachable_commits(commits: Iterable[str]) -> set[str]:
    """The commits outside the present history: no reader can check seeds that come from them.

    Empty where that cannot be known: without git, outside a clone, in a shallow one.
    """
    try:
        if git("rev-parse", "--is-shallow-repository") == "true":
            return set()
        held = set(git("rev-list", "HEAD").split())
    except BuildError:
        return set()
    return set(commits) - held
