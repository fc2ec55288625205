"""Bad arguments for every public function of the room: one sentence that says what is allowed, never a number."""

import math
from pathlib import Path

import torch
from bad_arguments import (
    Choice,
    Integer,
    Number,
    Other,
    Row,
    Text,
    refused,
    rows,
    runs,
    without_a_row,
)

from lmc_helpers.data import cifar10, digits, download, files, gaussian_mixture, idx, images, mnist

SEED = Integer(1, least=0, most=2**32 - 1)
NO_OBJECT = {"a string": "x", "nothing": None, "a number": 1}
PATH = Other(Path("no such file"), NO_OBJECT)
ARCHIVE = files.Archive("a.gz", "", (("a", ""),), ())
CIFAR10 = {name: files.Content(name, bytes(3073), "") for name in cifar10.SHA256}
IDX = {
    "images": bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28]) + bytes(784),
    "labels": bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]),
}
MNIST = {name: files.Content(name, IDX[name.split("-")[1]], "") for name in mnist.SHA256}
NAME = Other("digits", {"unknown": "nonsense", "empty": "", "nothing": None, "a number": 1, "a list": ["digits"]})
NAMES = Other(["digits"], {"a string": "digits", "none": [], "unknown": ["nonsense"], "nothing": None, "a number": 1})
SCALES = {"too many": [1.0, 1.0, 1.0], "nan": [1.0, math.nan], "a string": "1", "words": ["a", "b"], "a number": 1.0}
ORTHONORMAL = torch.eye(4, dtype=torch.float64)[:, :2]

OTHERS = {
    "download": {"import_pooch": "takes nothing", "download": "needs pooch and a mirror; tested with one of its own"},
    "files": {"cache": "takes nothing", "find": "looks for files; tested with folders of its own"},
    "images": {"main": "says what is wrong and goes on"},
}

TABLE = [
    Row(cifar10.records, {"content": Other(CIFAR10["test_batch.bin"], NO_OBJECT)}),
    Row(cifar10.parse, {"contents": Other(CIFAR10, NO_OBJECT | {"none": {}})}),
    Row(mnist.parse, {"contents": Other(MNIST, NO_OBJECT | {"none": {}})}),
    Row(digits.digits, {"n": Integer(5, least=1, most=1797), "seed": SEED}),
    Row(digits.digits, {"seed": SEED}, lambda seed: digits.digits(seed=seed)),
    Row(download.size, {"path": PATH}),
    Row(files.flag, {"name": Text("LMC_NO_SUCH_VARIABLE")}),
    Row(files.in_folder, {"archive": Other(ARCHIVE, NO_OBJECT), "folder": PATH}),
    Row(
        gaussian_mixture.draw_mixture,
        {"k": Integer(2, least=1, most=6), "d": Integer(6, least=2), "classes": Integer(3, least=1)}
        | {"separation": Number(1.0, least=0), "scales": Other([1.0, 0.5], SCALES), "seed": SEED},
    ),
    Row(
        gaussian_mixture.published_mixture,
        {"k": Integer(2, least=1, most=6), "d": Integer(6, least=2), "classes": Integer(3, least=1)}
        | {"separation": Number(1.0, least=0), "seed": SEED},
    ),
    Row(idx.read_idx, {"raw": Other(IDX["labels"], NO_OBJECT | {"cut off": IDX["labels"][:-1]}), "name": Text("a")}),
    Row(
        images.load, {"name": NAME, "split": Choice("train"), "n": Other(5, {"zero": 0, "a bool": True}), "seed": SEED}
    ),
    Row(images.load, {"n": Integer(5, least=1, most=1437)}, lambda n: images.load("digits", n=n or -1)),
    Row(images.load, {"seed": SEED}, lambda seed: images.load("digits", seed=seed)),
    Row(images.available, {"name": NAME}),
    Row(images.choose, {"names": NAMES}),
]


def test_every_public_function_has_a_row():
    assert not without_a_row("data", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
