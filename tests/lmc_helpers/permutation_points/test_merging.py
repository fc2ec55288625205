"""Branches against SciPy's constrained minimiser, the theorem on their ends, differences and autograd."""

import numpy as np
import pytest
import torch
from oracles.perceptrons import inputs
from scipy.optimize import minimize

from lmc_helpers._chapters.merging_neurons import rounded_relu
from lmc_helpers.permutation_points import MLP, PairChart, gradient, merging, squared_loss
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.seeds import normal


def toy(sizes=(1, 3, 1), seed=3, n=40, scale=2.0):
    net = MLP(sizes, "tanh")
    theta, x = net.initial(1, seed, scale)[0], inputs(net, n)
    return merging.Shallow(net, x, net.forward(theta, x)), theta


@pytest.mark.parametrize("sizes", [(1, 3, 1), (2, 3, 2)])
def test_the_jacobian_is_that_of_the_equations(sizes):
    problem, _ = toy(sizes)
    chart = PairChart(problem.net, 1)
    y = chart.coordinates(problem.net.initial(4, seed=8))
    y[:, -1] = y[:, -1].log()
    y = y + 0.1  # off ‖e‖ = 1
    rows = torch.arange(4)
    field = merging.pair_field(chart, problem)
    _, J = field(rows, y)
    for k in range(y.shape[1]):
        step = torch.zeros_like(y)
        step[:, k] = 1e-6
        slope = (field(rows, y + step)[0] - field(rows, y - step)[0]) / 2e-6
        torch.testing.assert_close(J[:, :, k], slope, rtol=1e-6, atol=1e-8)


