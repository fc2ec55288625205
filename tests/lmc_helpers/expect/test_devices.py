"""Devices that pass, and tensors on one that holds no numbers."""

import pytest
import torch

from lmc_helpers import expect
from lmc_helpers.expect.devices import on_device

ALLOWED = [
    lambda: expect.device("cuda:1", "device"),
    lambda: expect.device(None, "device"),
]


def test_what_is_allowed_passes_and_gives_nothing():
    assert [call() for call in ALLOWED] == [None] * len(ALLOWED)


def test_a_tensor_without_numbers_is_refused():
    assert on_device(torch.ones(1), "W") is None
    with pytest.raises(ValueError, match="W lies on device meta; allowed: a device that holds numbers: cpu, cuda"):
        on_device(torch.ones(1, device="meta"), "W")
