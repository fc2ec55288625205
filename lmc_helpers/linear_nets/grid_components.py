"""Components of a surface F = 0 inside a box, counted on a grid of cubes by union–find.

If F is of degree one in each variable, as a product of weights is, its least and largest value on a cube, or on a
face, are attained at vertices. So a cube or face meets the surface exactly if F does not have one strict sign at its
vertices, and no tolerance has to be chosen. Two cubes are joined if their common face meets the surface. If moreover
the surface inside each single cube is connected, which depends on F, the classes are the components.

Chapter 32 counts the components of Prop. 4.3 of Zhao, Dehmamy, Walters & Yu so, with F = W_3 (W_2 W_1 + ε) X − Y.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

__all__ = ["surface_classes", "surface_cubes"]


def surface_cubes(values: np.ndarray) -> np.ndarray:
    """Which cubes of a grid meet F = 0, for F of degree one in each variable.

    Parameters
    ----------
    values : numpy.ndarray
        F at the vertices, of any dimension; at least two vertices along each axis.

    Returns
    -------
    numpy.ndarray
        bool, smaller than ``values`` by one along each axis.

    Examples
    --------
    >>> surface_cubes(np.array([-1.0, -0.5, 0.5, 1.0]))
    array([False,  True, False])
    """
    if values.ndim < 1 or min(values.shape) < 2:
        raise ValueError(f"values have shape {values.shape}; allowed: at least two vertices along each axis")
    if not np.isfinite(values).all():
        raise ValueError(f"values hold {values[~np.isfinite(values)][0]}; allowed: finite values")
    return _meets(values, tuple(range(values.ndim)))


def surface_classes(values: np.ndarray) -> tuple[int, np.ndarray]:
    """The classes of cubes that meet F = 0 and hang together through faces that meet it.

    Parameters
    ----------
    values : numpy.ndarray
        F at the vertices of a grid, as for :func:`surface_cubes`.

    Returns
    -------
    (int, numpy.ndarray)
        the number of classes, and the class 0, 1, … of each cube; −1 for cubes that do not meet the surface.

    Examples
    --------
    The hyperbola x y = 1 has two branches:

    >>> x = np.linspace(-3, 3, 13)
    >>> number, classes = surface_classes(x[:, None] * x[None, :] - 1)
    >>> number, classes.shape
    (2, (12, 12))
    """
    met = surface_cubes(values)
    index = np.full(met.shape, -1)
    index[met] = np.arange(met.sum())
    pairs = []
    for axis in range(values.ndim):
        others = tuple(k for k in range(values.ndim) if k != axis)
        inner = np.delete(values, [0, -1], axis=axis)  # faces between two cubes lie in the inner planes
        joined = _meets(inner, others)
        lower, upper = np.delete(index, -1, axis=axis), np.delete(index, 0, axis=axis)
        pairs.append(np.stack([lower[joined], upper[joined]]))
    ends = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(ends.shape[1], dtype=bool), tuple(ends)), shape=(met.sum(), met.sum()))
    number, labels = connected_components(graph, directed=False)
    index[met] = labels
    return int(number), index


def _meets(values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Whether F has not one strict sign on the cells that extend along the given axes."""
    cells = tuple(size - (k in axes) for k, size in enumerate(values.shape))
    below, above = np.zeros(cells, dtype=bool), np.zeros(cells, dtype=bool)
    for corner in itertools.product((slice(None, -1), slice(1, None)), repeat=len(axes)):
        where = [slice(None)] * values.ndim
        for axis, part in zip(axes, corner, strict=True):
            where[axis] = part
        below |= values[tuple(where)] <= 0
        above |= values[tuple(where)] >= 0
    return below & above
