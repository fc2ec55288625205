"""Checkpoints: what is written is read, whole or not at all, by the run that it belongs to."""

import os

import numpy as np
import pytest
import torch

from lmc_helpers.training._checkpoints import digest, load_checkpoint, save_checkpoint

RUN = {"seeds": [1, 2], "recipe": {"rate": 0.1}, "name": "ü"}
STATE = {
    "w 0.weight": torch.arange(6, dtype=torch.float64).view(2, 3),
    "epochs": torch.tensor(3),
    "empty": torch.zeros(0, 2),
    "half": torch.ones(2, dtype=torch.float16),
}


def test_a_state_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "a" / "b" / "run.npz"
    save_checkpoint(path, RUN, STATE)
    found = load_checkpoint(path, RUN)
    assert found.keys() == STATE.keys()
    for name, value in STATE.items():
        assert found[name].dtype == value.dtype and found[name].equal(value)
    assert os.listdir(path.parent) == ["run.npz"]
    save_checkpoint(tmp_path / "run.npz", {"sizes": (1, 2)}, STATE)
    load_checkpoint(tmp_path / "run.npz", {"sizes": (1, 2)})
    with pytest.raises(ValueError, match="not a checkpoint"):
        load_checkpoint(tmp_path / "missing.npz", RUN)
    np.savez(tmp_path / "other.npz", w=np.ones(2))
    with pytest.raises(ValueError, match="not a checkpoint"):
        load_checkpoint(tmp_path / "other.npz", RUN)


@pytest.mark.parametrize("change", [{"seeds": [1, 3]}, {"name": None}, {"more": 1}])
def test_a_difference_of_another_run_is_named(tmp_path, change):
    save_checkpoint(tmp_path / "run.npz", RUN, STATE)
    with pytest.raises(ValueError, match=f"belongs to another run: {next(iter(change))} "):
        load_checkpoint(tmp_path / "run.npz", RUN | change)


def test_digest_sees_types_shapes_and_values():
    a = torch.arange(6.0)
    different = [a, a.double(), a.view(2, 3), a.flip(0), torch.zeros(0), torch.zeros(0, 2)]
    assert len({digest(tensor) for tensor in different}) == 6
    assert digest(a.view(2, 3).T) == digest(a.view(2, 3).T.contiguous())
    assert digest(a, a) != digest(a) and len(digest()) == 16
