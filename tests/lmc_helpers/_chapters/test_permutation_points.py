"""Replicated neurons against networks by hand, prescribed curvature against differences of the loss."""

import itertools

import numpy as np
import pytest
import torch
from oracles.perceptrons import LAYERS, by_hand, inputs

from lmc_helpers._chapters import permutation_points as chapter
from lmc_helpers.permutation_points import MLP, double_neurons


@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_replicas_compute_the_same_function_and_share_equally(net, layer):
    theta, x = net.initial(2, seed=3), inputs(net)
    copies = tuple(1 + m % 3 for m in range(net.sizes[layer]))
    big, many = chapter.replicate(net, theta, layer, copies)
    assert big.sizes[layer] == sum(copies)
    for small_theta, big_theta in zip(theta, many, strict=True):
        torch.testing.assert_close(by_hand(big, big_theta, x), by_hand(net, small_theta, x))
        at = 0
        for m, count in enumerate(copies):
            for i in range(at, at + count):
                assert big_theta[big.incoming(layer, i)].equal(small_theta[net.incoming(layer, m)])
                expected = small_theta[net.outgoing(layer, m)] / count
                torch.testing.assert_close(big_theta[big.outgoing(layer, i)], expected)
            at += count


@pytest.mark.parametrize("activation", ["tanh", "softplus"])
def test_prescribed_curvature_is_that_of_the_loss(activation):
    net = MLP((2, 3, 1), activation)
    theta, x = net.initial(1, seed=5, scale=2.0)[0], inputs(net, 80)
    wanted = torch.tensor([[2.0, 1, 0], [1, -1, 0.5], [0, 0.5, 1]], dtype=torch.float64)
    y = chapter.targets_with_curvature(net, theta, 1, x, wanted, size=0.05)

    def loss(t, to=net):
        return (by_hand(to, t, x) - y).square().sum().item() / (2 * len(x))

    assert (by_hand(net, theta, x) - y).abs().max().item() == pytest.approx(0.05)
    h = 1e-5
    for unit in torch.eye(len(theta), dtype=torch.float64):  # critical
        assert abs(loss(theta + h * unit) - loss(theta - h * unit)) / (2 * h) < 1e-9
    big, doubled = chapter.replicate(net, theta, 1, (1, 2, 1))
    h, found = 5e-4, torch.zeros(3, 3, dtype=torch.float64)

    def bend(eta):
        """4 (L(+η) + L(−η) − 2 L(0)) / h², the two copies pulled apart by ±η/2."""
        values = []
        for sign in (1, -1, 0):
            moved = doubled.clone()
            moved[big.incoming(1, 1)] -= sign * eta / 2
            moved[big.incoming(1, 2)] += sign * eta / 2
            values.append(loss(moved, big))
        return 4 * (values[0] + values[1] - 2 * values[2]) / h**2

    for i, j in itertools.combinations_with_replacement(range(3), 2):
        found[i, j] = found[j, i] = bend(h * (torch.eye(3)[[i, j]].double().amax(dim=0)))
    for i in range(3):
        for j in range(i):
            found[i, j] = found[j, i] = (found[i, j] - found[i, i] - found[j, j]) / 2
    torch.testing.assert_close(found / found[0, 0], wanted / wanted[0, 0], atol=2e-3, rtol=0)
    assert found[0, 0] > 0


