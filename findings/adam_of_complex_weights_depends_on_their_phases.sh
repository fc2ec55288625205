#!/usr/bin/env bash
# One would guess: a phase of a complex hidden unit is a symmetry, as a sign is of a real one: with an activation that keeps the phase, weights
#   into the unit times a phase and weights out of it over that phase are the same network, and any optimizer trains the two alike, as it does
#   two real networks that differ by signs. "AdamW" is one algorithm.
# What happens: torch takes the real and imaginary parts for two parameters with scales of their own. After 50 steps of Adam, AdamW,
#   NAdam, Adamax, RMSprop, Adagrad or Rprop the two networks lie .2 to .4 of their norm apart, with other losses; SGD keeps them
#   together to rounding. The AdamW that neuraloperator brings along, for the same networks, has one scale for a complex number: it
#   keeps them together too, and ends .2 of the norm away from torch's.
# Versions: torch 2.13.0, neuraloperator 2.0.0 (its AdamW alone), numpy 2.4.6
# Why it matters: a spectral convolution is complex, so a Fourier operator has this symmetry in place of signs; matching two of them
#   has to find phases, which two runs from turned copies of one start do not share. A result with "AdamW" depends on which it was.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/pip" install -q --no-deps neuraloperator==2.0.0 tensorly==0.10.0
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys
import types
from importlib.util import find_spec

import torch
from torch import nn

# one file of neuraloperator and what it names, without the rest of the package
root = find_spec("neuralop").submodule_search_locations[0]
for name in ("neuralop", "neuralop.training"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [root + name[8:].replace(".", "/")]
from neuralop.training.adamw import AdamW

torch.set_num_threads(1)
turn = torch.exp(.4j * torch.arange(8).double())  # a phase for each hidden unit


def train(optimizer, turned):
    """Loss at the end and weights, with the phases taken back, of a network that starts with or without them."""
    torch.manual_seed(0)
    first, second = torch.randn(8, 4, dtype=torch.cdouble) / 2, torch.randn(3, 8, dtype=torch.cdouble) / 2
    x = torch.randn(64, 4, dtype=torch.cdouble)
    y = (x @ torch.randn(4, 3, dtype=torch.cdouble)) * x.abs().mean(1, keepdim=True)
    phase = turn if turned else torch.ones_like(turn)
    first, second = nn.Parameter(phase[:, None] * first), nn.Parameter(second / phase)
    step = optimizer([first, second], lr=1e-2)
    for _ in range(50):
        step.zero_grad()
        hidden = x @ first.T
        size = hidden.abs()
        hidden = hidden * torch.relu(size - .3) / (size + 1e-9)  # keeps the phase
        loss = ((hidden @ second.T - y).abs() ** 2).mean()
        loss.backward()
        step.step()
    return loss.item(), torch.cat([(first / phase[:, None]).detach().flatten(), (second * phase).detach().flatten()])


def apart(a, b):
    return ((a - b).norm() / a.norm()).item()


found, ends = {}, {}
for source, optimizer in [("torch", getattr(torch.optim, name)) for name in
                          ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "Adagrad", "Rprop")] + [("neuralop", AdamW)]:
    (loss, plain), (other, turned) = train(optimizer, False), train(optimizer, True)
    key = f"{source} {optimizer.__name__}"
    found[key], ends[key] = apart(plain, turned), plain
    print(f"{key:14}: losses {loss:.4f} and, from the turned start, {other:.4f}; weights apart by {found[key]:.0e} of their norm")
between = apart(ends["torch AdamW"], ends["neuralop AdamW"])
print(f"torch's AdamW and neuralop's, from one start: weights apart by {between:.2f}")
assert max(found["torch SGD"], found["neuralop AdamW"]) < 1e-9 and between > .1
assert min(value for key, value in found.items() if key not in ("torch SGD", "neuralop AdamW")) > .02
PYTHON
