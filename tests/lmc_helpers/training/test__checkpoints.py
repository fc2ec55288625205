"""Checkpoints, beside what test_run_files and test_fit ask of them: what is none, and digests."""

import os

import numpy as np
import pytest
import torch

from lmc_helpers.training._checkpoints import digest, load_checkpoint, save_checkpoint


def test_what_is_no_checkpoint_is_refused(tmp_path):
    path = tmp_path / "a" / "b" / "run.npz"
    save_checkpoint(path, {"sizes": (1, 2)}, {"w": torch.ones(2)})
    assert load_checkpoint(path, {"sizes": (1, 2)})["w"].equal(torch.ones(2)) and os.listdir(path.parent) == ["run.npz"]
    np.savez(tmp_path / "other.npz", w=np.ones(2))
    for name in ("missing.npz", "other.npz"):
        with pytest.raises(ValueError, match="not a checkpoint"):
            load_checkpoint(tmp_path / name, {})


def test_digest_sees_types_shapes_and_values():
    a = torch.arange(6.0)
    different = [a, a.double(), a.view(2, 3), a.flip(0), torch.zeros(0), torch.zeros(0, 2)]
    assert len({digest(tensor) for tensor in different}) == 6
    assert digest(a.view(2, 3).T) == digest(a.view(2, 3).T.contiguous())
    assert digest(a, a) != digest(a) and len(digest()) == 16
