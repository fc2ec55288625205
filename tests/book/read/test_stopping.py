"""What a tool says when it fails, in one line, and its exit status."""

import errno

from book.tools.read import stopping
from book.tools.read.chapters import BuildError

FULL = OSError(errno.ENOSPC, "No space left on device", "book/recorded/sweep-smoke.json")
SAID = f"error: book/recorded/sweep-smoke.json: {stopping.ADVICE[errno.ENOSPC]}\n"
FAILURES = ((BuildError("mend it"), 1, "error: mend it\n"), (FULL, 1, SAID), (KeyboardInterrupt(), 130, stopping.KEPT))


def test_an_act_gives_its_status_or_fails_in_one_line(capsys):
    assert [stopping.status(lambda given=given: given) for given in (None, 0, 1, 3)] == [0, 0, 1, 3]
    assert capsys.readouterr() == ("", "")
    for error, status, said in FAILURES:

        def act(error=error):
            raise error

        assert stopping.status(act) == status
        assert capsys.readouterr() == ("", f"{said.rstrip()}\n")