def test_strict_minima_leave_out_saddles_valleys_and_what_has_not_converged():
    def valley(t):  # minima at (±1, 0), the third direction is flat
        return (t[..., 0] ** 2 - 1) ** 2 + t[..., 1] ** 2

    def bowl(t):
        return valley(t) + t[..., 2] ** 2

    starts = torch.tensor([[2.0, 1.0, 1.0], [-0.5, 2.0, -1.0]], dtype=torch.float64)
    assert chapter.strict_minima(valley, starts, 50, 1e-12, 1e-9).shape == (0, 3)
    expected = torch.tensor([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(chapter.strict_minima(bowl, starts, 50, 1e-12, 1e-9), expected, rtol=0, atol=1e-9)
    assert len(chapter.strict_minima(bowl, starts, 1, 1e-12, 1e-9)) == 0
    assert len(chapter.strict_minima(lambda t: -bowl(t), 0 * starts, 0, 1e-12, 1e-9)) == 0


def test_separated_looks_for_a_gap_in_the_sizes():
    """Against the definition, eigenvalue by eigenvalue, for matrices with a known spectrum in a random basis."""
    rng = np.random.default_rng(2)
    spectra = 10.0 ** rng.uniform(-6, 0, (200, 4)) * rng.choice([-1, 1], (200, 4))
    Q = np.linalg.qr(rng.standard_normal((200, 4, 4)))[0]
    found = chapter.separated(torch.from_numpy(Q * spectra[:, None, :] @ np.swapaxes(Q, 1, 2)), low=1e-4, high=1e-2)
    expected = [not any(1e-4 < abs(v) / max(abs(row)) < 1e-2 for v in row) for row in spectra]
    assert found.tolist() == expected and 0 < sum(expected) < 200
    assert chapter.separated(torch.zeros(3, 3), low=1e-4, high=1e-2)


@pytest.mark.parametrize("negative", [1, 2])
def test_two_neurons_pass_below_the_point_if_and_only_if_its_index_is_two(negative):
    """Half circles through the lowest eigenvector and each of the others; the loss by hand."""
    small = MLP((2, 2, 1), "tanh")
    W, b, V, bias = ([[1.5, -0.5], [0.5, 1.5]], [0.5, -0.5], [[1.0, -1.0]], [0.0])
    theta = small.join(
        [(torch.tensor(W).double(), torch.tensor(b).double()), (torch.tensor(V).double(), torch.tensor(bias).double())]
    )
    x = inputs(small, 80)
    D = torch.diag(torch.tensor([-1.0] * negative + [1.0] * (3 - negative)))
    y = chapter.targets_with_curvature(small, theta, 0, x, D, size=0.01)
    layers = [(W[:1] + W, b[:1] + b), ([[0.5, 0.5, -1.0]], bias)]
    big = MLP((2, 3, 1), "tanh")
    point = big.join([(torch.tensor(w).double(), torch.tensor(v).double()) for w, v in layers])

    def loss(t):
        f = torch.tanh(x @ t[:6].view(3, 2).T + t[6:9]) @ t[9:12] + t[12]
        return ((f - y[:, 0]) ** 2).sum() / (2 * len(x))

    Q = torch.linalg.eigh(torch.autograd.functional.hessian(loss, point)).eigenvectors
    t = torch.linspace(0, torch.pi, 33, dtype=torch.float64)[:, None]
    turns = [point + 0.01 * (t.cos() * Q[:, 0] + t.sin() * Q[:, k]) for k in range(1, big.size)]
    tops = [max(loss(one).item() for one in turn) for turn in turns]
    below = [top < (1 - 1e-12) * loss(point).item() for top in tops]
    assert below == [negative == 2] + [False] * (big.size - 2)
    ends = point + 0.01 * Q[:, 0], point - 0.01 * Q[:, 0]
    torch.testing.assert_close(big.swap(ends[0], 1, 0, 1), ends[1])


def test_half_a_turn_is_as_high_as_the_second_eigenvalue_says():
    """From the tip of a short step along the lowest eigenvector of a D that was made; the loss by hand."""
    small, big = MLP((2, 1, 1), "tanh"), MLP((2, 2, 1), "tanh")
    theta = torch.tensor([1.5, -0.5, 0.5, 1.0, 0.0], dtype=torch.float64)  # W, b, a and the output's bias
    x, D = inputs(small, 80), torch.diag(torch.tensor([-3.0, -1.0, 2.0]))
    y = chapter.targets_with_curvature(small, theta, 0, x, D, size=0.01)[:, 0]

    def loss(t):
        W, b, a = t[..., :4].unflatten(-1, (2, 2)), t[..., 4:6], t[..., 6:8]
        f = (torch.tanh(x @ W.mT + b[..., None, :]) * a[..., None, :]).sum(dim=-1) + t[..., 8:]
        return ((f - y) ** 2).mean(dim=-1) / 2

    point = torch.tensor([1.5, -0.5, 1.5, -0.5, 0.5, 0.5, 0.5, 0.5, 0.0], dtype=torch.float64)
    s = torch.tanh(x @ theta[:2] + 0.5)
    z = torch.cat([x, torch.ones(80, 1)], dim=1)
    kappa = ((s - y) * (-2 * s * (1 - s**2)) * z[:, 1] ** 2).mean().item()  # D_22, the second eigenvalue
    delta, e = 0.005, torch.eye(3, dtype=torch.float64)
    start = point.clone()
    start[big.incoming(1, 0)] -= delta / 2 * e[0]
    start[big.incoming(1, 1)] += delta / 2 * e[0]
    way = chapter.half_turn(loss, big, start, e[1] + 2 * e[0])
    assert ((loss(way).max() - loss(point)) / (kappa * delta**2 / 8)).item() == pytest.approx(1, abs=0.01) and kappa < 0
    apart = way[:, big.incoming(1, 1)] - way[:, big.incoming(1, 0)]
    t = torch.linspace(0, torch.pi, len(way), dtype=torch.float64)[:, None]
    torch.testing.assert_close(apart, delta * (t.cos() * e[0] + t.sin() * e[1]))
    torch.testing.assert_close(big.swap(way[0], 1, 0, 1), way[-1], rtol=0, atol=1e-7)
    whole = chapter.way_round(loss, big, torch.stack([start + 1, start]), e[1], between=2)
    torch.testing.assert_close(whole[2:-2:2], way)
    expected = torch.stack([start + 1, (start + 1 + way[0]) / 2, big.swap(start + 1, 1, 0, 1)])
    torch.testing.assert_close(whole[[0, 1, -1]], expected)
    end = chapter.arrival(big, start, x, y[:, None], 50)
    torch.testing.assert_close(end.theta, point, rtol=0, atol=1e-7)


def test_positive_outputs_keep_the_function_and_a_way_down_goes_in_small_steps():
    net, x = MLP((2, 4, 1), "tanh"), inputs(MLP((2, 4, 1), "tanh"))
    theta = net.initial(1, seed=3)[0]
    signed = chapter.positive_outputs(net, theta)
    torch.testing.assert_close(by_hand(net, signed, x), by_hand(net, theta, x))
    assert (signed[net.split(torch.arange(net.size))[1][0]] > 0).all() and (theta[12:16] < 0).any()

    def loss(t):  # of Rosenbrock
        return (1 - t[..., 0]).square() + 100 * (t[..., 1] - t[..., 0].square()).square()

    way = chapter.descents(loss, torch.tensor([[0.9, 0.8], [-1.0, 1.0]], dtype=torch.float64), points=4)[1]
    corners = way[::4]
    assert (corners[1:] - corners[:-1]).norm(dim=1).max() <= 0.2 + 1e-12
    assert (loss(corners[1:]) <= loss(corners[:-1])).all()
    torch.testing.assert_close(way[-1], torch.ones(2, dtype=torch.float64))
    assert [t.tolist() for t in chapter.distinct(loss, way[[0, -1, 0]])] == [way[0].tolist(), way[-1].tolist()]


@pytest.mark.parametrize(("n", "outputs", "neurons"), [(1, 2, 1), (1, 5, 2), (2, 3, 3), (3, 4, 2)])
@pytest.mark.parametrize("sums", [False, True])
def test_where_the_gradient_vanishes_J_has_the_rank_of_the_theorem(n, outputs, neurons, sums):
    """Parameters at random, and residuals at random among those with gradient 0: minima and saddles of all kinds."""
    rng, small = np.random.default_rng(n), MLP((n, neurons, outputs), "tanh")
    x, V, c = rng.normal(size=(40, n)), rng.normal(size=(neurons, n + 1)), rng.normal(size=(outputs, neurons + 1))
    if sums:
        c -= c.mean(axis=0)  # then outputs and targets sum to 0
    z = np.c_[x, np.ones(40)]
    g = np.c_[np.tanh(z @ V.T), np.ones(40)]
    by_output = np.einsum("tk,oq->kotq", g, np.eye(outputs)).reshape(-1, 40 * outputs)
    by_neuron = np.einsum("ti,ta,oi->iato", 1 - g[:, :-1] ** 2, z, c[:, :-1]).reshape(-1, 40 * outputs)
    by_sum = np.einsum("ts,o->sto", np.eye(40) * sums, np.ones(outputs)).reshape(40, -1)
    equations = np.linalg.svd(np.r_[by_output, by_neuron, by_sum].T, full_matrices=False)
    span = equations[0][:, equations[1] > 1e-9]
    r = rng.normal(size=40 * outputs)
    r = (r - span @ (span.T @ r)).reshape(40, outputs)
    y = torch.from_numpy(g @ c.T - r)
    theta = small.join([(torch.from_numpy(M[:, :-1].copy()), torch.from_numpy(M[:, -1].copy())) for M in (V, c)])
    for p in double_neurons(small, theta, torch.from_numpy(x), y):
        assert (torch.linalg.svdvals(p.J) > 1e-9).sum() == min(outputs - 1 - sums, n + 1)
