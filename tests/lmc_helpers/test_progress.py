"""A line shows on a terminal where a loop is long, and nowhere else; a limit stops every dear function by name."""

import sys
import time

import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

import lmc_helpers as lmc
from lmc_helpers import progress as module
from lmc_helpers.progress import during, limit, progress


def test_a_long_loop_shows_on_a_terminal_how_far_it_is_and_leaves_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(module, "AFTER", 0.02)
    monkeypatch.setattr(module, "EVERY", 0.0)
    with during("compare"):
        for _ in progress("abc", "step"):
            time.sleep(0.015)
    shown = capsys.readouterr().err
    assert "step 1" not in shown and "compare, step 3 of 3; 0 s" in shown
    assert shown.endswith("\r\x1b[K") and shown.count("\n") == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_a_short_loop_or_one_without_a_terminal_is_silent(monkeypatch, capsys, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(module, "AFTER", 60.0 if terminal else 0.0)
    assert list(progress(iter("ab"), "step", total=2)) == ["a", "b"]
    assert capsys.readouterr().err == ""


def net():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


A, B, C = net(), net(), net()
X = torch.randn(60, 4)
DATA = X, X[:, :1]
CALLS = {
    "symmetry": lambda: lmc.symmetry(A, X),
    "verify": lambda: lmc.verify(A, X),
    "match": lambda: lmc.match(A, B, X),
    "activations": lambda: lmc.match(A, B, X, "activations"),
    "straight-through": lambda: lmc.match(A, B, X, "straight-through", loss=mse_loss, data=DATA),
    "sinkhorn": lambda: lmc.match(A, B, X, "sinkhorn", loss=mse_loss, data=DATA),
    "line": lambda: lmc.line(A, B, mse_loss, DATA),
    "repair": lambda: lmc.repair(A, B, DATA),
    "compare": lambda: lmc.compare(A, B, mse_loss, DATA),
    "merge": lambda: lmc.merge([A, B, C], DATA),
    "plane": lambda: lmc.plane(A, B, C, mse_loss, DATA),
    "curve": lambda: lmc.curve(A, B, mse_loss, DATA),
    "merge_path": lambda: lmc.merge_path(A, "0", 0, 1, mse_loss, DATA),
    "orbit_curve": lambda: lmc.orbit_curve(nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 1)), "0", torch.ones(2), X),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_limit_stops_every_dear_function_while_it_runs(monkeypatch, name):
    """The clock jumps a second each time that it is read."""
    now = iter(range(10**6))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(now)))
    with pytest.raises(TimeoutError, match=r"^not finished after 4 s [^\n]*; allowed: [^\n]*$"), limit(4):
        CALLS[name]()
    assert next(now) < 60


def test_the_shorter_of_two_limits_counts_and_both_end_with_their_blocks():
    with limit(60):
        with limit(0.001):
            time.sleep(0.01)
            with pytest.raises(TimeoutError, match=r"0\.001 s"):
                lmc.match(A, B, X)
        lmc.match(A, B, X)
    with limit(0.001), limit(60):
        time.sleep(0.01)
        with pytest.raises(TimeoutError, match=r"0\.001 s"):
            lmc.match(A, B, X)
    lmc.match(A, B, X)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), "1"])
def test_a_wrong_limit_is_one_sentence(seconds):
    with pytest.raises((TypeError, ValueError), match=r"^seconds = [^\n]*; allowed"):
        limit(seconds)
