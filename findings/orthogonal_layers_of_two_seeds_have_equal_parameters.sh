#!/usr/bin/env bash
# One would guess: orthogonal layers drawn with two seeds have two vectors of parameters, and the line over them from a to b ends at b.
# What happens: the parameter is a step from a base point, and the base is a buffer. At the start it is 0 in geotorch, and -1 times the
#   identity in torch's own `orthogonal`, whatever the seed: the weights differ by 1.5 of their norm, the parameters by nothing. After
#   training, the end of the line over `parameters()` is b's step from a's base: it lies further from b than a does, and the loss there is
#   that of an untrained layer. The average of the state dictionaries averages bases too: its weights have singular values from 1 down to .2
#   (geotorch) and 0 (torch).
# Versions: geotorch 0.4.0, torch 2.13.0, numpy 2.4.6
# Why it matters: distance 0 and barrier 0 between any two untrained networks, a barrier that is none of theirs between trained ones; what a
#   vector of parameters means depends on the network it was taken from. Compare `layer.weight`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps geotorch==0.4.0
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import geotorch
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, parametrizations, vector_to_parameters

torch.set_num_threads(1)
x = torch.randn(200, 8, generator=torch.Generator().manual_seed(2))
aim = x @ torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(3)))[0]


def new(make, seed):
    torch.manual_seed(seed)
    layer = nn.Linear(8, 8, bias=False)
    make(layer, "weight")
    return layer


def loss(layer):
    return (layer(x) - aim).square().mean()


def off(a, b):
    return ((a.weight - b.weight).norm() / b.weight.norm()).item()


for name, make in {"geotorch": geotorch.orthogonal, "torch": parametrizations.orthogonal}.items():
    networks = a, b = new(make, 0), new(make, 1)
    start = [parameters_to_vector(network.parameters()).detach().clone() for network in networks]
    states = [network.state_dict() for network in networks]
    average = copy.deepcopy(a)
    average.load_state_dict({key: (states[0][key] + states[1][key]) / 2 for key in states[0]})
    values = torch.linalg.svdvals(average.weight)
    apart, untrained = off(a, b), loss(a).item()
    for network in networks:
        optimizer = torch.optim.Adam(network.parameters(), lr=.01)
        for _ in range(500):
            optimizer.zero_grad(), loss(network).backward(), optimizer.step()
    end = copy.deepcopy(a)
    vector_to_parameters(parameters_to_vector(b.parameters()), end.parameters())
    print(f"{name}: at the start weights differ by {apart:.2f}, parameters by {(start[0] - start[1]).norm().item():.2f};",
          f"average of the states has singular values {values.max().item():.2f} to {values.min().item():.2f}")
    print(f"  trained: a from b {off(a, b):.2f}, end of the line from b {off(end, b):.2f}; losses: untrained {untrained:.2f},",
          f"a {loss(a).item():.3f}, b {loss(b).item():.3f}, end of the line {loss(end).item():.2f}")
    assert torch.equal(*start) and apart > 1 and values.min() < .3
    assert off(end, b) > off(a, b) + .3 and loss(end) > .7 * untrained > 2 * max(loss(a), loss(b))
PYTHON
