"""The parts of requirements.lock: for each Python one version of every package, and the SHA-256 sums of its files.

python book/tools/lock.py first|rest|torch      prints the packages that a set-up installs together
python -m book.tools.lock                       writes the versions into environment.yml, as ``make lock`` does

``first`` builds what has no wheel; ``torch`` is torch with the CUDA packages of its default wheel; ``rest`` is all but
torch. Before a set-up there is nothing but Python's own library.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK, CONDA = ROOT / "requirements.lock", ROOT / "environment.yml"
FIRST = re.compile(r"(setuptools|wheel)==")
TORCH = re.compile(r"(torch|triton)==|(cuda|nvidia)-")
BY_CONDA = re.compile(
    r"(torch|triton|numpy|scipy|matplotlib)==|(cuda|nvidia)-"
)  # or left out by its CPU build of torch


def packages(text: str) -> list[str]:
    r"""The lines of each package of a lock, with its sums.

    Examples
    --------
    >>> packages("# a lock\na==1 \\\n    --hash=sha256:0\nb==2\n")
    ['a==1 \\\n    --hash=sha256:0', 'b==2']
    """
    lines = "\n".join(line for line in text.splitlines() if line and not line.startswith("#"))
    return re.split(r"\n(?=\S)", lines)


def part(name: str, text: str) -> list[str]:
    """The packages of one part of a lock: ``first``, ``torch`` or ``rest``."""
    found = packages(text)
    if name == "rest":
        return [package for package in found if not TORCH.match(package)]
    return [package for package in found if {"first": FIRST, "torch": TORCH}[name].match(package)]


def versions(text: str, python: str) -> list[str]:
    """The packages that pip adds to a conda environment of one Python version, without sums.

    A condition that does not hold anywhere drops its package; one that holds everywhere is dropped itself. pip takes
    ``-e .`` only where no package has sums.
    """
    from packaging.markers import Marker

    found = []
    for package in packages(text):
        pin, _, marker = package.partition("\n")[0].rstrip(" \\").partition(" ; ")
        holds = [Marker(marker).evaluate(where) for where in _machines(python)] if marker else [True]
        if any(holds) and not BY_CONDA.match(pin):
            found.append(pin if all(holds) else f"{pin} ; {marker}")
    return found


def _machines(python: str) -> list[dict[str, str]]:
    """The systems that a condition tells apart, with the first and the last patch of a Python version."""
    known = {"python_version": python, "implementation_name": "cpython"}
    systems = itertools.product(("linux", "darwin", "win32"), (f"{python}.0", f"{python}.99"))
    return [known | {"sys_platform": system, "python_full_version": full} for system, full in systems]


def environment(text: str, lock: str) -> str:
    """``environment.yml`` with the versions of the lock.

    Parameters
    ----------
    text, lock : str
        the contents of the two files.
    """
    (python,) = re.findall(r"^  - python=(\S+)$", text, re.MULTILINE)
    head, _, rest = text.partition("  - pip:\n")
    options = [line for line in rest.splitlines() if re.match(r"      - -", line)]
    return head + "\n".join(["  - pip:", *(f"      - {pin}" for pin in versions(lock, python)), *options]) + "\n"


def main(arguments: list[str]) -> None:
    text = LOCK.read_text(encoding="utf-8")
    if arguments:
        print("\n".join(part(arguments[0], text)))
    else:
        CONDA.write_text(environment(CONDA.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
