"""Chapter *feature hardness*: random ReLU features against Monte Carlo, Hermite quadrature and brute force."""

import math

import numpy as np
import pytest
import torch
from oracles.draws import normal

from lmc_helpers._chapters import feature_hardness as chapter


@pytest.mark.parametrize("d", [1, 2, 6])
def test_kernel_and_distance_by_monte_carlo(d):
    u, v, x = normal(d, seed=1), normal(d, seed=2), normal(200_000, d, seed=3)
    a, b = torch.relu(x @ u), torch.relu(x @ v)
    for exact, sample in ((chapter.relu_kernel(u, v), a * b), (chapter.relu_distance(u, v).square(), (a - b).square())):
        stderr = sample.std().item() / math.sqrt(len(x))
        assert abs(exact.item() - sample.mean().item()) < 4.5 * stderr + 1e-12


def test_distance_is_at_most_that_of_the_weights_over_root_two():
    u, v = normal(5000, 3, seed=4), normal(5000, 3, seed=5)
    bound = (u - v).norm(dim=-1) / math.sqrt(2)
    assert (chapter.relu_distance(u, v) <= bound * (1 + 1e-12)).all()
    torch.testing.assert_close(chapter.relu_distance(u, 3 * u), 2 * u.norm(dim=-1) / math.sqrt(2))
    assert chapter.relu_distance(u, u).abs().max().item() < 1e-12
    near = u + 1e-7 * v
    assert (chapter.relu_distance(u, near) > 0.6e-7 * v.norm(dim=-1)).all()


@pytest.mark.parametrize("m", [1, 4])
def test_feature_distance_by_monte_carlo(m):
    F, W, alpha, x = normal(m, 3, seed=21), normal(m, 3, seed=22), normal(m, seed=23), normal(300_000, 3, seed=24)
    sample = (torch.relu(x @ (F + W).mT) @ alpha - torch.relu(x @ F.mT) @ alpha).square()
    stderr = sample.std().item() / math.sqrt(len(x))
    assert abs(chapter.feature_distance(F, W, alpha).square().item() - sample.mean().item()) < 4.5 * stderr
    assert chapter.feature_distance(F, 0 * W, alpha).item() < 1e-7


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 8, 11])
def test_high_degree_part_by_hermite_coefficients(degree):
    z, weight = np.polynomial.legendre.leggauss(100)
    z = 9 * (z + 1)  # on (0, 18), where ReLU does not vanish
    weight = 9 * weight * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    low = 0.0
    for degree_below in range(degree):
        c = np.zeros(degree_below + 1)
        c[-1] = 1 / math.sqrt(math.factorial(degree_below))
        low += float(weight @ (z * np.polynomial.hermite_e.hermeval(z, c))) ** 2
    assert chapter.high_degree_part(degree) ** 2 == pytest.approx(0.5 - low, abs=1e-10)


def test_nearest_features_solve_the_normal_equations():
    F, target = normal(4, 3, seed=7), normal(3, seed=8)
    alpha, error = chapter.nearest_features(F, target)
    x = normal(300_000, 3, seed=9)
    difference = torch.relu(x @ F.mT) @ alpha - torch.relu(x @ target)
    assert error.item() == pytest.approx(difference.square().mean().sqrt().item(), rel=0.02)
    for i in range(4):
        assert abs((difference * torch.relu(x @ F[i])).mean().item()) < 0.02
    w, bias = torch.tensor([1.0, 0.5], dtype=torch.float64), 40.0
    bound = chapter.homogeneous_distance(2, float(w.norm()), bias)
    errors = []
    for m in (2, 8, 64):
        F = normal(m, 2, seed=m)
        errors.append(chapter.nearest_to_biased(F / F.norm(dim=1, keepdim=True), w, bias)[1])
    assert errors[0] > errors[1] > errors[2] > bound > 0.98 * errors[2]


@pytest.mark.parametrize(("d", "m"), [(2, 1), (3, 5), (6, 40)])
def test_no_combination_beats_the_bound(d, m):
    R = 2.0
    for seed in range(20):
        f = normal(m, d, seed=seed)
        f, w = f / f.norm(dim=-1, keepdim=True), torch.eye(d).double()[0]
        alpha, error = chapter.nearest_features(f, R * w)
        stray = f[:, 0].abs().pow(d).sum().item() * alpha.abs().max().item()
        assert error.item() >= chapter.high_degree_part(d) * (R - stray) - 1e-9


@pytest.mark.parametrize("d", [1, 3, 41])
def test_radial_variance_by_monte_carlo(d):
    r = normal(200_000, d, seed=d).norm(dim=1)
    fourth = (r - r.mean()).pow(4).mean()
    stderr = math.sqrt((fourth - r.var() ** 2).item() / len(r))
    assert abs(chapter.radial_variance(d) - r.var().item()) < 4.5 * stderr
    assert chapter.radial_variance(d) < 0.5


@pytest.mark.parametrize("bias", [0.0, 0.7, 30.0])
def test_kernel_by_monte_carlo(bias):
    F, w, x = normal(4, 3, seed=1), normal(3, seed=2), normal(200_000, 3, seed=3)
    F[0] = 2 * w  # along the target
    F[1] = -w
    sample = torch.relu(x @ F.T) * torch.relu(x @ w + bias)[:, None]
    stderr = sample.std(dim=0) / math.sqrt(len(x))
    assert ((chapter.biased_kernel(F, w, bias) - sample.mean(dim=0)).abs() < 4.5 * stderr + 1e-12).all()


@pytest.mark.parametrize(("d", "length", "bias"), [(1, 1.0, 5.0), (2, 1.0, 8.0), (3, 2.0, 30.0)])
def test_distance_by_the_best_slope_in_every_direction(d, length, bias):
    """Given the direction the target is a function of r alone; its best slope by quadrature over r."""
    rng = np.random.default_rng(7)
    directions = rng.standard_normal((2000, d))
    cosine = directions[:, 0] / np.linalg.norm(directions, axis=1)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    r, mass = 7 * (nodes + 1), 7 * weights
    mass = mass * r ** (d - 1) * np.exp(-r * r / 2)
    mass /= mass.sum()
    target = np.maximum(length * cosine[:, None] * r + bias, 0)
    slope = (target * r) @ mass / ((r * r) @ mass)
    left = ((target - slope[:, None] * r) ** 2) @ mass
    found, stderr = math.sqrt(left.mean()), left.std() / math.sqrt(len(left)) / 2 / math.sqrt(left.mean())
    bound = chapter.homogeneous_distance(d, length, bias)
    assert bound < found + 4.5 * stderr + 1e-9
    assert found < 1.01 * bound + 4.5 * stderr
