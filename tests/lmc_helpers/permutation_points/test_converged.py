"""Damped Newton against closed minima, paths against SciPy's minima at a fixed distance; refusals."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from oracles.perceptrons import at_distance, by_hand, inputs
from scipy.optimize import least_squares

from lmc_helpers.permutation_points import MLP, ConvergedPath, PairChart, converged_path, damped_newton

DISTANCES = torch.tensor([1.0, 0.9, 0.8, 0.7])


def distance_from(net, x, y):
    return lambda t: (net.forward(t, x) - y).square().sum(dim=(-2, -1))


@pytest.fixture(scope="module")
def merged():
    net = MLP((2, 3, 2), "tanh")
    theta, x = net.initial(1, seed=4, scale=2.0)[0], inputs(net, 100)
    y = net.forward(theta, x)
    path = converged_path(distance_from(net, x, y), PairChart(net, 1), theta, (2, 0), DISTANCES, 100, 1e-9)
    return net, theta, x, y, path


def test_a_quadratic_is_minimised_and_an_indefinite_start_is_left():
    A = torch.diag(torch.tensor([1.0, 10.0, 1e4], dtype=torch.float64))
    end, norm = damped_newton(lambda t: t @ A @ t / 2 - t.sum(), torch.ones(3, dtype=torch.float64), 50, 1e-9)
    torch.testing.assert_close(end, 1 / A.diagonal())
    assert norm <= 1e-9

    def wells(t):
        return (t[0] ** 2 - 1) ** 2 + t[1] ** 2

    end, _ = damped_newton(wells, torch.tensor([0.1, 1.0], dtype=torch.float64), 60, 1e-10)
    torch.testing.assert_close(end, torch.tensor([1.0, 0.0], dtype=torch.float64), atol=1e-8, rtol=0)
    start = torch.tensor([3.0, 4.0], dtype=torch.float64)
    end, norm = damped_newton(lambda t: t.square().sum(), start, 0, 1e-9)
    assert end.equal(start) and norm == pytest.approx(10)
    end, _ = damped_newton(lambda t: (t[0] / t.norm() - 1) ** 2, start, 40, 1e-12, lambda t: t / t.norm())
    assert end.norm().item() == pytest.approx(1)


def test_the_top_of_a_path_is_seen_between_its_distances_and_on_its_descents():
    """A loss of the distance alone with a ridge between two of the distances; and one that a descent has to cross."""
    net = MLP((1, 2, 1), "tanh")
    chart, theta = PairChart(net, 1), net.initial(1, seed=2)[0]
    first = chart.distance(theta)

    def ridge(at):
        return torch.exp(-(((chart.distance(at) / first).log() - np.log(0.5)) ** 2) / 0.02)

    path = converged_path(ridge, chart, theta, (0, 1), torch.tensor([1.0, 0.25]), 0, 1.0)
    assert path.loss.max() < 1e-6 and 0.9 < path.top[1] <= 1 and path.top[0] == path.loss[0]
    seen = []
    start, watch = torch.tensor([3.0, 4.0]).double(), lambda *pair: seen.append(pair)
    end, _ = damped_newton(lambda t: t.square().sum(), start, 9, 1e-9, watch=watch)
    assert torch.equal(seen[0][0], torch.tensor([3.0, 4.0]).double()) and torch.equal(seen[-1][1], end)
    assert all(torch.equal(a[1], b[0]) for a, b in pairwise(seen))


def test_a_path_keeps_its_distances_and_its_losses_are_those_of_the_networks(merged):
    net, theta, x, y, path = merged
    ends = theta[net.incoming(1, 2)], theta[net.incoming(1, 0)]
    delta = PairChart(net, 1).distance(path.theta)
    np.testing.assert_allclose(delta, (ends[1] - ends[0]).norm() * DISTANCES, rtol=1e-6)
    for at, loss in zip(path.theta, path.loss, strict=True):
        assert (by_hand(net, at, x) - y).square().sum().item() == pytest.approx(loss.item(), rel=1e-9, abs=1e-20)
    larger = path.theta[:, [net.outgoing(1, i).tolist() for i in (0, 1)]].norm(dim=-1).amax(dim=-1)
    torch.testing.assert_close(path.outgoing, larger)


def test_the_points_of_a_path_are_minima_at_their_distance(merged):
    net, _, x, y, path = merged
    first, second = net.incoming(1, 0), net.incoming(1, 1)
    assert (path.gradient_norm <= 1e-9).all()
    for k in (1, 3):
        at = path.theta[k].numpy()
        delta = np.linalg.norm(at[second] - at[first])

        def residuals(free, delta=delta):
            return (by_hand(net, torch.from_numpy(at_distance(free, first, second, delta)), x) - y).numpy().ravel()

        rng = np.random.default_rng(k)
        found = least_squares(residuals, at + 1e-3 * rng.normal(size=at.shape), xtol=1e-15, ftol=1e-15, gtol=1e-14)
        assert 2 * found.cost == pytest.approx(path.loss[k].item(), rel=1e-6)


def test_a_path_is_given_up_after_too_many_misses(merged):
    net, theta, x, y, whole = merged
    arguments = distance_from(net, x, y), PairChart(net, 1), theta, (2, 0), DISTANCES
    kept = converged_path(*arguments, 100, 1e-9, misses=0)
    assert kept.loss.equal(whole.loss) and kept.theta.equal(whole.theta)
    cut = converged_path(*arguments, 1, 1e-9, misses=1)
    full = converged_path(*arguments, 1, 1e-9)
    assert (full.gradient_norm > 1e-9).tolist() == [False, True, True, True]
    assert cut.gradient_norm.isinf().tolist() == [False, False, False, True]
    assert cut.loss[:3].equal(full.loss[:3]) and cut.theta[3].equal(full.theta[2])


def test_rising_is_told_from_falling():
    def path(*losses):
        nothing = torch.zeros(len(losses))
        return ConvergedPath(nothing, torch.tensor(losses, dtype=torch.float64), nothing, nothing)

    assert path(0, 1, 2, 2 - 1e-7).rises()
    assert not path(0, 1, 2, 1.9).rises()
    assert path(0, 1, 2, 1.9).rises(tol=0.1)
    assert path(0, 3, 1, 2).only(torch.tensor([True, False, True, True])).rises()
