"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import gzip

import torch
from bad_arguments import Flag, Given, Integer, Other, Row, Tensor, methods_without_a_row, refused, rows, runs

from lmc_helpers.data.files import Archive
from lmc_helpers.data.gaussian_mixture import draw_mixture
from lmc_helpers.data.images import load

MIXTURE = draw_mixture(k=2, d=6, classes=3, seed=1)
SAMPLES = MIXTURE.sample(5, seed=1)[0]
DEVICE = Given(None)  # torch says which ones it knows; what is asked for on meta comes back on meta
DTYPE = Other(torch.float32, {"integers": torch.long, "a string": "float32", "NumPy's": float, "nothing": None})

TABLE = [
    Row(MIXTURE.sample, {"n": Integer(5, least=3), "seed": Integer(1, least=0, most=2**32 - 1)}),
    Row(MIXTURE.classify, {"x": Tensor(SAMPLES, batch=False, free=(-2,))}),
    Row(MIXTURE.classify, {"x": Other(SAMPLES, {"single": SAMPLES.float()})}),
    Row(load("digits", n=3).inputs, {"dtype": DTYPE, "device": DEVICE, "flat": Flag()}),
]

OTHERS = {"files": {"Archive.unpack": "reads a file, below"}}


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("data", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)


def test_an_archive_is_unpacked_from_a_path(tmp_path):
    archive, path = Archive("a.gz", "", (("a", ""),), ()), tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"abc"))
    assert archive.unpack(path) == [b"abc"]
    refused(Row(archive.unpack, {"path": Other(path, {repr(bad): bad for bad in ("a.gz", b"a.gz", None, 1)})}))
