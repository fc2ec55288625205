#!/usr/bin/env bash
# One would guess: `linear_interpolation(start, end, metric, steps=11)` returns the metric at λ = 0, .1, …, 1, so that its ends
#   are the two networks and a barrier can be read off; and the middle one of the 21 × 21 points of `random_plane(network, …)`
#   is the network.
# What happens: the eleven values belong to λ = 1/11, 2/11, …, 1: the start is never evaluated. With the default
#   deepcopy_model=False the caller's start network *is* the end network after the call. The plane is centred half a step beside
#   the network in both directions: no point of it is the network.
# Versions: loss-landscapes 3.0.6, torch 2.13.0, numpy 2.4.6
# Why it matters: the loss of the start, and with it every barrier over the chord between the two ends, is that of another
#   network; a second call with the same two networks measures a single point eleven times.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q loss-landscapes==3.0.6 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import loss_landscapes
import torch
from loss_landscapes.metrics import Metric
from torch import nn


def flat(network):
    return torch.cat([p.detach().reshape(-1) for p in network.parameters()]).clone()


class Where(Metric):
    """Remembers the weights that it is asked to evaluate."""

    def __call__(self, wrapper):
        self.seen.append(torch.cat([p.detach().reshape(-1) for p in wrapper.get_module_parameters().parameters]).clone())
        return 0.0


torch.manual_seed(0)
start, end = (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)) for _ in range(2))
a, b = flat(start), flat(end)

where = Where()
where.seen = []
loss_landscapes.linear_interpolation(copy.deepcopy(start), end, where, steps=11, deepcopy_model=True)
lambdas = [((w - a) @ (b - a) / (b - a).square().sum()).item() for w in where.seen]
print("λ of the eleven values, in elevenths:", [round(11 * l, 4) for l in lambdas])
assert all(abs(11 * l - k) < 1e-4 for k, l in enumerate(lambdas, 1))

loss_landscapes.linear_interpolation(start, end, where, steps=11)
print(f"the caller's start network is now at distance {(flat(start) - b).norm():.1e} from the end, {(flat(start) - a).norm():.2f} from itself")
assert (flat(start) - b).norm() < 1e-5 < (flat(start) - a).norm()

where.seen = []
loss_landscapes.random_plane(end, where, distance=1, steps=21, deepcopy_model=True)
points = torch.stack(where.seen)
distance = (points - b).norm(dim=1)
step = (points[1] - points[0]).norm()
print(f"nearest of {len(points)} points of the plane: {distance.min() / step:.3f} grid steps from the network")
assert len(points) == 441 and .65 < distance.min() / step < .75
PYTHON
