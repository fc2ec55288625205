#!/usr/bin/env bash
# One would guess: `linear_interpolation(a, b, batch, extend=.25)` shows more of the same line, beyond both of its ends, and
#   its `barrier_height()` is the barrier between a and b as before. The line ends at b: the loss there is b's. The barrier of a pair does
#   not depend on which is named first.
# What happens: the barrier is what the line rises above its own outermost points. Two networks with a barrier of .57 have one of .28 on
#   a line that is longer by a quarter at each end, and 0, as if they were connected, on one longer by a half: the wall is taken for the network.
#   With batch norm the line does not end at b: parameters move, running statistics stay a's. The loss at the far end is .81, b's own is
#   .11, and since the end is then the highest point the barrier is 0; named the other way round the pair has .18. With each point's
#   statistics taken from the data it is .72. In `loss_barrier_matrix` the order of the list decides.
# Versions: nngeom 0.2.0, torch 2.13.0, numpy 2.4.6
# Why it matters: entries near 0 are to be read as pairs that a line connects; here they are made by the margin of a plot, or by a far
#   end that is no trained network. Soups are to be chosen by this matrix. Networks without batch norm on lines without a margin are right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q nngeom==0.2.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import numpy as np
import torch
from nngeom.lossland import linear_interpolation, loss_barrier_matrix
from nngeom.models import Model
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)
x = 1.5 * torch.randn(512, 2, generator=generator)
y = (x[:, 0] * x[:, 1] > 0).long()


def trained(seed, norm):
    """A network that tells two pairs of quadrants apart, with or without batch norm, in eval mode."""
    torch.manual_seed(seed)
    layers = []
    for inputs in (2, 32):
        layers += [nn.Linear(inputs, 32), nn.BatchNorm1d(32) if norm else nn.Identity(), nn.ReLU()]
    network = nn.Sequential(*layers, nn.Linear(32, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=.01)
    for _ in range(300):
        batch = torch.randint(0, 512, (64,))
        optimizer.zero_grad()
        functional.cross_entropy(network(x[batch]), y[batch]).backward()
        optimizer.step()
    return network.eval()


def loss(network, batch):
    """Cross-entropy."""
    return functional.cross_entropy(network(batch[0]), batch[1])


@torch.no_grad()
def line(first, second, reset):
    """Losses along the segment, by hand, with running statistics of the data at each point if asked for."""
    losses = []
    for t in np.linspace(0, 1, 25):
        network = copy.deepcopy(first)
        for p, q in zip(network.parameters(), second.parameters()):
            p.lerp_(q, float(t))
        for module in network.modules():
            if reset and isinstance(module, nn.BatchNorm1d):
                module.momentum = None
                module.reset_running_stats()
        if reset:
            network.train()(x)
        losses.append(loss(network.eval(), (x, y)).item())
    return np.array(losses)


barriers, ends = {}, {}
for norm in (False, True):
    first, second = trained(1, norm), trained(2, norm)
    a, b = Model(first, loss, name="a"), Model(second, loss, name="b")
    own = a.loss((x, y)), b.loss((x, y))
    by_hand = line(first, second, norm)
    barriers[norm, "hand"] = by_hand.max() - max(by_hand[0], by_hand[-1])
    print(f"batch norm {norm}: losses {own[0]:.3f} and {own[1]:.3f}; barrier by hand {barriers[norm, 'hand']:.3f}")
    for extend in (0, .25, .5):
        curve = linear_interpolation(a, b, (x, y), steps=int(25 + 48 * extend), extend=extend)
        ends[norm] = np.interp([0, 1], curve.alphas, curve.losses)
        barriers[norm, extend] = curve.barrier_height()
        print(f"  longer by {extend} at each end: barrier {barriers[norm, extend]:.3f}; loss at a {ends[norm][0]:.3f}, at b {ends[norm][1]:.3f}")
    for order in ([a, b], [b, a]):
        names = "".join(model.name for model in order)
        barriers[norm, names] = loss_barrier_matrix(order, (x, y), steps=25)["matrix"][0, 1]
        print(f"  in a matrix, {names}: {barriers[norm, names]:.3f}")
    assert abs(ends[norm][0] - own[0]) < .01 and (abs(ends[norm][1] - own[1]) > .3) == norm
assert abs(barriers[False, 0] - barriers[False, "hand"]) < 1e-4 and barriers[False, "hand"] > .4
assert barriers[False, .25] < .7 * barriers[False, 0] and barriers[False, .5] == 0
assert abs(barriers[False, "ab"] - barriers[False, "ba"]) < 1e-4
assert barriers[True, "ab"] == 0 and barriers[True, "ba"] > .05 and barriers[True, "hand"] > .05
PYTHON
