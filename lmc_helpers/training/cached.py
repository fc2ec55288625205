"""A result that is computed once: its dependencies → one digest → one file."""

from __future__ import annotations

import datetime
import math
import os
import platform
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from lmc_helpers.training.description import _digest_of
from lmc_helpers.training.prices import Price
from lmc_helpers.training.run_files import file_lock, folder, read, unreadable, write

__all__ = ["Cached", "provenance"]

Found = TypeVar("Found")


class Cached(ABC, Generic[Found]):
    """A cached result, computed by a job or on demand; subclass as a frozen dataclass."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__hash__ = Cached.__hash__  # type: ignore[method-assign]  # a dataclass would hash its fields, also dicts

    @abstractmethod
    def _identity(self) -> dict:
        """Everything that the result depends on."""

    @abstractmethod
    def _compute(self, show_progress: bool) -> tuple[dict, dict[str, torch.Tensor]]:
        """The provenance and the tensors of the file."""

    @abstractmethod
    def _result(self, provenance: dict, tensors: dict[str, torch.Tensor]) -> Found:
        """The result of the tensors of a file, every shape checked."""

    @property
    @abstractmethod
    def title(self) -> str:
        """One line that describes the computation."""

    @abstractmethod
    def prices(self) -> Price:
        """Estimated hours of one CPU core, or of a GPU, and memory."""

    @property
    def needs(self) -> tuple[Path, ...]:
        """Files of the runs that come before."""
        return ()

    def __hash__(self) -> int:
        return int(self.digest, 16)

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the computation."""
        return _digest_of(self._identity())

    def path(self) -> Path:
        """The file of the result, in the folder of runs."""
        return folder() / f"{self.digest}.npz"

    def done(self) -> bool:
        """True if the file exists."""
        return self.path().exists()

    def resources(self) -> dict[str, int | bool]:
        """Resources of a job: cores, memory_mib, estimated minutes, and whether it asks for a GPU, gpu."""
        cost = self.prices()
        minutes = 1 + math.ceil(60 * cost.cpu_hours)
        return {"cores": 1, "memory_mib": cost.memory_mib, "minutes": minutes, "gpu": False}

    def result(self, show_progress: bool = False) -> Found:
        """The result, on the CPU: read if its file exists, else computed and written.

        A process that asks for what another one computes waits for it.
        """
        path = self.path()
        if not path.exists():
            with file_lock(path.with_name(f".{self.digest}.lock")):
                if not path.exists():
                    write(path, self._identity(), *self._compute(show_progress))
                    self._checkpoint.unlink(missing_ok=True)
        found = read(path, self._identity())
        try:
            return self._result(*found)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise unreadable(path, error) from error

    @property
    def _checkpoint(self) -> Path:
        """A file that exists while the result is computed, if a killed computation can be resumed."""
        return self.path().with_name(f".{self.digest}.checkpoint.npz")


def recorded() -> Path:
    """The folder of small results that the book keeps."""
    return Path(__file__).resolve().parents[2] / "book" / "recorded" / "runs"


class Kept(Cached[Found]):
    """A small result, whose file is in :func:`recorded` if it comes from a confirmatory run, else among the runs."""

    def path(self) -> Path:
        """The file of the result."""
        path = recorded() / super().path().name
        return path if path.exists() else super().path()

    def kept(self) -> bool:
        """True if the book has the file."""
        return self.path().parent == recorded()

    @property
    def stored_in(self) -> Path:
        """The folder to which a confirmatory run copies the file."""
        return recorded()


def provenance(seconds: float, **more: object) -> dict:
    """Provenance of a result: date, seconds, threads, versions, commit, and more."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "threads": torch.get_num_threads(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        "commit": os.environ.get("LMC_COMMIT", "unknown"),
        **more,
    }
