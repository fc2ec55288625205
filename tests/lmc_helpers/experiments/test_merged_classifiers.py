"""The pixels' span against NumPy, the projected network against torch's layers, paths against SciPy's minima."""

import numpy as np
import pytest
import torch
from scipy.optimize import least_squares
from scipy.stats import norm as normal
from scipy.stats import t as student

from lmc_helpers.data.images import load
from lmc_helpers.experiments.merged_classifiers import (
    Task,
    core_hours,
    exponent,
    flat,
    merge,
    permutation_point,
    principal,
    random_pair,
    towards,
)
from lmc_helpers.networks.mlp import MLP as Perceptron
from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.pair import PairChart
from lmc_helpers.permutation_points.truncated import FLOOR, SHIFT

DISTANCES = torch.tensor([1.0, 0.9, 0.8], dtype=torch.float64)


def plain(W, b, x):
    """A tanh perceptron, layer after layer, in NumPy."""
    for k, (weight, bias) in enumerate(zip(W, b, strict=True)):
        x = x @ weight.T + bias
        x = np.tanh(x) if k < len(W) - 1 else x
    return x


@pytest.fixture(scope="module")
def merged():
    generator = torch.Generator().manual_seed(1)
    x, _, moments = principal(torch.randn(80, 3, generator=generator, dtype=torch.float64))
    net = MLP((3, 3, 4, 2), "tanh")
    theta, labels = net.initial(1, seed=1, scale=2.0)[0], torch.randint(2, (80,), generator=generator)
    task = Task(net, x, moments, net.forward(theta, x))
    return task, theta, labels, merge(task, theta, (3, 1), DISTANCES, labels, 2000, 1e-8)


