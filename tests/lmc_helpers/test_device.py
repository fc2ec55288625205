"""Devices and generators keyed by seed and purpose."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from lmc_helpers import device, seeds


def test_streams_are_keyed_by_seed_and_purpose():
    draws = {
        (seed, purpose): tuple(seeds.numpy_generator(seed, purpose).random(4))
        for seed in (0, 1, 2**32 - 1)
        for purpose in ("a", "b", "ab", "ba")
    }
    assert len(set(draws.values())) == len(draws)
    assert draws[1, "a"] == tuple(seeds.numpy_generator(1, "a").random(4))


def test_streams_do_not_depend_on_hash_randomisation_or_threads():
    code = (
        "import torch; from lmc_helpers import seeds;"
        "print(seeds.numpy_generator(1, 't').random(), torch.rand(1, generator=seeds.torch_generator(1, 'w')).item())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": str(n), "OMP_NUM_THREADS": str(n)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in (1, 2)
    }
    assert len(seen) == 1


def test_torch_streams():
    a, b = (torch.randn(3, generator=seeds.torch_generator(1, p)) for p in ("a", "b"))
    assert not a.equal(b) and a.equal(torch.randn(3, generator=seeds.torch_generator(1, "a")))


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, "1", True, None])
def test_bad_seed(seed):
    with pytest.raises(ValueError, match=r"allowed: an integer in \[0, 2\*\*32\)"):
        seeds.seed_sequence(seed, "a")
    assert seeds.seed_sequence(np.int64(3), "a").entropy == [3, 97]


def test_bad_purpose():
    with pytest.raises(ValueError, match="purpose is empty"):
        seeds.seed_sequence(1, "")


def test_devices():
    assert device.device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert "CPU" in device.describe(torch.device("cpu"))
    with pytest.raises(ValueError, match="device 'warp' is unknown; allowed: 'auto'"):
        device.device("warp")


def test_missing_gpu_is_named():
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    with pytest.raises(RuntimeError, match=f"device 'cuda:{count}' was asked for, but torch sees {count} GPUs"):
        device.device(f"cuda:{count}")
