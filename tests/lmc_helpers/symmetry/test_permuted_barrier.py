"""Losses at permuted middle points against loops in NumPy, filled outputs against forward passes."""

import itertools
import math

import numpy as np
import pytest
import torch

from lmc_helpers.seeds import torch_generator
from lmc_helpers.symmetry.rescaling import activation, fill_outputs, permuted_losses, rescale


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"permuted barrier {shape}"))


def relu(z):
    return z.clamp(min=0)


@pytest.mark.parametrize(("o", "h", "N", "alpha"), [(1, 1, 1, 0.5), (2, 2, 3, 0.5), (3, 4, 2, 0.3)])
def test_losses_are_those_of_permutation_matrices(o, h, N, alpha):
    one, other, Y = (normal(o, h), normal(h, N)), (normal(o, h, seed=1), normal(h, N, seed=1)), normal(o, N)
    expected = []
    for p in itertools.permutations(range(h)):
        P = np.zeros((h, h))  # (P⁻¹ H)_i = H_p(i)
        P[list(p), range(h)] = 1
        last = (1 - alpha) * one[0].numpy() + alpha * other[0].numpy() @ P
        hidden = (1 - alpha) * one[1].numpy() + alpha * np.linalg.inv(P) @ other[1].numpy()
        expected.append(((Y.numpy() - last @ np.maximum(hidden, 0)) ** 2).sum())
    np.testing.assert_allclose(permuted_losses(one, other, Y, relu, alpha).numpy(), expected, rtol=1e-12)


def test_losses_ignore_the_order_of_the_other_network():
    one, other, Y = (normal(2, 4), normal(4, 3)), (normal(2, 4, seed=1), normal(4, 3, seed=1)), normal(2, 3)
    p = torch.tensor([2, 0, 3, 1])
    shuffled = permuted_losses(one, (other[0][:, p], other[1][p]), Y, relu)
    torch.testing.assert_close(shuffled.sort().values, permuted_losses(one, other, Y, relu).sort().values)


@pytest.mark.parametrize("k", [0.5, 1, 2])
def test_one_rescaled_neuron_cannot_hide_unless_a_column_is_zero(k):
    def sigma(z):
        return activation(z, k, negative=-0.3)

    last, hidden = normal(2, 4), normal(4, 3)
    Y = last @ sigma(hidden)
    m = 1e8
    beta = torch.tensor([1.0, m, 1.0, 1.0], dtype=torch.float64)
    least = permuted_losses((last, hidden), rescale(last, hidden, beta, k), Y, sigma).min()
    leading = (m / 2) ** (2 * k) / 4 * last.square().sum(dim=0).min() * sigma(hidden[1]).square().sum()
    assert (least / leading).item() == pytest.approx(1, abs=1e-2)
    last[:, 3] = 0
    Y = last @ sigma(hidden)
    assert permuted_losses((last, hidden), rescale(last, hidden, beta, k), Y, sigma).min() < 100


@pytest.mark.parametrize("dead", [[], [0], [1, 3], [0, 1, 2]])
def test_filled_outputs_leave_the_function(dead):
    last, before, features = normal(2, 4), normal(4, 3), normal(3, 5)
    last[:, dead] = 0
    hidden = before @ features
    filled, rows = fill_outputs(last, hidden, relu)
    assert (filled != 0).any(dim=0).all()
    torch.testing.assert_close(filled @ relu(before[rows] @ features), last @ relu(hidden))
    kept = [i for i in range(4) if i not in dead]
    assert rows[kept].tolist() == kept and len(set(rows[dead].tolist())) <= 1


W, H, Y = torch.ones(1, 2), torch.ones(2, 3), torch.ones(1, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: permuted_losses((W, H), (W, H[:, :2]), Y, relu), "twice the same"),
        (lambda: permuted_losses((W, H), (W, H[:1]), Y, relu), "allowed"),
        (lambda: permuted_losses((W, H), (W, H), Y.T, relu), r"Y has shape \(3, 1\); allowed: \(1, 3\)"),
        (lambda: permuted_losses((W, H), (W, H), Y, relu, 2.0), "alpha = 2.0; allowed"),
        (lambda: permuted_losses((W, H * math.inf), (W, H), Y, relu), "not finite"),
        (lambda: permuted_losses((W[None], H), (W[None], H), Y, relu), "twice the same"),
        (lambda: permuted_losses(*[(torch.ones(1, 10), torch.ones(10, 3))] * 2, Y, relu), "10"),
        (lambda: fill_outputs(0 * W, H, relu), "no neuron has an outgoing weight and an activation"),
        (lambda: fill_outputs(W, -H, relu), "no neuron has an outgoing weight and an activation"),
        (lambda: fill_outputs(W, H[:1], relu), "allowed"),
        (lambda: fill_outputs(W[None], H, relu), "one network"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
