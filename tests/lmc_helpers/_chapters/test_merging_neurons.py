"""What chapter *merging neurons* computes, against independent oracles."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from oracles.draws import f64
from scipy.optimize import least_squares

from lmc_helpers._chapters import merging_neurons as chapter
from lmc_helpers.permutation_points import MLP
from lmc_helpers.permutation_points.merging import ENDS, Shallow
from lmc_helpers.seeds import normal


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


@pytest.mark.parametrize(("signs", "end"), [((1.0, 1.0), ENDS[0]), ((1.0, -1.0), ENDS[1])])
def test_output_weights_of_one_sign_meet_and_of_two_signs_diverge(signs, end):
    """Two tanh neurons of one weight each: with a_0 a_1 < 0 the merged output weight would have to change its sign."""
    net, x = MLP((1, 2, 1), "tanh"), torch.linspace(-2, 2, 61, dtype=torch.float64)[:, None]
    weights = f64([0.5], [3.0]), torch.zeros(2).double(), f64(signs), torch.zeros(1).double()
    theta = net.join([weights[:2], weights[2:]])
    problem = Shallow(net, x, net.forward(theta, x))
    ratios = torch.logspace(0, -4, 61, dtype=torch.float64)[1:]
    assert chapter.minimise_closer(problem, theta, [(0, 1), (1, 0)], ratios, 100) == [end, end]


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
    return Shallow(net, x, y[:, None]), SimpleNamespace(theta=theta[None], delta=torch.tensor([1.01]).double())


@pytest.mark.parametrize("kind", ["derivative neuron", "passage", "linear", "exponential neuron"])
def test_the_limit_of_diverging_weights_is_the_network_that_made_the_targets(kind):
    found = chapter.find_limit(*one_with_a_limit(kind))
    assert found.kind == ("passage" if kind == "linear" else kind) and found.kind in chapter.LIMITS
    assert found.delta == pytest.approx(1, abs=1e-7)


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


def test_settled_cubics_and_small_changes_by_hand():
    losses = torch.tensor([[2.0, 1.0, 1.0], [1.0, 1.0, 1.0 + 1e-5]])
    ends = chapter.ReluMinima(torch.zeros(3, 4), losses, torch.tensor([True, False, True]))
    assert ends.settled().tolist() == [False, False, True] and ends.settled(1e-6).tolist() == [False] * 3
    tau = torch.linspace(0.5, 0.05, 40, dtype=torch.float64)
    delta = 0.7 + tau / 3 - 0.2 * tau**2 + 0.1 * tau**3
    assert chapter.seen_limit(SimpleNamespace(delta=delta), tau) == pytest.approx((0.7, 3))
    assert chapter.path_kind(f64(0, 1, 2, 2 - 1e-5)) == "monotone" == chapter.path_kind(f64(3, 3, 3))
    assert chapter.path_kind(f64(0, 1, 2, 2 - 3e-5)) == "minimum at the end"
    assert chapter.path_kind(f64(0, 1, 2, 2 - 3e-5), tol=1e-4) == "monotone"


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


def test_different_values_are_counted():
    generator = torch.Generator().manual_seed(1)
    for n in (1, 2, 7):
        values = torch.randint(1, 4, (n,), generator=generator).double()
        near = values * (1 + 1e-8 * torch.rand(n, dtype=torch.float64, generator=generator))
        assert chapter.count_different(values) == chapter.count_different(near) == len(set(values.tolist()))
    assert (
        chapter.count_different(torch.tensor([1, 1.1, 1.2]), tol=0.2) == 1
        and chapter.count_different(torch.zeros(2)) == 1
    )


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_kinds_are_told_apart_by_where_the_loss_falls(length):
    """All orders of rises and falls: no fall at all, a fall at the end, or a fall before a rise at the end."""
    for moves in itertools.product((1, -1), repeat=length - 1):
        losses = torch.tensor([10.0, *moves], dtype=torch.float64).cumsum(0)
        falls = [k for k, move in enumerate(moves) if move < 0]
        expected = 0 if not falls else 2 if falls[-1] == length - 2 else 1
        assert chapter.path_kind(losses) == chapter.KINDS[expected]
