"""The residual network: losses entry by entry, determinants by permutations, paths that NumPy checks point by point."""

import itertools
import math

import numpy as np
import pytest
import torch
from oracles.linear import FLAT, I2, at, data, leibniz, matrix, normal

from lmc_helpers.linear_nets.residual import (
    middle,
    require_residual_minimum,
    residual_components,
    residual_loss,
    residual_minimum,
    residual_path,
)

EPS = [0.7, -1.3, 0.0]


def by_hand(weights, X, Y, eps):
    W1, W2, W3 = (W.numpy() for W in weights)
    out = np.einsum("ij,jk,kl->il", W3, W2, W1) @ X.numpy() + eps * W3 @ X.numpy()
    return sum(float(d) ** 2 for d in (Y.numpy() - out).ravel())


def signs(W1, W2, eps):
    return np.sign(leibniz(W2.numpy() @ W1.numpy() + eps * np.eye(len(W1)))), np.sign(leibniz(W1.numpy()))


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("eps", EPS)
def test_the_loss_and_the_minimum(n, eps):
    X, Y = data(n, seed=n)
    W1, W2, W3 = normal(3, 2, 3, n, n, seed=n)
    batch, best = residual_loss([W1, W2, W3], X, Y, eps), residual_minimum(W1, W2, X, Y, eps)
    assert batch.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert batch[index].item() == pytest.approx(by_hand(at([W1, W2, W3], *index), X, Y, eps), rel=1e-11)
        assert by_hand(at(best, *index), X, Y, eps) < 1e-18 * Y.square().sum()
        M = W2[index].numpy() @ W1[index].numpy() + eps * np.eye(n)
        np.testing.assert_allclose(middle(W1, W2, eps)[index], M, atol=1e-14)
        np.testing.assert_allclose(best[2][index].numpy() @ M @ X.numpy(), Y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("eps", EPS)
def test_the_component_is_one_sign_or_two(n, eps):
    some = normal(2, 20, n, n, seed=3)
    for W1, W2, found in zip(*some, residual_components(*some, eps).tolist(), strict=True):
        of_M, of_W1 = signs(W1, W2, eps)
        assert found == [of_M, of_W1 if eps == 0 else 0]


@pytest.mark.parametrize("eps", EPS)
def test_one_dimension_has_three_components_with_and_four_without_the_skip_connection(eps):
    w = torch.linspace(-4, 4, 80, dtype=torch.float64)
    W1, W2 = (W.reshape(-1, 1, 1) for W in torch.meshgrid(w, w, indexing="ij"))
    found = {tuple(c) for c in residual_components(W1, W2, eps).tolist()}
    s = int(np.sign(eps))
    assert found == ({(s, 0), (-s, 1), (-s, -1)} if eps else {(1, 1), (1, -1), (-1, 1), (-1, -1)})


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("steps", [2, 5, 6])
def test_a_path_joins_any_two_minima_of_one_component(n, eps, steps):
    X, Y = data(n, seed=n)
    W1, W2 = normal(2, 24, n, n, seed=7)
    joined = set()
    found = residual_components(W1, W2, eps)
    for label in {tuple(c) for c in found.tolist()}:
        group = [i for i in range(24) if tuple(found[i].tolist()) == label]
        nets = residual_minimum(W1[group], W2[group], X, Y, eps)
        path = residual_path(at(nets, slice(None, -1)), at(nets, slice(1, None)), X, Y, eps, steps)
        assert {W.shape for W in path} == {(len(group) - 1, 5 * steps - 4, n, n)}
        for k in range(len(group) - 1):
            for t in range(5 * steps - 4):
                assert by_hand(at(path, k, t), X, Y, eps) < 1e-13 * Y.square().sum()
                assert np.sign(leibniz(middle(path[0][k, t], path[1][k, t], eps).numpy())) == label[0]
            for end, i in ((0, k), (-1, k + 1)):
                for W, there in zip(path, nets, strict=True):
                    torch.testing.assert_close(W[k, end], there[i], rtol=1e-9, atol=1e-9 * there[i].abs().max().item())
        first = [np.sign(leibniz(W.numpy())) for W in W1[group]]
        joined |= {(label, *two) for two in itertools.pairwise(first)}
    crossed = {label for label, one, other in joined if one != other}
    assert crossed == {label for label in {tuple(c) for c in found.tolist()} if label[1] == 0}


@pytest.mark.parametrize(("n", "eps"), [(1, 0.7), (2, -1.3), (3, 0.7), (2, 0.0), (1, -1.3)])
def test_the_jumps_of_a_path_shrink_with_its_steps(n, eps):
    X, Y = data(n, seed=2)
    W1, W2 = normal(2, 12, n, n, seed=4)
    found = residual_components(W1, W2, eps)
    i, j = next(
        (i, j)
        for i, j in itertools.combinations(range(12), 2)
        if found[i].equal(found[j]) and (found[i, 1] != 0 or W1[i].det() * W1[j].det() < 0)
    )
    a, b = (residual_minimum(W1[k], W2[k], X, Y, eps) for k in (i, j))
    jumps = []
    for steps in (401, 801, 1601):
        path = residual_path(a, b, X, Y, eps, steps)
        jumps.append(max((W[1:] - W[:-1]).abs().max().item() for W in path))
    assert jumps[1] < 0.6 * jumps[0] and jumps[2] < 0.6 * jumps[1]


@pytest.mark.parametrize("eps", [2.0, -0.5])
def test_paths_from_singular_first_layers(eps):
    X, Y = data(3, seed=1)
    nil = torch.zeros(3, 3, dtype=torch.float64)
    one = torch.diag(matrix([1.0, 0.0, -2.0]))
    of_M = int(math.copysign(1, eps))
    other = torch.diag(matrix([1.0, -1.0, -1.0]))
    goal = residual_minimum(other, abs(eps) * torch.eye(3, dtype=torch.float64) / 4, X, Y, eps)
    for W1, W2 in ((nil, nil), (nil, one), (one, nil), (one, torch.diag(matrix([0.0, 5.0, 0.0])))):
        assert residual_components(W1, W2, eps).tolist() == [of_M**3, 0]
        path = residual_path(residual_minimum(W1, W2, X, Y, eps), goal, X, Y, eps, 9)
        assert residual_loss(path, X, Y, eps).max() < 1e-24 * Y.square().sum()


NET = [I2, I2, I2 / 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: residual_loss([I2, I2], I2, I2, 1.0), "2 matrices W_i; allowed: W_1, W_2, W_3"),
        (lambda: residual_loss([I2, I2, I2[:1]], I2, I2, 1.0), r"W_3 has shape \(1, 2\); allowed: \(2, 2\)"),
        (lambda: residual_loss([I2, I2, I2], I2, I2.float(), 1.0), "Y has dtype torch.float32"),
        (lambda: residual_loss(NET, I2, I2, math.inf), "eps = inf; allowed: a finite number"),
        (lambda: residual_minimum(I2, -I2, I2, I2, 1.0), r"W_2 W_1 \+ eps I has the singular value 0.0e\+00"),
        (lambda: residual_minimum(I2, I2, FLAT, I2, 1.0), "X is singular"),
        (lambda: residual_minimum(I2, I2, I2, FLAT, 1.0), "Y is singular"),
        (lambda: residual_components(I2, I2 * math.nan, 1.0), "W_2 holds nan"),
        (lambda: residual_components(FLAT, I2, 0.0), r"W_2 W_1 \+ eps I has the singular value"),
        (lambda: residual_components(I2, I2, math.nan), "eps = nan"),
        (lambda: require_residual_minimum("a", [I2, I2, I2], I2, I2, 1.0), "a has loss 1.0e\\+00 ‖Y‖²; allowed"),
        (lambda: residual_path(NET, NET, I2, I2, 1.0, 1), "steps = 1; allowed: steps >= 2"),
        (lambda: residual_path(NET, [I2, I2, I2], I2, I2, 1.0, 3), "b has loss"),
        (lambda: residual_path(NET, NET, FLAT, I2, 1.0, 3), "X is singular"),
        (lambda: residual_path(NET, [W[None] for W in NET], I2, I2, 1.0, 3), "b has .*; allowed: the same"),
        (
            lambda: residual_path(
                NET, residual_minimum(I2, -3 * I2 @ torch.diag(matrix([1.0, 0])), I2, I2, 1.0), I2, I2, 1.0, 3
            ),
            r"a lies in component \(1, 0\), b in \(-1, 0\); allowed",
        ),
        (
            lambda: residual_path(
                *([matrix([[s]]), matrix([[-2.0 * s]]), matrix([[-1.0]])] for s in (1, -1)),
                *[matrix([[1.0]])] * 2,
                1.0,
                3,
            ),
            r"a lies in component \(-1, 1\), b in \(-1, -1\)",
        ),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
