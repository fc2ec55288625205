"""Branches against SciPy's constrained minimiser, the theorem on their ends, and differences along the curve."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from oracles.perceptrons import inputs
from scipy.optimize import least_squares, minimize

from lmc_helpers._chapters import merging_neurons as chapter
from lmc_helpers.permutation_points import MLP, PairChart, gradient, squared_loss
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.seeds import normal


def toy(sizes=(1, 3, 1), seed=3, n=40, scale=2.0):
    net = MLP(sizes, "tanh")
    theta, x = net.initial(1, seed, scale)[0], inputs(net, n)
    return chapter.Shallow(net, x, net.forward(theta, x)), theta


@pytest.mark.parametrize("sizes", [(1, 3, 1), (2, 3, 2)])
def test_the_jacobian_is_that_of_the_equations(sizes):
    problem, _ = toy(sizes)
    chart = PairChart(problem.net, 1)
    y = chart.coordinates(problem.net.initial(4, seed=8))
    y[:, -1] = y[:, -1].log()
    y = y + 0.1  # off ‖e‖ = 1
    rows = torch.arange(4)
    field = chapter.pair_field(chart, problem)
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
    for branch in chapter.follow_pairs(problem, theta, [(0, 1), (2, 0)], final_ratio=0.3, steps=200):
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
    coarse, back = chapter.follow_pairs(problem, theta, [(0, 1), (1, 0)], final_ratio=0.8, largest=0.02, steps=400)
    ahead = coarse.theta[2:] - coarse.theta[:-2]
    cosine = torch.nn.functional.cosine_similarity(ahead, coarse.tangent[1:-1], dim=1)
    assert cosine.min() > 0.999
    torch.testing.assert_close(coarse.loss[-1], back.loss[-1], rtol=1e-5, atol=0)


def test_branches_of_several_toys_are_those_one_by_one():
    toys = [toy((2, 3, 1), seed, 60) for seed in (1, 2)]
    joined = chapter.join_problems([p for p, _ in toys])
    together = chapter.follow_pairs(joined, torch.stack([t for _, t in toys]), [(0, 1), (0, 1)], final_ratio=0.5)
    for branch, (problem, theta) in zip(together, toys, strict=True):
        [alone] = chapter.follow_pairs(problem, theta, [(0, 1)], final_ratio=0.5)
        torch.testing.assert_close(alone.loss, branch.loss, rtol=1e-8, atol=1e-16)
        assert alone.end in chapter.ENDS and alone.folds == branch.folds


def test_an_end_lies_on_the_parabola_of_its_permutation_point():
    """With one input and no more neurons, D is 2 × 2; the loss near the end falls like κδ²/8 with κ < 0."""
    for seed in (2, 5):
        problem, theta = toy((1, 2, 1), seed=seed, n=60, scale=1.5)
        [branch] = chapter.follow_pairs(problem, theta, [(0, 1)], steps=300)
        assert branch.end == chapter.ENDS[0] and branch.curve.points[-1, -1] < branch.curve.points[0, -1] - 9
        near = (branch.delta / branch.delta[0] < 0.05) & (branch.delta / branch.delta[0] > 3e-3)
        rise = (branch.loss[-1] - branch.loss[near]) / branch.delta[near].square()
        assert len(rise) > 1 and (rise > 0).all()  # the end is the top
        torch.testing.assert_close(rise / rise.mean(), torch.ones_like(rise), rtol=0.3, atol=0)
        split = branch.outgoing[-1, :, 1] - branch.outgoing[-1, :, 0]
        assert split.abs().max() < 1e-2 * branch.outgoing[-1].abs().max()


@pytest.mark.parametrize("others", [(2.0, 3.0), (-1.0, 3.0)])
def test_a_top_is_the_critical_point_that_a_curve_crosses_from_below(others):
    net = MLP((1, 2, 1), "tanh")
    form = torch.tensor([*others, -1.0, 1.0, 1.0, 2.0, 1.5], dtype=torch.float64)[: net.size]
    form[net.incoming(1, 1)[0]] = -1.0  # the curve runs along this axis

    centre = torch.zeros(net.size, dtype=torch.float64)
    centre[net.incoming(1, 1)[0]] = 1.0  # the distance

    def derivatives(theta):  # of 5 + u·Fu/2 + Σ u³/6 with u = θ − centre
        u = theta - centre
        return form * u + u**2 / 2, torch.diag_embed(form + u)

    def loss(theta):
        u = theta - centre
        return 5 + (form * u**2 / 2 + u**3 / 6).sum(dim=-1)

    along = centre.repeat(21, 1)
    along[:, net.incoming(1, 1)[0]] += torch.linspace(-0.11, 0.1, 21, dtype=torch.float64)
    problem = SimpleNamespace(net=net, gradient_and_hessian=derivatives, loss=loss)
    [top] = chapter.tops(problem, SimpleNamespace(theta=along, loss=loss(along)))
    assert top.loss == pytest.approx(5) and top.negative == int((form < 0).sum())
    assert (along[top.place] - centre).abs().max() < 0.011
    form[net.incoming(1, 1)[0]] = 1.0  # now it comes from above
    assert chapter.tops(problem, SimpleNamespace(theta=along, loss=loss(along))) == []


def test_the_hessian_at_fixed_distance_is_that_of_autograd_but_for_the_axis_of_e():
    problem, _ = toy((2, 3, 2))
    chart = PairChart(problem.net, 1)
    phi = chart.coordinates(problem.net.initial(4, seed=8))
    full = hessian(lambda at: problem.loss(chart.weights(at)), phi)[:, :-1, :-1]
    found = chapter.constrained_hessian(chart, problem, torch.cat([phi[:, :-1], phi[:, -1:].log()], dim=1))
    second = problem.net.incoming(1, 1)
    for k in range(4):  # directions across e
        basis = torch.eye(full.shape[1], dtype=torch.float64)
        basis = torch.cat([basis, basis[:, :1] * 0], dim=1)
        basis[second, -1] = phi[k, second]
        across = torch.linalg.svd(basis[:, -1:].mT)[2][1:]
        torch.testing.assert_close(across @ found[k] @ across.T, across @ full[k] @ across.T)


@pytest.mark.parametrize(("signs", "end"), [((1.0, 1.0), chapter.ENDS[0]), ((1.0, -1.0), chapter.ENDS[1])])
def test_output_weights_of_one_sign_meet_and_of_two_signs_diverge(signs, end):
    """Two tanh neurons of one weight each: with a_0 a_1 < 0 the merged output weight would have to change its sign."""
    net, x = MLP((1, 2, 1), "tanh"), torch.linspace(-2, 2, 61, dtype=torch.float64)[:, None]
    weights = f64([0.5], [3.0]), torch.zeros(2).double(), f64(signs), torch.zeros(1).double()
    theta = net.join([weights[:2], weights[2:]])
    problem = chapter.Shallow(net, x, net.forward(theta, x))
    ratios = torch.logspace(0, -4, 61, dtype=torch.float64)[1:]
    assert chapter.minimise_closer(problem, theta, [(0, 1), (1, 0)], ratios, 100) == [end, end]


def test_output_weights_meet_unless_they_part_over_the_last_decade():
    """A slow start does not hide a divergence, nor does growth before the last decade make one."""
    delta = torch.logspace(0, -4, 50, dtype=torch.float64)
    for split, meet in ((delta, True), (1e-2 / delta.clamp(min=1e-2), True), ((1e-4 / delta).clamp(min=1e-2), False)):
        assert chapter._meet(torch.stack([0.5 - split / 2, 0.5 + split / 2], dim=-1)[:, None], delta) is meet


def one_with_a_limit(kind, u=0.02):
    """A network near a limit of this kind, and the limit's function; the pair is 1 apart there."""
    net, x = MLP((2, 4, 1), "tanh"), normal((80, 2), 5, "inputs")
    z = torch.cat([x, torch.ones(80, 1).double()], dim=1)
    V = f64([0.3, -0.8, 0.2], [0.9, -0.8, 1.0], [-1.0, 0.5, 0.4], [0.7, 1.2, -0.3])  # 0 and 1 are 1 apart
    a, beta = f64([1.0, 0.6, -0.8, 0.5])[0], torch.tensor([0.1]).double()
    v = f64([0.4, -0.3, 0.6])[0]
    if kind == "exponential neuron":  # E = 0.2, w = (0.4, −0.3)
        y = (z @ V[:3].T).tanh() @ a[:3] + beta - 0.2 * (-2 * x @ v[:2]).exp()
        V[3], a[3] = torch.cat([v[:2], torch.tensor([2 / (u * 0.2)]).log().double() / 2]), 1 / u
        beta = beta - 1 / u
    elif kind == "linear":  # of the pair: b = 0.5
        V[1, 2] = 0.5 + 0 * V[1, 2]
        V[1, :2] = 0.0
        V[0] = V[1] + f64([0.6, 0.0, 0.8])[0]
        y = (z @ V[[0, 2, 3]].T).tanh() @ a[[0, 2, 3]] + beta + (1 - np.tanh(0.5) ** 2) * (x @ v[:2])
        V[1, :2], a[1] = u * v[:2], 1 / u
        beta = beta - np.tanh(0.5) / u
    else:  # neurons i and 3, with c = a_3
        i = 1 if kind == "passage" else 2
        m, c, s = V[i].clone(), a[3].clone(), z @ V[i]
        rest = [k for k in range(3) if k != i]
        y = (z @ V[rest].T).tanh() @ a[rest] + beta + c * s.tanh() + (z @ v) * (1 - s.tanh() ** 2)
        V[i], V[3] = m - u * v / 2, -(m + u * v / 2)  # neuron 3 with all its weights negated
        a[i], a[3] = c / 2 - 1 / u, -(c / 2 + 1 / u)
    theta = net.join([(V[:, :2], V[:, 2]), (a[None], beta)])
    return chapter.Shallow(net, x, y[:, None]), SimpleNamespace(theta=theta[None], delta=torch.tensor([1.01]).double())


