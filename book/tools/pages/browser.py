"""The browser that prints reports and opens pages in tests: a Chromium of the system, without the network."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")


def path() -> str | None:
    """Where it is; none if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def flags(*reached: str) -> list[str]:
    """What it is started with: no address is looked up but those that are named.

    Examples
    --------
    >>> flags("127.0.0.1")[-1]
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
    """
    quiet = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run")
    silent = ("disable-background-networking", "disable-component-update", "disable-sync")
    rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in reached)])
    return [*(f"--{name}" for name in (*quiet, *silent)), f"--host-resolver-rules={rules}"]
