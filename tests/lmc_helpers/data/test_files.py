"""Files that are packed, unpacked, damaged, missing, in the cache or at a mirror."""

import gzip
import hashlib
import io
import sys
import tarfile
from pathlib import Path

import pooch
import pytest

from lmc_helpers.data.files import Archive, DataError, Source, cache, find

MEMBERS = {"in/one.bin": b"one" * 1000, "in/two.bin": b"two" * 500}


def sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def tar(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as opened:
        for name, raw in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            opened.addfile(info, io.BytesIO(raw))
    return packed(file.getvalue())


def packed(raw: bytes) -> bytes:
    """The same bytes at any time: pytest-xdist compares what its workers collect."""
    return gzip.compress(raw, mtime=0)


PACKED = tar({"readme.html": b"not asked for"} | MEMBERS)
GZ = packed(b"labels")


def sources(*mirrors: str) -> tuple[Source, Archive, Archive]:
    big = Archive("both.tar.gz", sha(PACKED), tuple((name, sha(raw)) for name, raw in MEMBERS.items()), mirrors)
    small = Archive("labels.gz", sha(GZ), (("labels", sha(b"labels")),), mirrors)
    return Source("Some data", "some", (big, small), dict), big, small


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    """LMC_DATA's folder of the data set."""
    (tmp_path / "own" / "some").mkdir(parents=True)
    monkeypatch.setenv("LMC_DATA", str(tmp_path / "own"))
    return tmp_path / "own" / "some"


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, raw in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)


@pytest.mark.parametrize("files", [{"both.tar.gz": PACKED, "labels.gz": GZ}, MEMBERS | {"labels": b"labels"}])
def test_packed_and_unpacked_files_have_the_same_content(own, files):
    write(own, files)
    source, *archives = sources()
    both, labels = (find(source, archive).contents() for archive in archives)
    assert [(c.name, c.raw) for c in both] == [("one.bin", MEMBERS["in/one.bin"]), ("two.bin", MEMBERS["in/two.bin"])]
    assert [(c.name, c.raw) for c in labels] == [("labels", b"labels")]
    assert all(c.canonical for c in both + labels)


def test_a_copy_that_was_packed_again_is_the_original_and_another_file_is_not(own):
    source, big, small = sources()
    write(own, {"both.tar.gz": tar(dict(reversed(MEMBERS.items()))), "labels.gz": gzip.compress(b"Labels", 1)})
    assert [c.canonical for c in find(source, big).contents()] == [True, True]
    assert [c.canonical for c in find(source, small).contents()] == [False]
    source, big, _ = sources()
    write(own, {"in/one.bin": b"another one", "both.tar.gz": PACKED})
    assert find(source, big).paths == (own / "both.tar.gz",)
    (own / "both.tar.gz").unlink()
    with pytest.raises(DataError, match=r"both\.tar\.gz was not found"):
        find(source, big)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "damaged or no archive"),
        (b"<html>not found</html>", "damaged or no archive"),
        (PACKED[: len(PACKED) // 2], "damaged or no archive"),
        (PACKED[:60] + bytes([PACKED[60] ^ 0xFF]) + PACKED[61:], "damaged or no archive"),
        (packed(b"no tar file in it"), "damaged or no archive"),
        (tar({"in/one.bin": b"one"}), "does not contain in/two.bin"),
    ],
    ids=["empty", "a page", "truncated", "a byte flipped", "no tar file", "a member missing"],
)
def test_a_damaged_archive_is_named(own, raw, message):
    write(own, {"both.tar.gz": raw})
    source, big, _ = sources()
    with pytest.raises(ValueError, match=f"both.tar.gz .*{message}"):
        find(source, big).contents()


@pytest.mark.parametrize(
    "raw",
    [b"garbage", GZ[:-1], GZ[:-5] + b"\0" + GZ[-4:], GZ + b"more", b"labels"],
    ids=["garbage", "truncated", "checksum", "more behind it", "unpacked"],
)
def test_a_damaged_gz_file_is_named(own, raw):
    write(own, {"labels.gz": raw})
    source, _, small = sources()
    with pytest.raises(ValueError, match=r"labels.gz is damaged or no archive \("):
        find(source, small).contents()


def test_a_download_goes_into_the_cache_and_is_used_again(mirrors, elsewhere, monkeypatch):
    monkeypatch.setenv("LMC_OFFLINE", "0")
    mirrors.files = {"/both.tar.gz": PACKED, "/labels.gz": GZ}
    source, big, _ = sources(f"{mirrors.address}/none/", f"{mirrors.address}/")
    assert find(source, big).paths == (elsewhere / "some" / "both.tar.gz",)
    monkeypatch.setenv("LMC_OFFLINE", "1")
    assert find(source, big).contents()[0].raw == MEMBERS["in/one.bin"] and len(mirrors.asked) == 2


