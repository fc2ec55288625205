"""The obstruction between components: least squares and eigenvalues in NumPy."""

import numpy as np
import pytest
import torch
from oracles.linear import FLAT, FLIP, I2, SIZES, at, by_hand, data, minimum, normal, rounding

from lmc_helpers.linear_nets.between import obstruction, path_over_obstruction
from lmc_helpers.linear_nets.minimum import component, loss, path_in_minimum


def test_batched_paths_are_those_of_each_network():
    X, Y = data(3, seed=9)
    a = [minimum(3, X, Y, seed=s) for s in range(4)]
    b = [minimum(3, X, Y, seed=10 + s, signs=component(one, X)) for s, one in enumerate(a)]
    stack = lambda nets: [torch.stack(layer).reshape(2, 2, 3, 3) for layer in zip(*nets, strict=True)]  # noqa: E731
    path = path_in_minimum(stack(a), stack(b), X, Y, 3)
    over = path_over_obstruction(stack(a), X, Y, layer=1, steps=3)
    assert {W.shape for W in (*path, *over)} == {(2, 2, 3, 3, 3)}
    for s in range(4):
        alone = path_in_minimum(a[s], b[s], X, Y, 3)
        over_alone = path_over_obstruction(a[s], X, Y, layer=1, steps=3)
        for many, one in zip((*path, *over), (*alone, *over_alone), strict=True):
            torch.testing.assert_close(many[divmod(s, 2)], one, rtol=1e-9, atol=1e-9)


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
        losses = np.array([by_hand(at(path, i), X, Y) for i in range(steps)])
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
    for layer in (1, 2, 3, 1, 2, 1, 3, 2, 1):
        seen.add(component(net, X))
        net = at(path_over_obstruction(net, X, Y, layer, 3), -1)
        back = minimum(4, X, Y, seed=7, signs=component(net, X))
        assert loss(path_in_minimum(net, back, X, Y, 3), X, Y).max() < 1e-16
    assert len(seen) >= 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: obstruction(FLAT), "Y is singular"),
        (lambda: obstruction(torch.ones(2, 2, 2)), r"Y has shape \(2, 2, 2\); allowed: \(h, h\)"),
        (lambda: path_over_obstruction([I2, I2], I2, I2, 1, 2), "steps = 2; allowed: steps >= 3"),
        (lambda: path_over_obstruction([I2, I2], I2, I2, 0, 3), "layer = 0; allowed: 1 <= layer <= 1"),
        (lambda: path_over_obstruction([I2, I2], I2, I2, 2, 3), "layer = 2; allowed: 1 <= layer <= 1"),
        (lambda: path_over_obstruction([I2, FLIP], I2, I2, 1, 3), "the network has loss 2.0e\\+00 ‖Y‖²"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
