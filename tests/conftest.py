"""Shared by all tests: where the repository is, one thread, and no figure that an earlier test left open."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure(config):
    if config.getoption("numprocesses", None):  # the process that only hands tests to others needs no torch
        return
    from lmc_helpers import _typing

    _typing.RETURNS = True  # before what is checked is imported


@pytest.fixture(autouse=True)
def one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
