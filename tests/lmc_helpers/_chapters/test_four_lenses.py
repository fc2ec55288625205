"""Lists of neurons against torch's own layers and a plain loop, passes against Monte Carlo and a flood fill."""

import itertools
import math

import numpy as np
import pytest
import torch
from oracles.draws import labelled, normal
from scipy.ndimage import label

from lmc_helpers._chapters import four_lenses as chapter


def problem():
    x, labels = labelled(30, 6, classes=chapter.CLASSES)
    return chapter.with_bias(x), labels


def as_double(pairs):
    return type(pairs)(pairs.raw.double(), pairs.F.double(), pairs.D.double())


def test_the_loss_is_that_of_torch_s_layers():
    x, labels = problem()
    theta = chapter.draw_pairs(2, 5, 6, seed=3).theta
    found = chapter.classifier_loss(x, labels)(theta)
    assert found.shape == (2, 2)
    for k in range(2):
        for end in range(2):
            first, last = torch.nn.Linear(6, 5).double(), torch.nn.Linear(5, chapter.CLASSES, bias=False).double()
            with torch.no_grad():
                first.weight.copy_(theta[k, end, :, :6])
                first.bias.copy_(theta[k, end, :, 6])
                last.weight.copy_(theta[k, end, :, 7:].T)
            z = last(torch.relu(first(x[:, :6])))
            torch.testing.assert_close(found[k, end], torch.nn.functional.cross_entropy(z, labels))


def test_the_start_has_its_variances_and_shares_what_is_fixed():
    pairs = chapter.draw_pairs(200, 8, 32, seed=1, sigma=0.5)
    assert pairs.raw.shape == (200, 2, 8, 43) and pairs.F.shape == pairs.D.shape == (200, 1, 8, 43)
    assert ((pairs.D[..., :32] == 0).sum(dim=-1) == 16).all() and (pairs.D[..., 32:] == 1).all()
    assert (pairs.F[pairs.D == 1] == 0).all() and (pairs.raw[..., 32] == 0).all()
    first, last = (pairs.raw[..., :32], math.sqrt(2 / 32)), (pairs.raw[..., 33:], math.sqrt(1 / 8))
    for values, scale in ((pairs.F[pairs.D == 0], 0.5), first, last):
        assert abs(values.std().item() / scale - 1) < 4.5 / math.sqrt(2 * values.numel())
    assert (pairs.theta[:, 0] == pairs.theta[:, 1])[(pairs.D == 0)[:, 0]].all()


def test_the_descent_of_each_network_is_a_plain_one():
    (x, labels), gamma, steps = problem(), 0.01, 25
    start = as_double(chapter.draw_pairs(2, 5, 6, seed=4, sigma=1.0))
    found = chapter.descend(start, chapter.classifier_loss(x, labels), steps, gamma)
    for k, end in ((0, 1), (1, 0)):
        raw = start.raw[k, end].clone().requires_grad_()
        m = v = torch.zeros_like(raw)
        for t in range(steps):
            theta = start.F[k, 0] + start.D[k, 0] * raw
            z = torch.relu(x @ theta[:, :7].T) @ theta[:, 7:]
            value = torch.nn.functional.cross_entropy(z, labels) + gamma / 2 * raw.square().sum()
            (g,) = torch.autograd.grad(value, raw)
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            rate = chapter.RATE * (1 + math.cos(math.pi * t / steps)) / 2
            step = rate * m / (1 - 0.9 ** (t + 1)) / ((v / (1 - 0.999 ** (t + 1))).sqrt() + 1e-8)
            raw = (raw.detach() - step).requires_grad_()
        torch.testing.assert_close(found.raw[k, end], raw.detach(), rtol=1e-9, atol=1e-11)
        fixed = start.D[k, 0] == 0
        assert (found.theta[k, end][fixed] == start.F[k, 0][fixed]).all()


def test_neurons_that_are_held_equal_stay_so():
    x, labels = problem()
    start, loss = as_double(chapter.draw_pairs(2, 5, 6, seed=5)), chapter.classifier_loss(x, labels)
    places = torch.tensor([0, 1, 1, 3, 4]).expand(2, 2, 5)
    end = chapter.descend(start, loss, 40, 0.0, places).theta
    assert (end[..., 1, :] == end[..., 2, :]).all() and (end[..., 0, :] != end[..., 1, :]).any()
    small = torch.cat([start.theta[..., [0, 1, 3, 4], :]], dim=-2)
    small[..., 1, 7:] *= 2  # the same function with four neurons
    held = torch.take_along_dim(start.theta, places[..., None], dim=-2)
    torch.testing.assert_close(loss(held), loss(small))
    assert (loss(end) < loss(held)).all()


def outputs(theta, x):
    return torch.tanh(x @ theta[..., :3].mT) @ theta[..., 3:]  # any activation: only equal rows are needed


