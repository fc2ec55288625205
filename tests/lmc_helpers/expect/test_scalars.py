"""Integers, numbers and sizes that pass; what is refused is tested through the doors, in test_bad_arguments.py."""

import numpy as np
import torch

from lmc_helpers import expect

ALLOWED = [
    lambda: expect.integer(np.int64(3), "n", least=3, most=3),
    lambda: expect.number(np.float32(0.5), "x", least=0.5),
    lambda: expect.number(1, "x"),
    lambda: expect.sizes(torch.Size([2, 3]), "shape"),
    lambda: expect.sizes((), "batch"),
]


def test_what_is_allowed_passes_and_gives_nothing():
    assert [call() for call in ALLOWED] == [None] * len(ALLOWED)
