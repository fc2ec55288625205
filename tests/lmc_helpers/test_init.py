"""The names of packages: all are there, typed, and nothing is imported before it is used."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lmc_helpers as lmc

HERE = Path(lmc.__file__).parent
STUBS = sorted(HERE.rglob("__init__.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_each_name_is_where_the_stub_says(stub):
    package = import_module(".".join(stub.parent.relative_to(HERE.parent).parts))
    listed = [(alias, node.module) for node in ast.parse(stub.read_text()).body for alias in node.names]
    assert all(alias.asname == alias.name for alias, _ in listed)  # for type checkers, it is the package's own name
    assert sorted(alias.name for alias, _ in listed if alias.name != "__version__") == package.__all__
    for alias, where in listed:
        assert where != package.__name__ or alias.name == "theory"
        module, value = import_module(where), getattr(package, alias.name)
        assert value is (lmc.theory if alias.name == "theory" else vars(module)[alias.name])
        assert not (inspect.isfunction(value) or inspect.isclass(value)) or value.__module__ == where, alias.name
        assert alias.name == "theory" or not (stub.parent / f"{alias.name}.py").exists()  # it would be the module
    assert (HERE / "py.typed").exists()


def test_each_name_has_an_example_on_a_module():
    names = [(door, name) for door in (lmc, lmc.theory) for name in door.__all__ if name != "theory"]
    docs = {name: (inspect.getdoc(getattr(module, name)), module is lmc) for module, name in names}
    assert [name for name, (doc, ours) in docs.items() if ">>>" not in doc or (ours and "nn." not in doc)] == []


def test_an_import_reads_neither_torch_nor_scipy():
    code = """import sys, lmc_helpers as lmc
heavy = {"torch", "scipy", "matplotlib", "jaxtyping", "sklearn"}
before = heavy & set(sys.modules)
lmc.symmetry
print(sorted(before), "torch" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[] True", done.stderr
    with pytest.raises(AttributeError, match="no attribute 'symmetries'"):
        lmc.symmetries  # noqa: B018
    assert {"symmetry", "theory", "__version__"} <= set(dir(lmc)) and lmc.__version__
