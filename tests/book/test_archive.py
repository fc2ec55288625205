"""The archive of a book: the same bytes for the same content, true checksums, metadata that hang together."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import pytest
import yaml
from killing import heard

from book.tools.read.chapters import BuildError
from book.tools.render import archive

RUN = [
    {"python": "3.11.4", "versions": {"torch": "2.6", "numpy": "2.1"}, "date": date, "profile": "smoke"}
    for date in ("2026-01-02", "2026-01-01")
]


def test_the_same_content_makes_the_same_bytes(tmp_path):
    one, other = {"b/x": b"1" * 500, "a": b"\x00\xff"}, {"a": b"\x00\xff", "b/x": b"1" * 500}
    archive.pack(one, tmp_path / "one.zip")
    os.utime(tmp_path / "one.zip", (1, 1))
    archive.pack(other, tmp_path / "deep" / "other.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "deep" / "other.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as packed:
        assert packed.namelist() == ["a", "b/x"] and packed.read("b/x") == one["b/x"]
    with pytest.raises(BuildError, match="run: make book"):
        archive.content(tmp_path, "laptop")
    (tmp_path / ".built").write_text("smoke\n")
    with pytest.raises(BuildError, match="built at profile 'smoke', not 'laptop'"):
        archive.content(tmp_path, "laptop")


def test_an_archive_that_is_stopped_leaves_nothing_behind(tmp_path, root):
    """Packing half a gibibyte takes seconds; it is stopped as soon as it has begun."""
    code = (
        "import pathlib, sys\n"
        "from book.tools.render import archive; from book.tools.read import stopping\n"
        "stopping.watch('stopped')\n"
        "archive.pack({'a': bytes(1 << 29)}, pathlib.Path(sys.argv[1]) / 'out.zip')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True, preexec_fn=heard)
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 143 and said == "stopped\n"
    assert list(tmp_path.iterdir()) == []


def test_metadata_name_every_file_and_nothing_else(root):
    about = yaml.safe_load((root / "CITATION.cff").read_text())
    sums = {"html/index.html": "aa", "executed/x.ipynb": "bb", "source/README.md": "cc"}
    made = archive.crate(sums, dict.fromkeys(sums, 7), about, RUN)
    graph = {entity["@id"]: entity for entity in made["@graph"]}
    assert len(graph) == len(made["@graph"])
    values = [value for e in made["@graph"] for v in e.values() for value in (v if isinstance(v, list) else [v])]
    named = {value["@id"] for value in values if isinstance(value, dict)}
    assert named - set(graph) == {"https://w3id.org/ro/crate/1.1"}
    files = {id: e for id, e in graph.items() if e["@type"] == "File"}
    assert {id: e["sha256"] for id, e in files.items()} == sums
    listed = [part["@id"] for folder in graph["./"]["hasPart"] for part in graph[folder["@id"]]["hasPart"]]
    assert sorted(listed) == sorted(sums)
    assert graph[archive.CRATE]["about"] == {"@id": "./"}
    assert graph["./"]["datePublished"] == "2026-01-02" and "license" in graph["./"] and graph["./"]["name"]


def test_the_archive_of_the_test_book(html, tmp_path):
    out = tmp_path / "book.zip"
    archive.archive("smoke", html, out)
    with zipfile.ZipFile(out) as packed:
        listed = dict(line.split("  ")[::-1] for line in packed.read("SHA256SUMS").decode().splitlines())
        assert set(packed.namelist()) == set(listed) | {"SHA256SUMS"}
        assert all(hashlib.sha256(packed.read(name)).hexdigest() == value for name, value in listed.items())
        assert {"html/claims.json", "html/claims.schema.json", "source/Makefile", "source/.ci/run"} <= set(listed)
        graph = {e["@id"] for e in json.loads(packed.read("ro-crate-metadata.json"))["@graph"]}
        assert set(listed) - {"ro-crate-metadata.json"} <= graph


def test_files_for_others_follow_their_public_schemas(root):
    workflows = map(str, (root / ".github/workflows").glob("*.yml"))
    files = {"vendor.github-workflows": workflows, "vendor.citation-file-format": [str(root / "CITATION.cff")]}
    for schema, some in files.items():
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *some]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    jobs = yaml.safe_load((root / ".github/workflows/book.yml").read_text())["jobs"]
    lines = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = {word for line in lines if line.startswith("make ") for word in line.split()[1:]}
    makefile = (root / "Makefile").read_text()
    assert ".ci/run" in lines and targets and all(f"\n{target}:" in makefile for target in targets)
