"""The layout of book/tools: commands beside the rooms, arrows that run one way, doors that list their files."""

from layout import House, name, not_listed

HOUSE = House("book.tools")
MAY_IMPORT = {"base": {"base"}, "reading": {"base", "reading"}, "running": {"base", "reading", "running"}}
MAY_IMPORT["outcomes"] = MAY_IMPORT["running"] | {"outcomes"}
MAY_IMPORT["findings"] = MAY_IMPORT["outcomes"] | {"findings"}
MAY_IMPORT["pages"] = MAY_IMPORT["findings"] | {"pages"}
MAY_IMPORT["extensions"] = MAY_IMPORT["pages"]
MAY_IMPORT[""] = MAY_IMPORT["pages"] | {""}


def test_the_rooms_are_known():
    assert {folder.name for folder in HOUSE.rooms} == set(MAY_IMPORT) - {""}


def test_arrows_run_one_way():
    wrong = {name(path): HOUSE.wrong_way(path, MAY_IMPORT[HOUSE.room(name(path))]) for path in HOUSE.files}
    assert {module: found for module, found in wrong.items() if found} == {}


def test_there_are_no_circles():
    assert set(map(name, HOUSE.files)) <= set(HOUSE.in_order())


def test_a_package_lists_its_files():
    lacking = {folder.name: not_listed(folder) for folder in HOUSE.rooms}
    assert {folder: found for folder, found in lacking.items() if found} == {}