@pytest.mark.parametrize("kind", ["derivative neuron", "passage", "linear", "exponential neuron"])
def test_the_limit_of_diverging_weights_is_the_network_that_made_the_targets(kind):
    found = chapter.find_limit(*one_with_a_limit(kind))
    assert found.kind == ("passage" if kind == "linear" else kind) and found.kind in chapter.LIMITS
    assert found.delta == pytest.approx(1, abs=1e-7)


def test_a_cubic_gives_the_place_and_the_rate_of_a_limit():
    tau = torch.linspace(0.5, 0.05, 40, dtype=torch.float64)
    delta = 0.7 + tau / 3 - 0.2 * tau**2 + 0.1 * tau**3
    assert chapter.seen_limit(SimpleNamespace(delta=delta), tau) == pytest.approx((0.7, 3))


def test_the_gradient_vanishes_as_a_neuron_of_the_pair_becomes_a_step():
    """Proposition *A step neuron*: at the least loss at distance δ, by SciPy, both slopes fall as exp(−2mR)."""
    x, noise = np.linspace(-1.6, 1.3, 16), np.random.default_rng(2).normal(size=16)
    y = np.sign(x) * (0.8 + 0.3 * np.exp(-4 * abs(x))) + np.tanh(1.2 * x + 0.5) + 0.02 * noise

    def parts(at, delta):
        a, b, w, c, phi = at
        V = np.array([[w, c], [w + delta * np.cos(phi), c + delta * np.sin(phi)]])
        z = V @ np.stack([x, np.ones_like(x)])
        return V, z, np.tanh(z).T @ [a, b] - y

    at, found = [1.0, 0.8, 1.2, 0.5, 0.0], []
    for delta in np.arange(20.0, 61, 10):
        at = least_squares(lambda at, d=delta: parts(at, d)[2], at, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        V, z, r = parts(at, delta)
        slopes = (r * at[:2, None] / np.cosh(z) ** 2) @ np.stack([x, np.ones_like(x)], axis=1)
        found.append((abs(z[1]).min(), *np.linalg.norm(slopes, axis=1), np.linalg.norm(V[1]), *at[:4]))
    mR, first, second, R, *others = np.transpose(found)
    assert (mR / R > 0.07).all() and (np.diff(R) > 9).all()  # the step settles on no sample
    assert abs(np.diff(others)[:, -1]).max() < 2e-3  # the other weights converge
    np.testing.assert_allclose(first, second, rtol=2e-2)  # the gradient is normal to the sphere, (−e, e)
    quotient = np.diff(np.log(second)) / np.diff(mR)
    assert (quotient < -1.98).all() and quotient[-1] > -2.3


# Curves with known folds, branch points and neighbours: cubics, a pitchfork, its unfolding, a triple point, sheets
def f64(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def cubic(rows, y):
    """λ = u³ − 3u: folds at (1, −2) and (−1, 2)."""
    u, lam = y[:, 0], y[:, 1]
    return (lam - u**3 + 3 * u)[:, None], torch.stack([3 - 3 * u**2, torch.ones_like(u)], dim=1)[:, None]


@pytest.mark.parametrize("largest", [0.05, 0.3])
def test_a_cubic_is_followed_through_both_folds(largest):
    start = f64([2.5, 2.5**3 - 7.5], [2.0, 2.0])
    both = chapter.trace_curves(cubic, start, -1.0, lambda rows, y: y[:, 1] < -3, steps=2000, largest=largest)
    for curve in both:
        u, lam = curve.points.T
        torch.testing.assert_close(lam, u**3 - 3 * u, rtol=0, atol=1e-9)
        assert len(curve.folds) == 2 and not curve.stuck
        torch.testing.assert_close(u[curve.folds], f64(1.0, -1.0), rtol=0, atol=2 * largest)
        assert u[-1] < -2 and lam[-1] < -3  # the third sheet, which no search at fixed λ from above reaches
        assert (u.diff() < 0).all()  # once along the curve, never back and no jump
        assert not len(curve.switches)
        gaps = curve.points.diff(dim=0).norm(dim=1)
        assert (gaps <= 1.2 * curve.steps).all() and (gaps >= 0.8 * curve.steps).all()


@pytest.mark.parametrize("largest", [0.02, 0.3])
@pytest.mark.parametrize("offset", [0.0, 0.01, -0.01])
def test_the_parabola_of_a_pitchfork(offset, largest):
    """u λ − u³ + ε = 0 from u = 1: through the branch point to u = −1 for ε = 0, along the unfolding else."""

    def pitchfork(rows, y):
        u, lam = y[:, 0], y[:, 1]
        return (u * lam - u**3 + offset)[:, None], torch.stack([lam - 3 * u**2, u], dim=1)[:, None]

    start = f64([1.0, 1 - offset])
    end = lambda rows, y: y[:, 1].abs() > 1.5  # noqa: E731
    [curve] = chapter.trace_curves(pitchfork, start, -1.0, end, steps=2000, largest=largest)
    u, lam = curve.points.T
    torch.testing.assert_close(u * lam, u**3 - offset, rtol=0, atol=1e-9)
    if offset > 0:  # u stays positive and the curve goes on to λ → −∞
        assert (u > 0).all() and lam[-1] < -1.4 and not len(curve.folds)
    elif offset < 0:  # it turns back at λ = 3 (ε/2)^(2/3) and u goes to 0 for λ → ∞
        torch.testing.assert_close(lam.min(), f64(3 * (0.01 / 2) ** (2 / 3))[0], rtol=0, atol=1e-3 + largest**2 / 10)
        assert (u > 0).all() and len(curve.folds) == 1 and u[-1] < 0.1
    else:
        assert u[-1] < -1.2 and len(curve.folds) == 1
        crossed(curve, u, largest)


def crossed(curve, side, largest):
    """One branch point, where ``side`` changes its sign: a short step, on which the tangent hardly turns."""
    [k] = curve.switches.tolist()
    assert side[k] > 0 > side[k + 1]
    assert curve.steps[k] <= 2e-4 * largest
    assert curve.tangents[k] @ curve.tangents[k + 1] > 1 - 1e-8


def test_a_triple_branch_point_is_crossed():
    """a (v − λ² c) = 0, a = λ with v in ℝ³: where a neuron's output weight a is 0, its parameters v are free."""
    c = f64([1.0, -0.5, 0.3])

    def weight(rows, y):
        v, a, lam = y[:, :3], y[:, 3:4], y[:, 4:]
        J = torch.zeros(len(y), 4, 5, dtype=y.dtype)
        J[:, :3, :3], J[:, :3, 3], J[:, :3, 4] = a[..., None] * torch.eye(3), v - lam**2 * c, -2 * a * lam * c
        J[:, 3, 3], J[:, 3, 4] = 1, -1
        return torch.cat([a * (v - lam**2 * c), a - lam], dim=1), J

    start = torch.cat([c, f64([1.0, 1.0])], dim=1)
    [curve] = chapter.trace_curves(weight, start, -1.0, lambda rows, y: y[:, 4] < -1, steps=400)
    lam = curve.points[:, 4:]
    assert lam[-1] < -1
    torch.testing.assert_close(curve.points[:, :3], lam**2 * c, rtol=0, atol=1e-4)
    crossed(curve, lam[:, 0], 0.3 * curve.points.norm(dim=1).max() / start.norm())


def near_sheets(gap):
    """u² = λ² + ε²: two sheets, u > 0 and u < 0, 2ε apart at λ = 0."""

    def field(rows, y):
        u, lam = y[:, 0], y[:, 1]
        return (u**2 - lam**2 - gap**2)[:, None], torch.stack([2 * u, -2 * lam], dim=1)[:, None]

    return field


def bold_step(gap, lam, h):
    """Where Newton's method ends, in the line across the tangent at length h from a point of the upper sheet."""
    u = np.hypot(lam, gap)
    t = -np.array([lam, u]) / np.hypot(lam, u)  # towards smaller λ
    predicted = np.array([u, lam]) + h * t
    across = np.array([-t[1], t[0]])
    s = 0.0
    for _ in range(20):
        at = predicted + s * across
        s -= (at[0] ** 2 - at[1] ** 2 - gap**2) / (2 * at[0] * across[0] - 2 * at[1] * across[1])
    return predicted + s * across, s


@pytest.mark.parametrize("gap", [0.05, 0.02, 1e-3])
@pytest.mark.parametrize("largest", [0.02, 0.3])
def test_the_follower_does_not_jump_across_a_gap(gap, largest):
    """A bold step converges close to its predictor and lands on the other sheet; the curve that is found never does."""
    landed, correction = bold_step(gap, 0.15, 0.3)
    assert landed[0] < 0 and abs(correction) < 0.1 * 0.3
    start = f64([(1 + gap**2) ** 0.5, 1.0])
    end = lambda rows, y: y[:, 1].abs() > 2  # noqa: E731
    [curve] = chapter.trace_curves(near_sheets(gap), start, -1.0, end, steps=2000, largest=largest)
    u, lam = curve.points.T
    torch.testing.assert_close(u, (lam**2 + gap**2).sqrt(), rtol=0, atol=1e-6)  # u > 0
    assert lam[-1] < -2 and not len(curve.folds) and not len(curve.switches)


def test_a_step_across_a_gap_too_narrow_to_see_is_on_record():
    start = f64([1.0, 1.0])
    [curve] = chapter.trace_curves(near_sheets(1e-7), start, -1.0, lambda rows, y: y[:, 1].abs() > 2, steps=2000)
    u, lam = curve.points.T
    assert lam[-1] < -2 and u[-1] < -2 and not len(curve.folds)
    crossed(curve, u, 0.3)


def test_a_curve_that_ends_is_stuck():
    def root(rows, y):  # u = √λ, with no solution at λ < 0, and no derivative at 0
        return (y[:, :1] - y[:, 1:].sqrt()), torch.stack([torch.ones(len(y)), -0.5 / y[:, 1].sqrt()], dim=1)[:, None]

    [curve] = chapter.trace_curves(root, f64([1.0, 1.0]), -1.0, lambda rows, y: y[:, 1] < -1, steps=5000)
    assert curve.stuck and 0 <= curve.points[-1, 1] < 1e-2


# ---------- Minima of ReLU losses against the best of all kinks by least squares
def best_hinge(x, y, near, reach=0.3):
    """Least loss of a + b·max(x − k, 0) over kinks k near one, by a fine grid and least squares."""
    best = np.inf
    for k in np.linspace(near - reach, near + reach, 3001):
        features = np.stack([np.ones_like(x), np.maximum(x - k, 0)], axis=1)
        residual = y - features @ np.linalg.lstsq(features, y, rcond=None)[0]
        best = min(best, (residual**2).mean() / 2)
    return best


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_noisy_hinge_is_fitted_as_well_as_by_the_best_kink(seed):
    generator = np.random.default_rng(seed)
    x = np.sort(generator.standard_normal(60))
    y = np.maximum(x - 0.2, 0) + 0.1 * generator.standard_normal(60)
    start = torch.tensor([[1.0, -0.1, 0.9, 0.1]], dtype=torch.float64)
    tensors = (torch.from_numpy(v)[:, None] for v in (x, y))
    found = chapter.relu_minima(MLP((1, 1, 1), "relu"), start, *tensors)
    kink = (-found.theta[0, 1] / found.theta[0, 0]).item()
    assert found.settled().all()
    assert found.loss.item() <= best_hinge(x, y, kink, reach=0.02) * (1 + 1e-3)
    torch.testing.assert_close(found.theta[0, :2].norm(), torch.tensor(1.0).double(), rtol=1e-6, atol=0)


def test_settled_needs_convergence_and_a_loss_that_rests():
    losses = torch.tensor([[2.0, 1.0, 1.0], [1.0, 1.0, 1.0 + 1e-5]])
    ends = chapter.ReluMinima(torch.zeros(3, 4), losses, torch.tensor([True, False, True]))
    assert ends.settled().tolist() == [False, False, True] and ends.settled(1e-6).tolist() == [False] * 3


# ---------- Closed forms against automatic differentiation; the same function with unit parameter vectors
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("activation", "g", "pin"), [("tanh", None, 0.0), ("relu", chapter.rounded_relu(0.3), 1.0), ("erf", None, 0.5)]
)
@pytest.mark.parametrize("sizes", [(2, 4, 3), (1, 3, 1)])
def test_derivatives_are_those_of_autograd(sizes, activation, g, pin, shared):
    net = MLP(sizes, activation)
    theta, x, y = net.initial(3, 1), normal((3, 30, sizes[0]), 1, "x"), normal((3, 30, sizes[2]), 1, "y")
    problem = chapter.Shallow(net, x[0], y[0], g, pin) if shared else chapter.Shallow(net, x, y, g, pin)
    slope, H = problem.gradient_and_hessian(theta)
    torch.testing.assert_close(slope, gradient(problem.loss, theta), rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(problem.value_and_gradient(theta), (problem.loss(theta), slope), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(H, hessian(problem.loss, theta), rtol=1e-10, atol=1e-13)


def test_the_loss_is_the_squared_loss_of_each_row():
    net = MLP((2, 4, 3), "tanh")
    theta, x, y = net.initial(3, 1), normal((3, 30, 2), 1, "x"), normal((3, 30, 3), 1, "y")
    problem = chapter.Shallow(net, x, y)
    alone = torch.stack([squared_loss(net, x[k], y[k])(theta[k]) for k in range(3)])
    torch.testing.assert_close(problem.loss(theta), alone)
    torch.testing.assert_close(problem.select(torch.tensor([2, 0])).loss(theta[[2, 0]]), alone[[2, 0]])
    torch.testing.assert_close(problem.output(theta)[1], net.forward(theta[1], x[1]))


def test_unit_parameter_vectors_leave_a_relu_network_as_it_is():
    net = MLP((3, 5, 2), "relu")
    theta, x = net.initial(4, 2), normal((20, 3), 1, "x")
    unit = chapter.equal_norms(net, theta)
    torch.testing.assert_close(net.forward(unit, x), net.forward(theta, x))
    (W, b), _ = net.split(unit)
    torch.testing.assert_close(W.square().sum(-1) + b.square(), torch.ones(4, 5, dtype=torch.float64))


@pytest.mark.parametrize("width", [1e-6, 0.1, 3.0])
def test_a_rounded_relu_is_near_and_smooth(width):
    s = torch.linspace(-50, 50, 4001, dtype=torch.float64)
    off = chapter.rounded_relu(width)(s)[0] - s.clamp(min=0)
    assert (off >= 0).all() and off.max() <= width / 2 * (1 + 1e-12) and off.argmax() == 2000


# ---------- different minima
def test_different_values_are_counted():
    generator = torch.Generator().manual_seed(1)
    for n in (1, 2, 7):
        values = torch.randint(1, 4, (n,), generator=generator).double()
        near = values * (1 + 1e-8 * torch.rand(n, dtype=torch.float64, generator=generator))
        assert chapter.count_different(values) == chapter.count_different(near) == len(set(values.tolist()))
    assert chapter.count_different(torch.tensor([1, 1.1, 1.2]), tol=0.2) == chapter.count_different(torch.zeros(2)) == 1


# ---------- Kinds of path
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_kinds_are_told_apart_by_where_the_loss_falls(length):
    """All orders of rises and falls: no fall at all, a fall at the end, or a fall before a rise at the end."""
    for moves in itertools.product((1, -1), repeat=length - 1):
        losses = torch.tensor([10.0, *moves], dtype=torch.float64).cumsum(0)
        falls = [k for k, move in enumerate(moves) if move < 0]
        expected = 0 if not falls else 2 if falls[-1] == length - 2 else 1
        assert chapter.path_kind(losses) == chapter.KINDS[expected]


def test_small_changes_do_not_count():
    assert chapter.path_kind(f64(0, 1, 2, 2 - 1e-5)) == "monotone" == chapter.path_kind(f64(3, 3, 3))
    assert chapter.path_kind(f64(0, 1, 2, 2 - 3e-5)) == "minimum at the end"
    assert chapter.path_kind(f64(0, 1, 2, 2 - 3e-5), tol=1e-4) == "monotone"
