"""Downloads from a server on this machine: broken off, refused, wrong, all at once."""

import hashlib
import socket

import pytest

from lmc_helpers.data import _download as module
from lmc_helpers.data._download import NoMirror, download

BODY = bytes(range(256)) * 400  # 102 400 bytes
KIB = 1024  # pooch reads pieces of this size, and what has come of the last one is lost
SHA256 = hashlib.sha256(BODY).hexdigest()


def left(path) -> set[str]:
    """What lies beside a file but for locks."""
    return {p.name for p in path.parent.iterdir() if not p.name.endswith(".lock")} if path.parent.exists() else set()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "new" / "folder" / "a.gz"


def test_the_file_comes_and_nothing_else_stays(mirrors, target):
    mirrors.files["/a.gz"] = BODY
    download([f"{mirrors.address}/a.gz"], target, SHA256)
    assert target.read_bytes() == BODY and left(target) == {"a.gz"}
    assert mirrors.asked == [("/a.gz", None, "identity")]
    download([f"{mirrors.address}/a.gz"], target, SHA256)
    assert len(mirrors.asked) == 1


def test_it_goes_on_in_another_process_and_at_another_mirror(mirrors, target):
    mirrors.files |= {"/a.gz": BODY, "/b/a.gz": BODY}
    mirrors.breaks["/a.gz"] = [KIB + 100, 0]
    with pytest.raises(NoMirror, match=r"\(127.0.0.1:\d+: broken off\)"):
        download([f"{mirrors.address}/a.gz"], target, SHA256)
    assert left(target) == {"a.gz.part"}
    mirrors.breaks["/a.gz"] = [2 * KIB, 0]
    download([f"{mirrors.address}/a.gz", f"{mirrors.address}/b/a.gz"], target, SHA256)
    assert mirrors.ranges() == [None, "bytes=1024-", "bytes=1024-", "bytes=3072-", "bytes=3072-"]
    assert target.read_bytes() == BODY and left(target) == {"a.gz"}


def test_a_mirror_without_ranges_sends_the_whole_file_again(mirrors, target):
    mirrors.files["/a.gz"], mirrors.breaks["/a.gz"], mirrors.whole = BODY, [KIB], {"/a.gz"}
    download([f"{mirrors.address}/a.gz"], target, SHA256)
    assert target.read_bytes() == BODY and mirrors.ranges() == [None, "bytes=1024-"]


@pytest.mark.parametrize("part", [b"no part of it", BODY + b"more", BODY])
def test_a_part_of_another_file_is_thrown_away(mirrors, target, part):
    mirrors.files["/a.gz"] = BODY
    target.parent.mkdir(parents=True)
    (target.parent / "a.gz.part").write_bytes(part)
    download([f"{mirrors.address}/a.gz"], target, SHA256)
    assert target.read_bytes() == BODY and mirrors.ranges() == [f"bytes={len(part)}-", None]


def test_the_next_mirror_is_asked(mirrors, target):
    mirrors.files |= {"/wrong/a.gz": b"<html>log in first</html>", "/right/a.gz": BODY}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/a.gz"
    others = [f"{mirrors.address}/{folder}/a.gz" for folder in ("none", "wrong", "right")]
    download([closed, *others], target, SHA256)
    assert target.read_bytes() == BODY
    assert [path for path, *_ in mirrors.asked] == ["/none/a.gz", "/wrong/a.gz", "/right/a.gz"]


def test_every_mirror_is_named_if_all_fail(mirrors, target):
    mirrors.files["/wrong/a.gz"] = b"<html>log in first</html>"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"an old file")
    port = mirrors.address.rpartition(":")[2]
    urls = [f"{mirrors.address}/a.gz", f"http://localhost:{port}/wrong/a.gz"]
    told = rf"no mirror gave a.gz \(127.0.0.1:{port}: HTTP 404; localhost:{port}: another SHA-256\)"
    with pytest.raises(NoMirror, match=told) as caught:
        download(urls, target, SHA256)
    assert sorted(caught.value.reasons.values()) == ["HTTP 404", "another SHA-256"]
    assert left(target) == {"a.gz"} and target.read_bytes() == b"an old file"


def test_a_mirror_that_says_nothing_is_left(mirrors, target, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT", (0.2, 0.2))
    mirrors.silent.clear()
    with pytest.raises(NoMirror, match="no answer in time"):
        download([f"{mirrors.address}/a.gz"], target, SHA256)


def test_a_mirror_that_breaks_off_for_ever_is_left(mirrors, target):
    mirrors.files["/a.gz"], mirrors.breaks["/a.gz"] = BODY, [KIB] * 1000
    with pytest.raises(NoMirror, match="broken off"):
        download([f"{mirrors.address}/a.gz"], target, SHA256)
    assert len(mirrors.asked) == 20 and (target.parent / "a.gz.part").stat().st_size == 20 * KIB
