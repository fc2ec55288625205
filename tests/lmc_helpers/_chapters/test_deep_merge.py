"""What chapter *deep merge* computes, against torch's own modules."""

import torch
from oracles.perceptrons import inputs

from lmc_helpers._chapters.deep_merge import train_classifiers
from lmc_helpers.permutation_points import MLP

NET = MLP((2, 4, 3), "tanh")
X = inputs(NET, 25)
LABELS = (2 * X[:, 0].sin() + X[:, 1]).round().long().clamp(0, 2)


def test_training_is_that_of_a_module_alone():
    theta = train_classifiers(NET, X, LABELS, networks=2, steps=30, seed=4)
    for start, end in zip(NET.initial(2, seed=4), theta, strict=True):
        module = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)).double()
        with torch.no_grad():
            for layer, (W, b) in zip((module[0], module[2]), NET.split(start), strict=True):
                layer.weight.copy_(W)
                layer.bias.copy_(b)
        adam = torch.optim.Adam(module.parameters(), lr=1e-2)
        for _ in range(30):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(module(X), LABELS).backward()
            adam.step()
        torch.testing.assert_close(end, torch.cat([p.detach().flatten() for p in module.parameters()]))
    assert not theta.requires_grad
    assert train_classifiers(NET, X, LABELS, networks=2, steps=0, seed=4).equal(NET.initial(2, seed=4))
