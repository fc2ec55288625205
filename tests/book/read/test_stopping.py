"""What a tool says when it fails, in one line, and its exit status."""

import errno
from types import SimpleNamespace

import pytest

from book.__main__ import main
from book.tools.read import stopping
from book.tools.read.chapters import BuildError
from book.tools.record import repeat
from book.tools.record import spreads as repeats

FULL = OSError(errno.ENOSPC, "No space left on device", "book/recorded/sweep-smoke.json")
SAID = f"error: book/recorded/sweep-smoke.json: {stopping.ADVICE[errno.ENOSPC]}\n"
FAILURES = ((BuildError("mend it"), 1, "error: mend it\n"), (FULL, 1, SAID), (KeyboardInterrupt(), 130, stopping.KEPT))


def raising(error):
    def act(*arguments, **named):
        raise error

    return act


def test_an_act_gives_its_status_or_fails_in_one_line(capsys):
    assert [stopping.status(lambda given=given: given) for given in (None, 0, 1, 3)] == [0, 0, 1, 3]
    assert capsys.readouterr() == ("", "")
    for error, status, said in FAILURES:
        assert stopping.status(raising(error)) == status
        assert capsys.readouterr() == ("", f"{said.rstrip()}\n")


def test_runs_that_cannot_be_stored_are_one_line(monkeypatch, capsys):
    monkeypatch.setattr(repeat, "of_seeds", raising(FULL))
    assert main(["repeat"]) == 1
    assert capsys.readouterr() == ("", SAID)


@pytest.mark.parametrize("found", [0, 1])
def test_a_contradiction_is_the_status_of_a_sweep(found, monkeypatch):
    nothing = SimpleNamespace(run=lambda **where: {})
    monkeypatch.setattr(repeat, "of_seeds", lambda *arguments: nothing)
    monkeypatch.setattr(repeats, "report_seeds", lambda content, profile: found if profile == "smoke" else 2)
    assert main(["repeat", "--profile", "smoke"]) == found
