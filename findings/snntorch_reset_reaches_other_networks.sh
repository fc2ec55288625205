#!/usr/bin/env bash
# One would guess: `snntorch.utils.reset(a)` sets the membranes of network a to rest. Another network's stay, and a copy of a can be reset
#   like a; neurons inside a block are part of a.
# What happens: neurons enlist in their class when they are made, and `reset` looks only which classes stand among a's direct children,
#   then resets all that are enlisted. Resetting a sets b to rest in the middle of its sequence; b's next output changes by .7 of its norm.
#   A deepcopy never enlists: `reset(copy)` sets a and b to rest and leaves the copy as it was. With its neurons inside a nested
#   `Sequential` a network is not reset at all.
# Versions: snntorch 1.0.0, torch 2.13.0, numpy 2.4.6
# Why it matters: two spiking networks that are run side by side, a teacher and its average, the ends of a line and its midpoint (a copy),
#   hand each other states; the second evaluation of a copy starts from the end of its first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q snntorch==1.0.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import torch
from snntorch import Leaky, utils
from torch import nn

torch.set_num_threads(1)
torch.set_grad_enabled(False)
torch.manual_seed(0)


def new():
    return nn.Sequential(nn.Linear(5, 8), Leaky(beta=0.9, init_hidden=True), nn.Linear(8, 3), Leaky(beta=0.9, init_hidden=True, output=True))


def charge(network):
    """Sum of the moduli of all membranes: 0 at rest."""
    return sum(module.mem.abs().sum().item() for module in network.modules() if isinstance(module, Leaky))


x = torch.rand(4, 5)
a, b = new(), new()
nested = nn.Sequential(new())
for _ in range(3):
    a(x), b(x), nested(x)
whole = copy.deepcopy(b)(x)[1]
start = [charge(network) for network in (a, b, nested)]
utils.reset(nested)
kept = [charge(network) for network in (a, b, nested)]
utils.reset(a)
after = [charge(network) for network in (a, b)]
change = ((b(x)[1] - whole).norm() / whole.norm()).item()
print("membranes of a, b and a nested network:", start, "after reset(nested):", kept, "of a and b after reset(a):", after)
print(f"b's next output differs by {change:.2f} of its norm")
a(x), b(x)
twin = copy.deepcopy(a)
before = [charge(network) for network in (a, b, twin)]
utils.reset(twin)
last = [charge(network) for network in (a, b, twin)]
print("a, b and a copy of a:", before, "after reset(copy):", last)
assert min(start) > 1 and kept == start and after == [0, 0] and change > .1
assert min(before) > 1 and last == [0, 0, before[2]]
PYTHON
