"""Every public name is documented, and every worked example runs."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import book.tools
import lmc_helpers
from book.tools.render.pages import api_pages

EVERY = (m.name for m in pkgutil.walk_packages(lmc_helpers.__path__, "lmc_helpers."))
MODULES = sorted(name for name in EVERY if "._" not in name)
TOOLS = sorted(m.name for m in pkgutil.walk_packages(book.tools.__path__, "book.tools."))
PROMISED = {  # names that readers rely on, each with a worked example
    "lmc_helpers.overlap": ["expected_overlap", "simulate_overlap"],
    "lmc_helpers.teacher_student": ["kappa", "population_loss", "sample_minima"],
    "lmc_helpers.matching": ["algorithm_1", "best_permutation", "permute", "weight_matching"],
    "lmc_helpers.barrier": ["loss_barrier"],
    "lmc_helpers.permutation_points": ["count_ratio"],
    "lmc_helpers.linear_nets": ["component", "path_in_minimum"],
    "lmc_helpers.identifiability": ["coherence", "realization_cost", "swap_costs"],
}


@pytest.mark.parametrize("name", [*MODULES, *TOOLS])
def test_examples_run(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


def test_public_names_are_documented():
    modules = {name: importlib.import_module(name) for name in MODULES}
    own = {
        f"{name}.{public}": value
        for name, module in modules.items()
        for public, value in vars(module).items()
        if not public.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value))
        if value.__module__ == name
    }
    assert [name for name, value in (modules | own).items() if not inspect.getdoc(value)] == []
    promised = [(name, public) for name, names in PROMISED.items() for public in names]
    docs = {pair: inspect.getdoc(getattr(importlib.import_module(pair[0]), pair[1])) for pair in promised}
    assert [pair for pair, doc in docs.items() if ">>>" not in doc] == []


def test_the_api_pages_have_every_module():
    pages = "".join(api_pages().values())
    shown = [m for m in MODULES if getattr(importlib.import_module(m), "__all__", m)]  # an empty one promises nothing
    assert len(shown) > 50 and [m for m in shown if pages.count(f".. automodule:: {m}\n") != 1] == []
