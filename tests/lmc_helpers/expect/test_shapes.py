"""Axes by their names: which shapes have them."""

import pytest

from lmc_helpers.expect.shapes import shape


@pytest.mark.parametrize(
    ("found", "axes"),
    [
        ((), "..."),
        ((0, 2), "..."),
        ((2, 3), "n d"),
        ((4, 2, 3), "... n d"),
        ((3,), "... d"),
        ((0, 3), "... d"),
        ((5, 5), "h h"),
    ],
)
def test_shapes_that_have_the_axes(found, axes):
    assert shape(found, "W", axes) is None


@pytest.mark.parametrize(
    ("found", "axes"),
    [((3,), "n d"), ((3,), "... n d"), ((1, 2, 3), "n d"), ((0, 3), "n d"), ((2, 0), "... d"), ((5, 4), "h h")],
)
def test_shapes_that_lack_them(found, axes):
    with pytest.raises(ValueError, match=r"^W has shape \(.*\); allowed: \(.*\), no axis empty$"):
        shape(found, "W", axes)


def test_empty_axes_may_be_allowed():
    assert shape((0, 3), "W", "n d", empty=True) is None