def test_points_are_constrained_minima_as_scipy_finds_them():
    problem, theta = toy()
    net = problem.net
    first, second = net.incoming(1, 0), net.incoming(1, 1)
    for branch in merging.follow_pairs(problem, theta, [(0, 1), (2, 0)], final_ratio=0.3, steps=200):
        torch.testing.assert_close((branch.theta[:, second] - branch.theta[:, first]).norm(dim=1), branch.delta)
        k = int(branch.negative.eq(0).nonzero()[-1])
        at, delta = branch.theta[k].numpy(), branch.delta[k].item()
        found = minimize(
            lambda t: 1e4 * problem.loss(torch.from_numpy(t)).item(),
            at + 1e-4 * np.random.default_rng(1).standard_normal(at.shape),
            jac=lambda t: 1e4 * gradient(problem.loss, torch.from_numpy(t)).numpy(),
            constraints={"type": "eq", "fun": lambda t, d=delta: np.linalg.norm(t[second] - t[first]) - d},
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        np.testing.assert_allclose(found.fun / 1e4, branch.loss[k].item(), rtol=1e-4)


def test_the_tangent_is_the_difference_of_neighbours_and_pairs_have_no_order():
    problem, theta = toy((2, 3, 1), seed=5, n=60)
    coarse, back = merging.follow_pairs(problem, theta, [(0, 1), (1, 0)], final_ratio=0.8, largest=0.02, steps=400)
    ahead = coarse.theta[2:] - coarse.theta[:-2]
    cosine = torch.nn.functional.cosine_similarity(ahead, coarse.tangent[1:-1], dim=1)
    assert cosine.min() > 0.999
    torch.testing.assert_close(coarse.loss[-1], back.loss[-1], rtol=1e-5, atol=0)


def test_branches_of_several_toys_are_those_one_by_one():
    toys = [toy((2, 3, 1), seed, 60) for seed in (1, 2)]
    joined = merging.join_problems([p for p, _ in toys])
    together = merging.follow_pairs(joined, torch.stack([t for _, t in toys]), [(0, 1), (0, 1)], final_ratio=0.5)
    for branch, (problem, theta) in zip(together, toys, strict=True):
        [alone] = merging.follow_pairs(problem, theta, [(0, 1)], final_ratio=0.5)
        torch.testing.assert_close(alone.loss, branch.loss, rtol=1e-8, atol=1e-16)
        assert alone.end in merging.ENDS and alone.folds == branch.folds


def test_an_end_lies_on_the_parabola_of_its_permutation_point():
    """With one input and no more neurons, D is 2 × 2; the loss near the end falls like κδ²/8 with κ < 0."""
    for seed in (2, 5):
        problem, theta = toy((1, 2, 1), seed=seed, n=60, scale=1.5)
        [branch] = merging.follow_pairs(problem, theta, [(0, 1)], steps=300)
        assert branch.end == merging.ENDS[0] and branch.curve.points[-1, -1] < branch.curve.points[0, -1] - 9
        near = (branch.delta / branch.delta[0] < 0.05) & (branch.delta / branch.delta[0] > 3e-3)
        rise = (branch.loss[-1] - branch.loss[near]) / branch.delta[near].square()
        assert len(rise) > 1 and (rise > 0).all()  # the end is the top
        torch.testing.assert_close(rise / rise.mean(), torch.ones_like(rise), rtol=0.3, atol=0)
        split = branch.outgoing[-1, :, 1] - branch.outgoing[-1, :, 0]
        assert split.abs().max() < 1e-2 * branch.outgoing[-1].abs().max()


def test_the_hessian_at_fixed_distance_is_that_of_autograd_but_for_the_axis_of_e():
    problem, _ = toy((2, 3, 2))
    chart = PairChart(problem.net, 1)
    phi = chart.coordinates(problem.net.initial(4, seed=8))
    full = hessian(lambda at: problem.loss(chart.weights(at)), phi)[:, :-1, :-1]
    found = merging.constrained_hessian(chart, problem, torch.cat([phi[:, :-1], phi[:, -1:].log()], dim=1))
    second = problem.net.incoming(1, 1)
    for k in range(4):  # directions across e
        basis = torch.eye(full.shape[1], dtype=torch.float64)
        basis = torch.cat([basis, basis[:, :1] * 0], dim=1)
        basis[second, -1] = phi[k, second]
        across = torch.linalg.svd(basis[:, -1:].mT)[2][1:]
        torch.testing.assert_close(across @ found[k] @ across.T, across @ full[k] @ across.T)


def test_the_loss_is_the_squared_loss_of_each_row_and_output_weights_meet_unless_they_part():
    """A slow start does not hide a divergence, nor does growth before the last decade make one."""
    delta = torch.logspace(0, -4, 50, dtype=torch.float64)
    for split, met in ((delta, True), (1e-2 / delta.clamp(min=1e-2), True), ((1e-4 / delta).clamp(min=1e-2), False)):
        assert merging.meet(torch.stack([0.5 - split / 2, 0.5 + split / 2], dim=-1)[:, None], delta) is met
    net = MLP((2, 4, 3), "tanh")
    theta, x, y = net.initial(3, 1), normal((3, 30, 2), 1, "x"), normal((3, 30, 3), 1, "y")
    problem = merging.Shallow(net, x, y)
    alone = torch.stack([squared_loss(net, x[k], y[k])(theta[k]) for k in range(3)])
    torch.testing.assert_close(problem.loss(theta), alone)
    torch.testing.assert_close(problem.select(torch.tensor([2, 0])).loss(theta[[2, 0]]), alone[[2, 0]])
    torch.testing.assert_close(problem.output(theta)[1], net.forward(theta[1], x[1]))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("activation", "g", "pin"), [("tanh", None, 0.0), ("relu", rounded_relu(0.3), 1.0), ("erf", None, 0.5)]
)
@pytest.mark.parametrize("sizes", [(2, 4, 3), (1, 3, 1)])
def test_derivatives_are_those_of_autograd(sizes, activation, g, pin, shared):
    net = MLP(sizes, activation)
    theta, x, y = net.initial(3, 1), normal((3, 30, sizes[0]), 1, "x"), normal((3, 30, sizes[2]), 1, "y")
    problem = merging.Shallow(net, x[0], y[0], g, pin) if shared else merging.Shallow(net, x, y, g, pin)
    slope, H = problem.gradient_and_hessian(theta)
    torch.testing.assert_close(slope, gradient(problem.loss, theta), rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(problem.value_and_gradient(theta), (problem.loss(theta), slope), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(H, hessian(problem.loss, theta), rtol=1e-10, atol=1e-13)
