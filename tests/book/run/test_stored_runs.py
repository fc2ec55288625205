"""Results that took hours are kept in ``book/recorded/runs``, each under the digest of its run.

A digest is a hash of names and values, so a renamed class or field must go on being described by its old name
(``lmc_helpers/training/description.py``).
"""

from types import SimpleNamespace

import torch

from book.tools.record import records
from book.tools.run import listing
from lmc_helpers.data import images
from lmc_helpers.data.images import DataError


def test_stored_results_are_those_that_the_recorded_run_asks_for(monkeypatch):
    def blank(name: str) -> SimpleNamespace:
        if name != "mnist":
            raise DataError(name, "not here", "")
        splits = {
            split: (torch.zeros((), dtype=torch.uint8).expand(n, 1, 28, 28), torch.zeros(n, dtype=torch.long))
            for split, n in {"train": 60_000, "test": 10_000}.items()
        }
        return SimpleNamespace(differing=(), splits=splits, mean=torch.zeros(1), deviation=torch.ones(1))

    monkeypatch.setattr(images, "_data_set", blank)
    recorded = {record["chapter"]: record["seeds"] for record in records.recorded().values()}
    chapters = ("52_permutation_saddles_on_mnist", "53_asymmetric_mlps")
    runs = [run for chapter in chapters for run in listing.runs(chapter, "paper", recorded[chapter])]
    asked = {run.digest for run in runs if run.path().parent == listing.RECORDED}
    assert asked and asked == {path.stem for path in listing.RECORDED.glob("*.npz")}
    assert all(run.digest in asked for run in runs if hasattr(run, "training"))
