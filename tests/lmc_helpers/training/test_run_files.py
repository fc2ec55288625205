"""Files of results: where they lie, damage that is noticed, and one process at a time."""

import json
import os
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import lmc_helpers
from lmc_helpers.training import run_files
from lmc_helpers.training.run_files import folder, read, write

RUN = {"run": {"seeds": [1, 2]}, "revision": 1}
TENSORS = {"final/params/0.weight": torch.arange(600.0).view(2, 300), "survivors": torch.tensor([0, 1])}
TENSORS |= {"empty": torch.zeros(0, 2), "half": torch.ones(2, dtype=torch.float16), "epochs": torch.tensor(3)}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a" / "b.npz"
    write(path, RUN, {"seconds": 0.1, "device": "ü"}, TENSORS)
    provenance, tensors = read(path, RUN)
    assert provenance == {"seconds": 0.1, "device": "ü"} and tensors.keys() == TENSORS.keys()
    assert all(tensors[name].equal(value) and tensors[name].dtype == value.dtype for name, value in TENSORS.items())
    assert os.listdir(path.parent) == ["b.npz"]
    write(tmp_path / "a.npz", RUN, {"seconds": 0.1}, TENSORS)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert json.loads(str(file["run"])) == RUN
        assert json.loads(bytes(file["provenance"])) == {"seconds": 0.1}


def test_where_results_lie(monkeypatch, tmp_path):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path))
    assert folder() == tmp_path
    monkeypatch.setenv("LMC_RUNS", "")
    assert folder() == Path(lmc_helpers.__file__).parents[1] / "build" / "runs"
    installed = tmp_path / "site-packages" / "lmc_helpers" / "training" / "run_files.py"
    monkeypatch.setattr(run_files, "__file__", str(installed))
    monkeypatch.setattr(run_files, "cache", lambda: tmp_path / "cache")
    assert folder() == tmp_path / "cache" / "runs"
    monkeypatch.setattr(run_files, "cache", lambda: None)
    assert folder() == Path.home() / ".cache" / "lmc" / "runs"


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_named(tmp_path, kept):
    path = tmp_path / "a.npz"
    write(path, RUN, {}, TENSORS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(ValueError, match=r"the result .*a\.npz cannot be read .* delete it and run again"):
        read(path, RUN)


def test_no_damaged_byte_changes_what_is_read(tmp_path):
    path, chance = tmp_path / "a.npz", random.Random(0)
    write(path, RUN, {"seconds": 1.0}, TENSORS)
    whole, refused = path.read_bytes(), 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            provenance, tensors = read(path, RUN)
        except ValueError as error:
            assert "cannot be read" in str(error)
            refused += 1
        else:  # bits that mean nothing: dates, attributes
            assert provenance == {"seconds": 1.0} and tensors.keys() == TENSORS.keys()
            assert all(tensors[name].equal(value) for name, value in TENSORS.items())
    assert refused > 200


def test_another_run_and_other_files_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    write(path, RUN, {}, TENSORS)
    with pytest.raises(ValueError, match="belongs to another run: revision 1 there, 2 here"):
        read(path, RUN | {"revision": 2})
    np.savez(path, run=np.array(json.dumps(RUN)), w=np.ones(2))
    with pytest.raises(ValueError, match=r"a\.npz cannot be read"):  # no provenance
        read(path, RUN)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("run.npy", b"no array")
    with pytest.raises(ValueError, match=r"a\.npz cannot be read"):
        read(path, RUN)
