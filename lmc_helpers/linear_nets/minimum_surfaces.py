"""The minimum of W_3 (W_2 W_1 + ε) = 1 as surfaces in space: the residual network of equation (2) with n = 1.

It is the graph of W_3 = 1 / (W_2 W_1 + ε) over the plane without the curve W_2 W_1 = −ε, four sheets for ε = 0 and
three for ε ≠ 0 (Prop. 4.3 and Fig. 1 of Zhao, Dehmamy, Walters & Yu). In the cube [−r, r]³ it lies over
``|W_2 W_1 + ε|`` >= 1/r, which cuts no sheet in two if r is large enough.
"""

from __future__ import annotations

import numpy as np

__all__ = ["minimum_sheets"]


def minimum_sheets(eps: float, reach: float) -> list[np.ndarray]:
    """The components of W_3 (W_2 W_1 + ε) = 1 in the cube [−r, r]³, a patch of points each.

    Parameters
    ----------
    eps : float
        ε, the factor of the skip connection.
    reach : float
        r. For ε = 0, r³ > 1; else 1/r < ``|ε|`` and ``|ε|`` + 1/r < r², so that the cube shows every component in one
        piece.

    Returns
    -------
    list of numpy.ndarray
        patches (rows, columns, 3) of points (W_1, W_2, W_3), neighbours in the patch being neighbours on the sheet. For
        ε = 0 one over each quadrant of (W_1, W_2), signs ++, +−, −+, −−; else the one between the branches of the
        hyperbola and the two beyond them.

    Examples
    --------
    >>> [len(minimum_sheets(eps, 3.0)) for eps in (0.0, 1.0, -1.0)]
    [4, 3, 3]
    >>> W1, W2, W3 = np.moveaxis(minimum_sheets(1.0, 3.0)[0], -1, 0)
    >>> bool(np.allclose(W3 * (W2 * W1 + 1), 1))
    True
    """
    fits = 1 / reach < reach**2 if eps == 0 else 1 / reach < min(abs(eps), reach**2 - abs(eps))
    if not (reach > 0 and fits):
        raise ValueError(f"eps = {eps}, reach = {reach}; allowed: 1/reach < |eps| and |eps| + 1/reach < reach²")
    if eps < 0:  # (W_1, W_3) → (−W_1, −W_3) turns round the sign of ε
        return [patch * [-1, 1, -1] for patch in minimum_sheets(-eps, reach)]
    if eps == 0:
        return [_beyond(1 / reach, signs, eps, reach) for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    beyond = [_beyond(eps + 1 / reach, signs, eps, reach) for signs in ((1, -1), (-1, 1))]
    return [_between(eps, reach), *beyond]


def _graph(W1: np.ndarray, W2: np.ndarray, eps: float) -> np.ndarray:
    W1, W2 = np.broadcast_arrays(W1, W2)
    return np.stack([W1, W2, 1 / (W2 * W1 + eps)], axis=-1)


def _beyond(product: float, signs: tuple[int, int], eps: float, reach: float) -> np.ndarray:
    """The sheet over the quadrant of the given signs with ``|W_1 W_2|`` >= product."""
    W1 = np.geomspace(product / reach, reach, 22)[:, None]
    share = np.linspace(0, 1, 16)[None, :]
    W2 = (product / W1) ** (1 - share) * reach**share
    return _graph(signs[0] * W1, signs[1] * W2, eps)


def _between(eps: float, reach: float) -> np.ndarray:
    """The sheet over W_1 W_2 >= 1/r − ε, ε > 0, in polar coordinates: to the square's edge or to the hyperbola."""
    kink = np.arctan((eps - 1 / reach) / reach**2)  # where the hyperbola leaves the square
    kinks = [np.pi / 2 + kink, np.pi - kink, 3 * np.pi / 2 + kink, 2 * np.pi - kink]
    angle = np.union1d(np.linspace(0, 2 * np.pi, 97), kinks)[:, None]
    c, s = np.cos(angle), np.sin(angle)
    to_square = reach / np.maximum(abs(c), abs(s))
    to_curve = np.sqrt((eps - 1 / reach) / np.maximum(-c * s, 1e-12))
    radius = np.minimum(to_square, to_curve) * np.linspace(0, 1, 22)[None, :]
    return _graph(radius * c, radius * s, eps)
