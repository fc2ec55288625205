"""The API's pages: one a room, all of them in the table of contents, in the order of the doors."""

import yaml

from book.tools import api, pages


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
