"""Files that appear complete or not at all, and what killed processes leave of them."""

import os
import subprocess
import sys

import pytest

from lmc_helpers.files import atomic_write, remove_abandoned, replacing


def test_a_file_is_replaced_or_stays(tmp_path):
    path = tmp_path / "new" / "file"
    atomic_write(path, "one")
    with pytest.raises(KeyError), replacing(path) as new:
        new.write_text("two")
        raise KeyError
    assert path.read_text() == "one" and list(path.parent.iterdir()) == [path]
    atomic_write(path, b"two")
    assert path.read_text() == "two" and list(path.parent.iterdir()) == [path]


def test_an_error_names_the_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError) as raised:
        atomic_write(tmp_path / "file" / "below", "content")
    assert raised.value.filename == str(tmp_path / "file" / "below")


def test_what_a_killed_process_left_is_removed_and_what_is_being_written_stays(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    gone = tmp_path / f".{dead.pid}-file"
    stay = [tmp_path / name for name in (f".{os.getpid()}-file", ".checkpoint.npz", f"{dead.pid}-file", ".x-1.lock")]
    for path in (gone, *stay):
        path.touch()
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(stay)
