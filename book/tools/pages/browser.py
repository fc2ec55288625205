"""The browser that prints reports and opens pages in tests: a Chromium of the system, without the network."""

from __future__ import annotations

import shutil


def path() -> str | None:
    """The browser's executable; None if there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def flags(*reached: str) -> list[str]:
    """Arguments for the browser: no address is looked up but those that are named.

    Examples
    --------
    >>> flags("127.0.0.1")[-1]
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
    """
    quiet = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run")
    silent = ("disable-background-networking", "disable-component-update", "disable-sync")
    rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in reached)])
    return [*(f"--{name}" for name in (*quiet, *silent)), f"--host-resolver-rules={rules}"]
