"""Digests of training runs are frozen: they name networks that took 141 core-hours to train.

``run_digests.json`` holds them for each data set that may be at hand, chapter and seed: the book's own, and those of
the recorded confirmatory runs. A digest is a hash of names and values, so a renamed class or field must go on being
described by its old name (``lmc_helpers/training/description.py``). To add the runs of a new chapter, run
``python -m tests.book.running.test_run_digests``, and look at the diff: no line may go.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from book.tools.base import chapters
from book.tools.outcomes import records
from book.tools.reading import headers
from book.tools.running import listing
from lmc_helpers.data import images
from lmc_helpers.data.images import DataError

FROZEN = Path(__file__).with_name("run_digests.json")
SHAPES = {  # of blank images that stand in for the data sets
    "digits": ((1, 8, 8), {"train": 1437, "test": 360}),
    "mnist": ((1, 28, 28), {"train": 60_000, "test": 10_000}),
    "cifar10": ((3, 32, 32), {"train": 50_000, "test": 10_000}),
}
DATA = ("digits", "digits mnist", "digits mnist cifar10")


def digests(data: str, monkeypatch) -> dict[str, list[str]]:
    """``CHAPTER SEEDS`` → the digests of its runs at paper and of those that they need, with these data at hand."""

    def read(name: str) -> SimpleNamespace:
        if name not in data.split():
            raise DataError(name, "not here", "")
        shape, numbers = SHAPES[name]
        splits = {
            split: (torch.zeros((), dtype=torch.uint8).expand(n, *shape), torch.zeros(n, dtype=torch.long))
            for split, n in numbers.items()
        }
        return SimpleNamespace(differing=(), splits=splits, mean=torch.zeros(shape[0]), deviation=torch.ones(shape[0]))

    monkeypatch.setattr(images, "_data_set", read)
    recorded = {record["chapter"]: record["seeds"] for record in records.recorded().values()}
    found = {}
    for chapter in filter(headers.function_name, chapters.chapters()):
        for seeds in sorted({"", recorded.get(chapter, "")}):
            runs = listing.runs(chapter, "paper", seeds)
            runs += [run.training for run in runs if hasattr(run, "training")]
            found[f"{chapter} {seeds}".strip()] = sorted({run.digest for run in runs})
    return found


@pytest.mark.parametrize("data", DATA)
def test_digests_are_those_of_the_trained_networks(data, monkeypatch):
    assert digests(data, monkeypatch) == json.loads(FROZEN.read_text())[data]


def test_recorded_results_are_among_them():
    known = {digest for runs in json.loads(FROZEN.read_text()).values() for some in runs.values() for digest in some}
    stored = {path.stem for path in listing.RECORDED.glob("*.npz")}
    assert len(stored) == 15 and stored <= known


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        FROZEN.write_text(json.dumps({data: digests(data, patch) for data in DATA}, indent=0) + "\n")
