"""pyproject.toml, the lock and environment.yml name the same packages, and one machine's details stay out of them."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from book.tools import lock as lock_tool

CONDA = {"matplotlib-base": "matplotlib", "pytorch-cpu": "torch"}
CUDA = re.compile(r"nvidia-|cuda-|triton$")
TOOLS = {"python", "pip", "make", "git"}


@pytest.fixture
def lock(root) -> dict[str, str]:
    lines = (root / "requirements.lock").read_text().splitlines()
    pins = [Requirement(line.rstrip("\\ ")) for line in lines if re.match(r"[a-z0-9]", line)]
    kept = [r for r in pins if not CUDA.match(r.name)]  # which the CPU build of torch does without
    return {canonicalize_name(r.name): str(r.specifier) for r in kept if r.marker is None or r.marker.evaluate()}


@pytest.fixture
def declared(root) -> list[Requirement]:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(text) for group in groups for text in group]


def test_the_lock_pins_what_the_project_declares(lock, declared):
    assert all(re.fullmatch(r"==[^,*]+", pin) for pin in lock.values())
    for requirement in declared:
        pin = lock[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin.removeprefix("==")), requirement


def test_the_lock_is_what_runs(lock):
    from importlib.metadata import version

    for name, pin in lock.items():
        assert version(name).partition("+")[0] == pin.removeprefix("=="), name


def test_every_package_has_its_sums(root):
    words = re.findall(r"^\S+==\S+|--hash=\S+", (root / "requirements.lock").read_text(), re.MULTILINE)
    pins = [k for k, word in enumerate(words) if not word.startswith("--")]
    for start, end in zip(pins, [*pins[1:], len(words)], strict=True):
        sums = words[start + 1 : end]
        assert sums and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", word) for word in sums), words[start]


def test_a_set_up_installs_every_package_once(root):
    script = [sys.executable, "-S", "-I", str(root / "book" / "tools" / "lock.py")]  # nothing is installed yet
    first, rest, torch = (
        {
            line.partition("==")[0]
            for line in subprocess.check_output([*script, part], text=True).splitlines()
            if "==" in line
        }
        for part in ("first", "rest", "torch")
    )
    text = (root / "requirements.lock").read_text()
    assert first == {"setuptools", "wheel"} <= rest
    assert rest | torch == set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))
    assert "torch" in torch and {name for name in rest | torch if CUDA.match(name)} == torch - {"torch"}
    assert not rest & torch


def test_what_a_lock_becomes_for_conda():
    text = (
        "# written\n"
        "a==1 \\\n    --hash=sha256:0 \\\n    --hash=sha256:1\n"
        "b==2 ; python_full_version >= '3.12' \\\n    --hash=sha256:0\n"
        "c==3 ; python_full_version < '3.12' and sys_platform == 'win32' \\\n    --hash=sha256:0\n"
        "d==4 ; python_full_version < '3.12' \\\n    --hash=sha256:0\n"
        "e==5 ; python_full_version < '3.11.5' \\\n    --hash=sha256:0\n"
        "numpy==5 \\\n    --hash=sha256:0\n"
        "nvidia-x==6 ; sys_platform == 'linux' \\\n    --hash=sha256:0\n"
    )
    before = "name: x\ndependencies:\n  - python=3.11\n  - pip:\n      - old==1\n      - -e .\n"
    lines = [line.rstrip(" \\") for line in text.splitlines() if re.match("[a-e]==", line)]
    listed = "".join(f"      - {pin}\n" for pin in lines)
    assert lock_tool.environment(before, text) == before.replace("      - old==1\n", listed)


def test_the_conda_environment_is_in_step(root, lock):
    entries = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    plain = [entry for entry in entries if isinstance(entry, str)]
    pinned = dict(entry.split("=") for entry in plain if "=" in entry and not entry.startswith("python="))
    assert {entry.partition("=")[0] for entry in plain} == TOOLS | set(pinned)
    for name, version in pinned.items():
        assert lock[CONDA.get(name, name)] == f"=={version}", name
    (pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    listed = [Requirement(entry) for entry in pip if not entry.startswith("-")]
    assert pip[len(listed) :] == ["--no-build-isolation", "-e ."]
    here = {canonicalize_name(r.name): str(r.specifier) for r in listed if r.marker is None or r.marker.evaluate()}
    if sys.version_info[:2] == (3, 11):  # the one of this file
        assert here == {name: pin for name, pin in lock.items() if name not in set(CONDA.values()) | set(pinned)}
    assert f"python={tomllib.loads((root / 'pyproject.toml').read_text())['project']['requires-python'][2:]}" in plain


def test_no_tracked_file_names_one_machine(root):
    pattern = r"/(work|root|farm|home)/[a-z]|pypi\.org|pythonhosted"
    ours = [
        "*.py",
        "*.md",
        "*.yml",
        "*.yaml",
        "*.toml",
        "*.lock",
        "Makefile",
        "Snakefile",
        "*.ipynb",
        "*.json",
        "*.cff",
    ]
    run = ["git", "-C", str(root), "grep", "-nIE", pattern, "--", *ours, ":!tests/book/test_environment.py"]
    found = subprocess.run(run, capture_output=True, text=True)
    assert found.returncode in (1, 128), found.stdout  # 1: nothing found; 128: not a git checkout
