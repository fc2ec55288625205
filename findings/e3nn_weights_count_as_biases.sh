#!/usr/bin/env bash
# One would guess: two layers of e3nn, from scalars to scalars, and the same layers with the same numbers in matrices are one network to every
#   tool: one function, one gradient, the same entries in the same order.
# What happens: e3nn keeps all weights of a layer in one vector, and what has one dimension is a bias to others. losscape sets directions
#   in biases to 0: the landscape of the e3nn network is one number, where that of the matrices rises by 1. LARS leaves biases
#   to plain SGD: 50 steps go nearly 20 times as far (loss .98 instead of 1.17); with SOAP and Scion the vectors go 2 to 4 times as far as
#   the matrices, with MARS and Nero a third to a half. SGD, AdamW, Lion and LAMB agree to the digits printed.
# Versions: e3nn 0.6.0, losscape 1.5.10 (its directions alone), pytorch-optimizer 4.1.0, torch 2.13.0, numpy 2.4.6
# Why it matters: "filter-normalised", "no decay on biases" and "matrices by an orthogonalised step, the rest by Adam" are rules by shape. For
#   equivariant networks they say the opposite of what they say in papers, and a flat landscape looks like a robust minimum.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q e3nn==0.6.0 pytorch-optimizer==4.1.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps losscape==1.5.10
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy
import sys
import types
from importlib.util import find_spec

import torch
from e3nn import o3
from pytorch_optimizer import load_optimizer
from torch import nn

# the file of losscape that draws directions, without those that plot
places = find_spec("losscape").submodule_search_locations
sys.modules["losscape"] = types.ModuleType("losscape")
sys.modules["losscape"].__path__ = places
from losscape.create_directions import create_random_direction

torch.set_num_threads(1)


class Packed(nn.Module):
    """Two layers of e3nn, scalars to scalars."""

    def __init__(self):
        super().__init__()
        self.first, self.second = o3.Linear("5x0e", "16x0e"), o3.Linear("16x0e", "3x0e")

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


class Plain(nn.Module):
    """The same, with the same numbers in matrices."""

    def __init__(self, packed):
        super().__init__()
        self.first = nn.Parameter(packed.first.weight.detach().view(5, 16).clone())
        self.second = nn.Parameter(packed.second.weight.detach().view(16, 3).clone())

    def forward(self, x):
        return torch.tanh(x @ self.first / 5**.5) @ self.second / 16**.5


torch.manual_seed(0)
packed = Packed()
plain = Plain(packed)
x = torch.randn(200, 5)
y = (x @ torch.randn(5, 3)).argmax(1)
assert (packed(x) - plain(x)).abs().max() < 1e-6
networks = {"e3nn": packed, "matrices": plain}
rises = {}
for name, network in networks.items():
    torch.manual_seed(1)
    direction = create_random_direction(network)
    losses = []
    for step in (-1, -.5, 0, .5, 1):
        moved = copy.deepcopy(network)
        with torch.no_grad():
            for parameter, change in zip(moved.parameters(), direction):
                parameter.add_(step * change)
            losses.append(nn.functional.cross_entropy(moved(x), y).item())
    rises[name] = max(losses) - min(losses)
    print(f"{name:8}: shapes {', '.join(str(tuple(p.shape)) for p in network.parameters())}; losses along a line of losscape",
          *(f"{loss:.3f}" for loss in losses))
apart = {}
for optimizer in ("sgd", "adamw", "lion", "lamb", "lars", "mars", "soap", "nero", "scion"):
    ends = {}
    for name, network in networks.items():
        trained = copy.deepcopy(network)
        step = load_optimizer(optimizer)(list(trained.parameters()), lr=1e-2)
        for _ in range(50):
            step.zero_grad()
            loss = nn.functional.cross_entropy(trained(x), y)
            loss.backward()
            step.step()
        ends[name] = loss.item(), torch.cat([(p - q).detach().flatten() for p, q in zip(trained.parameters(), network.parameters())])
    (one, way), (two, other) = ends["e3nn"], ends["matrices"]
    apart[optimizer] = ((way - other).norm() / other.norm()).item()
    print(f"{optimizer:6}: loss after 50 steps {one:.3f} with e3nn, {two:.3f} with matrices; moved by {way.norm():.2f} and {other.norm():.2f}")
assert rises["e3nn"] == 0 and rises["matrices"] > .5
assert max(apart[optimizer] for optimizer in ("sgd", "adamw", "lion", "lamb")) < 1e-4
assert apart["lars"] > 5 and min(apart[optimizer] for optimizer in ("mars", "soap", "nero", "scion")) > .4
PYTHON
