"""Minima of ReLU losses against the best of all kinks by least squares; refusals."""

import numpy as np
import pytest
import torch

from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.rounding import ReluMinima, relu_minima


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
    found = relu_minima(MLP((1, 1, 1), "relu"), start, *tensors)
    kink = (-found.theta[0, 1] / found.theta[0, 0]).item()
    assert found.settled().all()
    assert found.loss.item() <= best_hinge(x, y, kink, reach=0.02) * (1 + 1e-3)
    torch.testing.assert_close(found.theta[0, :2].norm(), torch.tensor(1.0).double(), rtol=1e-6, atol=0)


def test_settled_needs_convergence_and_a_loss_that_rests():
    losses = torch.tensor([[2.0, 1.0, 1.0], [1.0, 1.0, 1.0 + 1e-5]])
    ends = ReluMinima(torch.zeros(3, 4), losses, torch.tensor([True, False, True]))
    assert ends.settled().tolist() == [False, False, True] and ends.settled(1e-6).tolist() == [False] * 3


@pytest.mark.parametrize("widths", [(0.1,), (0.1, 0.1), (0.01, 0.1)])
def test_widths_must_decrease(widths):
    with pytest.raises(ValueError, match="at least two, decreasing"):
        relu_minima(MLP((1, 1, 1), "relu"), torch.zeros(1, 4), torch.zeros(2, 1), torch.zeros(2, 1), widths)
