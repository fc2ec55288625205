"""Surfaces on grids: brute force over cubes, a union–find of its own, and surfaces whose components are known."""

import itertools

import numpy as np
import pytest

from lmc_helpers.linear_nets.grid_components import surface_classes, surface_cubes


def cells(values, axes):
    """The vertex values of every cell that extends along the given axes, by its lowest vertex."""
    shape = [n - (k in axes) for k, n in enumerate(values.shape)]
    for at in np.ndindex(*shape):
        block = tuple(slice(i, i + 1 + (k in axes)) for k, i in enumerate(at))
        yield at, values[block].ravel()


def brute_force(values):
    every = range(values.ndim)
    hit = {at for at, v in cells(values, every) if min(v) <= 0 <= max(v)}
    parent = {at: at for at in hit}

    def root(at):
        while parent[at] != at:
            at = parent[at]
        return at

    for axis in every:
        for at, v in cells(values, [k for k in every if k != axis]):
            below = tuple(i - (k == axis) for k, i in enumerate(at))
            if below in hit and at in hit and min(v) <= 0 <= max(v):
                parent[root(below)] = root(at)
    return hit, {at: root(at) for at in hit}


@pytest.mark.parametrize("shape", [(2,), (9,), (2, 2), (5, 6), (2, 7), (2, 2, 2), (4, 5, 3), (3, 2, 2, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_classes_by_brute_force(shape, seed):
    values = np.random.default_rng(seed).integers(-3, 6, shape).astype(float)
    hit, roots = brute_force(values)
    number, classes = surface_classes(values)
    assert {tuple(int(i) for i in at) for at in np.argwhere(surface_cubes(values))} == hit
    assert number == len(set(roots.values())) and classes.max(initial=-1) == number - 1
    assert (classes >= 0).sum() == len(hit)
    for one, other in itertools.combinations(hit, 2):
        assert (classes[one] == classes[other]) == (roots[one] == roots[other])


@pytest.mark.parametrize("per_unit", [1, 2, 4])
@pytest.mark.parametrize(("eps", "expected"), [(0.0, 4), (1.0, 3), (-1.0, 3), (0.5, 3)])
def test_the_minima_of_one_dimensional_networks(per_unit, eps, expected):
    x = np.arange(-4 * per_unit, 4 * per_unit + 1) / per_unit
    w1, w2, w3 = np.meshgrid(x, x, x, indexing="ij")
    for Y in (1.0, -1.0):
        assert surface_classes(w3 * (w2 * w1 + eps) - Y)[0] == expected


def test_planes_points_and_nothing():
    x = np.linspace(-1, 1, 6)  # 0 is no vertex
    assert surface_classes(np.add.outer(x, x))[0] == 1
    assert surface_classes(np.ones((4, 4)))[0] == 0
    assert surface_classes(x)[0] == 1
    assert surface_classes(np.array([1.0, 0.0, 1.0]))[0] == 1  # a vertex that two cells share
    assert surface_cubes(np.array([0.0, 0.0, 1.0, 2.0])).tolist() == [True, True, False]


def test_order_of_the_axes_and_sign_do_not_matter():
    values = np.random.default_rng(0).normal(size=(5, 6, 7))
    number = surface_classes(values)[0]
    assert number == surface_classes(-values)[0] == surface_classes(values.transpose(2, 0, 1)[::-1])[0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones((3, 1)), r"shape \(3, 1\); allowed: at least two vertices"),
        (np.array(1.0), r"shape \(\); allowed"),
        (np.array([1.0, np.nan]), "values hold nan; allowed: finite"),
    ],
)
@pytest.mark.parametrize("function", [surface_cubes, surface_classes])
def test_bad_input_gets_one_clear_error(values, message, function):
    with pytest.raises(ValueError, match=message):
        function(values)
