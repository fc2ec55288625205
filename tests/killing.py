"""Builds that are killed: start one, wait until it is at some point, stop it, look who lives on and what is left."""

import contextlib
import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

import psutil

MARK = "LMC_TEST_MARK"
SECONDS = 5.0  # so long may a process outlive its build
KEPT = "stopped; what was finished is kept\n"
NOTHING = "stopped; nothing half-done is left\n"


def heard() -> None:
    """In a child: Ctrl-C is not ignored, as it is by what a shell has put into the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Started:
    """A command in a session of its own, as a terminal would run it, and the processes that came of it."""

    def __init__(self, command: list[str], where: Path, environment: dict[str, str]):
        self.mark = uuid.uuid4().hex
        self.said, self.errors = (where / "build" / f"said-{self.mark}{kind}" for kind in ("", "-errors"))
        self.said.parent.mkdir(exist_ok=True)
        with self.said.open("w") as out, self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                command,
                cwd=where,
                env=environment | {MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
                preexec_fn=heard,
            )

    def forget(self) -> None:
        """Remove what it said, and end what is left of it."""
        for process in self.alive():
            with contextlib.suppress(psutil.Error):
                process.kill()
        for path in (self.said, self.errors):
            path.unlink(missing_ok=True)

    def alive(self) -> list[psutil.Process]:
        """Processes that bear its mark, wherever they went."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):
                pass
        return found

    def until(self, reached, seconds: float = 180.0) -> None:
        """Wait for something while it runs."""
        deadline = time.monotonic() + seconds
        while not reached():
            assert self.process.poll() is None, self.errors.read_text() + self.said.read_text()
            assert time.monotonic() < deadline, "not reached: " + self.said.read_text()
            time.sleep(0.02)

    def watches(self) -> bool:
        """Whether it has begun to handle SIGTERM."""
        try:
            lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        except OSError:
            return False
        caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def stop(self, number: int) -> list[str]:
        """Send a signal: Ctrl-C to all of its group, others to it alone. Command lines of those who live on."""
        send = os.killpg if number == signal.SIGINT else os.kill
        send(self.process.pid, number)
        self.process.wait(60)
        deadline = time.monotonic() + SECONDS
        while (left := self.alive()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return [" ".join(process.cmdline()) for process in left]

    def check(self, number: int, says: str = KEPT) -> None:
        """Stop it, and see that it ends in one line, with the right status, and takes everything along."""
        assert self.stop(number) == []
        errors = self.errors.read_text()
        expected = (-number, "") if number == signal.SIGKILL else (128 + number, says)
        assert (self.process.returncode, errors) == expected, errors
