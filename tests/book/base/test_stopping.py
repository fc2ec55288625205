"""What a tool says when it fails, in one line, and its exit status."""

import errno
from types import SimpleNamespace

import pytest

from book.tools import repeat
from book.tools.base import stopping
from book.tools.base.chapters import BuildError
from book.tools.findings import repeats

FULL = OSError(errno.ENOSPC, "No space left on device", "book/recorded/sweep-smoke.json")
SAID = f"error: book/recorded/sweep-smoke.json: {stopping.ADVICE[errno.ENOSPC]}\n"


def raising(error):
    def act(*arguments, **named):
        raise error

    return act


@pytest.mark.parametrize(("given", "status"), [(None, 0), (0, 0), (1, 1), (3, 3)])
def test_an_act_may_give_its_status(given, status, capsys):
    assert stopping.status(lambda: given) == status
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (BuildError("mend it"), 1, "error: mend it\n"),
        (FULL, 1, SAID),
        (KeyboardInterrupt(), 130, f"{stopping.KEPT}\n"),
    ],
)
def test_what_fails_or_is_interrupted_is_one_line(error, status, said, capsys):
    assert stopping.status(raising(error)) == status
    assert capsys.readouterr() == ("", said)


def test_runs_that_cannot_be_stored_are_one_line(monkeypatch, capsys):
    monkeypatch.setattr(repeat, "of_seeds", raising(FULL))
    assert repeat.main([]) == 1
    assert capsys.readouterr() == ("", SAID)


@pytest.mark.parametrize("found", [0, 1])
def test_a_contradiction_is_the_status_of_a_sweep(found, monkeypatch):
    nothing = SimpleNamespace(run=lambda **where: {})
    monkeypatch.setattr(repeat, "of_seeds", lambda *arguments: nothing)
    monkeypatch.setattr(repeats, "report_seeds", lambda content, profile: found if profile == "smoke" else 2)
    assert repeat.main(["--profile", "smoke"]) == found
