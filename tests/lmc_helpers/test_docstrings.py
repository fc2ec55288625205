"""Every public name is documented, and every worked example runs."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import lmc_helpers
from book.tools.pages.pages import api_pages

MODULES = sorted(m.name for m in pkgutil.walk_packages(lmc_helpers.__path__, "lmc_helpers."))
PROMISED = {  # names that readers rely on, each with a worked example
    "lmc_helpers.overlap": ["expected_overlap", "simulate_overlap"],
    "lmc_helpers.teacher_student": ["kappa", "population_loss", "sample_minima"],
    "lmc_helpers.matching": ["algorithm_1", "best_permutation", "permute", "weight_matching"],
    "lmc_helpers.barrier": ["loss_barrier"],
    "lmc_helpers.permutation_points": ["count_ratio"],
    "lmc_helpers.linear_nets": ["component", "path_in_minimum"],
    "lmc_helpers.identifiability": ["coherence", "realization_cost", "swap_costs"],
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_public_names_are_documented(name):
    module = importlib.import_module(name)
    assert inspect.getdoc(module)
    for public, value in vars(module).items():
        own = getattr(value, "__module__", None) == name and (inspect.isfunction(value) or inspect.isclass(value))
        if own and not public.startswith("_"):
            assert inspect.getdoc(value), f"{name}.{public}"


@pytest.mark.parametrize(("name", "public"), [(m, p) for m, names in PROMISED.items() for p in names])
def test_promised_names_have_an_example(name, public):
    assert ">>>" in inspect.getdoc(getattr(importlib.import_module(name), public))


def test_the_package_imports_nothing():
    code = "import sys, lmc_helpers; print([m for m in sys.modules if m.startswith('lmc_helpers.') or m == 'torch'])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_the_api_pages_have_every_module():
    pages = "".join(api_pages().values())
    assert [m for m in MODULES if pages.count(f".. automodule:: {m}\n") != 1] == []
