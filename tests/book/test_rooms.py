"""The layout of book/tools: commands beside the rooms, arrows that run one way, doors that list their files."""

import pytest
from layout import ROOT, House, name, not_listed

HOUSE = House("book.tools")
MAY_IMPORT = {"base": {"base"}, "reading": {"base", "reading"}, "running": {"base", "reading", "running"}}
MAY_IMPORT["outcomes"] = MAY_IMPORT["running"] | {"outcomes"}
MAY_IMPORT["findings"] = MAY_IMPORT["outcomes"] | {"findings"}
MAY_IMPORT["pages"] = MAY_IMPORT["findings"] | {"pages"}
MAY_IMPORT["extensions"] = MAY_IMPORT["pages"]
MAY_IMPORT[""] = MAY_IMPORT["pages"] | {""}


def test_the_rooms_are_known():
    assert {folder.name for folder in HOUSE.rooms} == set(MAY_IMPORT) - {""}


@pytest.mark.parametrize("path", HOUSE.files, ids=name)
def test_arrows_run_one_way(path):
    assert not HOUSE.wrong_way(path, MAY_IMPORT[HOUSE.room(name(path))])


def test_there_are_no_circles():
    assert set(map(name, HOUSE.files)) <= set(HOUSE.in_order())


@pytest.mark.parametrize("folder", HOUSE.rooms, ids=lambda folder: folder.name)
def test_a_door_lists_its_files(folder):
    assert not not_listed(folder)


def test_what_stands_beside_the_rooms_is_called_by_its_name():
    """By make, or by the graph: those are the commands; all else is in a room."""
    called = "".join((ROOT / file).read_text(encoding="utf-8") for file in ("Makefile", "Snakefile"))
    beside = [path.stem for path in HOUSE.files if path.parent == HOUSE.folder]
    assert not [stem for stem in beside if f"book.tools.{stem}" not in called and f"book/tools/{stem}.py" not in called]
