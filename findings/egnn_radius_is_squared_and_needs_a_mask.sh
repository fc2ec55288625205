#!/usr/bin/env bash
# One would guess: `EGNN(..., num_nearest_neighbors=k, valid_radius=4)` lets atoms act on each other up to the distance 4, and a mask that
#   is True everywhere changes nothing.
# What happens: the radius is compared with the *squared* distance, so 4 cuts at 2, and only if a mask is given: without one it
#   cuts nowhere, and an atom at distance 100 acts like any other. A mask of nothing but True therefore changes the outputs, in a
#   batch of molecules of equal size as in any other. An atom counts among its own k neighbours.
# Versions: egnn-pytorch 0.2.8, einops 0.8.2, torch 2.13.0, numpy 2.4.6
# Why it matters: a network that is trained on padded batches, with masks, and used on single molecules, without, has another graph
#   then. A cutoff carried over from another package is its square root here, 1.7 for 3, about one bond.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q einops==0.8.2 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps egnn-pytorch==0.2.8
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from egnn_pytorch import EGNN

torch.set_num_threads(1)
torch.manual_seed(0)
everyone = torch.ones(1, 4, dtype=torch.bool)
features = torch.randn(1, 4, 8)


def influence(network, distance, mask):
    """Norm of the derivative of atom 0's output by the features of atom 3, which is so far away."""
    positions = torch.tensor([[[0, 0, 0], [.5, 0, 0], [0, .5, 0], [distance, 0, 0]]])
    inputs = features.clone().requires_grad_()
    outputs, _ = network(inputs, positions, mask=mask)
    return torch.autograd.grad(outputs[0, 0].sum(), inputs)[0][0, 3].norm().item()


near = EGNN(dim=8, num_nearest_neighbors=4, valid_radius=4, init_eps=.3)
found = {distance: [influence(near, distance, mask) for mask in (None, everyone)] for distance in (1, 1.9, 2.1, 3.9, 4.1, 10, 100)}
for distance, (without, masked) in found.items():
    print(f"radius 4, atom at {distance:5}: influence {without:.3f} without a mask, {masked:.3f} with one that is all True")
    assert without > .1 and (masked > .1) == (distance < 2)
three = EGNN(dim=8, num_nearest_neighbors=3, init_eps=.3)
itself = influence(three, 1, None)
print(f"three nearest neighbours of an atom among three others: influence of the third {itself:.3f}")
assert itself == 0
PYTHON
