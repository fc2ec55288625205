"""Shared by all tests: where the repository is, one thread, and no figure that an earlier test left open."""

import sys
from pathlib import Path

import pytest
import torch

from lmc_helpers import _typing

_typing.RETURNS = True  # before what is checked is imported

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
