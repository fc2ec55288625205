"""Pairs with shared fixed weights neuron by neuron and step by step, and the loss against torch's own."""

import math

import numpy as np
import pytest
import torch
from oracles.draws import labelled, normal
from scipy.integrate import dblquad, quad

from lmc_helpers._chapters import chord_deviation as chapter

PROBLEM = labelled(40, 7, classes=10)


def train(**change):
    arguments = {"scales": [0.0, 2.0], "networks": 2, "hidden": 6, "fixed": 3, "steps": 30, "seed": 4} | change
    return chapter.train_pairs(*PROBLEM, **arguments)


def test_cross_entropy_is_that_of_torch():
    z = normal(2, 3, 5, 10, seed=1)
    labels = torch.tensor([0, 9, 3, 3, 1])
    for i in range(2):
        for j in range(3):
            expected = torch.nn.functional.cross_entropy(z[i, j], labels)
            torch.testing.assert_close(chapter.cross_entropy(z, labels)[i, j], expected)


def test_fixed_entries_are_shared_and_have_their_scale():
    pairs = train(networks=40)
    assert pairs.F.shape == pairs.D.shape == (80, 1, 6, 7)
    assert ((pairs.D == 0).sum(dim=-1) == 3).all() and pairs.F[pairs.D == 1].eq(0).all()
    assert pairs.F[:40].eq(0).all()
    fixed = pairs.F[40:][pairs.D[40:] == 0]
    assert abs(fixed.std().item() - 2) < 4.5 * 2 / math.sqrt(2 * len(fixed))
    assert [c.step for c in pairs.checkpoints] == [0, 2, 6, 15, 30]


def test_outputs_neuron_by_neuron():
    pairs, (x, _) = train(), PROBLEM
    last = pairs.checkpoints[-1]
    z = pairs.outputs(last.W, last.A, x)
    for n, end in ((0, 0), (3, 1)):
        rows = [pairs.F[n, 0, i] + pairs.D[n, 0, i] * last.W[n, end, i] for i in range(6)]
        hidden = torch.stack([torch.relu(x @ row) for row in rows], dim=-1)
        torch.testing.assert_close(z[n, end], hidden @ last.A[n, end].T)


def test_the_first_step_of_a_pair_has_the_size_of_the_rate():
    """AdamW's first step is the rate times the sign of the gradient, after the decay."""
    first, last = train(scales=[1.0], networks=1, steps=1).checkpoints
    assert (first.step, last.step) == (0, 1)
    moved = last.A - first.A * (1 - 0.01 * 0.01)
    assert moved.abs().max().item() == pytest.approx(0.01, rel=1e-3)
    assert not first.W[0, 0].equal(first.W[0, 1])
    pairs, (x, labels) = train(steps=60), PROBLEM
    first, last = pairs.checkpoints[0], pairs.checkpoints[-1]
    before, after = (chapter.cross_entropy(pairs.outputs(c.W, c.A, x), labels) for c in (first, last))
    assert (after < before).all()
    held = (pairs.D == 0).expand_as(first.W)
    torch.testing.assert_close(last.W[held], first.W[held] * (1 - 0.01 * 0.01) ** 60)


def xi(eta, u, v, lam, x):
    return eta(x @ (lam * u + (1 - lam) * v)) - lam * eta(x @ u) - (1 - lam) * eta(x @ v)  # λ = 1 is u


def test_closed_form_by_an_integral_over_directions():
    u, v, lam = torch.tensor([1.0, 0.2]).double(), torch.tensor([-0.4, 0.9]).double(), 0.3

    def integrand(angle):
        ray = torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float64)
        return xi(torch.relu, u, v, lam, ray).item() ** 2

    exact = quad(integrand, 0, 2 * math.pi, limit=400, epsabs=1e-11)[0] / math.pi
    assert chapter.chord_deviation(u, v, lam).item() == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("u, v, lam", [((1, 0.2), (-0.4, 0.9), 0.7), ((1, 0), (-2, 0), 0.5), ((0, 0), (1, 1), 0.3)])
