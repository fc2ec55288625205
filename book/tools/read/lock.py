"""The parts of requirements.lock: for each Python one version of every package, and the SHA-256 sums of its files.

``first`` builds packages without wheels; ``torch`` is torch with the CUDA packages of its default wheel; ``rest`` is
all but torch. Before a set-up only Python's own library is available.
"""

import re

from book.tools.read.chapters import ROOT

LOCK = ROOT / "requirements.lock"
FIRST = re.compile(r"(setuptools|wheel)==")
TORCH = re.compile(r"(torch|triton)==|(cuda|nvidia)-")


def packages(text: str) -> list[str]:
    """The lines of each package of a lock, with its sums."""
    lines = "\n".join(line for line in text.splitlines() if line and not line.startswith("#"))
    return re.split(r"\n(?=\S)", lines)


def chosen(name: str, text: str) -> list[str]:
    """The packages of one part of a lock: ``first``, ``torch`` or ``rest``."""
    pattern = FIRST if name == "first" else TORCH
    return [package for package in packages(text) if bool(pattern.match(package)) == (name != "rest")]


def lock(part: str) -> None:
    """Print the packages of one part, which a set-up installs together."""
    print("\n".join(chosen(part, LOCK.read_text(encoding="utf-8"))))
