"""The lock has what pyproject.toml declares, and one machine's details stay out of the project."""

import re
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CUDA = re.compile(r"nvidia-|cuda-|triton$")


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


def test_the_lock_pins_what_the_project_declares_and_is_what_runs(lock, declared):
    assert all(re.fullmatch(r"==[^,*]+", pin) for pin in lock.values())
    for requirement in declared:
        pin = lock[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin.removeprefix("==")), requirement
    from importlib.metadata import version

    for name, pin in lock.items():
        assert version(name).partition("+")[0] == pin.removeprefix("=="), name


def test_a_set_up_installs_every_package_once(root):
    script = [sys.executable, "-S", "-m", "book", "lock"]  # nothing is installed yet

    def listed(part):
        said = subprocess.check_output([*script, part], cwd=root, text=True)
        return set(re.findall("^([^ =]+)==", said, re.MULTILINE))

    first, rest, torch = map(listed, ("first", "rest", "torch"))
    text = (root / "requirements.lock").read_text()
    assert first == {"setuptools", "wheel"} <= rest
    assert rest | torch == set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))
    assert "torch" in torch and {name for name in rest | torch if CUDA.match(name)} == torch - {"torch"}
    assert not rest & torch


def test_no_tracked_file_names_one_machine(root):
    pattern = r"/(work|root|farm|home)/[a-z]|pypi\.org|pythonhosted"
    ours = "*.py *.md *.yml *.yaml *.toml *.lock Makefile Snakefile *.ipynb *.json *.cff".split()
    run = ["git", "-C", str(root), "grep", "-nIE", pattern, "--", *ours, ":!tests/book/test_environment.py"]
    found = subprocess.run(run, capture_output=True, text=True)
    assert found.returncode in (1, 128), found.stdout  # 1: nothing found; 128: not a git checkout
