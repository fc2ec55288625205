"""Perceptrons with flat parameters, one matrix after the other in NumPy."""

import numpy as np
import scipy.special
import torch

from lmc_helpers.permutation_points import MLP

NETS = [MLP((2, 4, 1), "tanh"), MLP((1, 3, 3), "softplus"), MLP((2, 3, 4, 2), "tanh")]
LAYERS = [(net, layer) for net in NETS for layer in range(1, net.depth)]


def inputs(net, n=30, seed=0):
    return torch.randn(n, net.sizes[0], dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


ACTIVATIONS = {"relu": lambda s: np.maximum(s, 0), "tanh": np.tanh, "softplus": lambda s: np.logaddexp(s, 0)}
ACTIVATIONS |= {"sigmoid": scipy.special.expit, "erf": scipy.special.erf}


def by_hand(net, theta, x):
    """The network in NumPy, one matrix after the other."""
    return layers_by_hand(net, theta, x)[-1]


def layers_by_hand(net, theta, x):
    """All hidden activations and the outputs."""
    out, at, found = x.numpy(), 0, []
    for k in range(1, len(net.sizes)):
        rows, columns = net.sizes[k], net.sizes[k - 1]
        W = theta[at : at + rows * columns].reshape(rows, columns).numpy()
        b = theta[at + rows * columns : at + rows * (columns + 1)].numpy()
        at += rows * (columns + 1)
        out = out @ W.T + b
        if k < len(net.sizes) - 1:
            out = ACTIVATIONS[net.activation](out)
        found.append(torch.from_numpy(out))
    return found


def at_distance(free, first, second, delta):
    """Parameters in NumPy with the second neuron moved to a distance from the first, in its direction."""
    moved, e = free.copy(), free[second] - free[first]
    moved[second] = free[first] + delta * e / np.linalg.norm(e)
    return moved
