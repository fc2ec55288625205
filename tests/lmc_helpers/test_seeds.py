"""Generators keyed by seed and purpose."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from lmc_helpers import seeds


def test_streams_are_keyed_by_seed_and_purpose():
    draws = {
        (seed, purpose): tuple(seeds.numpy_generator(seed, purpose).random(4))
        for seed in (0, 1, 2**32 - 1)
        for purpose in ("a", "b", "ab", "ba")
    }
    assert len(set(draws.values())) == len(draws)
    assert draws[1, "a"] == tuple(seeds.numpy_generator(1, "a").random(4))


@pytest.mark.parametrize("purpose", ["a", "order 3 of network 17", "ä €"])
@pytest.mark.parametrize("seed", [0, 7, 2**31, np.int64(2**32 - 1)])
def test_a_stream_is_that_of_the_seed_followed_by_the_bytes_of_its_purpose(seed, purpose):
    entropy = [int(seed), *purpose.encode()]
    assert seeds.numpy_generator(seed, purpose).random() == np.random.default_rng(entropy).random()


CODE = """
import torch
from torch import nn

from lmc_helpers import seeds
from lmc_helpers.identifiability.asymmetric import WAsymmetric, asymmetrise
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

streams = seeds.numpy_generator(1, "t").random(), torch.rand(1, generator=seeds.torch_generator(1, "w")).item()
run = Run(MLP((64, 5, 10)), Descent(3, 20, "adam", 0.01), DataSpec("digits", n=50, seed=3), (1, 2), keep=(0, 2))
net = asymmetrise(nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)), WAsymmetric(2, 1.0), seed=11)
parts = net[2].parametrizations.weight[0]
print([*streams, run.digest, parts.F.tolist(), parts.D.tolist()])
"""


def test_streams_digests_and_fixed_parts_do_not_depend_on_hash_randomisation_or_threads(capsys):
    environment = os.environ | {"PYTHONHASHSEED": "5", "OMP_NUM_THREADS": "2"}
    there = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    exec(CODE, {})
    assert there.stdout == capsys.readouterr().out != ""


def test_torch_streams():
    a, b = (torch.randn(3, generator=seeds.torch_generator(1, p)) for p in ("a", "b"))
    assert not a.equal(b) and a.equal(torch.randn(3, generator=seeds.torch_generator(1, "a")))
    x = seeds.normal((200, 200), 1, "law")
    assert abs(x.mean().item()) < 4 / 200 and abs(x.var().item() - 1) < 4 * 2**0.5 / 200
    assert not x.equal(seeds.normal((200, 200), 2, "law")) and not x.equal(seeds.normal((200, 200), 1, "laws"))


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, "1", True, None])
def test_bad_seed(seed):
    with pytest.raises(ValueError, match=r"allowed: an integer in \[0, 2\*\*32\)"):
        seeds.seed_sequence(seed, "a")
    assert seeds.seed_sequence(np.int64(3), "a").entropy.tolist() == [3, 97]


@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0, 4)])
def test_normal_numbers_are_the_first_of_their_stream(shape):
    x = seeds.normal(shape, 3, "noise")
    generator = seeds.torch_generator(3, "noise")
    numbers = [torch.randn((), dtype=torch.float64, generator=generator) for _ in range(x.numel())]
    one_by_one = torch.stack(numbers or [x])
    assert x.dtype == torch.float64 and x.shape == shape
    if x.numel() and x.numel() < 16:  # torch draws 16 and more numbers by another method
        assert x.flatten().equal(one_by_one)
    assert x.equal(seeds.normal(shape, 3, "noise"))
