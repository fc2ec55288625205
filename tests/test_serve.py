"""``make serve`` shows the book, to this machine only."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.request

import psutil
import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def served(root, tmp_path):
    """A folder with one page, and the server that the Makefile starts there."""
    port = free_port()
    pages = tmp_path / "build" / "book" / "_build" / "html"
    pages.mkdir(parents=True)
    (pages / "index.html").write_text("one page")
    (tmp_path / "secret.txt").write_text("not for readers")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / ".venv" / ".installed").touch()
    shutil.copy(root / "Makefile", tmp_path)
    command = ["make", "--no-print-directory", "serve", f"PORT={port}"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        yield process, port
        for below in psutil.Process(process.pid).children(recursive=True):
            below.terminate()
        process.wait(10)


def get(url: str) -> bytes:
    for _ in range(100):
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as answer:
                return answer.read()
        except ConnectionError:
            time.sleep(0.1)
        except urllib.error.HTTPError as error:
            return str(error.code).encode()
        except urllib.error.URLError:
            time.sleep(0.1)
    raise TimeoutError(url)


def test_who_is_served(served):
    process, port = served
    assert get(f"http://127.0.0.1:{port}/") == b"one page"
    assert get(f"http://127.0.0.1:{port}/../../../../secret.txt") == b"404"
    below = psutil.Process(process.pid).children(recursive=True)
    listening = [c for p in below for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert [connection.laddr for connection in listening] == [("127.0.0.1", port)]
