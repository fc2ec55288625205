"""What a page shows of an executed notebook: no repeated parameters, labels, pictures for phones apart."""

import base64
import copy
import hashlib

import pytest

from book.tools import staging
from lmc_helpers import claims


def cell(source: str, *tags: str, **metadata) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {"tags": list(tags), **metadata}, "outputs": []}


def stored(name: str, picture: bytes) -> dict:
    mime = "application/papermill.record/image/png"
    data = {mime: base64.b64encode(picture).decode(), "application/papermill.record/text/plain": "<Figure>"}
    return {"output_type": "display_data", "data": data, "metadata": {"scrapbook": {"name": name, "mime_prefix": "x"}}}


DEFAULTS = (
    'M: int = 6  # neurons\nrate: float = 0.5\nsizes: list = [1, 2]\ndeep: bool = True\nprofile: str = "laptop"\n'
)


@pytest.mark.parametrize(
    ("injected", "repeats"),
    [
        ('profile = "smoke"', True),
        ('# Parameters\nprofile = "laptop"\nM = 6\nsizes = [1, 2]\n', True),
        ("M = 7", False),
        ("rate = 5e-1", True),
        ("deep = 1", False),
        ("M = 6.0", False),
        ("unknown = 6", False),
        ('rate = float("inf")', False),
    ],
)
def test_injected_parameters_are_shown_where_they_say_something(injected, repeats):
    shown = cell(injected, "injected-parameters")
    notebook = {"cells": [cell(DEFAULTS, "parameters", "hide-input"), shown, cell("M")]}
    staging.fold_parameters(notebook)
    assert (shown not in notebook["cells"]) == repeats
    if not repeats:
        assert shown["metadata"]["tags"] == ["injected-parameters", "hide-input"]
        assert shown["metadata"]["mystnb"] == {"code_prompt_show": "Parameters of this run"}


def test_parameters_that_are_not_literal_are_compared_as_text():
    assert staging.values('a = float("inf")\nb: int\nc = d = 3') == {"a": "float('inf')", "c": 3, "d": 3}


def test_without_injected_parameters_nothing_changes():
    notebook = {"cells": [cell(DEFAULTS, "parameters"), cell("M")]}
    before = copy.deepcopy(notebook)
    staging.fold_parameters(notebook)
    assert notebook == before


def test_an_open_cell_keeps_its_label():
    labelled, plain = cell("x", "hide-input", mystnb={"code_prompt_show": "Imports"}), cell("y", "hide-input")
    staging.label_folds({"cells": [labelled, plain]})
    assert labelled["metadata"]["mystnb"] == {"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
    assert "mystnb" not in plain["metadata"]


def test_pictures_for_phones_become_files(tmp_path):
    outputs = [stored("fig_a", b"wide a"), stored("fig_a-phone", b"phone a"), stored("fig_b", b"wide b")]
    outputs += [stored("odd-phone", b"a figure of that name")]
    shown = cell("figures.show", "hide-input") | {"outputs": list(outputs)}
    notebook = {"cells": [{"cell_type": "markdown", "source": "", "metadata": {}}, shown]}
    staging.stage(notebook, tmp_path / "phone", {})
    (file,) = (tmp_path / "phone").iterdir()
    assert file.name == f"{hashlib.sha256(b'wide a').hexdigest()}.png" and file.read_bytes() == b"phone a"
    assert shown["outputs"] == [outputs[0], outputs[2], outputs[3]]


def test_a_box_says_what_was_confirmed_above_its_verdict():
    box = '<table><tr><th>measured</th></tr><tr class="verdict"><th>verdict</th></tr></table>'
    outputs = [
        {"output_type": "display_data", "data": {"text/html": box}, "metadata": {claims.MIME: {"part": part}}}
        for part in ("T1.a", "T1.b")
    ]
    notebook = {"cells": [cell("claims.check") | {"outputs": outputs}]}
    staging.add_confirmations(notebook, {"T1.a": "0.5 < 1: holds"})
    row = "<tr><th>at paper scale</th><td>0.5 &lt; 1: holds</td><td></td></tr>"
    head, tail = box.split('<tr class="verdict">')
    assert outputs[0]["data"]["text/html"] == f'{head}{row}<tr class="verdict">{tail}'
    assert outputs[1]["data"]["text/html"] == box
