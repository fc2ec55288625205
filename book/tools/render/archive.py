"""An archive of a built book: pages, executed notebooks, sources, claims, records, checksums and RO-Crate metadata.

python -m book archive --profile laptop

The same content makes the same bytes: files are sorted and carry no times or owners (the compressor is zlib's).
"""

import hashlib
import json
import mimetypes
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from book.tools.read import chapters, inputs, sources, stopping
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import records

#: Parts of the repository that go into the archive, below ``source/``.
TREES = (".ci", ".github", "benchmarks", "book", "lmc_helpers", "notebooks", "tests")
LOOSE = (
    *("README.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "LICENSE-prose", "Makefile", "Snakefile"),
    *("pyproject.toml", "requirements.lock", "environment.yml", "_config.yml", "_toc.yml"),
)
CRATE, SUMS = "ro-crate-metadata.json", "SHA256SUMS"
CODE, PROSE = "https://spdx.org/licenses/MIT", "https://spdx.org/licenses/CC-BY-4.0"
FOLDERS = {
    "html/": ("The book's pages; open html/index.html", PROSE),
    "executed/": ("The chapters as executed notebooks, with their outputs", PROSE),
    "source/": ("The repository: chapters, helpers, ledger, tools, tests, records of confirmatory runs", CODE),
}
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that the format knows


def content(html: Path, profile: str, root: Path = ROOT) -> dict[str, Path]:
    """Name in the archive → file."""
    mark = html / ".built"
    if not mark.is_file():
        raise BuildError(f"no pages in {html}; run: make book")
    if (built := mark.read_text(encoding="utf-8").partition("\n")[0]) != profile:
        raise BuildError(f"the pages in {html} were built at profile {built!r}, not {profile!r}; run: make book")
    found = {f"html/{path.relative_to(html).as_posix()}": path for path in html.rglob("*") if path.is_file()}
    found |= {f"executed/{path.name}": path for path in chapters.executed(profile)}
    trees = [path for name in TREES if (root / name).is_dir() for path in sources.files(root / name)]
    loose = [root / name for name in LOOSE if (root / name).is_file()]
    return found | {f"source/{path.relative_to(root).as_posix()}": path for path in (*trees, *loose)}


def _entity(id: str, type: str, **more: Any) -> dict[str, Any]:
    return {"@id": id, "@type": type, **more}


def _ids(ids: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": id} for id in ids]


def crate(sums: Mapping[str, str], sizes: Mapping[str, int], about: dict[str, Any], run: list[dict]) -> dict[str, Any]:
    """RO-Crate 1.1 metadata of files: name → SHA-256 and → bytes, with CITATION.cff and the chapters' provenance."""
    people = [_entity(f"#author-{k}", "Organization", **who) for k, who in enumerate(about["authors"], 1)]
    software = sorted({(name, it) for r in run for name, it in ({"Python": r["python"]} | r["versions"]).items()})
    tools = [_entity(f"#{name}-{v}", "SoftwareApplication", name=name, softwareVersion=v) for name, v in software]
    files, folders = [], []
    for name, value in sums.items():
        kind, size = mimetypes.guess_type(name)[0] or "application/octet-stream", str(sizes[name])
        files.append(_entity(name, "File", name=Path(name).name, encodingFormat=kind, contentSize=size, sha256=value))
    for folder, (says, licence) in FOLDERS.items():
        parts = _ids(name for name in sums if name.startswith(folder))
        folders.append(_entity(folder, "Dataset", name=says, license={"@id": licence}, hasPart=parts))
    standard = {"@id": "https://w3id.org/ro/crate/1.1"}
    description = _entity(CRATE, "CreativeWork", about={"@id": "./"}, conformsTo=standard)
    root = _entity(
        "./",
        "Dataset",
        name=about["title"],
        description="Chapters, computed verdicts and records of a reproducible companion to four papers.",
        version=about["version"],
        datePublished=max(r["date"] for r in run),
        license={"@id": PROSE},
        author=_ids(who["@id"] for who in people),
        hasPart=_ids(FOLDERS),
        mentions={"@id": "#run"},
    )
    action = _entity(
        "#run",
        "CreateAction",
        name=f"Execution of {len(run)} chapters at profile {run[0]['profile']}",
        endTime=max(r["date"] for r in run),
        instrument=_ids(tool["@id"] for tool in tools),
        object={"@id": "source/"},
        result=_ids(["executed/", "html/"]),
    )
    licences = [
        _entity(CODE, "CreativeWork", name="MIT License"),
        _entity(PROSE, "CreativeWork", name="Creative Commons Attribution 4.0 International"),
    ]
    graph = [description, root, *folders, *files, action, *tools, *people, *licences]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


def pack(files: Mapping[str, bytes], out: Path) -> None:
    """A zip file of some contents, in order and without times, written atomically."""
    fresh = out.with_name(f".{out.name}-new")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            stopping.on_interrupt(partial(fresh.unlink, missing_ok=True)),
            zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        ):
            for name in sorted(files):
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system, entry.external_attr = 3, 0o100644 << 16
                archive.writestr(entry, files[name])
        fresh.replace(out)
    finally:
        fresh.unlink(missing_ok=True)


def archive(profile: str, html: Path, out: Path | None) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    out = out or ROOT / "build" / f"lmc-{version}-{profile}.zip"
    run = records.Run(chapters.executed(profile)).statistics
    files = {name: path.read_bytes() for name, path in sorted(content(html, profile).items())}
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    about = inputs.read(ROOT / "CITATION.cff", dict[str, Any], "a mapping, see citation-file-format.github.io")
    described = crate(sums, {name: len(data) for name, data in files.items()}, about, run)
    files[CRATE] = (json.dumps(described, indent=1, ensure_ascii=False) + "\n").encode()
    sums[CRATE] = hashlib.sha256(files[CRATE]).hexdigest()
    files[SUMS] = "".join(f"{value}  {name}\n" for name, value in sorted(sums.items())).encode()
    pack(files, out)
    packed = out.read_bytes()
    print(f"{out}: {len(packed) / 2**20:.0f} MiB, SHA-256 {hashlib.sha256(packed).hexdigest()}")
