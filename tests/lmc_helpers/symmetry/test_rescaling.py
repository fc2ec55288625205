"""The rescaling symmetry: forward passes in NumPy, maxima by SciPy, closed forms, loops over permutations."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from lmc_helpers.seeds import torch_generator
from lmc_helpers.symmetry.rescaling import (
    activation,
    fill_outputs,
    largest_factor,
    orbit_bound,
    orbit_interval,
    output_factor,
    permuted_losses,
    rescale,
)

DEGREES = [0.5, 1, 2, 3.7]


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"rescaling {shape}"))


def output(last, before, features, k, negative):
    """W_l σ(W_{l−1} F) in NumPy, with sign and power."""
    z = before.numpy() @ features.numpy()
    return last.numpy() @ (np.where(z > 0, 1.0, negative) * np.abs(z) ** k)


@pytest.mark.parametrize("k", DEGREES)
@pytest.mark.parametrize("negative", [0.0, -0.01, 1.0])
def test_activation_is_homogeneous_and_has_its_values(k, negative):
    z = normal(40)
    for c in (0.3, 7.0):
        torch.testing.assert_close(activation(c * z, k, 1.3, negative), c**k * activation(z, k, 1.3, negative))
    values = activation(torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64), k, 1.3, negative)
    assert values.tolist() == [negative, 0.0, 1.3]


def test_activation_of_degree_one_is_leaky_relu_and_is_differentiable():
    z = normal(30).requires_grad_()
    torch.testing.assert_close(activation(z, 1, negative=-0.01), torch.nn.functional.leaky_relu(z, 0.01))
    (slope,) = torch.autograd.grad(activation(z, 0.5).sum(), z)
    expected = torch.where(z > 0, 0.5 / z.abs().sqrt(), torch.zeros_like(z))
    torch.testing.assert_close(slope, expected)


@pytest.mark.parametrize("k", DEGREES)
@pytest.mark.parametrize(("o", "h", "d", "N"), [(1, 1, 1, 1), (3, 5, 2, 7)])
def test_rescaled_layers_compute_the_same_function(k, o, h, d, N):
    last, before, features = normal(o, h), normal(h, d), normal(d, N)
    plain = output(last, before, features, k, -0.2)
    for m in (0.2, 9.0, torch.rand(h, dtype=torch.float64) + 0.1):
        np.testing.assert_allclose(output(*rescale(last, before, m, k), features, k, -0.2), plain, rtol=1e-11)


@pytest.mark.parametrize("k", DEGREES)
def test_factor_multiplies_the_output_on_the_line(k):
    last, before, features = normal(3, 5), normal(5, 2), normal(2, 7)
    plain = output(last, before, features, k, 0.4)
    for m in (0.05, 3.0):
        other = rescale(last, before, m, k)
        for alpha in (0.0, 0.31, 0.5, 1.0):
            line = [(1 - alpha) * one + alpha * two for one, two in zip((last, before), other, strict=True)]
            np.testing.assert_allclose(
                output(*line, features, k, 0.4), output_factor(m, k, alpha).item() * plain, rtol=1e-12, atol=1e-13
            )


@pytest.mark.parametrize("k", DEGREES)
@pytest.mark.parametrize("m", [1e-3, 0.5, 0.97, 1.02, 4.0, 1e4])
def test_peak_is_the_maximum(k, m):
    place, value = largest_factor(m, k)
    found = minimize_scalar(
        lambda a: -math.log(1 - a + a * m**-k) - k * math.log(1 - a + a * m),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    tolerance = 1e-6 if abs(math.log(m)) > 0.1 else 1e-4  # next to m = 1 the function is flat
    assert place.item() == pytest.approx(found.x, abs=tolerance)
    A, c = 1 - m**-k, m - 1
    closed = k**k / (1 + k) ** (1 + k) * (A + c) ** (1 + k) / (c * A**k) if m > 1 else None
    if closed:
        assert value.item() == pytest.approx(closed, rel=1e-9)
    assert value.item() == pytest.approx(math.exp(-found.fun), rel=1e-9)


@pytest.mark.parametrize("k", DEGREES)
def test_peak_is_symmetric_monotone_and_continuous_at_one(k):
    m = torch.logspace(0.01, 3, 60, dtype=torch.float64)
    place, value = largest_factor(m, k)
    there, same = largest_factor(1 / m, k)
    torch.testing.assert_close(place, 1 - there, rtol=0, atol=1e-10)
    torch.testing.assert_close(value, same, rtol=1e-10, atol=0)
    assert (value.diff() > 0).all() and (value > 1).all()
    assert largest_factor(1.0, k)[0].item() == 0.5 and largest_factor(1.0, k)[1].item() == 1.0
    edge = 0.01 / max(1, k)  # where the series takes over
    around = largest_factor(torch.tensor([edge * (1 - 1e-9), edge * (1 + 1e-9)], dtype=torch.float64).exp(), k)[0]
    assert abs(around.diff().item()) < 1e-11
    assert largest_factor(1e30, k)[0].item() == pytest.approx(k / (1 + k), abs=1e-9)
    above = (largest_factor(5.0, k)[0].item() - 0.5) * (k - 1)
    assert above > 0 if k != 1 else abs(largest_factor(5.0, k)[0].item() - 0.5) < 1e-12


@pytest.mark.parametrize("k", [0.5, 1, 2])
def test_orbit_interval_and_bound_are_sharp(k):
    last, before = normal(2, 4), normal(4, 3)
    c = 3 * max(last.norm().item(), before.norm().item())
    low, high = orbit_interval(last, before, k, c)
    for end, layer in ((low, 0), (high, 1)):
        assert rescale(last, before, end, k)[layer].norm().item() == pytest.approx(c, rel=1e-12)
    grid = torch.linspace(0, 1, 20001, dtype=torch.float64)
    largest = max((output_factor(m, k, grid).max().item() - 1) ** 2 * 7.0**2 for m in (low, high))
    assert orbit_bound(low, high, k, 7.0) == pytest.approx(largest, rel=1e-6)
    assert orbit_bound(low, high, k, 7.0) >= largest * (1 - 1e-12)
    pairs = (output_factor(high / low, k, grid).max().item() - 1) ** 2 * 49
    assert orbit_bound(low, high, k, 7.0, pairs=True) == pytest.approx(pairs, rel=1e-6)


def relu(z):
    return z.clamp(min=0)


@pytest.mark.parametrize(("o", "h", "N", "lam"), [(1, 1, 1, 0.5), (2, 2, 3, 0.5), (3, 4, 2, 0.3)])
def test_losses_are_those_of_permutation_matrices(o, h, N, lam):
    one, other, Y = (normal(o, h), normal(h, N)), (normal(o, h, seed=1), normal(h, N, seed=1)), normal(o, N)
    expected = []
    for p in itertools.permutations(range(h)):
        P = np.zeros((h, h))  # (P⁻¹ H)_i = H_p(i)
        P[list(p), range(h)] = 1
        last = lam * one[0].numpy() + (1 - lam) * other[0].numpy() @ P
        hidden = lam * one[1].numpy() + (1 - lam) * np.linalg.inv(P) @ other[1].numpy()
        expected.append(((Y.numpy() - last @ np.maximum(hidden, 0)) ** 2).sum())
    np.testing.assert_allclose(permuted_losses(one, other, Y, relu, lam).numpy(), expected, rtol=1e-12)


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


I2 = torch.eye(2, dtype=torch.float64)
W, H, Y = torch.ones(1, 2), torch.ones(2, 3), torch.ones(1, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: activation(I2, 0), "k = 0; allowed"),
        (lambda: activation(I2, math.nan), "k = nan; allowed"),
        (lambda: activation(I2, 1, negative=math.inf), "negative = inf; allowed: finite"),
        (lambda: rescale(I2, I2, 0.0, 1), "m = 0.0; allowed: finite numbers > 0"),
        (lambda: rescale(I2, I2, torch.tensor([1.0, -2.0]), 1), "m = -2.0; allowed"),
        (lambda: rescale(I2, I2, torch.ones(3), 1), r"m has shape \(3,\); allowed: one number"),
        (lambda: rescale(I2, I2[:1], 1.0, 1), r"shapes \(2, 2\), \(1, 2\); allowed"),
        (lambda: rescale(I2, I2 * math.nan, 1.0, 1), "not finite"),
        (lambda: output_factor(-1.0, 1, 0.5), "m = -1.0; allowed"),
        (lambda: output_factor(2.0, -1, 0.5), "k = -1; allowed"),
        (lambda: output_factor(2.0, 1, 1.5), "lambda = 1.5; allowed: 0 <= lambda <= 1"),
        (lambda: output_factor(2.0, 1, math.nan), "lambda = nan; allowed"),
        (lambda: largest_factor(math.inf, 1), "m = inf; allowed"),
        (lambda: orbit_interval(I2, I2, 1, 1.0), "c = 1.0; allowed: c > 1.41421"),
        (lambda: orbit_interval(I2, 0 * I2, 1, 1.0), "allowed: norms > 0"),
        (lambda: orbit_interval(I2, I2, 1, math.inf), "c = inf; allowed"),
        (lambda: orbit_bound(2.0, 1.0, 1, 1.0), "low = 2.0, high = 1.0; allowed"),
        (lambda: orbit_bound(1.0, 2.0, 1, 0.0), "norm = 0.0; allowed"),
        (lambda: permuted_losses((W, H), (W, H[:, :2]), Y, relu), "twice the same"),
        (lambda: permuted_losses((W, H), (W, H[:1]), Y, relu), "allowed"),
        (lambda: permuted_losses((W, H), (W, H), Y.T, relu), r"Y has shape \(3, 1\); allowed: \(1, 3\)"),
        (lambda: permuted_losses((W, H), (W, H), Y, relu, 2.0), "lambda = 2.0; allowed"),
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
