"""Images against arrays that were written, and what is said where they are missing, damaged or others."""

import ast
import dataclasses
import gzip
import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from lmc_helpers.data import images as module
from lmc_helpers.data._mnist import MNIST
from lmc_helpers.data.files import DataError
from lmc_helpers.data.images import SPLITS, _main, available, choose, load

TRAIN, TEST = 200, 30
RNG = np.random.default_rng(5)
SIZES = {"train": TRAIN, "t10k": TEST}
PIXELS = {prefix: RNG.integers(0, 256, (n, 28, 28), np.uint8) for prefix, n in SIZES.items()}
LABELS = {prefix: RNG.integers(0, 10, n, np.uint8) for prefix, n in SIZES.items()}


def raws(pixels: dict[str, np.ndarray] = PIXELS) -> dict[str, bytes]:
    files = {}
    for prefix, x in pixels.items():
        files[f"{prefix}-images-idx3-ubyte"] = struct.pack(">4I", 0x803, *x.shape) + x.tobytes()
        files[f"{prefix}-labels-idx1-ubyte"] = struct.pack(">2I", 0x801, len(x)) + LABELS[prefix].tobytes()
    return files


def sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


@pytest.fixture
def small(monkeypatch):
    """A small set takes the place of MNIST: its files are the published ones now."""
    archives = []
    for archive, (name, raw) in zip(MNIST.archives, raws().items(), strict=True):
        assert archive.name == f"{name}.gz"
        members = ((name, sha(raw)),)
        archives.append(dataclasses.replace(archive, sha256=sha(gzip.compress(raw, mtime=0)), members=members))
    monkeypatch.setitem(module.SOURCES, "mnist", dataclasses.replace(MNIST, archives=tuple(archives)))
    module._read.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The small set's files, packed, where LMC_DATA says."""
    (tmp_path / "own" / "mnist").mkdir(parents=True)
    monkeypatch.setenv("LMC_DATA", str(tmp_path / "own"))
    put(tmp_path / "own" / "mnist", raws())
    return tmp_path / "own" / "mnist"


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, raw in files.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(raw))


def test_what_was_written_is_loaded(small, folder):
    for split, prefix in (("train", "train"), ("test", "t10k")):
        found = load("mnist", split)
        assert found.x.dtype == torch.uint8 and found.y.dtype == torch.long
        assert (found.x[:, 0].numpy() == PIXELS[prefix]).all() and (found.y.numpy() == LABELS[prefix]).all()
        assert (found.name, found.split, found.classes, found.verified) == ("mnist", split, 10, True)
        assert found.says == f"{len(LABELS[prefix])} images ({split}) of MNIST, 28 × 28 pixels."
    first = load("mnist")
    assert load("mnist").x.data_ptr() == first.x.data_ptr()
    assert load("mnist", n=10).x.data_ptr() != first.x.data_ptr()
    put(folder, {"train-images-idx3-ubyte": b"garbage"})
    assert available("mnist").startswith(
        "train-images-idx3-ubyte is not an IDX file of bytes: it begins with 67 61 72 62"
    )


def test_inputs_are_normalised_by_the_training_set(small, folder):
    pixels = PIXELS["train"].astype(float) / 255
    for split, prefix in (("train", "train"), ("test", "t10k"), ("validation80", None)):
        found = load("mnist", split)
        assert found.mean.item() == pytest.approx(pixels.mean(), abs=1e-12)
        assert found.deviation.item() == pytest.approx(pixels.std(), abs=1e-12)
        if prefix:
            expected = (PIXELS[prefix].reshape(-1, 784) / 255 - pixels.mean()) / pixels.std()
            assert torch.allclose(found.inputs(torch.float64, flat=True), torch.from_numpy(expected), atol=1e-12)
            assert torch.allclose(found.inputs()[:, 0].flatten(1).double(), torch.from_numpy(expected), atol=1e-5)
    assert found.inputs().shape == (20, 1, 28, 28) and found.inputs().dtype == torch.float32
    assert load("mnist").inputs(device="meta").device.type == "meta"


def test_every_channel_has_its_own_mean(monkeypatch):
    rows = np.concatenate([RNG.integers(0, 10, (6, 1), np.uint8), RNG.integers(0, 200, (6, 3072), np.uint8)], axis=1)
    rows[:, 1:1025] //= 4
    x = torch.from_numpy(rows[:, 1:]).reshape(6, 3, 32, 32)
    scaled = x.double().div(255).transpose(0, 1).flatten(1)  # (3, pixels)
    mean, deviation = module._moments(x.numpy())
    assert torch.allclose(mean, scaled.mean(dim=1), atol=1e-12)
    assert torch.allclose(deviation, scaled.std(dim=1, correction=0), atol=1e-12)
    found = module.Images(x, torch.zeros(6).long(), "cifar10", "test", 10, False, mean, deviation)
    flat = found.inputs(torch.float64).transpose(0, 1).flatten(1)
    assert torch.allclose(flat.mean(dim=1), torch.zeros(3).double(), atol=1e-12)
    assert torch.allclose(flat.std(dim=1, correction=0), torch.ones(3).double(), atol=1e-12)
    says = "6 images (test) of CIFAR-10, 32 × 32 pixels, in colour; the files differ from the canonical ones."
    assert found.says == says


def keys(found) -> list[bytes]:
    return [x.numpy().tobytes() for x in found.x]


