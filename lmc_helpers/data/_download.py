"""One download: several mirrors, continued where it broke off, kept only if its SHA-256 is right.

pooch fetches, shows the progress and compares the checksums. In addition, the bytes of an interrupted download stay in
a ``.part`` file, and the next attempt, at the same mirror or another, asks for the rest (HTTP Range).

pooch and its dependencies are imported only when needed: the mathematics runs without them.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

__all__ = ["NoMirror", "download", "import_pooch"]

TIMEOUT = (5, 30)  # seconds: to connect, and between two pieces
ATTEMPTS = 20  # at one mirror, each of which must bring new bytes


class NoMirror(OSError):
    """No mirror provided the file, with a reason for each."""

    def __init__(self, name: str, reasons: dict[str, str]):
        each = "; ".join(f"{mirror}: {reason}" for mirror, reason in reasons.items())
        super().__init__(f"no mirror gave {name} ({each or 'it has none'})")
        self.reasons = reasons


def import_pooch() -> ModuleType:
    """Import pooch without tqdm's warning about missing widgets.

    The warning would appear on the page of every chapter that looks for data in vain.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        import pooch
    return pooch


def download(urls: Sequence[str], path: Path, sha256: str) -> None:
    """Ensure a file of known checksum at ``path``, downloaded from the first mirror that has it.

    Processes that need the same file wait for each other. An existing file with the right checksum is kept; any other
    is replaced once the right one has arrived.
    """
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
    """None if the file is now at ``path``, else the reason why not."""
    import pooch
    import requests

    part = path.with_name(f"{path.name}.part")
    reason = "broken off"
    for _ in range(ATTEMPTS):
        before = _size(part)
        try:
            pooch.retrieve(url, f"sha256:{sha256}", fname=path.name, path=path.parent, downloader=_resuming(part))
            return None
        except requests.RequestException as error:
            status = error.response.status_code if error.response is not None else None
            reason = _short(error, status)
            if status == 416 and before:  # nothing is left to send: the part is not of this file
                part.unlink()
            elif _size(part) <= before:
                return reason
        except ValueError:  # the checksum; pooch has removed the file
            if not before:
                return "another SHA-256"
    return reason


def _resuming(part: Path) -> Callable[[str, str, object], None]:
    """A downloader for pooch that keeps partial content in ``part`` and resumes from there."""

    def fetch(url: str, output_file: str, _: object) -> None:
        from pooch import HTTPDownloader

        have = _size(part)
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        bar = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
        with open(part, "ab") as file:

            def start_again(response, **_) -> None:  # the mirror sends the complete file, whatever was asked
                if response.status_code == 200:
                    file.truncate(0)

            get = HTTPDownloader(progressbar=bar, timeout=TIMEOUT, headers=headers, hooks={"response": start_again})
            get(url, file, None)
        os.replace(part, output_file)

    return fetch


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


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
