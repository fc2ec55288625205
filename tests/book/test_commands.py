"""The verbs of ``python -m book``: each has its function, which takes what the parser gives."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from book.__main__ import VERBS, parser

NEEDED = {"execute": ["overlap_theorem"], "page": ["overlap_theorem"], "compare": ["old", "new"], "lock": ["first"]}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_its_options(verb):
    given = vars(parser().parse_args([verb, *NEEDED.get(verb, [])]))
    function = getattr(import_module(f"book.tools.{VERBS[verb][0]}"), given.pop("verb"))
    inspect.signature(function).bind(**given)


@pytest.mark.parametrize("verb", ["build", "execute"])
def test_a_verb_goes_by_its_former_name_too(verb, root):
    command = [sys.executable, "-m", f"book.tools.{verb}", "--help"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"usage: python -m book {verb} ")
