"""The bar shows where tqdm is installed, and its absence changes nothing."""

import sys

import pytest

from lmc_helpers.training.progress import progress


def test_a_bar_shows_and_passes_the_items_on(capsys):
    pytest.importorskip("tqdm")
    assert list(progress(iter("abc"), description="merging", total=3)) == ["a", "b", "c"]
    assert "merging" in capsys.readouterr().err


def test_a_disabled_bar_shows_nothing(capsys):
    items = [1, 2]
    assert progress(items, description="merging", disable=True) is items
    assert capsys.readouterr().err == ""


def test_without_tqdm_the_loop_runs_in_silence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)  # what an import of a missing module meets
    items = [1, 2]
    assert progress(items, description="merging") is items
    assert capsys.readouterr().err == ""
