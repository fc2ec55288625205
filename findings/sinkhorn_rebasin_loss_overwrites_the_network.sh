#!/usr/bin/env bash
# One would guess: `MidLoss(a)(m, x, y)` is a loss: it measures the network half-way between a and m, the re-based network, and changes
#   neither. Asked twice it says the same, and m can be compared with a afterwards.
# What happens: it writes the midpoint into m. Afterwards m *is* the midpoint, a second call measures the point at three quarters, a
#   third at seven eighths, and m ends at a; distances and barriers that are measured on m come out half as large, then a quarter.
#   `RndLoss` does the same with its random point. To make the loss also switches off requires_grad in a, the caller's own network.
# Versions: sinkhorn-rebasin 0.0.2, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: a loop that prints the loss of m, or its distance from a, beside the loss that it minimises reports a re-basin
#   that did not take place: with the identity as permutation it "removes" half of the distance.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 scipy==1.17.1 graphviz==0.21
"$folder/venv/bin/pip" install -q --no-deps torchviz==0.0.3 sinkhorn-rebasin==0.0.2  # torchvision is needed by its examples only
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import copy

import torch
from rebasin import RebasinNet
from rebasin.loss import MidLoss
from torch import nn
from torch.nn.functional import mse_loss

torch.manual_seed(0)
a, b = (nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in "ab")
x, y = torch.randn(64, 4), torch.randn(64, 1)


def distance(m):
    return sum(((p - q) ** 2).sum() for p, q in zip(m.parameters(), a.parameters())).sqrt().item()


def between(weight):
    net = copy.deepcopy(b)
    for p, q in zip(net.parameters(), a.parameters()):
        p.data.lerp_(q.data, weight)
    return mse_loss(net(x), y).item()


rebasin = RebasinNet(b, (1, 4))
rebasin.identity_init()
rebasin.eval()
before = all(p.requires_grad for p in a.parameters())
loss = MidLoss(a, nn.MSELoss())
frozen = not any(p.requires_grad for p in a.parameters())
with torch.no_grad():
    m = rebasin()
    full = distance(m)
    values, distances = [], []
    for _ in range(3):
        values.append(loss(m, x, y).item())
        distances.append(distance(m) / full)
    expected = [between(weight) for weight in (1 / 2, 3 / 4, 7 / 8)]
print("the same loss asked three times:", *(f"{value:.6f}" for value in values))
print("points at 1/2, 3/4, 7/8 of the line:", *(f"{value:.6f}" for value in expected))
print("distance of m from a after each call:", *(f"{share:.3f}" for share in distances))
print("requires_grad of a before and after:", before, not frozen)
assert max(abs(v - e) for v, e in zip(values, expected)) < 1e-6 and abs(values[0] - values[1]) > 1e-3
assert max(abs(s - 2.0**-k) for k, s in enumerate(distances, 1)) < 1e-6
assert before and frozen
PYTHON
