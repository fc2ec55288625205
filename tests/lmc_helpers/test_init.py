"""The names of the package: all are there, typed, and nothing is imported before it is used."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lmc_helpers as lmc


def test_each_name_is_where_the_table_says():
    assert sorted(lmc._MODULES) == lmc.__all__
    for name, where in lmc._MODULES.items():
        module = import_module(f"lmc_helpers.{where}")
        value = getattr(lmc, name)
        assert value is module if name == where else value.__module__ == module.__name__ and value is vars(module)[name]


def test_each_name_has_an_example_on_a_module():
    names = [
        *((lmc, name) for name in lmc.__all__ if name != "theory"),
        *((lmc.theory, name) for name in lmc.theory.__all__),
    ]
    docs = {name: (inspect.getdoc(getattr(module, name)), module is lmc) for module, name in names}
    assert [name for name, (doc, ours) in docs.items() if ">>>" not in doc or (ours and "nn." not in doc)] == []


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(lmc.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {a.asname or a.name: getattr(n, "module", a.name) for n in block.body for a in n.names}
    assert seen == {name: f"lmc_helpers.{where}" for name, where in lmc._MODULES.items()}
    assert Path(lmc.__file__).with_name("py.typed").exists()


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'symmetries'"):
        lmc.symmetries  # noqa: B018
    assert {"symmetry", "theory", "__version__"} <= set(dir(lmc)) and lmc.__version__


def test_an_import_reads_neither_torch_nor_scipy():
    code = """import sys, lmc_helpers as lmc
heavy = {"torch", "scipy", "matplotlib", "jaxtyping", "sklearn"}
before = heavy & set(sys.modules)
lmc.symmetry
print(sorted(before), "torch" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[] True", done.stderr
