"""What every chapter does first and last: check its parameters, fix what its digits depend on, say what it ran on."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version

import numpy as np
import torch

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
    """One paragraph: wall time since :func:`begin`, device and versions."""
    seconds = time.perf_counter() - _started["at"]
    versions = ", ".join(f"{name} {version(name)}" for name in REPORTED)
    return (
        f"{seconds:.1f} s on {device.describe()} ({platform.machine()}); "
        f"Python {platform.python_version()}, {versions}; float64 epsilon {np.finfo(float).eps:.1e}, "
        f"default dtype {torch.get_default_dtype()}"
    )
