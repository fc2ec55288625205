"""Targets with a bias against networks without one: Monte Carlo, and brute force over homogeneous functions."""

import math

import numpy as np
import pytest
import torch

from lmc_helpers.identifiability.homogeneous_targets import (
    biased_kernel,
    homogeneous_distance,
    nearest_to_biased,
    radial_variance,
)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("d", [1, 3, 41])
def test_radial_variance_by_monte_carlo(d):
    r = normal(200_000, d, seed=d).norm(dim=1)
    fourth = (r - r.mean()).pow(4).mean()
    stderr = math.sqrt((fourth - r.var() ** 2).item() / len(r))
    assert abs(radial_variance(d) - r.var().item()) < 4.5 * stderr
    assert radial_variance(d) < 0.5


@pytest.mark.parametrize("bias", [0.0, 0.7, 30.0])
def test_kernel_by_monte_carlo(bias):
    F, w, x = normal(4, 3, seed=1), normal(3, seed=2), normal(200_000, 3, seed=3)
    F[0] = 2 * w  # along the target
    F[1] = -w
    sample = torch.relu(x @ F.T) * torch.relu(x @ w + bias)[:, None]
    stderr = sample.std(dim=0) / math.sqrt(len(x))
    assert ((biased_kernel(F, w, bias) - sample.mean(dim=0)).abs() < 4.5 * stderr + 1e-12).all()


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
    bound = homogeneous_distance(d, length, bias)
    assert bound < found + 4.5 * stderr + 1e-9
    assert found < 1.01 * bound + 4.5 * stderr


def test_many_features_come_near_the_bound_and_never_below():
    w, bias = torch.tensor([1.0, 0.5], dtype=torch.float64), 40.0
    bound = homogeneous_distance(2, float(w.norm()), bias)
    errors = []
    for m in (2, 8, 64):
        F = normal(m, 2, seed=m)
        errors.append(nearest_to_biased(F / F.norm(dim=1, keepdim=True), w, bias)[1])
    assert errors[0] > errors[1] > errors[2] > bound > 0.98 * errors[2]


def test_a_target_without_bias_is_a_feature():
    w = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    _, error = nearest_to_biased(torch.stack([w / w.norm(), normal(3)]), w, 0.0)
    assert error < 1e-5


@pytest.mark.parametrize(("length", "bias"), [(0.0, 1.0), (1.0, -1.0), (math.inf, 1.0)])
def test_bad_targets_are_refused(length, bias):
    with pytest.raises(ValueError, match="allowed"):
        homogeneous_distance(3, length, bias)


def test_bad_dimension_is_refused():
    with pytest.raises(ValueError, match="allowed"):
        radial_variance(0)
