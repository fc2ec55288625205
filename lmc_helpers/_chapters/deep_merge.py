"""Trained classifiers, for the chapter *deep merge*."""

from __future__ import annotations

import torch
from torch import Tensor

from lmc_helpers.permutation_points import MLP


def train_classifiers(
    net: MLP, x: Tensor, labels: Tensor, networks: int, steps: int, seed: int, rate: float = 1e-2
) -> Tensor:
    """Networks (networks, p) trained on the negative log-likelihood by full-batch Adam."""
    theta = net.initial(networks, seed).requires_grad_()
    adam = torch.optim.Adam([theta], lr=rate)
    for _ in range(steps):
        adam.zero_grad()
        outputs = net.forward(theta, x).flatten(0, 1)
        cost = torch.nn.functional.cross_entropy(outputs, labels.repeat(networks))
        (networks * cost).backward()
        adam.step()
    return theta.detach()
