"""The command writes the page of a pair, and refuses in one line."""

import runpy
import sys
import warnings

import numpy as np
import pytest
import torch
from oracles.readers import state

from lmc_helpers.__main__ import main


@pytest.fixture
def words(nets):
    """A factory, two files of weights and data."""
    for seed, name in enumerate("ab"):
        torch.save(state(seed), f"{name}.pt")
    np.savez("val.npz", x=np.random.default_rng(0).normal(size=(60, 3)), y=np.arange(60) % 2)
    return ["compare", f"{nets}:make", "a.pt", "b.pt", "val.npz"]


def test_the_command_prints_the_table_and_writes_a_page(words, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lmc_helpers", *words, "--out", "page.html"])
    with pytest.raises(SystemExit) as end, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the module has been imported before
        runpy.run_module("lmc_helpers", run_name="__main__")
    out, errors = capsys.readouterr()
    assert (end.value.code, errors) == (0, "")
    assert "matched by weights, REPAIR" in out and "4 interchangeable units" in out
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<h1>a.pt and b.pt</h1>" in page and "<svg" in page


def test_losses_and_groups_of_the_users_are_taken(words, capsys):
    assert main([*words, "--loss", "nll_loss", "--groups", "nets_of_a_reader:groups"]) == 0
    assert "'by hand' 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        *(
            {2: "missing.pt"},
            {1: "nets_of_a_reader"},
            {1: "nets_of_a_reader:none"},
            {4: "a.pt"},
            {4: "nets_of_a_reader:groups"},
        ),
        *({5: "--loss=mse"}, {5: "--loss=relu"}, {5: "--groups=nets_of_a_reader:make"}, {5: "--seconds=0.0001"}),
        {5: "--seconds=-1"},
    ],
)
def test_what_cannot_be_compared_is_one_line(words, capsys, change):
    wrong = [change.get(k, word) for k, word in enumerate([*words, ""]) if change.get(k, word)]
    assert main(wrong) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1 and "; allowed: " in err
