"""Walks inside the minimum of a linear network, which tell what points are joined (chapters 31 and 32)."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch

from lmc_helpers.linear_nets.minimum import AT_MINIMUM, Weights

__all__ = ()  # what packages of ours lend each other


def sides(W: Weights, X: torch.Tensor) -> tuple[Weights, Weights]:
    """Products before and after each layer: W_{i−1} … W_1 X and W_l … W_{i+1}, (B, h_{i−1}, h) and (B, h, h_i)."""
    B, h = W[0].shape[0], W[0].shape[-1]
    before, after = [X.expand(B, h, h)], [torch.eye(h, dtype=X.dtype).expand(B, h, h)]
    for layer in W[:-1]:
        before.append(layer @ before[-1])
    for layer in reversed(W[1:]):
        after.append(after[-1] @ layer)
    return before, after[::-1]


Misfit = tuple[Callable, Callable]  # r and its derivative, of points (B, p): (B, q) and (B, q, p)


def product_misfit(layers: int, X: torch.Tensor, Y: torch.Tensor) -> Misfit:
    """(W_l … W_1 X − Y)/``‖Y‖`` of networks whose weights are in one row each, and its derivative."""
    return widths_misfit([len(X)] * (layers + 1), X, Y)


def widths_misfit(widths: list[int], X: torch.Tensor, Y: torch.Tensor) -> Misfit:
    """The same for layers of the widths n, h_1, …, h_{l−1}, n."""
    shapes, size = list(itertools.pairwise(widths)), Y.norm()

    def weights(points: torch.Tensor) -> Weights:
        parts = points.split([a * b for a, b in shapes], dim=1)
        return [part.reshape(-1, b, a) for part, (a, b) in zip(parts, shapes, strict=True)]

    def misfit(points: torch.Tensor) -> torch.Tensor:
        product = X
        for W in weights(points):
            product = W @ product
        return (product - Y).flatten(1) / size

    def derivative(points: torch.Tensor) -> torch.Tensor:
        both = zip(*sides(weights(points), X), strict=True)
        return torch.cat([product_derivative(A, C) for C, A in both], dim=2) / size

    return misfit, derivative


def product_derivative(A: torch.Tensor, C: torch.Tensor) -> torch.Tensor:
    """The derivative (B, m n, h k) of A W C by the entries of W (B, h, k)."""
    return (A[:, :, None, :, None] * C.mT[:, None, :, None]).flatten(3, 4).flatten(1, 2)


LOW = 1e-5  # largest ``|r|²`` on an edge
STUCK = 0.003  # a tangent direction that is shorter, in units of ``|b − p|``, leads nowhere


def joined(misfit: Misfit, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """True where a walk inside the minimum leads from a to b or back, points (B, p)."""
    there, back = walk(misfit, torch.cat([a, b]), torch.cat([b, a])).view(2, -1)
    return there | back


def joined_classes(misfit: Misfit, points: torch.Tensor, tries: int = 1, at_once: int = 1) -> torch.Tensor:
    """The class (B,) of each of the points (B, p): all from which a walk leads to the class's first point.

    Of any two classes so many of the nearest pairs are tried as well, and the classes are one if some are joined. The
    walks to several points, which may turn out to be of one class, are taken at once: faster if there are many classes.
    """
    classes, number = torch.full((len(points),), -1), 0
    while (classes < 0).any():
        left = (classes < 0).nonzero()[:, 0]
        firsts = left[:at_once]
        here, goal = torch.cartesian_prod(left, firsts).T
        arrives = torch.eye(len(points), dtype=torch.bool)
        arrives[here, goal] |= walk(misfit, points[here], points[goal])
        for first in firsts.tolist():
            if classes[first] < 0:
                classes[arrives[:, first] & (classes < 0)] = number
                number += 1
    far, pairs = torch.cdist(points, points), []
    for one, other in itertools.combinations(range(number), 2):
        here, there = ((classes == c).nonzero()[:, 0] for c in (one, other))
        near = far[here][:, there].flatten().argsort()[:tries]
        ends = zip(here[near // len(there)].tolist(), there[near % len(there)].tolist(), strict=True)
        pairs += [(one, other, *pair) for pair in ends]
    one, other, a, b = torch.tensor(pairs, dtype=torch.long).view(-1, 4).T
    met, name = joined(misfit, points[a], points[b]), torch.arange(number)
    for c, d in zip(one[met], other[met], strict=True):
        name[name == name[d]] = name[c].item()
    return name[classes]


def walk(misfit: Misfit, a: torch.Tensor, b: torch.Tensor, steps: int = 500) -> torch.Tensor:
    """True where the walk from a towards b arrives, (B,).

    From p = a on, the direction b − p is projected on the tangent space at p, a step is taken, and Newton's steps of
    least norm lead back to r = 0. The step is halved until its straight edge is low, ``|r|² <= LOW``, and its end
    nearer to b. The walk arrives if the edge from p to b is low, and ends if no direction of the minimum leads towards
    b any more.
    """
    r, derivative = misfit
    found, pairs = torch.zeros(len(a), dtype=torch.bool), torch.arange(len(a))
    if not len(a):
        return found
    p, goal, step, J = a, b, torch.ones(len(a), 1, dtype=a.dtype), derivative(a)  # J (B, q, p)
    for _ in range(steps):
        way = goal - p
        edge = r(torch.cat([p + t * way for t in (0.25, 0.5, 0.75)])).square().sum(dim=1).view(3, -1)
        there = (edge <= LOW).all(dim=0)
        found[pairs[there]] = True
        tangent = way - _least_norm(J)((J @ way[..., None])[..., 0])
        going = ~there & (tangent.norm(dim=1) > STUCK * way.norm(dim=1)) & (step[:, 0] > 1e-6)
        if not (left := going.nonzero()[:, 0]).numel():
            break
        if len(left) < len(p):
            pairs, p, goal, step, J, way, tangent = (x[left] for x in (pairs, p, goal, step, J, way, tangent))
        trial = p + step * tangent
        shortest = _least_norm(derivative(trial))
        for _ in range(3):
            trial = trial - shortest(r(trial))
        middle, end = r(torch.cat([(p + trial) / 2, trial])).square().sum(dim=1).view(2, -1)
        low, exact = middle <= LOW, end <= AT_MINIMUM
        good = (low & exact & ((goal - trial).norm(dim=1) < way.norm(dim=1)))[:, None]
        p, J = torch.where(good, trial, p), torch.where(good[..., None], derivative(trial), J)
        step = torch.where(good, 1.5 * step, step / 2).clamp(max=1)
    return found


def _least_norm(J: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """r ↦ the shortest d (B, p) with J d = r."""
    LU = torch.linalg.lu_factor(J @ J.mT)
    return lambda r: (J.mT @ torch.linalg.lu_solve(*LU, r[..., None]))[..., 0]
