"""A result that is computed once, by a toy whose computations are counted."""

import os
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from lmc_helpers.training.cached import Cached, provenance
from lmc_helpers.training.prices import Price


@dataclass(frozen=True)
class Squares(Cached[list]):
    numbers: tuple[int, ...]
    computed: ClassVar[list] = []
    title = "squares"

    def _identity(self):
        return {"squares of": self.numbers}

    def _compute(self, show_progress):
        self._checkpoint.parent.mkdir(exist_ok=True)
        self._checkpoint.write_bytes(b"on the way")
        self.computed.append(self.numbers)
        return provenance(2.0, by="hand"), {"squares": torch.tensor(self.numbers) ** 2}

    def _result(self, provenance, tensors):
        if len(tensors["squares"]) != len(self.numbers):
            raise ValueError("another number of squares")
        return [provenance["by"], *tensors["squares"].tolist()]

    def prices(self):
        return Price(0.5, 0.1, 700)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path / "runs"))
    Squares.computed.clear()
    return tmp_path / "runs"


def test_it_is_computed_once_and_leaves_one_file(here):
    one, same, other = Squares((1, 3)), Squares((1, 3)), Squares((3, 1))
    assert not one.done() and one.result() == same.result() == ["hand", 1, 9] and same.done()
    assert Squares.computed == [(1, 3)] and one.path().name == f"{one.digest}.npz"
    assert [name for name in os.listdir(here) if not name.endswith(".lock")] == [one.path().name]
    assert hash(one) == hash(same) and one == same and not other.done() and other.digest != one.digest
    assert one.needs == ()
    assert one.resources() == {"cores": 1, "memory_mib": 700, "minutes": 31, "gpu": False}
    one, other = Squares((1, 3)), Squares((3, 1))
    one.result()
    one.path().rename(other.path())
    with pytest.raises(ValueError, match=rf"{other.digest}\.npz cannot be read .*belongs to another run"):
        other.result()
