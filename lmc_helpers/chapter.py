"""What every chapter does first and last: check its parameters, fix what its digits depend on, say what it ran on."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version

from lmc_helpers import device
from lmc_helpers.parameters import Rule, validate

REPORTED = ("torch", "numpy", "scipy", "matplotlib")
_started: dict[str, float] = {}


def begin(namespace: dict, **rules: Rule) -> None:
    """Check the parameters in ``namespace`` against ``rules``, fix the thread count and start the clock.

    The first call looks for unknown names. A reader who runs the cell again later has many more names; then only the
    known ones are checked.

    Raises
    ------
    lmc_helpers.parameters.ParameterError
        names every parameter that is unknown, missing, of the wrong type or out of range.
    """
    again = namespace.get("_chapter_begun", False)
    validate({k: v for k, v in namespace.items() if k in rules} if again else namespace, rules)
    namespace["_chapter_begun"] = True
    device.fix_threads(1)
    _started["at"] = time.perf_counter()


def end() -> str:
    """Wall time since :func:`begin`, device and versions, one a line."""
    return "\n".join(
        [
            f"{time.perf_counter() - _started['at']:.1f} s on {device.describe()}, {platform.machine()}",
            f"Python {platform.python_version()}",
            *(f"{name} {version(name)}" for name in REPORTED),
        ]
    )
