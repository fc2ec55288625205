"""The API's pages: one a room, all of them in the table of contents, in the order of the doors."""

import yaml

from book.tools.pages import api, pages


def test_the_table_of_contents_lists_every_room(root):
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    (entry,) = [c for part in parts for c in part["chapters"] if c["file"] == "book/api"]
    listed = [section["file"] for section in entry["sections"]]
    assert listed == [f"book/api/{name.removesuffix('.md')}" for name in pages.api_pages()]


def test_a_room_is_listed_as_its_door_says(tmp_path):
    files = {
        "lmc/__init__.py": "",
        "lmc/seeds.py": "",
        "lmc/room/__init__.py": '"""A room of :mod:`x.y` | more.\n\n:mod:`b` before a, not c.\n"""\n__all__ = ["f"]\n',
        **{f"lmc/room/{name}.py": "" for name in "abcd"},
        "lmc/room/__pycache__/e.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    foundations, room = api.rooms(tmp_path / "lmc")
    assert foundations.modules == ["lmc.seeds"] and foundations.door is None
    assert room.modules == ["lmc.room.b", "lmc.room.a", "lmc.room.c", "lmc.room.d"]
    assert (room.says, room.promised, room.door) == ("A room of `y` \\| more.", ["f"], "lmc.room")


def test_chapters_that_use_a_name_are_found(tmp_path):
    (tmp_path / "11_a.py").write_text("from lmc_helpers import matching\nmatching.permute(W, p)\n")
    (tmp_path / "12_b.py").write_text(
        "from lmc_helpers.claims import part\nfrom lmc_helpers.matching import permute as P\nimport math\nmath.pi\n"
    )
    found = api.users(tmp_path)
    assert found["lmc_helpers.matching"] == ["11_a"]
    assert found["lmc_helpers.matching.permute"] == ["11_a", "12_b"]
    assert found["lmc_helpers.claims.part"] == found["lmc_helpers.claims.reading.part"] == ["12_b"]
    assert not any(name.startswith("math") for name in found)
    assert api.used_of("lmc_helpers.matching", found) == {"permute": ["11_a", "12_b"]}
