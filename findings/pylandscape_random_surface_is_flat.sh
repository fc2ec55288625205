#!/usr/bin/env bash
# One would guess: `Surface(...).random_surface((-1, 1), steps)` is the loss on a plane through the network, spanned by two random
#   directions: it has its least value near the middle of a trained network's plane and rises towards the rim.
# What happens: every point has the loss of the network itself, to the bit. Where the network is moved, one loop unpacks its variables one
#   place off: the second direction is overwritten by the first and the network stays. `random_hyperplane` in three dimensions does the
#   same; `random_line` ends in an error.
# Versions: pylandscape 0.1.3, pyhessian 0.1, brevitas 0.12.1, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: a plane without any curvature is the picture of the widest minimum there is, and is drawn without a complaint; the same
#   plane comes out for an untrained network, at a higher level.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 scipy==1.17.1 setuptools==80.9.0 dependencies==2.0.1 packaging==25.0 tqdm==4.70.1
"$folder/venv/bin/pip" install -q --no-deps pylandscape==0.1.3 pyhessian==0.1 brevitas==0.12.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
import torch
from pylandscape.surface import Surface
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(200, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
network, loss = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2)), nn.CrossEntropyLoss()


def by_hand(steps):
    """Loss on a plane of two normal directions of length 1."""
    start = nn.utils.parameters_to_vector(network.parameters()).detach()
    directions = torch.linalg.qr(torch.randn(len(start), 2))[0].T
    values = np.zeros((len(steps), len(steps)))
    for i, p in enumerate(steps):
        for j, q in enumerate(steps):
            nn.utils.vector_to_parameters(start + p * directions[0] + q * directions[1], network.parameters())
            values[i, j] = loss(network(x), y).item()
    nn.utils.vector_to_parameters(start, network.parameters())
    return values


surface = Surface(network, loss, DataLoader(TensorDataset(x, y), batch_size=200), device=torch.device("cpu"))
for state in ("untrained", "trained"):
    here = loss(network(x), y).item()
    _, _, plane = surface.random_surface((-3, 3), 5)
    _, solid = surface.random_hyperplane((-3, 3), 3, 3)
    hand = by_hand(np.linspace(-3, 3, 5))
    print(f"{state:9}: loss {here:.4f}; random_surface from {plane.min():.4f} to {plane.max():.4f}, random_hyperplane from",
          f"{solid.min():.4f} to {solid.max():.4f}; two normal directions by hand from {hand.min():.4f} to {hand.max():.4f}")
    assert np.ptp(plane) == np.ptp(solid) == 0 and abs(plane[0, 0] - here) < 1e-6 and np.ptp(hand) > .05
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    for _ in range(500):
        optimizer.zero_grad()
        loss(network(x), y).backward()
        optimizer.step()
try:
    surface.random_line((-3, 3), 5)
    refused = False
except ValueError as error:
    refused = True
    print("random_line:", error)
assert refused
PYTHON
