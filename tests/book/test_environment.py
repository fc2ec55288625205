"""pyproject.toml, the lock and environment.yml name the same packages, and one machine's details stay out of them."""

import re
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CONDA = {"matplotlib-base": "matplotlib", "pytorch-cpu": "torch"}
TOOLS = {"python", "pip", "make", "git"}


@pytest.fixture
def lock(root) -> dict[str, str]:
    lines = (root / "requirements.lock").read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(r.name): str(r.specifier) for r in found if r.marker is None or r.marker.evaluate()}


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


def test_the_lock_leaves_cuda_to_torch(lock):
    assert not [name for name in lock if re.match(r"nvidia|cuda|triton", name)]


def test_the_conda_environment_is_in_step(root, lock):
    entries = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    plain = [entry for entry in entries if isinstance(entry, str)]
    pinned = dict(entry.split("=") for entry in plain if "=" in entry and not entry.startswith("python="))
    assert {entry.partition("=")[0] for entry in plain} == TOOLS | set(pinned)
    for name, version in pinned.items():
        assert lock[CONDA.get(name, name)] == f"=={version}", name
    (pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    assert "-r requirements.lock" in pip and "-e ." in pip
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
