"""Options that pass; what is refused is tested through the doors, in test_bad_arguments.py."""

import pytest

from lmc_helpers import expect

ALLOWED = [
    lambda: expect.one_of(True, "sort", (True, False)),
]


def test_what_is_allowed_passes_and_gives_nothing():
    assert [call() for call in ALLOWED] == [None] * len(ALLOWED)


def test_other_types_are_other_options():
    with pytest.raises(ValueError, match="sort = 1; allowed: True, False"):
        expect.one_of(1, "sort", (True, False))
