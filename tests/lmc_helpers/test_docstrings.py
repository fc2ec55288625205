"""Every public name is documented, and every worked example runs."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import lmc_helpers

MODULES = [f"lmc_helpers.{module.name}" for module in pkgutil.iter_modules(lmc_helpers.__path__)]
PROMISED = {  # names that readers rely on, each with a worked example
    "lmc_helpers.teacher_student.overlap": ["expected_overlap", "simulate_overlap"],
    "lmc_helpers.teacher_student.population": ["kappa", "population_loss", "sample_minima"],
    "lmc_helpers.matching": ["algorithm_1", "best_permutation", "permute", "weight_matching"],
    "lmc_helpers.barrier": ["loss_barrier"],
    "lmc_helpers.permutation_points.pair": ["count_ratio"],
    "lmc_helpers.linear_nets.minimum": ["component", "path_in_minimum"],
    "lmc_helpers.identifiability.input_subspace": ["coherence", "realization_cost", "swap_costs"],
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
    assert not [name for name in vars(lmc_helpers) if not name.startswith("_") and f"lmc_helpers.{name}" not in MODULES]


def test_the_api_page_has_every_module(root):
    page = (root / "book" / "api.md").read_text(encoding="utf-8")
    assert [m for m in MODULES if f".. automodule:: {m}\n" not in page] == []
