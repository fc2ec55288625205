"""The API's pages: one a package, all of them in the table of contents, and every public name on the first page."""

import importlib

import yaml

from book.tools.render import api, pages


def test_the_table_of_contents_lists_every_package(root):
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    (entry,) = [c for part in parts for c in part["chapters"] if c["file"] == "book/api"]
    listed = [section["file"] for section in entry["sections"]]
    assert listed == [f"book/api/{name.removesuffix('.md')}" for name in pages.api_pages()]
    assert listed == [f"book/api/{name}" for name in api.names()]
    modules = [module for package in api.packages() for module in package.modules]
    listed = [(module.name, name) for module in modules for name in module.members]
    assert [f"{module}.{name}" for module, name in listed if not hasattr(importlib.import_module(module), name)] == []


def test_a_package_is_listed_as_its_docstring_says(tmp_path):
    files = {
        "lmc/__init__.py": "",
        "lmc/seeds.py": "",
        "lmc/_typing.py": "",
        "lmc/part/__init__.py": '"""The part of :mod:`x.y` | more.\n\n:mod:`b` before a, not c.\n"""\n',
        "lmc/part/a.py": 'def f():\n    """The value W_1 of ``a_b``,\n    in :func:`~x.g`.\n\n    More."""\n',
        **{f"lmc/part/{name}.py": "" for name in "bcd"},
        "lmc/part/__pycache__/e.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    part, foundations = api.packages(tmp_path / "lmc")
    assert [module.name for module in foundations.modules] == ["lmc.seeds"]
    assert [module.name for module in part.modules] == [f"lmc.part.{name}" for name in "bacd"]
    assert part.says == "The part of `y` \\| more."
    assert part.modules[1].members == {"f": r"The value W\_1 of `a_b`, in `g`."}
