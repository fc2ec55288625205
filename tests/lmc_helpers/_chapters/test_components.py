"""What chapter *components* computes, against independent oracles."""

import numpy as np
import pytest
import torch

from lmc_helpers._chapters.components import _step, descend

# ---------- descent
#
# Descent of linear networks: against a dense Levenberg–Marquardt step, and against closed forms of the minimum.


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 2), (4, 3)])
def test_a_step_is_that_of_the_dense_jacobian(layers, h):
    W, X, Y, damping = list(normal(layers, 2, h, h)), normal(h, h, seed=1), normal(h, h, seed=2), 0.3
    moved = _step(W, X, Y, torch.full((2,), damping, dtype=torch.float64))
    for b in range(2):

        def residual(flat):
            product = X
            for matrix in flat.reshape(layers, h, h):
                product = matrix @ product
            return (product - Y).flatten()

        start = torch.stack([M[b] for M in W]).flatten()
        J = torch.autograd.functional.jacobian(residual, start).numpy()
        r = residual(start).numpy()
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(start)), -J.T @ r)  # the other side of the identity
        expected = start.numpy() + step
        assert np.allclose(torch.stack([M[b] for M in moved]).flatten().numpy(), expected, atol=1e-10)


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 4), (5, 3)])
def test_minima_are_reached_and_the_loss_never_rises(layers, h):
    W, X, Y = list(normal(layers, 20, h, h)), normal(h, h, seed=1), normal(h, h, seed=2)
    last = np.inf
    for steps in (1, 3, 10, 300):
        found, arrived = descend(W, X, Y, steps)
        product = found[0].numpy() @ X.numpy()
        for M in found[1:]:
            product = M.numpy() @ product
        losses = ((product - Y.numpy()) ** 2).sum(axis=(1, 2))
        assert (losses <= last * (1 + 1e-12) + 1e-25).all()
        last = losses
        assert (losses[arrived.numpy()] <= 1e-19 * float(Y.square().sum())).all()
    assert arrived.double().mean() > 0.9
