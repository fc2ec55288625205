"""Chapters whose images are not the ones that were asked for: in the terminal, on the page, in the record."""

import gzip
import json
import os
import struct
import subprocess
import sys

import pytest
from oracles import notebooks

from book.tools.read.chapters import ROOT
from book.tools.record import records

GONE = "MNIST is not here (train-images-idx3-ubyte.gz was not found, and LMC_OFFLINE is 1)"
DIGITS = f"{GONE}: this run uses scikit-learn's digits."
COPY = "This run uses CIFAR-10, from files that differ from the canonical ones."


def executed(path, said):
    path.write_text(json.dumps(notebooks.executed(path.stem, *[notebooks.glued("data_says", repr(said))] * bool(said))))
    return path


def test_what_a_build_says(tmp_path):
    for said, lines in (
        (["", "This run uses MNIST."], []),
        (["", DIGITS, DIGITS], [f"Chapters 52, 53: {DIGITS}", records.ADVICE]),
        ([COPY], [f"Chapter 51: {COPY}"]),
        ([COPY, DIGITS], [f"Chapter 51: {COPY}", f"Chapter 52: {DIGITS}", records.ADVICE]),
    ):
        paths = [executed(tmp_path / f"{51 + k}_some_name.ipynb", text) for k, text in enumerate(said)]
        assert records.image_messages(paths) == lines


def fake_mnist(folder):
    """Files of MNIST's form and size, grey ramps."""
    folder.mkdir()
    for part, n in (("train", 60_000), ("t10k", 10_000)):
        head = struct.pack(">HBBIII", 0, 8, 3, n, 28, 28)
        pixels = bytes(range(256)) * (n * 28 * 28 // 256)
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + pixels, 1))
        labels = bytes(k % 10 for k in range(n))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(struct.pack(">HBBI", 0, 8, 1, n) + labels))


@pytest.mark.slow
@pytest.mark.parametrize("here", [False, True])
def test_a_chapter_that_wants_mnist(tmp_path, here):
    """Without the files it runs on digits, with others that are let in on these; page and record say so."""
    variables = {"LMC_DATA": str(tmp_path), "LMC_OFFLINE": "1", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    variables |= {"LMC_RUNS": str(tmp_path / "runs"), "CI": "1"}
    if here:
        fake_mnist(tmp_path / "mnist")
        variables["LMC_DATA_UNVERIFIED"] = "1"
    output = tmp_path / "51_width_barriers.ipynb"
    command = [sys.executable, "-m", "book", "execute", "width_barriers", "--profile", "smoke"]
    command += ["-p", "dataset", "mnist", "--output", str(output), "--quiet"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    data = {record["data"] for record in records.records(output)}
    first = "This run uses MNIST, from files that differ from the canonical ones." if here else DIGITS
    assert len(data) == 1 and data.pop().startswith(first)
    assert records.image_messages([output])[0].startswith(f"Chapter 51: {first}")
    assert all(record["n"] == 0 for record in records.records(output) if record["part"] != "Z11.scale")
