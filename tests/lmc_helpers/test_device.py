"""Devices and threads."""

import pytest
import torch

from lmc_helpers import device


def test_threads_are_fixed():
    before = torch.get_num_threads()
    try:
        for count in (2, 1):
            device.fix_threads(count)
            assert torch.get_num_threads() == count
            assert device.describe(torch.device("cpu")) == f"CPU, {count} thread(s)"
    finally:
        torch.set_num_threads(before)
    assert device.device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert "CPU" in device.describe(torch.device("cpu"))
    with pytest.raises(ValueError, match="device 'warp' is unknown; allowed: 'auto'"):
        device.device("warp")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    with pytest.raises(RuntimeError, match=f"device 'cuda:{count}' was asked for, but torch sees {count} GPUs"):
        device.device(f"cuda:{count}")
