"""Assemble the book's sources and build its pages, complete or not at all.

python -m book.tools.assemble --profile laptop --out build/book
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from book.tools import chapters, pages, records, sources, staging
from book.tools.chapters import ROOT, BuildError
from lmc_helpers import claims

FRONT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Linear mode connectivity, reproduced</title>
<link rel="icon" href="_static/favicon.svg"><meta http-equiv="refresh" content="0; url=book/index.html"></head>
<body><a href="book/index.html">The book</a></body></html>
"""


def stage(profile: str, where: Path) -> None:
    """A folder with the book's sources, the executed chapters of one profile and the pages generated from them."""
    shutil.rmtree(where, ignore_errors=True)
    for path in sources.files(ROOT / "book"):
        copy = where / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, where)
    executed, extra = where / "book" / "executed", where / "book" / "extra"
    executed.mkdir()
    (extra / "sources").mkdir(parents=True)
    confirmed = pages.confirmations()
    for path in chapters.executed(profile):
        shown = staging.stage(records.notebook(path), extra / "phone", confirmed)
        text = json.dumps(shown, indent=1, ensure_ascii=False) + "\n"
        (executed / path.name).write_text(text, encoding="utf-8")
        shutil.copy(ROOT / "notebooks" / f"{path.stem}.py", extra / "sources")
    run = records.Run(chapters.executed(profile))
    pages.write(run, where / "book")
    for id in run.surprises:
        print(f"{id}: {run.found[id]}, where the ledger expects {claims.OPEN!r}", flush=True)


def build(profile: str, out: Path) -> None:
    """Build the pages beside ``out`` and move them there when they are complete.

    Raises
    ------
    BuildError
        shows the builder's warnings and errors; the pages that stood in ``out`` stay.
    """
    staged, fresh = ROOT / "build" / "stage" / profile, out.with_name(f".{out.name}-new")
    stage(profile, staged)
    shutil.rmtree(fresh, ignore_errors=True)
    print("pages: building", flush=True)
    command = [
        str(Path(sys.executable).with_name("jupyter-book")),
        "build",
        str(staged),
        "--path-output",
        str(fresh),
    ]
    done = subprocess.run([*command, "-n", "-W", "--keep-going", "-q"], capture_output=True, text=True, cwd=ROOT)
    index = fresh / "_build" / "html" / "index.html"
    if done.returncode or not index.exists():
        log = ROOT / "build" / "failed" / "pages.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)  # without colours
        log.write_text(said, encoding="utf-8")
        wrong = [line for line in said.splitlines() if "WARNING" in line or "ERROR" in line or "rror:" in line]
        raise BuildError("\n".join(["the pages were not built:", *wrong[:20], f"all messages: {log}"]))
    shutil.rmtree(fresh / "_build" / ".doctrees", ignore_errors=True)
    index.write_text(FRONT, encoding="utf-8")  # the builder's own has no icon, which browsers then look for in vain
    (index.parent / ".built").write_text(profile + "\n", encoding="utf-8")
    shutil.rmtree(out, ignore_errors=True)
    fresh.rename(out)
    print("pages: done", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="assemble", description="Build the pages from executed chapters.")
    parser.add_argument("--profile", required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        build(given.profile, given.out)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
