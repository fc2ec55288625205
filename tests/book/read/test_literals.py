"""Parameters from the command line: what words are read as; what chapters refuse is in test_failures.py."""

import pytest

from book.tools.read import literals
from book.tools.read.chapters import BuildError

READ = {"3": 3, "-1e-3": -1e-3, "true": True, "relu": "relu", "[1, 2]": [1, 2], "null": None, "'3'": "3"}


def test_words_become_values():
    found = {text: literals.literal("x", text) for text in READ}
    assert found == READ and list(map(type, found.values())) == list(map(type, READ.values()))
    for text in ("[1,", "{a: 1}", "2020-01-01"):
        with pytest.raises(BuildError, match=r"parameter x = .*; allowed: a number, a word, true, false, or a list"):
            literals.literal("x", text)
    given = [["layer", "0"], ["model", "true"], ["steps", "2"]]
    assert literals.given("63_your_networks", given) == {"layer": "0", "model": "true", "steps": 2}
