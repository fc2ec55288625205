"""Parameters from the command line: what words are read as; what chapters refuse is in test_failures.py."""

import pytest

from book.tools.base.chapters import BuildError
from book.tools.reading import literals


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-1e-3", -1e-3), ("true", True), ("relu", "relu"), ("[1, 2]", [1, 2]), ("null", None), ("'3'", "3")],
)
def test_words_become_values(text, value):
    found = literals.literal("x", text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", ["[1,", "{a: 1}", "2020-01-01"])
def test_what_is_no_value_is_refused(text):
    with pytest.raises(BuildError, match=r"parameter x = .*; allowed: a number, a word, true, false, or a list"):
        literals.literal("x", text)
