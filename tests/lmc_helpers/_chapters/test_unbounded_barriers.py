"""What chapter *unbounded barriers* computes: forward passes in NumPy, maxima on a grid, descent by torch.optim."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from oracles.orbits import forward, normal
from scipy.integrate import solve_ivp
from scipy.linalg import sqrtm
from scipy.optimize import minimize, minimize_scalar
from torch import nn

from lmc_helpers._chapters import unbounded_barriers as chapter
from lmc_helpers.orbits.homogeneous import random_net, rescale
from lmc_helpers.seeds import torch_generator

DEGREES = [0.5, 1, 2, 3]


@pytest.mark.parametrize("k", DEGREES)
def test_place_of_largest_loss_is_that_on_a_grid(k):
    net = random_net(1, "place", k, 2)
    m = torch.tensor([1e-2, 0.5, 3.0, 50.0], dtype=torch.float64)
    grid = torch.linspace(0, 1, 20_001, dtype=torch.float64)
    found = [grid[net.line(grid, net.rescaled(scale), net.layers).argmax()] for scale in m]
    torch.testing.assert_close(chapter.lambda_of_largest_loss(net, m), torch.stack(found), rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", [1, 7001])
def test_the_network_of_fig_4_reaches_its_targets(seed):
    net, descended = chapter.five_layer_minimum(seed, steps=50)
    assert descended > 1e-2
    assert net.last.shape == (4, 8) and net.before.shape == (8, 16) and net.F.shape == (16, 4)
    assert np.square(forward(net, *net.layers) - net.Y.numpy()).sum() < 1e-24
    more = chapter.five_layer_minimum(seed, steps=150)[1]
    assert more < descended


def test_descent_of_the_network_of_fig_4_is_that_of_torch_optim():
    def drawn(purpose, *shape):
        return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(5, f"{purpose} {shape}"))

    widths = (8, 16, 32, 16, 8, 4)
    X, Y = drawn("X of Fig. 4", 8, 4), drawn("Y of Fig. 4", 4, 4)
    layers = []
    for i in range(5):
        linear = nn.Linear(widths[i], widths[i + 1], bias=False, dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(drawn(f"layer {i} of Fig. 4", widths[i + 1], widths[i]) * (2 / widths[i]) ** 0.5)
        layers += [linear, nn.LeakyReLU(0.01)]
    model = nn.Sequential(*layers[:-1])
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(30):
        loss = (model(X.T).T - Y).square().sum() / 2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert chapter.five_layer_minimum(5, steps=30)[1] == pytest.approx(2 * loss.item(), rel=1e-10)


@pytest.mark.parametrize("k", [0.5, 1, 2])
def test_orbit_interval_and_bound_are_sharp(k):
    last, before = normal(2, 4), normal(4, 3)
    c = 3 * max(last.norm().item(), before.norm().item())
    low, high = chapter.orbit_interval(last, before, k, c)
    for end, layer in ((low, 0), (high, 1)):
        assert rescale(last, before, end, k)[layer].norm().item() == pytest.approx(c, rel=1e-12)
    grid = torch.linspace(0, 1, 20001, dtype=torch.float64)
    largest = max((chapter.output_factor(m, k, grid).max().item() - 1) ** 2 * 7.0**2 for m in (low, high))
    assert chapter.orbit_bound(low, high, k, 7.0) == pytest.approx(largest, rel=1e-6)
    assert chapter.orbit_bound(low, high, k, 7.0) >= largest * (1 - 1e-12)
    pairs = (chapter.output_factor(high / low, k, grid).max().item() - 1) ** 2 * 49
    assert chapter.orbit_bound(low, high, k, 7.0, pairs=True) == pytest.approx(pairs, rel=1e-6)
    with pytest.raises(ValueError, match="c = 1e-06; allowed: c > "):
        chapter.orbit_interval(last, before, k, 1e-6)


@pytest.mark.parametrize("k", DEGREES)
def test_factor_multiplies_the_output_on_the_line(k):
    last, before, net = normal(3, 5), normal(5, 2), SimpleNamespace(F=normal(2, 7), k=k, negative=0.4)
    plain = forward(net, last, before)
    for m in (0.05, 3.0):
        other = last * m**-k, m * before
        for alpha in (0.0, 0.31, 0.5, 1.0):
            line = [(1 - alpha) * one + alpha * two for one, two in zip((last, before), other, strict=True)]
            np.testing.assert_allclose(
                forward(net, *line), chapter.output_factor(m, k, alpha).item() * plain, rtol=1e-12, atol=1e-13
            )


@pytest.mark.parametrize("k", DEGREES)
@pytest.mark.parametrize("m", [1e-3, 0.5, 0.97, 1.02, 4.0, 1e4])
def test_peak_is_the_maximum(k, m):
    place, value = chapter.largest_factor(m, k)
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
    place, value = chapter.largest_factor(m, k)
    there, same = chapter.largest_factor(1 / m, k)
    torch.testing.assert_close(place, 1 - there, rtol=0, atol=1e-10)
    torch.testing.assert_close(value, same, rtol=1e-10, atol=0)
    assert (value.diff() > 0).all() and (value > 1).all()
    assert chapter.largest_factor(1.0, k)[0].item() == 0.5 and chapter.largest_factor(1.0, k)[1].item() == 1.0
    edge = 0.01 / max(1, k)  # where the series takes over
    around = chapter.largest_factor(torch.tensor([edge * (1 - 1e-9), edge * (1 + 1e-9)], dtype=torch.float64).exp(), k)[
        0
    ]
    assert abs(around.diff().item()) < 1e-11
    assert chapter.largest_factor(1e30, k)[0].item() == pytest.approx(k / (1 + k), abs=1e-9)
    above = (chapter.largest_factor(5.0, k)[0].item() - 0.5) * (k - 1)
    assert above > 0 if k != 1 else abs(chapter.largest_factor(5.0, k)[0].item() - 0.5) < 1e-12


@pytest.mark.parametrize("k", [1, 2, 3])
def test_gradient_flow_conserves_what_each_neuron_has_too_much(k):
    rng = np.random.default_rng(k)
    F, Y = rng.normal(size=(3, 5)) / 2, rng.normal(size=(2, 5))

    def layers(x):
        return x[:8].reshape(2, 4), x[8:].reshape(4, 3)

    def flow(_, x):
        last, before = layers(x)
        z = before @ F
        R = last @ np.maximum(z, 0) ** k - Y
        slope = k * np.maximum(z, 0) ** (k - 1) * (z > 0)
        return -np.concatenate([(R @ (np.maximum(z, 0) ** k).T).ravel(), ((last.T @ R * slope) @ F.T).ravel()])

    start = rng.normal(size=20)
    end = solve_ivp(flow, (0, 2), start, rtol=1e-8, atol=1e-10, max_step=0.01).y[:, -1]
    of = [(before**2).sum(axis=1) - k * (last**2).sum(axis=0) for last, before in (layers(start), layers(end))]
    assert np.abs(start - end).max() > 0.1
    np.testing.assert_allclose(of[1], of[0], atol=1e-5)


@pytest.mark.parametrize("excess", [0.2, 1.0, 8.0])
def test_no_two_points_of_the_hyperbola_with_little_imbalance_have_a_higher_barrier(excess):
    """W_2 W_1 = 3, so that s = 3: pairs on a grid with |W_1² − W_2²| <= Δ, the loss (3 − W_2 W_1)² on a grid."""
    W_1 = np.geomspace(0.2, 30, 20_001)
    W_1 = W_1[np.abs(W_1**2 - 9 / W_1**2) <= excess]
    place = np.linspace(0, 1, 101)[:, None]
    loss = [((3 - ((1 - place) * a + place * W_1) * 3 * ((1 - place) / a + place / W_1)) ** 2).max() for a in W_1[:3]]
    bound = 9 * (math.sqrt(1 + excess**2 / 36) - 1) ** 2 / 4
    assert 0.9 * bound < max(loss) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("values", [(1.0, 1.0), (3.0, 1.0), (20.0, 1.0)])
def test_the_worst_inputs_of_balanced_minima_are_as_bad_as_the_bound(values):
    root, kappa = np.diag(np.sqrt(values)), values[0] / values[1]

    def barrier(x):
        X, (c, s) = x[1:].reshape(2, 2), (np.cos(x[0]), np.sin(x[0]))
        found = []
        for q in (np.array([[c, -s], [s, c]]), np.array([[c, s], [s, -c]])):
            middle = (root + root @ q.T) @ (root + q @ root) @ X / 4
            found.append(np.square(root @ root @ X - middle).sum() / np.square(root @ root @ X).sum())
        return -max(found)

    rng = np.random.default_rng(0)
    options = {"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-12}
    worst = max(-minimize(barrier, rng.normal(size=5), method="Nelder-Mead", options=options).fun for _ in range(6))
    assert worst == pytest.approx((kappa + 2 + 1 / kappa) / 4, rel=1e-3)
    assert max(-barrier(x) for x in rng.normal(size=(300, 5))) <= (kappa + 2 + 1 / kappa) / 4 + 1e-12


def test_flows_from_balanced_starts_end_a_rotation_apart_below_the_loss_of_zero():
    rng, h, ends = np.random.default_rng(3), 3, []
    Y = rng.normal(size=(h, h))

    def flow(_, w):
        W1, W2 = w.reshape(2, h, h)
        return np.stack([W2.T @ (Y - W2 @ W1), (Y - W2 @ W1) @ W1.T]).ravel()

    for _ in range(3):
        W1, U = rng.normal(size=(h, h)), np.linalg.qr(rng.normal(size=(h, h)))[0]
        U[:, 0] *= np.sign(np.linalg.det(Y) * np.linalg.det(U @ W1))  # else it ends at a saddle
        start = np.stack([W1, U @ sqrtm(W1 @ W1.T).real])
        W1, W2 = solve_ivp(flow, (0, 300), start.ravel(), rtol=1e-9, atol=1e-11).y[:, -1].reshape(2, h, h)
        assert np.abs(W2 @ W1 - Y).max() < 1e-6
        assert np.abs(W1 @ W1.T - W2.T @ W2).max() < 1e-5
        ends.append((W1, W2))
    (W1, W2), *others = ends
    for V1, V2 in (*others, (-W1, -W2)):
        q = V1 @ np.linalg.inv(W1)
        assert np.abs(q.T @ q - np.eye(h)).max() < 1e-4
        ways = np.linspace(0, 1, 21)
        losses = [np.sum((Y - (t * W2 + (1 - t) * V2) @ (t * W1 + (1 - t) * V1)) ** 2) for t in ways]
        assert max(losses) <= np.sum(Y**2) * (1 + 1e-6)
    assert max(losses) == pytest.approx(np.sum(Y**2))  # of the last, q = −I
