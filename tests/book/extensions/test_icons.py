"""Icons: those that pages name stay, the others go, and the script stays one."""

import shutil
import subprocess

import pytest

from book.tools.extensions import sphinx_icons

SCRIPT = (
    'var p={monero:[496,512,[],"f3d0","M352"],'
    '"face-a":[512,512,[128541,"grin"],"f58a",["M1","M2"]],'
    'sun:[1,2,[],"f0","M3"]};'
)


def test_wanted_icons_stay_by_name_and_by_alias():
    assert sphinx_icons.reduced(SCRIPT, {"sun", "grin"}) == SCRIPT.replace('monero:[496,512,[],"f3d0","M352"],', "")
    assert sphinx_icons.reduced(SCRIPT, set()) == "var p={};"


def test_icons_are_looked_for_in_pages_and_scripts(tmp_path):
    (tmp_path / "a.html").write_text('<i class="fas fa-sun"></i>')
    (tmp_path / "b.js").write_text('icon("fa-moon")')
    (tmp_path / "c.css").write_text(".fa-star{}")
    script = tmp_path / sphinx_icons.SCRIPT
    script.parent.mkdir(parents=True)
    script.write_text("fa-monero")
    assert sphinx_icons.named(tmp_path) == {"sun", "moon"}


def test_the_book_s_script_is_small(html):
    assert (html / sphinx_icons.SCRIPT).stat().st_size < 200_000


@pytest.mark.skipif(shutil.which("node") is None, reason="node checks the script's syntax")
def test_the_script_is_still_a_script(html, tmp_path):
    copy = tmp_path / "icons.js"
    shutil.copy(html / sphinx_icons.SCRIPT, copy)
    subprocess.run(["node", "--check", str(copy)], check=True)
