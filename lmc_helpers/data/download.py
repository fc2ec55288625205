"""One download: several mirrors, continued where it broke off, kept only if its SHA-256 is right.

pooch fetches, shows the progress and compares the checksums. What is added here: the bytes of a download that broke off
stay in a ``.part`` file, and the next attempt, at the same mirror or another, asks for the rest (HTTP Range).

pooch and what it stands on are imported where they are needed: the mathematics runs without them.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from lmc_helpers import expect

__all__ = ["NoMirror", "PartKept", "download", "import_pooch"]

TIMEOUT = (5, 30)  # seconds: to connect, and between two pieces
ATTEMPTS = 20  # at one mirror, each of which must bring new bytes


class NoMirror(OSError):
    """No mirror gave a file.

    Parameters
    ----------
    name : str
        of the file.
    reasons : dict
        mirror -> why it did not.

    Examples
    --------
    >>> print(NoMirror("a.gz", {"one.org": "HTTP 404", "two.org": "no connection"}))
    no mirror gave a.gz (one.org: HTTP 404; two.org: no connection)
    """

    def __init__(self, name: str, reasons: dict[str, str]):
        told = "; ".join(f"{mirror}: {reason}" for mirror, reason in reasons.items())
        super().__init__(f"no mirror gave {name} ({told or 'it has none'})")
        self.reasons = reasons


@dataclass(frozen=True)
class PartKept:
    """A downloader for ``pooch.retrieve`` that keeps what it got in ``part`` and goes on from there.

    Parameters
    ----------
    part : Path
        the file that grows; it is moved to pooch's output when it is whole.
    """

    part: Path

    def __call__(self, url: str, output_file: str, pooch: object, check_only: bool = False) -> None:
        """Download ``url`` to ``output_file``, as pooch asks for it.

        Parameters
        ----------
        url : str
            of the whole file.
        output_file : str
            where pooch wants it.
        pooch, check_only
            not used.

        Raises
        ------
        requests.RequestException
            if the mirror does not answer, refuses or breaks off; what came by then is in ``part``.

        Examples
        --------
        >>> PartKept(Path("a.gz.part")).part.name
        'a.gz.part'
        """
        from pooch import HTTPDownloader

        have = size(self.part)
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        bar = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
        with open(self.part, "ab") as file:

            def start_again(response, **_) -> None:  # the mirror sends the whole file, whatever was asked
                if response.status_code == 200:
                    file.truncate(0)

            get = HTTPDownloader(progressbar=bar, timeout=TIMEOUT, headers=headers, hooks={"response": start_again})
            get(url, file, pooch)
        os.replace(self.part, output_file)


def import_pooch() -> ModuleType:
    """pooch, without what tqdm, which it imports, says of notebooks that have no widgets for bars.

    No bar is shown there; the warning would stand on the page of every chapter that looks for data in vain.

    Returns
    -------
    module
        pooch.

    Raises
    ------
    ImportError
        if pooch is not installed.

    Examples
    --------
    >>> import_pooch().__name__
    'pooch'
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        import pooch
    return pooch


def size(path: Path) -> int:
    """Bytes of a file, 0 where there is none.

    Examples
    --------
    >>> size(Path("no such file"))
    0
    """
    if not isinstance(path, Path):
        raise ValueError(f"path is {type(path).__name__}; allowed: Path")
    return path.stat().st_size if path.is_file() else 0


def download(urls: Sequence[str], path: Path, sha256: str) -> None:
    """Have a file of known checksum at ``path``, from the first mirror that gives it.

    Processes that want the same file wait for each other. A file that is there with the right checksum is kept; another
    one is replaced when the right one has come.

    Parameters
    ----------
    urls : sequence of str
        the file at its mirrors, in the order in which they are tried.
    path : Path
        where it belongs; its folder is made where it is missing.
    sha256 : str
        of the file.

    Raises
    ------
    NoMirror
        if no mirror gives the file.
    OSError
        if the folder cannot be written.
    ImportError
        if pooch is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     download([], Path(folder) / "a.gz", "0" * 64)
    Traceback (most recent call last):
        ...
    lmc_helpers.data.download.NoMirror: no mirror gave a.gz (it has none)
    """
    if not isinstance(urls, (list, tuple)):
        raise ValueError(f"urls = {urls!r}; allowed: a list of addresses")
    if not isinstance(path, Path):
        raise ValueError(f"path is {type(path).__name__}; allowed: Path")
    expect.text(sha256, "sha256")
    from filelock import FileLock

    pooch = import_pooch()
    pooch.get_logger().setLevel("WARNING")  # it would print every step
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock")):
        reasons = {}
        for url in urls:
            reason = _from_mirror(url, path, sha256)
            if reason is None:
                return
            reasons[urlsplit(url).netloc] = reason
    raise NoMirror(path.name, reasons)


def _from_mirror(url: str, path: Path, sha256: str) -> str | None:
    """None if the file is at ``path`` now, else why it is not."""
    import pooch
    import requests

    part = path.with_name(f"{path.name}.part")
    reason = "broken off"
    for _ in range(ATTEMPTS):
        before = size(part)
        try:
            pooch.retrieve(url, f"sha256:{sha256}", fname=path.name, path=path.parent, downloader=PartKept(part))
            return None
        except requests.RequestException as error:
            status = error.response.status_code if error.response is not None else None
            reason = _short(error, status)
            if status == 416 and before:  # nothing is left to send: the part is not of this file
                part.unlink()
            elif size(part) <= before:
                return reason
        except ValueError:  # the checksum; pooch has removed the file
            if not before:
                return "another SHA-256"
    return reason


def _short(error: Exception, status: int | None) -> str:
    import requests

    if status is not None:
        return f"HTTP {status}"
    named = {
        requests.Timeout: "no answer in time",
        requests.exceptions.ChunkedEncodingError: "broken off",
        requests.ConnectionError: "no connection",
    }
    return next((text for kind, text in named.items() if isinstance(error, kind)), type(error).__name__)
