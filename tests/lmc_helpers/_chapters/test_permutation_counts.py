"""What chapter *permutation counts* computes, against enumeration, next terms and OEIS."""

import math
from itertools import product

import numpy as np
import pytest

from lmc_helpers._chapters import permutation_counts as chapter
from lmc_helpers.permutation_points import count_ratio


@pytest.mark.parametrize(("n", "number"), [(0, 1), (1, 1), (4, 5), (7, 15), (12, 77), (20, 627)])
def test_partitions_are_all_and_each_once(n, number):
    found = chapter.partitions(n)
    assert len(set(found)) == len(found) == number  # OEIS A000041
    assert all(sum(parts) == n and list(parts) == sorted(parts, reverse=True) for parts in found)
    assert found == sorted(found, reverse=True)
    if n <= 7:
        tuples = (parts for k in range(n + 1) for parts in product(range(1, n + 1), repeat=k))
        everything = {tuple(sorted(parts, reverse=True)) for parts in tuples}
        assert set(found) == {parts for parts in everything if sum(parts) == n}
    assert chapter.partitions(n, largest=2) == [parts for parts in found if all(s <= 2 for s in parts)]


def test_bound_is_attained_for_small_orders_only():
    for n in range(1, 50):
        for K in range(n):
            exact, bound = count_ratio(K, n), chapter.count_ratio_bound(K, n)
            assert exact == bound if K <= 1 else exact > bound
            assert (bound > 0) == (2 * K <= n)


@pytest.mark.parametrize("K", range(7))
def test_growth_with_its_next_term(K):
    n = 10**6
    c = chapter.growth_constant(K) * n**K
    assert (1 - count_ratio(K, n) / c) * n == pytest.approx(K * (5 * K + 1) / 6, rel=1e-4, abs=1e-9)
    assert (1 - chapter.count_ratio_bound(K, n) / c) * n == pytest.approx(K * (3 * K - 1) / 2, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize(("n", "size"), [(1, 1), (4, 4), (5, 2), (6, 3)])
def test_arrangements(n, size):
    labels = chapter.arrangements(n, size)
    assert len(labels) == count_ratio(n - size, n) * math.factorial(n)
    assert len(np.unique(labels, axis=0)) == len(labels)
    assert all(set(row) == set(range(size)) for row in labels.tolist())


@pytest.mark.parametrize(("r", "m"), [(1, 1), (1, 4), (2, 4), (3, 4)])
def test_families_are_networks_of_one_function_and_none_lies_in_another(r, m):
    """Random members of each: the function by hand, and which families' equations they satisfy."""
    rng = np.random.default_rng(r + m)
    vectors, columns, x = rng.normal(size=(r, 2)), rng.normal(size=(r, 3)), rng.normal(size=(2, 20))
    number, fixed = chapter.families(r, m), dict(enumerate(zip(vectors, columns, strict=True)))

    def satisfied(labels, w, a):  # the equations of a family
        for v in set(labels):
            own = [i for i in range(m) if labels[i] == v]
            vector, column = fixed.get(v, (w[own[0]], 0 * columns[0]))
            if not (np.allclose(w[own], vector) and np.allclose(a[own].sum(axis=0), column)):
                return False
        return True

    for labels in number:
        w, a = rng.normal(size=(m, 2)), rng.normal(size=(m, 3))
        for v in set(labels):
            own = [i for i in range(m) if labels[i] == v]
            vector, column = fixed.get(v, (w[own[0]], 0 * columns[0]))
            w[own], a[own[0]] = vector, column - a[own[1:]].sum(axis=0)
        assert np.allclose(np.tanh(w @ x).T @ a, np.tanh(vectors @ x).T @ columns)
        assert [other for other in number if satisfied(other, w, a)] == [labels]
    bell = [round(sum(k**u / math.factorial(k) for k in range(60)) / math.e) for u in range(m + 1)]  # Dobiński
    assert len(number) == sum(math.comb(m, u) * len(chapter.arrangements(m - u, r)) * bell[u] for u in range(m - r + 1))


def test_permutation_points_compute_the_smaller_layer():
    rng = np.random.default_rng(3)
    incoming, outgoing, x = rng.normal(size=(3, 2)), rng.normal(size=(4, 3)), rng.normal(size=(2, 20))
    vectors, weights = chapter.permutation_points(incoming, outgoing, n=5)
    assert vectors.shape == (150, 5, 2) and weights.shape == (150, 4, 5)
    assert np.allclose(weights @ np.tanh(vectors @ x), outgoing @ np.tanh(incoming @ x), rtol=0, atol=1e-13)
    same = (vectors[:, :, None] == vectors[:, None]).all(axis=-1)  # (150, 5, 5), equal incoming vectors
    gap = np.abs(weights[:, :, :, None] - weights[:, :, None]).max(axis=1)
    assert (gap[same] == 0).all()


@pytest.mark.parametrize("outputs", [1, 2])
def test_no_merge_on_the_straight_way_is_higher_than_its_bound(outputs):
    """Whole networks along the way; for the square, of constant curvature, and one output the bound is the price."""
    rng, ways = np.random.default_rng(outputs), np.linspace(0, 1, 41)
    g = {"logistic": (lambda s: 1 / (1 + np.exp(-s)), 1 / 4, 1 / (6 * 3**0.5)), "square": (np.square, np.inf, 2)}
    for trial, (name, (act, slope, curvature)) in product(range(20), g.items()):
        if name == "square" and outputs > 1:
            continue  # its slope is not bounded
        z, V, a = rng.normal(size=(50, 3)), 2 * rng.normal(size=(5, 3)), rng.normal(size=(5, outputs))
        c, mu = a[0] + a[1], rng.uniform()
        off = rng.normal(size=outputs) if outputs > 1 else np.zeros(1)
        off -= off @ c / (c @ c) * c
        a[:2] = (1 - mu) * c - off, mu * c + off
        y, merged = act(z @ V.T) @ a, (1 - mu) * V[0] + mu * V[1]
        losses = []
        for t in ways:
            now = V.copy()
            now[:2] += t * (merged - V[:2])
            losses.append(np.mean(np.sum((act(z @ now.T) @ a - y) ** 2, axis=1)) / 2)
        apart = np.abs(z @ (V[1] - V[0]))
        root = curvature * mu * (1 - mu) * np.linalg.norm(c) * apart**2 / 2
        root += slope * np.linalg.norm(off) * apart if outputs > 1 else 0
        bound = np.mean(root**2) / 2
        assert max(losses) <= bound * (1 + 1e-9), trial
        if name == "square":
            assert max(losses) == pytest.approx(bound)
