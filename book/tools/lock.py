"""The parts of requirements.lock: for each Python one version of every package, and the SHA-256 sums of its files.

python book/tools/lock.py first|rest|torch      prints the packages that a set-up installs together
python -m book.tools.lock                       writes the versions into environment.yml, as ``make lock`` does

``first`` builds what has no wheel; ``torch`` is torch with the CUDA packages of its default wheel; ``rest`` is all but
torch. Before a set-up there is nothing but Python's own library.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK, CONDA = ROOT / "requirements.lock", ROOT / "environment.yml"
FIRST = re.compile(r"(setuptools|wheel)==")
TORCH = re.compile(r"(torch|triton)==|(cuda|nvidia)-")
BY_CONDA = re.compile(r"(torch|triton|numpy|scipy|matplotlib)==|(cuda|nvidia)-")  # or not needed by its torch


def packages(text: str) -> list[str]:
    """The lines of each package of a lock, with its sums."""
    lines = "\n".join(line for line in text.splitlines() if line and not line.startswith("#"))
    return re.split(r"\n(?=\S)", lines)


def part(name: str, text: str) -> list[str]:
    """The packages of one part of a lock: ``first``, ``torch`` or ``rest``."""
    pattern = FIRST if name == "first" else TORCH
    return [package for package in packages(text) if bool(pattern.match(package)) == (name != "rest")]


def environment(text: str, lock: str) -> str:
    """``environment.yml`` with the versions of the lock, given the contents of both files.

    pip takes ``-e .`` only where no package has sums, so that these are left out.
    """
    head, _, rest = text.partition("  - pip:\n")
    pins = [package.partition("\n")[0].rstrip(" \\") for package in packages(lock) if not BY_CONDA.match(package)]
    options = [line for line in rest.splitlines() if re.match(r"      - -", line)]
    return head + "\n".join(["  - pip:", *(f"      - {pin}" for pin in pins), *options]) + "\n"


def main(arguments: list[str]) -> None:
    text = LOCK.read_text(encoding="utf-8")
    if arguments:
        print("\n".join(part(arguments[0], text)))
    else:
        CONDA.write_text(environment(CONDA.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