def test_quadrature_between_kinks_by_monte_carlo(u, v, lam):
    u, v, x = torch.tensor(u).double(), torch.tensor(v).double(), normal(400_000, 2, seed=20)
    squares = xi(torch.relu, u, v, lam, x).square()
    stderr = squares.std().item() / math.sqrt(len(x))
    assert abs(chapter.deviation_by_quadrature(u, v, lam) - squares.mean().item()) < 4.5 * stderr + 1e-12


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9, 1e-12])
def test_nearly_equal_vectors_keep_their_digits(apart):
    u, across = torch.tensor([2.0, 0.0, 0.0]).double(), torch.tensor([0.3, 0.4, 0.0]).double()
    theta = 0.4 * apart / 2  # leading order
    leading = 2 / (3 * math.pi) * 4 * theta**3 * 0.25**2
    assert chapter.chord_deviation(u, u + apart * across, 0.5).item() == pytest.approx(leading, rel=3 * apart + 1e-9)


def test_closed_form_is_symmetric_homogeneous_and_invariant_under_rotations():
    u, v = normal(5, 4, seed=4), normal(5, 4, seed=5)
    Q = torch.linalg.qr(normal(4, 4, seed=6)).Q
    value = chapter.chord_deviation(u, v, 0.3)
    tripled = chapter.chord_deviation(3 * u, 3 * v, 0.3) / 9
    for other in (chapter.chord_deviation(v, u, 0.7), chapter.chord_deviation(u @ Q, v @ Q, 0.3), tripled):
        torch.testing.assert_close(value, other, rtol=1e-10, atol=0)
    batch = chapter.chord_deviation(u[:, None], v[:, None], torch.tensor([0.1, 0.3]).double())
    torch.testing.assert_close(batch[:, 1], value)
    u = torch.tensor([1.0, 2.0]).double()
    assert chapter.chord_deviation(u, 0 * u, 0.4).item() == 0  # ReLU is linear on rays
    assert chapter.chord_deviation(u, -3 * u, 0.75).item() == pytest.approx(0.75**2 * 5)  # w = 0
    assert chapter.chord_deviation(u, -u, 0.25).item() == pytest.approx(0.25**2 * 5)
    t = torch.linspace(0.25, 0.35, 11, dtype=torch.float64)
    torch.testing.assert_close(chapter.circular_segment(t), t - t.sin() * t.cos(), rtol=1e-13, atol=0)
    assert chapter.circular_segment(torch.zeros(())).item() == 0


def test_covariances_with_and_without_full_rank():
    B, W = normal(3, 2, seed=7), normal(4, 3, seed=8)
    covariance = B @ B.mT
    standard = chapter.in_standard_coordinates(W, covariance)
    torch.testing.assert_close(standard @ standard.mT, W @ covariance @ W.mT)
    z = normal(300_000, 2, seed=9) @ B.mT
    squares = xi(torch.relu, W[0], W[1], 0.4, z).square()
    found = chapter.chord_deviation(standard[0], standard[1], 0.4).item()
    assert found == pytest.approx(squares.mean().item(), rel=0.03)


@pytest.mark.parametrize("beta", [1e-3, 0.1, 0.6, 1.0, 1.7])
def test_no_admissible_pair_exceeds_the_supremum_and_symmetric_pairs_reach_it(beta):
    f = torch.tensor([1.0, 0.0, 0.0]).double()
    a, b = (x / x.norm(dim=-1, keepdim=True) for x in (normal(20_000, 3, seed=12), normal(20_000, 3, seed=13)))
    ends = f + beta * a, f + beta * b
    random = max(chapter.chord_deviation(*ends, lam).max().sqrt().item() for lam in (0.3, 0.5, 0.6))
    S = chapter.worst_chord_deviation(beta)
    assert random <= S <= chapter.relu_bound(beta) < chapter.printed_relu_bound(beta)
    t = torch.linspace(-1, 1, 20_001, dtype=torch.float64)
    side = torch.stack([t, (1 - t * t).clamp(min=0).sqrt(), 0 * t], dim=-1)
    flipped = side * torch.tensor([1.0, -1.0, 1.0]).double()
    best = chapter.chord_deviation(f + beta * side, f + beta * flipped, 0.5).max().sqrt().item()
    assert best == pytest.approx(S, rel=1e-6)
    assert random > 0.9 * S