def test_a_damaged_file_of_the_cache_is_fetched_again(mirrors, elsewhere, monkeypatch):
    mirrors.files = {"/labels.gz": GZ}
    source, _, small = sources(f"{mirrors.address}/")
    write(elsewhere / "some", {"labels.gz": GZ[:-1]})
    with pytest.raises(DataError, match=r"labels\.gz was not found, and LMC_OFFLINE is 1"):
        find(source, small)
    monkeypatch.setenv("LMC_OFFLINE", "")
    assert find(source, small).contents()[0].canonical and len(mirrors.asked) == 1


def test_files_of_lmc_data_come_first(own, elsewhere):
    write(elsewhere / "some", {"labels.gz": GZ})
    source, _, small = sources()
    assert find(source, small).paths == (elsewhere / "some" / "labels.gz",)
    write(own, {"labels": b"labels"})
    assert find(source, small).paths == (own / "labels",)
    write(own, {"labels": b"labels"})
    first = find(source, small)
    assert find(source, small) == first
    write(own, {"labels": b"other labels"})
    assert find(source, small) != first


def test_without_files_the_error_says_what_to_put_where(own, elsewhere, tmp_path, monkeypatch):
    source, big, _ = sources()
    with pytest.raises(DataError) as caught:
        find(source, big)
    assert caught.value.reason == "both.tar.gz was not found, and LMC_OFFLINE is 1"
    assert str(caught.value) == (
        f"Some data: {caught.value.reason}; looked in {own}, {elsewhere / 'some'}; put both.tar.gz, labels.gz, "
        "packed or unpacked, into some/ in the folder that LMC_DATA names"
    )
    monkeypatch.setenv("LMC_DATA", str(tmp_path / "nowhere"))
    source, big, _ = sources()
    with pytest.raises(DataError, match=r"Some data: LMC_DATA names no folder; it is '.*nowhere'; put both.tar.gz"):
        find(source, big)


def test_mirrors_that_fail_are_named_and_their_reasons_told_once(mirrors, monkeypatch):
    monkeypatch.setenv("LMC_OFFLINE", "0")
    source, big, _ = sources(f"{mirrors.address}/", f"{mirrors.address.replace('127.0.0.1', 'localhost')}/")
    with pytest.raises(DataError, match=r"localhost:\d+: HTTP 404\); looked in") as caught:
        find(source, big)
    assert caught.value.reason == "both.tar.gz was not found, and no mirror gave it: HTTP 404"


def test_a_cache_that_cannot_be_written(mirrors, elsewhere, monkeypatch):
    monkeypatch.setenv("LMC_OFFLINE", "0")
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_bytes(b"a file where the folder belongs")
    source, big, _ = sources(f"{mirrors.address}/")
    with pytest.raises(DataError, match=r"the cache cannot be written: (Not a directory|File exists)"):
        find(source, big)
    assert not mirrors.asked


def no_home(project):
    raise RuntimeError("could not determine the home directory")


@pytest.mark.parametrize("os_cache", [no_home, lambda project: Path("~/.cache", project)])  # new and old platformdirs
def test_without_a_home_folder_there_is_no_cache(own, monkeypatch, os_cache):
    monkeypatch.setattr(pooch, "os_cache", os_cache)
    assert cache() is None
    source, _, small = sources()
    with pytest.raises(DataError, match=r"labels\.gz was not found, and there is no cache"):
        find(source, small)
    write(own, {"labels": b"labels"})
    assert find(source, small).contents()[0].canonical
    assert not Path("~").exists()


def test_without_pooch_files_of_lmc_data_are_read_and_a_flag_with_another_value_is_refused(monkeypatch, own):
    monkeypatch.setenv("LMC_OFFLINE", "yes")
    source, big, _ = sources()
    with pytest.raises(ValueError, match="LMC_OFFLINE = 'yes'; allowed: 0, 1, or not set") as caught:
        find(source, big)
    assert not isinstance(caught.value, DataError)
    monkeypatch.setenv("LMC_OFFLINE", "1")
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert cache() is None
    source, _, small = sources()
    with pytest.raises(DataError, match="there is no cache: pooch or a home folder is missing"):
        find(source, small)
    write(own, {"labels.gz": GZ})
    assert find(source, small).contents()[0].raw == b"labels"
