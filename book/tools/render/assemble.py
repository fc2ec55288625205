"""Assemble the book's sources and build its pages, complete or not at all.

python -m book assemble --profile laptop --out build/book
"""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from book.tools.read import chapters, halves, sources, stopping, titles
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import records
from book.tools.render import contents, findings, pages, screens, staging
from book.tools.run import destination, prose, targets
from lmc_helpers import claims
from lmc_helpers.files import atomic_write

FRONT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Linear mode connectivity, reproduced</title>
<link rel="icon" href="_static/favicon.svg"><meta http-equiv="refresh" content="0; url=book/index.html"></head>
<body><a href="book/index.html">The book</a></body></html>
"""


def copy(where: Path) -> None:
    """The book's sources in a new folder."""
    if where.exists():
        shutil.rmtree(where)
    for path in sources.files(ROOT / "book"):
        copied = where / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)
    shutil.copy(ROOT / "_config.yml", where)
    for folder in ("executed", "extra/sources"):
        (where / "book" / folder).mkdir(parents=True)


def stage(run: records.Run, profile: str, where: Path) -> tuple[findings.Findings, staging.Shown]:
    """Add the pages of executed chapters, and those generated from them, to a copy of the book's sources."""
    executed, extra = where / "book" / "executed", where / "book" / "extra" / "sources"
    found = findings.of(run)
    shown = staging.shown(found, profile)
    paper = {record["chapter"]: record["seconds"] for record in records.recorded().values()}
    for path in run.executed:
        for name, page in screens.pages(records.notebook(path), shown, paper).items():
            text = json.dumps(page, indent=1, ensure_ascii=False) + "\n"
            (executed / f"{name}.ipynb").write_text(text, encoding="utf-8")
        shutil.copy(path, extra)
        shutil.copy(ROOT / "notebooks" / f"{path.stem}.py", extra)
    return found, shown


def assembled(profile: str, where: Path) -> None:
    """A folder with the book's sources, the executed chapters of one profile and the pages generated from them."""
    run = records.Run(chapters.executed(profile))
    _ = run.records  # a damaged notebook is named before anything is made of any
    copy(where)
    found, shown = stage(run, profile, where)
    (where / "_toc.yml").write_text(yaml.safe_dump(contents.halved(), sort_keys=False), encoding="utf-8")
    pages.write(run, found, where / "book")
    for path in (where / "book").rglob("*.md"):
        path.write_text(screens.prose(path.read_text(encoding="utf-8"), shown.measured), encoding="utf-8")
    for id in found.surprises:
        print(f"{id}: {found.verdicts[id]}, where the ledger expects {claims.OPEN!r}", flush=True)


def page(chapter: str, profile: str) -> None:
    """The pages of one chapter, from its newest notebook: in build/chapters, or that of a build."""
    name = chapters.find(chapter)
    own = ROOT / "build" / "chapters" / f"{name}.ipynb"
    path = ROOT / "build" / "executed" / profile / own.name
    if own.exists() and not (path.exists() and path.stat().st_mtime > own.stat().st_mtime):
        path = own
    source = ROOT / "notebooks" / own.with_suffix(".py").name
    executed = records.notebook(path)
    current = titles.read(source, executed["metadata"]["lmc"]["parameters"]).cells
    code = [cell.source for cell in current if cell.cell_type == "code"]
    ran = [cell for cell in executed["cells"] if cell["cell_type"] == "code"]
    own_cells = [cell for cell in ran if "injected-parameters" not in cell["metadata"].get("tags", ())]
    if code == ["".join(cell["source"]) for cell in own_cells]:
        prose.renew(path, source, sources.Sources().prose(name))  # words that were written since it ran
    staged, out = ROOT / "build" / "stage" / f"chapter-{name}", own.with_suffix("")
    copy(staged)
    run = records.Run([path], whole=False)
    found, _ = stage(run, profile, staged)
    toc: dict[str, object] = {"format": "jb-book", "root": f"book/executed/{name}"}
    files = [f"book/executed/{second}" for second in halves.pages(name)[1:]]
    toc["chapters"] = [{"file": file} for file in [*files, "book/glossary", "book/bibliography"]]
    (staged / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
    atomic_write(staged / "book" / "generated" / "verdicts.json", json.dumps(pages.addresses(run, found)))
    done = _builder(staged, out, "-q")
    built = out / "_build" / "html" / "book" / "executed" / f"{name}.html"
    if done.returncode or not built.exists():
        raise BuildError(f"the page was not built:\n{done.stdout}{done.stderr}")
    print(f"its page: {built}")


def _builder(staged: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    builder = str(Path(sys.executable).with_name("jupyter-book"))
    command = [builder, "build", str(staged), "--path-output", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, preexec_fn=stopping.die_with_parent)


def assemble(profile: str, out: Path) -> None:
    """Build the pages beside ``out`` and move them there when they are complete; the old ones are removed last."""
    destination.check(out)
    staged = ROOT / "build" / "stage" / profile
    mark = targets.mark(profile)  # of the sources as they are now, before the first is read
    fresh, old = (out.with_name(f".{out.name}-{name}") for name in ("new", "old"))
    assembled(profile, staged)
    destination.remove_unfinished(out)
    print("pages: building", flush=True)
    done = _builder(staged, fresh, "-n", "-W", "--keep-going", "-q")
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
