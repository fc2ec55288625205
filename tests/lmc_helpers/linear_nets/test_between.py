"""Between two minima: least squares and eigenvalues in NumPy, points of lines."""

import numpy as np
import pytest
import torch
from oracles.linear import SIZES, at, by_hand, data, minimum, normal, rounding

from lmc_helpers.linear_nets import component, loss, obstruction, path_in_minimum, path_over_obstruction, straight_line


@pytest.mark.parametrize(("layers", "h"), SIZES)
def test_the_straight_line_point_by_point(layers, h):
    a, b = ([normal(2, 3, h, h, seed=s + i) for i in range(layers)] for s in (0, 50))
    places = [0.0, 0.1, 0.5, 0.8, 1.0]
    line = straight_line(a, b, places)
    assert [W.shape for W in line] == [(2, 3, 5, h, h)] * layers
    for A, B, W in zip(a, b, line, strict=True):
        for k, lam in enumerate(places):
            np.testing.assert_allclose(W[1, 2, k], lam * A[1, 2].numpy() + (1 - lam) * B[1, 2].numpy(), atol=1e-14)
        assert W[..., 0, :, :].equal(B) and W[..., -1, :, :].equal(A)  # λ = 1 is the first argument


@pytest.mark.parametrize("h", [1, 2, 5])
def test_no_product_with_a_singular_factor_is_closer_than_the_obstruction(h):
    X, Y = data(h, seed=2)
    expected = np.linalg.eigvalsh(Y.numpy().T @ Y.numpy())[0]
    assert obstruction(Y) == pytest.approx(expected, rel=1e-9)
    for seed in range(20):  # least squares over W_2 once W_1 is singular
        W1 = normal(h, h, seed=seed).numpy()
        W1[0] = 0
        W2 = Y.numpy() @ np.linalg.pinv(W1 @ X.numpy())
        assert np.square(Y.numpy() - W2 @ W1 @ X.numpy()).sum() >= expected * (1 - 1e-9)


@pytest.mark.parametrize(("layers", "h"), SIZES)
@pytest.mark.parametrize("steps", [3, 4, 5, 31])
def test_a_path_over_the_obstruction_changes_two_signs_and_climbs_no_more(layers, h, steps):
    X, Y = data(h, seed=h)
    start = minimum(layers, X, Y, seed=3)
    before = component(start, X)
    least = np.linalg.eigvalsh(Y.numpy().T @ Y.numpy())[0]
    for layer in range(1, layers):
        path = path_over_obstruction(start, X, Y, layer, steps)
        assert [W.shape for W in path] == [(steps, h, h)] * layers
        losses = by_hand(path, X, Y)
        t = np.linspace(0, 1, steps)
        height = np.clip(np.minimum(3 * t, 3 - 3 * t), 0, 1) ** 2
        error = rounding(path, X) ** 0.5  # of the distance to Y, which is at most the square root of least
        np.testing.assert_allclose(losses, height * least, rtol=1e-12, atol=2 * error * least**0.5 + error**2)
        assert losses.max() == pytest.approx(least, rel=1e-6) and losses[-1] < 1e-12 * Y.square().sum()
        after = component(at(path, -1), X)
        assert after == tuple(-s if i in (layer, layer + 1) else s for i, s in enumerate(before, start=1))
        for i in range(layers):
            torch.testing.assert_close(path[i][0], start[i], rtol=1e-12, atol=1e-12)
            assert i in (layer - 1, layer) or path[i].eq(start[i]).all()
    assert max(np.linalg.norm(W[-1] - W[0]) for W in path) > 0


def test_the_end_of_one_path_is_the_start_of_the_next_until_all_components_are_seen():
    X, Y = data(2, seed=1)
    net, seen = minimum(4, X, Y, seed=1), set()
    for layer in (1, 2, 1, 3, 1, 2, 1, 3):  # a Gray code: every sign in turn
        seen.add(component(net, X))
        net = at(path_over_obstruction(net, X, Y, layer, 3), -1)
        back = minimum(4, X, Y, seed=7, signs=component(net, X))
        assert loss(path_in_minimum(net, back, X, Y, 3), X, Y).max() < 1e-16
    assert len(seen) == 8