def test_inputs_in_the_basis_of_their_span():
    x = load("digits", n=30, seed=1).inputs(torch.float64, flat=True)
    z, Q, moments = principal(x)
    U, S, _ = np.linalg.svd(x.numpy(), full_matrices=False)
    rank = int((S > 1e-6 * S[0]).sum())
    assert z.shape == (30, rank) and rank < 64
    np.testing.assert_allclose(moments, S[:rank] ** 2 / 30, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(z @ Q.T, x)
    torch.testing.assert_close(Q.T @ Q, torch.eye(rank, dtype=torch.float64))
    few, basis, _ = principal(x, 4)
    best = (U[:, :4] * S[:4]) @ (U[:, :4].T @ x.numpy() / S[:4, None])
    np.testing.assert_allclose(few @ basis.T, best, atol=1e-9)
    for wrong, match in (((torch.zeros(3, 2),), "not 0"), ((x[0],), "shape"), ((x, -1), "components = -1")):
        with pytest.raises(ValueError, match=match):
            principal(*wrong)


def test_in_these_coordinates_networks_and_norms_of_gradients_stay():
    x = load("digits", n=30, seed=1).inputs(torch.float64, flat=True)
    stack = Perceptron((64, 3, 3, 10), "tanh").initial([1, 2])
    z, Q, _ = principal(x)
    net = MLP((z.shape[1], 3, 3, 10), "tanh")
    theta = flat(net, stack, Q)
    for k in range(2):
        W = [stack.params[f"{i}.weight"][k].double().requires_grad_() for i in range(3)]
        b = [stack.params[f"{i}.bias"][k].double() for i in range(3)]
        expected = plain([w.detach().numpy() for w in W], [v.numpy() for v in b], x.numpy())
        np.testing.assert_allclose(net.forward(theta[k], z), expected, atol=1e-9)
        out = torch.tanh(torch.tanh(x @ W[0].T + b[0]) @ W[1].T + b[1]) @ W[2].T + b[2]
        whole = torch.autograd.grad(out.square().sum(), W[0])[0]
        t = theta[k].clone().requires_grad_()
        reduced = torch.autograd.grad(net.forward(t, z).square().sum(), t)[0][: 3 * z.shape[1]]
        torch.testing.assert_close(reduced.norm(), whole.norm())


def test_the_loss_is_the_papers(merged):
    task, theta, _, _ = merged
    other = theta + 0.1
    W, b = zip(*[(w.numpy(), v.numpy()) for w, v in task.net.split(other)], strict=True)
    y = task.y.numpy()
    by_hand = np.mean(np.sum((y - plain(W, b, task.x.numpy())) ** 2, axis=1)) / np.mean(y**2)
    assert task.loss(other).item() == pytest.approx(by_hand)
    assert task.local(other).value.item() == pytest.approx(by_hand)


def test_a_path_starts_at_the_teacher_keeps_its_distances_and_has_converged(merged):
    task, theta, labels, found = merged
    apart = theta[task.net.incoming(2, 3)] - theta[task.net.incoming(2, 1)]
    along = [at[task.net.incoming(2, 0)] - at[task.net.incoming(2, 1)] for at in found.path.theta]
    np.testing.assert_allclose([v.norm() for v in along], apart.norm() * DISTANCES)
    assert found.path.loss[0] < 1e-20 and (found.path.gradient_norm <= 1e-8).all()
    right = (task.y.argmax(dim=1) == labels).double().mean()
    assert found.accuracy[0] == right and found.products > 0


def test_the_end_is_a_minimum_at_its_distance(merged):
    task, _, _, found = merged
    first, second = (task.net.incoming(2, i).numpy() for i in (0, 1))
    at, x, y = found.path.theta[-1].numpy(), task.x.numpy(), task.y.numpy()
    delta = np.linalg.norm(at[second] - at[first])

    def residuals(free):
        moved = free.copy()
        e = free[second] - free[first]
        moved[second] = free[first] + delta * e / np.linalg.norm(e)
        W, b = zip(*[(w.numpy(), v.numpy()) for w, v in task.net.split(torch.from_numpy(moved))], strict=True)
        return (plain(W, b, x) - y).ravel() / np.sqrt(len(y) * np.mean(y**2))

    start = at + 1e-3 * np.random.default_rng(0).normal(size=at.shape)
    best = least_squares(residuals, start, xtol=1e-15, ftol=1e-15, gtol=1e-14)
    assert 2 * best.cost == pytest.approx(found.path.loss[-1].item(), rel=1e-5)


@pytest.mark.parametrize("charted", [False, True])
def test_the_metric_is_the_gauss_newton_matrix(merged, charted):
    task, theta, _, _ = merged
    chart = PairChart(task.net, 2) if charted else None
    phi = chart.coordinates(theta) if charted else theta
    free = phi[:-1] if charted else phi

    def outputs(free):
        at = chart.weights(torch.cat([free, phi[-1:]])) if charted else free
        return task.net.forward(at, task.x)

    J = torch.autograd.functional.jacobian(outputs, free).flatten(0, 1)
    M = 2 * J.T @ J / (len(task.x) * task.y.square().mean())
    M.diagonal().add_(SHIFT * (M.diagonal() + FLOOR * M.diagonal().mean()))
    v = M @ torch.linspace(-1, 1, len(free), dtype=torch.float64)
    expected = torch.linspace(-1, 1, len(free), dtype=torch.float64)
    torch.testing.assert_close(task.metric(phi, chart).solve(v), expected, rtol=1e-6, atol=1e-6)


def test_the_permutation_point_is_a_minimum_of_the_smaller_network(merged):
    task, _, labels, found = merged
    theta = found.path.theta[-1]
    loss, norm, share = permutation_point(task, theta, labels, 3000, 1e-7)
    assert norm <= 1e-7
    assert loss > found.path.loss[-1]  # one neuron less

    def residuals(flat):
        W, b, at = [], [], 0
        for n, m in ((3, 3), (3, 3), (3, 2)):
            W.append(flat[at : at + n * m].reshape(m, n))
            b.append(flat[at + n * m : at + n * m + m])
            at += n * m + m
        return plain(W, b, task.x.numpy()) - task.y.numpy()

    (V, v), (W, w), (A, a) = ((M.numpy(), c.numpy()) for M, c in task.net.split(theta))
    W, w = np.vstack([W[:2].mean(axis=0), W[2:]]), np.append(w[:2].mean(), w[2:])
    A = np.hstack([A[:, :2].sum(axis=1, keepdims=True), A[:, 2:]])  # the two neurons as one
    start = np.concatenate([part.ravel() for part in (V, v, W, w, A, a)])
    best = least_squares(lambda flat: residuals(flat).ravel(), start, xtol=1e-15, ftol=1e-15, gtol=1e-12)
    assert loss == pytest.approx(2 * best.cost / (80 * task.scale), rel=1e-5)
    guessed = (residuals(best.x) + task.y.numpy()).argmax(axis=1)
    assert share == pytest.approx(np.mean(guessed == labels.numpy()))


def test_random_pairs_are_all_others():
    drawn = {random_pair(4, (2, 0), 1, f"draw {k}") for k in range(60)}
    assert drawn == {(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)}
    with pytest.raises(ValueError, match="2 neurons"):
        random_pair(2, (0, 1), 1, "none")


@pytest.mark.parametrize("K", [4, 5, 8, 24, 100])
def test_two_thirds_of_the_distances_are_in_the_first_decade(K):
    found = towards(K).numpy()
    assert len(found) == K and found[0] == 1 and found[-1] == pytest.approx(1e-4)
    assert (np.diff(found) < 0).all() and (found > 0.1 + 1e-12).sum() == 2 * K // 3
    early, late = np.log10(found[: 2 * K // 3 + 1]), np.log10(found[2 * K // 3 :])
    np.testing.assert_allclose(np.diff(early), np.diff(early)[0])
    np.testing.assert_allclose(np.diff(late), np.diff(late)[0])


def test_hours_add_up():
    both = core_hours(100, 10, [3, 5], 2, 4, 6)
    assert both == pytest.approx(core_hours(100, 10, [8], 2, 4, 6))
    assert both == pytest.approx(4 * 100 * 10 * 8 * 2 * 4 * 6 / 5e9 / 3600)


def test_exponent_is_that_of_a_power_law():
    scatter = np.array([0.8, 1.0, 1.2])
    found = {H: (5 * H**-0.7 * scatter).tolist() for H in (2, 4, 16)} | {64: [1.0]}  # one value says nothing
    slope, error, n = exponent(found)
    assert (slope, n) == (pytest.approx(-0.7, abs=1e-12), 9)
    # relative deviation 0.2 of a value, of a mean of three over √3; least squares in ln H; 6 degrees of freedom
    x = np.log([2, 4, 16])
    plain = 0.2 / np.sqrt(3) / np.sqrt(((x - x.mean()) ** 2).sum())
    assert error == pytest.approx(plain * student.ppf(0.9995, 6) / normal.ppf(0.9995), rel=1e-6)


def test_exponent_covers_the_truth():
    """Few values a width, spread in proportion: the interval at two-sided 10⁻³ misses about one time in a thousand."""
    draws, misses = np.random.default_rng(1), 0
    for _ in range(2000):
        found = {H: (H**-1.0 * np.exp(0.3 * draws.normal(size=3))).tolist() for H in (4, 5, 6, 8)}
        slope, error, _ = exponent(found)
        misses += abs(slope + 1) > 3.2905 * error
    assert misses <= 12


@pytest.mark.parametrize("found", [{}, {3: [1.0, 2.0]}, {3: [1.0, 2.0], 5: [1.0]}])
def test_exponent_without_two_widths_is_unknown(found):
    assert exponent(found) == (0.0, 1.0, 0)
