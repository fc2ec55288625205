"""Nothing of the caller's changes, whatever is called: networks, their modes, gradients and hooks, random numbers."""

import copy
from functools import partial

import pytest
import torch
from oracles.networks import numbers as normal
from oracles.networks import scattered
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import lmc_helpers as lmc

X, Y = normal(30, 2, 4, 4), torch.arange(30) % 3
DATA, SWAP = DataLoader(TensorDataset(X, Y), 10, shuffle=True), torch.tensor([3, 2, 1, 0])


def matched(a, b, by):
    lmc.match(a, b, X, by, loss=cross_entropy, data=DATA, steps=1)


CALLS = {by: partial(matched, by=by) for by in ("weights", "activations", "straight-through", "sinkhorn")} | {
    "line": lambda a, b: lmc.line(a, b, cross_entropy, DATA, statistics="recomputed"),
    "compare": lambda a, b: lmc.compare(a, b, cross_entropy, DATA),
    "plane": lambda a, b: lmc.plane(a, b, scattered(copy.deepcopy(a), 3), cross_entropy, DATA, [0, 1]),
    "curve": lambda a, b: lmc.curve(a, b, cross_entropy, DATA, steps=2),
    "repair": lambda a, b: lmc.repair(a, b, DATA),
    "verify": lambda a, b: lmc.verify(a, X),
    "permuted": lambda a, b: lmc.permuted(a, lmc.symmetry(a, X), {"0": SWAP}),
}


@pytest.mark.parametrize("call", CALLS)
def test_nothing_of_the_caller_changes(call):
    layers = nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.1), nn.Flatten(), nn.Linear(16, 3)
    a, b = (scattered(nn.Sequential(*copy.deepcopy(layers)), seed).train() for seed in (1, 2))
    a(X).sum().backward()
    a[1].eval()
    both = nn.ModuleList([a, b])

    def seen():
        grads = [(value.requires_grad, value.grad is not None and value.grad.tolist()) for value in both.parameters()]
        modes = [(part.training, *part._forward_hooks, *part._forward_pre_hooks) for part in both.modules()]
        states = [(name, value.tolist()) for name, value in both.state_dict().items()]
        return grads, modes, states, X.tolist(), torch.get_rng_state().tolist(), torch.is_grad_enabled()

    before = seen()
    CALLS[call](a, b)
    assert seen() == before
