"""For the tests of downloaded data: no variable of the caller, a cache of their own, and mirrors on this machine."""

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch
import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> Path:
    """No LMC_ variable, no download, and an empty cache, whose folder is given back."""
    for name in ("LMC_DATA", "LMC_DATA_UNVERIFIED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LMC_OFFLINE", "1")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache" / "lmc"


@dataclass
class Mirrors:
    """A server, the files it has, how it behaves, and what it was asked."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    breaks: dict[str, list[int]] = field(default_factory=dict)  # bytes that the next answers send before they break off
    whole: set[str] = field(default_factory=set)  # files of which it sends no ranges
    silent: threading.Event = field(default_factory=threading.Event)  # holds every answer until it is set
    asked: list[tuple[str, str | None, str | None]] = field(default_factory=list)  # path, Range, Accept-Encoding

    def ranges(self) -> list[str | None]:
        return [bytes_of for _, bytes_of, _ in self.asked]


@pytest.fixture
def mirrors():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            bytes_of = self.headers["Range"]
            mine.asked.append((self.path, bytes_of, self.headers["Accept-Encoding"]))
            mine.silent.wait(2)
            if not mine.silent.is_set():
                return
            body = mine.files.get(self.path)
            if body is None:
                return self.send_error(404)
            start = 0
            if bytes_of and self.path not in mine.whole:
                start = int(bytes_of.removeprefix("bytes=").removesuffix("-"))
                if start >= len(body):
                    return self.send_error(416)
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            cut = mine.breaks.get(self.path)
            self.wfile.write(body[start:] if not cut else body[start : start + cut.pop(0)])

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mine = Mirrors(f"http://127.0.0.1:{server.server_port}")
    mine.silent.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield mine
    mine.silent.set()
    server.shutdown()
    thread.join()
    server.server_close()
