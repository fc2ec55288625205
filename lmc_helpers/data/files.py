"""The files of a data set: located, fetched, unpacked and compared with the published ones.

A file is looked for in the folder that the environment variable LMC_DATA names, packed or unpacked, then in the user's
cache; if it is in neither it is downloaded into the cache. The SHA-256 is that of the *unpacked* file, hence a repacked
copy is as good as the original.

====================  ==================================================================================================
LMC_DATA              a folder with ``mnist/`` and ``cifar10/``; it is never written
LMC_OFFLINE           1: no download
LMC_DATA_UNVERIFIED   1: whole files of the right format are used although their SHA-256 is not the published one
====================  ==================================================================================================
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lmc_helpers.data._download import NoMirror, download, import_pooch

__all__ = ()  # what packages of ours lend each other

BROKEN = (OSError, EOFError, zlib.error, tarfile.TarError)  # what unpacking a bad file raises


class DataError(ValueError):
    """A data set is not available. ``reason`` names files but no folders and may be shown on pages."""

    def __init__(self, title: str, reason: str, advice: str):
        super().__init__(f"{title}: {reason}; {advice}")
        self.reason = reason


@dataclass(frozen=True)
class Archive:
    """A packed file as it is published, gz or tar.gz."""

    name: str
    sha256: str  # of the packed file; asked of downloads
    members: tuple[tuple[str, str], ...]  # path and SHA-256 of every file in it
    mirrors: tuple[str, ...]  # addresses of folders that hold it

    def unpack(self, path: Path) -> list[bytes]:
        """The members' bytes, in their order."""
        try:
            if not self.name.endswith(".tar.gz"):
                return [gzip.decompress(path.read_bytes())]
            with tarfile.open(path, "r:gz") as tar:
                names = [name for name, _ in self.members]
                found = {member.name: _bytes(tar, member) for member in tar if member.name in names and member.isfile()}
        except BROKEN as error:
            raise ValueError(f"{self.name} is damaged or no archive ({error})") from error
        missing = [name for name in names if name not in found]
        if missing:
            raise ValueError(f"{self.name} does not contain {', '.join(missing)}")
        return [found[name] for name in names]


def _bytes(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None  # a regular file
    return file.read()


@dataclass(frozen=True)
class Content:
    """An unpacked file."""

    name: str  # without its folder
    raw: bytes = field(repr=False)
    sha256: str  # of the published file

    @functools.cached_property
    def canonical(self) -> bool:
        """True if this is, byte by byte, the published file."""
        return hashlib.sha256(self.raw).hexdigest() == self.sha256


@dataclass(frozen=True)
class Found:
    """Location of an archive's content: the archive, or its unpacked members."""

    archive: Archive
    paths: tuple[Path, ...]  # the packed file, or one path a member
    stamps: tuple[tuple[int, int], ...]  # last change (ns) and size of each; a file that changes is another ``Found``

    def contents(self) -> list[Content]:
        """The members, read, in the archive's order."""
        if self.paths[0].name == self.archive.name:
            raws = self.archive.unpack(self.paths[0])
        else:
            try:
                raws = [path.read_bytes() for path in self.paths]
            except OSError as error:
                raise ValueError(f"{self.paths[0].name} cannot be read ({error.strerror})") from error
        return [Content(Path(name).name, raw, sha) for (name, sha), raw in zip(self.archive.members, raws, strict=True)]


@dataclass(frozen=True)
class Source:
    """A data set: its archives, and how their content becomes arrays.

    ``parse`` is (name → Content) → (split → (pixels (n, C, H, W), labels (n,))), both uint8; it raises ValueError, with
    the file's name, if a file has another format.
    """

    title: str  # what pages call it
    folder: str  # under LMC_DATA and in the cache
    archives: tuple[Archive, ...]
    parse: Callable[[Mapping[str, Content]], dict[str, tuple[np.ndarray, np.ndarray]]]


def flag(name: str) -> bool:
    """True if an environment variable is 1; False if it is 0, empty or not set."""
    value = os.environ.get(name, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"{name} = {value!r}; allowed: 0, 1, or not set")
    return value == "1"


def cache() -> Path | None:
    """The user's cache folder of this project, which need not exist; None without pooch or a home folder."""
    try:
        folder = import_pooch().os_cache("lmc")
    except (ImportError, RuntimeError):  # platformdirs raises, or answers "~/…", where there is no home folder
        return None
    return folder if folder.is_absolute() else None


def _in_folder(archive: Archive, folder: Path) -> Found | None:
    """An archive's content in a folder: the members if all are there, else the packed file, else None."""
    for paths in (tuple(folder / name for name, _ in archive.members), (folder / archive.name,)):
        if all(path.is_file() for path in paths):
            return Found(archive, paths, tuple(_stamp(path) for path in paths))
    return None


def _stamp(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_mtime_ns, state.st_size


@functools.lru_cache(maxsize=64)
def _sum(path: Path, stamp: tuple[int, int]) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find(source: Source, archive: Archive) -> Found:
    """An archive of a data set, from LMC_DATA, or with the published checksum from the cache or a mirror.

    Raises
    ------
    DataError
        if LMC_DATA names no folder, or the file is nowhere and cannot be downloaded: every place is named.
    """
    names = ", ".join(a.name for a in source.archives)
    layout = f"put {names}, packed or unpacked, into {source.folder}/ in the folder that LMC_DATA names"
    own = os.path.expanduser(os.environ.get("LMC_DATA", ""))
    if own and not Path(own).is_dir():
        raise DataError(source.title, "LMC_DATA names no folder", f"it is {own!r}; {layout}, or unset it")
    found = _in_folder(archive, Path(own) / source.folder) if own else None
    if found is not None:
        return found
    place = cache()
    looked = [str(folder / source.folder) for folder in (Path(own) if own else None, place) if folder]
    advice = f"looked in {', '.join(looked) or 'no folder'}; {layout}"
    if place is None:
        reason = "there is no cache: pooch or a home folder is missing"
    else:
        path = place / source.folder / archive.name
        if path.is_file() and _sum(path, _stamp(path)) == archive.sha256:
            return Found(archive, (path,), (_stamp(path),))
        if flag("LMC_OFFLINE"):
            reason = "LMC_OFFLINE is 1"
        else:
            try:
                download([mirror + archive.name for mirror in archive.mirrors], path, archive.sha256)
                return Found(archive, (path,), (_stamp(path),))
            except NoMirror as error:
                reason = f"no mirror gave it: {', '.join(sorted(set(error.reasons.values())))}"
                advice = f"{error}; {advice}"
            except OSError as error:
                reason = f"the cache cannot be written: {error.strerror or type(error).__name__}"
    raise DataError(source.title, f"{archive.name} was not found, and {reason}", advice)
