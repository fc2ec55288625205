"""Files that appear complete or not at all, and what killed processes leave of them."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lmc_helpers.files import atomic_write, remove_abandoned
from lmc_helpers.training import run_files
from lmc_helpers.training._checkpoints import save_checkpoint

WRITERS = {
    "atomic_write": lambda path, n: atomic_write(path, str(n)),
    "a checkpoint": lambda path, n: save_checkpoint(path, {"n": n}, {"n": torch.tensor(n)}),
    "a result": lambda path, n: run_files.write(path, {"n": n}, {"seconds": 0.0}, {"n": torch.tensor(n)}),
}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left on device")])
@pytest.mark.parametrize("write", WRITERS.values(), ids=list(WRITERS))
def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch, write, error):
    """Whatever writes it: a kill or a full disk before it is in its place leaves the old one and nothing else."""
    path = tmp_path / "new" / "file"
    write(path, 1)
    before = path.read_bytes()

    def stopped(*_):
        raise error

    for place in (os, "replace"), (Path, "replace"), (Path, "rename"):
        monkeypatch.setattr(*place, stopped)
    with pytest.raises((KeyboardInterrupt, OSError)) as raised:
        write(path, 2)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]
    if error is not KeyboardInterrupt:
        assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(path))
    monkeypatch.undo()
    write(path, 2)
    assert path.read_bytes() != before and list(path.parent.iterdir()) == [path]


def test_an_error_names_the_file_and_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError) as raised:
        atomic_write(tmp_path / "file" / "below", "content")
    assert raised.value.filename == str(tmp_path / "file" / "below")
    (tmp_path / "file").unlink()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    gone = tmp_path / f".{dead.pid}-file"
    stay = [tmp_path / name for name in (f".{os.getpid()}-file", ".checkpoint.npz", f"{dead.pid}-file", ".x-1.lock")]
    for path in (gone, *stay):
        path.touch()
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(stay)
