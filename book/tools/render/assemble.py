"""Assemble the book's sources and build its pages, complete or not at all.

python -m book assemble --profile laptop --out build/book
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from book.tools.read import chapters, sources, stopping
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import records
from book.tools.render import findings, pages, staging
from book.tools.run import destination, targets
from lmc_helpers import claims
from lmc_helpers.files import atomic_write

FRONT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Linear mode connectivity, reproduced</title>
<link rel="icon" href="_static/favicon.svg"><meta http-equiv="refresh" content="0; url=book/index.html"></head>
<body><a href="book/index.html">The book</a></body></html>
"""


def stage(profile: str, where: Path) -> None:
    """A folder with the book's sources, the executed chapters of one profile and the pages generated from them."""
    _ = records.Run(chapters.executed(profile)).records  # a damaged notebook is named before anything is made of any
    if where.exists():
        shutil.rmtree(where)
    for path in sources.files(ROOT / "book"):
        copy = where / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, where)
    executed, extra = where / "book" / "executed", where / "book" / "extra"
    executed.mkdir()
    (extra / "sources").mkdir(parents=True)
    run = records.Run(chapters.executed(profile))
    found = findings.of(run)
    shown = staging.shown(found, profile)
    paper = {record["chapter"]: record["seconds"] for record in records.recorded().values()}
    for path in chapters.executed(profile):
        ready = staging.complete(staging.stage(records.notebook(path), shown), paper)
        text = json.dumps(ready, indent=1, ensure_ascii=False) + "\n"
        (executed / path.name).write_text(text, encoding="utf-8")
        shutil.copy(ROOT / "notebooks" / f"{path.stem}.py", extra / "sources")
    pages.write(run, found, where / "book")
    for id in found.surprises:
        print(f"{id}: {found.verdicts[id]}, where the ledger expects {claims.OPEN!r}", flush=True)


def assemble(profile: str, out: Path) -> None:
    """Build the pages beside ``out`` and move them there when they are complete; the old ones are removed last."""
    destination.check(out)
    staged = ROOT / "build" / "stage" / profile
    mark = targets.mark(profile)  # of the sources as they are now, before the first is read
    fresh, old = (out.with_name(f".{out.name}-{name}") for name in ("new", "old"))
    stage(profile, staged)
    destination.remove_unfinished(out)
    print("pages: building", flush=True)
    builder = str(Path(sys.executable).with_name("jupyter-book"))
    command = [builder, "build", str(staged), "--path-output", str(fresh), "-n", "-W", "--keep-going", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, preexec_fn=stopping.die_with_parent)
    index = fresh / "_build" / "html" / "index.html"
    if done.returncode or not index.exists():
        log = ROOT / "build" / "failed" / "pages.log"
        said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)  # without colours
        for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            if os.strerror(code) in said:
                raise OSError(code, os.strerror(code), str(fresh))
        atomic_write(log, said)
        wrong = [line for line in said.splitlines() if "WARNING" in line or "ERROR" in line or "rror:" in line]
        raise BuildError("\n".join(["the pages were not built:", *wrong[:20], f"all messages: {log}"]))
    shutil.rmtree(fresh / "_build" / ".doctrees", ignore_errors=True)
    index.write_text(FRONT, encoding="utf-8")  # the builder's own has no icon, which browsers then look for in vain
    (index.parent / ".built").write_text(mark, encoding="utf-8")
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.exists():
        out.rename(old)
    fresh.rename(out)
    shutil.rmtree(old, ignore_errors=True)
    print("pages: done", flush=True)