def test_more_images_contain_the_fewer(small, folder):
    label = dict(zip([x.tobytes() for x in PIXELS["train"]], LABELS["train"].tolist(), strict=True))
    fewer, more = load("mnist", n=20, seed=1), load("mnist", n=150, seed=1)
    assert keys(more)[:20] == keys(fewer) and len(set(keys(more))) == 150
    assert [label[key] for key in keys(more)] == more.y.tolist()
    assert keys(load("mnist", n=20, seed=2)) != keys(fewer) == keys(load("mnist", n=20, seed=1))
    assert set(keys(load("mnist", n=TRAIN, seed=1))) == set(label)
    part = set(keys(load("mnist", "train80")))
    assert set(keys(load("mnist", "train80", n=50))) < part and len(part) == 160
    every = set(keys(load("mnist")))
    three, two = ("train80", "validation80", "test80"), ("train90", "validation90")
    for parts, sizes in ((three, [160, 20, 20]), (two, [180, 20])):
        found = [keys(load("mnist", part)) for part in parts]
        assert [len(part) for part in found] == sizes
        assert set().union(*found) == every and sum(sizes) == len(every)
    assert keys(load("mnist", "train80", seed=3)) == keys(load("mnist", "train80"))
    assert not every & set(keys(load("mnist", "test")))


OTHER = raws({"train": 255 - PIXELS["train"], "t10k": PIXELS["t10k"]})


def test_whole_files_with_another_checksum_need_leave(small, folder, monkeypatch):
    put(folder, OTHER)
    with pytest.raises(DataError, match="set LMC_DATA_UNVERIFIED=1 to use them as they are") as caught:
        load("mnist")
    assert caught.value.reason == "train-images-idx3-ubyte differs from the published file"
    assert str(folder) in str(caught.value) and str(folder) not in caught.value.reason
    told = "MNIST is not here (train-images-idx3-ubyte differs from the published file)"
    assert choose(("mnist", "digits")) == ("digits", f"{told}: this run uses scikit-learn's digits.")
    monkeypatch.setenv("LMC_DATA_UNVERIFIED", "1")
    found = load("mnist", "test")
    assert not found.verified and found.says.endswith("; the files differ from the canonical ones.")
    assert choose(("mnist",)) == ("mnist", "This run uses MNIST, from files that differ from the canonical ones.")
    put(folder, raws())
    assert load("mnist").verified and choose(("mnist",)) == ("mnist", "This run uses MNIST.")


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("train-images-idx3-ubyte.gz", gzip.compress(raws()["train-images-idx3-ubyte"])[:-9], "damaged or no archive"),
        ("t10k-labels-idx1-ubyte", struct.pack(">2I", 0x801, TEST) + b"\x0b" * TEST, "has the label 11; allowed: 0 t"),
        ("train-images-idx3-ubyte", struct.pack(">4I", 0x803, TRAIN, 28, 28) + bytes(784 * TRAIN), "one value in all"),
    ],
    ids=["truncated gzip", "a label 11", "blank"],
)
@pytest.mark.parametrize("leave", ["0", "1"])
def test_damaged_files_are_never_used(small, folder, monkeypatch, name, raw, message, leave):
    monkeypatch.setenv("LMC_DATA_UNVERIFIED", leave)
    (folder / name).write_bytes(raw)
    with pytest.raises(DataError, match=message) as caught:
        load("mnist")
    assert f"the files are in {folder}; replace or remove them" in str(caught.value)
    assert message in available("mnist")


def test_without_files_and_network_one_error_says_what_to_do(small, capsys):
    with pytest.raises(DataError, match=r"MNIST: train-images-idx3-ubyte.gz was not found, .*; put train-images-idx3"):
        load("mnist")
    told = "MNIST is not here (train-images-idx3-ubyte.gz was not found, and LMC_OFFLINE is 1)"
    assert choose(("mnist", "digits")) == ("digits", f"{told}: this run uses scikit-learn's digits.")
    with pytest.raises(ValueError) as caught:
        choose(("cifar10", "mnist"))
    other = "CIFAR-10 is not here (cifar-10-binary.tar.gz was not found, and LMC_OFFLINE is 1)"
    assert str(caught.value) == f"{other}; {told}; allowed: names of digits, mnist, cifar10"
    assert _main(["mnist", "digits"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "1437 images (train) of scikit-learn's digits, 8 × 8 pixels.\n"
    assert shown.err.startswith("error: MNIST: train-images-idx3-ubyte.gz was not found")


def test_digits_are_those_of_scikit_learn():
    pixels, labels = load_digits(return_X_y=True)
    train, test = load("digits"), load("digits", "test")
    assert (len(train), len(test)) == (1437, 360) and train.verified
    assert (torch.cat([train.y, test.y]).numpy() == labels).all()
    x = torch.cat([train.x, test.x]).reshape(-1, 64)
    assert int(x.max()) == 255 and (x.double() * 16 / 255 - torch.from_numpy(pixels)).abs().max() < 1 / 16
    assert [len(load("digits", split)) for split in SPLITS] == [1437, 360, 1150, 143, 144, 1293, 144]


def test_what_the_mathematics_can_do_without_is_imported_inside_functions():
    for file in sorted(Path(module.__file__).parent.glob("*.py")):
        top = ast.parse(file.read_text(encoding="utf-8")).body
        found = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
        found |= {node.module for node in top if isinstance(node, ast.ImportFrom)}
        optional = {"filelock", "pooch", "requests", "sklearn", "tqdm"}
        assert not {name.partition(".")[0] for name in found} & optional, file
