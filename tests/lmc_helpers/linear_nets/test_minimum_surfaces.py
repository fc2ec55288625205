"""Surfaces of the minimum: points on them, borders on the cube, components by a grid that knows nothing of them."""

import numpy as np
import pytest

from lmc_helpers.linear_nets.grid_components import surface_classes
from lmc_helpers.linear_nets.minimum_surfaces import minimum_sheets

CASES = [(0.0, 3.0), (0.0, 1.5), (1.0, 3.0), (-1.0, 3.0), (0.5, 4.0), (2.5, 2.0)]  # eps and reach


@pytest.mark.parametrize(("eps", "reach"), CASES)
def test_points_lie_on_the_surface_in_the_cube_and_borders_on_its_faces(eps, reach):
    for patch in minimum_sheets(eps, reach):
        W1, W2, W3 = np.moveaxis(patch, -1, 0)
        np.testing.assert_allclose(W3 * (W2 * W1 + eps), 1, atol=1e-9)
        assert abs(patch).max() <= reach * (1 + 1e-9)
        closed = np.allclose(patch[0], patch[-1])  # polar coordinates: their first column is the centre, the ends meet
        for row in (patch[:, -1], *(() if closed else (patch[0], patch[-1]))):
            assert (abs(abs(row).max(axis=-1) - reach) < 1e-9).all()


@pytest.mark.parametrize(("eps", "reach"), [case for case in CASES if case[1] != 2.0])
def test_every_component_of_the_grid_holds_one_sheet(eps, reach):
    x = np.linspace(-reach, reach, 49)
    values = x * (x[None, :, None] * x[:, None, None] + eps) - 1  # F on the grid, axes W_1, W_2, W_3
    number, classes = surface_classes(values)
    sheets = minimum_sheets(eps, reach)
    assert number == len(sheets)
    found = []
    for patch in sheets:
        cube = np.clip(((patch + reach) / (2 * reach) * 48).astype(int), 0, 47).reshape(-1, 3)
        inner = (abs(patch).reshape(-1, 3) < reach * 0.9).all(axis=1)
        (label,) = set(classes[tuple(cube[inner].T)]) - {-1}
        found.append(label)
    assert sorted(found) == list(range(number))


def test_the_other_sign_of_the_skip_connection_is_a_reflection():
    for one, other in zip(minimum_sheets(1.0, 3.0), minimum_sheets(-1.0, 3.0), strict=True):
        np.testing.assert_array_equal(one * [-1, 1, -1], other)


@pytest.mark.parametrize(("eps", "reach"), [(0.0, 1.0), (0.2, 3.0), (9.0, 3.0), (1.0, 0.5), (1.0, -3.0), (np.nan, 3.0)])
def test_a_cube_that_is_too_small_is_refused(eps, reach):
    with pytest.raises(ValueError, match=r"allowed: 1/reach < \|eps\|"):
        minimum_sheets(eps, reach)