@pytest.mark.parametrize("pair", [(0, 1), (3, 1), (2, 0)])
def test_every_order_is_reached_and_the_function_changes_at_the_merge_only(pair):
    theta, x = normal(4, 3 + 2, seed=4), normal(7, 3, seed=1)
    at_merge = outputs(chapter.merge_pair(theta, *pair), x)
    for order in itertools.permutations(range(4)):
        p = torch.tensor(order)
        path = chapter.reordering_path(theta, 3, pair, p)
        assert path[0].equal(theta) and path[-1].equal(theta[p])
        assert path[1].equal(chapter.merge_pair(theta, *pair)) and path[-2].equal(chapter.merge_pair(theta, *pair)[p])
        for a, b in itertools.pairwise(path[1:-1]):
            for s in (0.0, 0.3, 0.7, 1.0):
                torch.testing.assert_close(outputs((1 - s) * a + s * b, x), at_merge)


def test_the_merge_is_half_way_to_the_exchange():
    theta = normal(5, 5, seed=5)
    swapped = theta[[0, 4, 2, 3, 1]]
    torch.testing.assert_close(chapter.merge_pair(theta, 1, 4), (theta + swapped) / 2)
    torch.testing.assert_close(chapter.merge_pair(torch.stack([theta, swapped]), 1, 4)[1], (theta + swapped) / 2)


@pytest.mark.parametrize("M", [2, 3, 7])
def test_what_is_unexplained_is_the_variance_along_the_direction(M):
    rng = np.random.default_rng(M)
    x = rng.normal(size=M)
    x /= np.linalg.norm(x)
    z = rng.normal(size=(400_000, M))
    again = z + np.outer(rng.normal(size=len(z)) - z @ x, x)  # drawn anew along x
    half = (z.clip(0).sum(axis=1) - again.clip(0).sum(axis=1)) ** 2 / 2
    error = half.std() / math.sqrt(len(z))
    assert abs(chapter.unexplained(torch.from_numpy(x)).item() - half.mean()) < 4.5 * error


def test_the_way_through_the_third_dimension_has_the_loss_of_sampled_inputs():
    rng = np.random.default_rng(0)
    z, alpha, s = rng.normal(size=(1_000_000, 3)), 0.6, 0.3
    u, v = np.array([1, 1, 0]) / 2**0.5, np.array([s, -s, 0]) / 2**0.5 + np.array([0, 0, (1 - s * s) ** 0.5])
    W = np.array([np.cos(alpha) * u + np.sin(alpha) * v, np.cos(alpha) * u - np.sin(alpha) * v])
    target = z[:, :2].clip(0).sum(axis=1)
    f = (z @ W.T).clip(0).sum(axis=1)
    best = (target**2).mean() - (f * target).mean() ** 2 / (f * f).mean()
    found = chapter.way_through(torch.tensor([[alpha]]).double(), torch.tensor([[s]]).double())
    assert abs(found.item() - best) < 0.002 and found.shape == (1,)
    end = chapter.way_through(torch.tensor([[math.pi / 4]]).double(), torch.ones(1, 1).double())
    assert end.abs().item() < 1e-12


def test_a_flood_fill_meets_between_the_two_orders_at_the_pass_below_the_lowest_merge():
    pass_of_two, lowest_merge = 3 / 8 - 2 / math.pi**2, 1 + 1 / math.pi - (3 / 4 + 1 / math.pi) ** 2
    axis = np.arange(-3, 14) / 10
    angle = (np.arange(48) + 0.5) * 2 * math.pi / 48
    z = np.stack([np.cos(angle), np.sin(angle)])  # E ‖z‖² = 2 for standard normal ones
    out = (np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1) @ z).clip(0).reshape(-1, 48)  # of one student
    rest = out - z.clip(0).sum(axis=0)
    losses = 2 * ((out**2).mean(1)[:, None] + (rest**2).mean(1) + 2 * out @ rest.T / 48)
    losses = losses.reshape(4 * [len(axis)])
    here, there = (13, 3, 3, 13), (3, 13, 13, 3)
    assert abs(losses[here]) < 1e-12 and abs(losses[there]) < 1e-12

    def joined(level):
        pieces, _ = label(losses < level)
        return pieces[here] == pieces[there]

    assert joined((pass_of_two + lowest_merge) / 2) and not joined(0.98 * pass_of_two)


def test_passes_are_found_in_three_ways():
    value, index, end = chapter.mirrored_pass(2, seed=1)
    assert index == 1 and end < 1e-12
    assert value == pytest.approx(3 / 8 - 2 / math.pi**2, rel=1e-10)
    assert 2 * chapter.least_blind_loss(2, 12, seed=1) == pytest.approx(value, rel=1e-8)
    value, index, end = chapter.mirrored_pass(3, seed=1)
    assert index == 1 and end < 1e-12
    assert 3 * chapter.least_blind_loss(3, 2, seed=1) == pytest.approx(value, rel=1e-6)
    assert 3 * chapter.relaxed_strings(3, 3, 4, seed=1) == pytest.approx(value, rel=1e-3)


def test_a_square_layer_loses_a_direction_and_a_wider_one_does_not():
    assert chapter.lost_direction(3, 3, seed=1).max() < 1e-9
    assert chapter.lost_direction(4, 3, seed=1).median() > 1e-3