@pytest.mark.parametrize("beta", [0.0, 0.05, 0.9, 1.5])
def test_search_finds_the_worst_pair(beta):
    """The family u, v = D f ± a e that attains the supremum, by brute force over a circle."""
    t = np.linspace(-1, min(1, 1 / beta) if beta else 1, 200_001)
    D, a = 1 - beta * t, beta * np.sqrt(np.clip(1 - t * t, 0, None))
    J = ((a**2 + D**2) * np.arctan2(a, D) - a * D) / (2 * math.pi)
    assert chapter.search_worst_pair(beta, seed=3) == pytest.approx(math.sqrt(max(J.max(), 0)), rel=1e-6, abs=1e-9)
    assert chapter.search_worst_pair(beta, seed=3, rounds=2) <= math.sqrt(max(J.max(), 0)) * (1 + 1e-9) + 1e-9


def test_relu_bound_is_sharp_for_small_beta():
    for beta in (1e-2, 1e-4, 1e-6):
        assert 1 - beta**2 / 10 - 1e-12 <= chapter.worst_chord_deviation(beta) / chapter.relu_bound(beta) <= 1 + 1e-12
    assert chapter.worst_chord_deviation(0.0) == 0


@pytest.mark.parametrize("name", chapter.SMOOTH_ACTIVATIONS)
def test_curvatures_and_quadrature(name):
    eta, curvature = chapter.SMOOTH_ACTIVATIONS[name]
    z = torch.linspace(-6, 6, 200_001, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(eta(z).sum(), z, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), z)
    assert second.abs().max().item() == pytest.approx(curvature, rel=1e-7)
    u, v = torch.tensor([0.8, 0.1, 0.0]).double(), torch.tensor([-0.2, 0.5, 0.3]).double()
    x = normal(400_000, 3, seed=14)
    squares = xi(eta, u, v, 0.35, x).square()
    stderr = squares.std().item() / math.sqrt(len(x))
    value = chapter.smooth_deviation(u, v, 0.35, name).item()
    assert abs(value - squares.mean().item()) < 4.5 * stderr
    assert value == pytest.approx(chapter.smooth_deviation(v, u, 0.65, name, nodes=90).item(), rel=1e-8)


def test_quadrature_against_an_adaptive_rule():
    u, v = torch.tensor([0.8, 0.1]).double(), torch.tensor([-0.2, 0.5]).double()

    def integrand(y, x):
        values = [math.tanh(a * x + b * y) for a, b in ((0.3, 0.3), (0.8, 0.1), (-0.2, 0.5))]
        return (values[0] - (values[1] + values[2]) / 2) ** 2 * math.exp(-(x * x + y * y) / 2) / (2 * math.pi)

    exact, _ = dblquad(integrand, -8, 8, -8, 8, epsabs=1e-10)
    assert chapter.smooth_deviation(u, v, 0.5, "tanh").item() == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("name", chapter.SMOOTH_ACTIVATIONS)
@pytest.mark.parametrize("beta", [0.1, 0.9])
def test_smooth_bounds_hold_and_are_ordered(name, beta):
    f, a, b = normal(3, 4, seed=15), normal(3, 4, seed=16), normal(3, 4, seed=17)
    size = f.norm(dim=-1, keepdim=True)
    u, v = f + beta * size * a / a.norm(dim=-1, keepdim=True), f + beta * size * b / b.norm(dim=-1, keepdim=True)
    value = chapter.smooth_deviation(u, v, 0.5, name).sum().sqrt().item()
    tight, loose = chapter.smooth_bound(beta, size[:, 0], name)
    assert value <= tight <= loose
