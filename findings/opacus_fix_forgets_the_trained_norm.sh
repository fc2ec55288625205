#!/usr/bin/env bash
# One would guess: `ModuleValidator.fix` makes a trained network fit for private fine-tuning and keeps what it can: it copies the
#   weights of LSTM and attention into its own layers, so the scales and shifts of batch norm into the group norms that replace them.
# What happens: LSTM and attention compute what they did, to 1e-7. The group norms are new: scales 1, shifts 0, whatever was trained,
#   in a module whose other weights are the old ones; their number of groups is gcd(32, channels), 8 of 5 channels for 40. A head of
#   33 channels gets one group. Permuting the channels before and after changes the function then, unless groups stay together: copies
#   of a network that were equal by permutation are so no longer.
# Versions: opacus 1.6.0, torch 2.13.0, numpy 2.4.6
# Why it matters: "fixed" public networks are taken as the start of private training and compared, or merged after matching, with the
#   original; what they lost is put down to the norm's groups, and a matching found before `fix` is void after it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q opacus==1.6.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import copy

import torch
from opacus.validators import ModuleValidator
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


def off(a, b):
    return ((a - b).norm() / b.norm()).item()


class Wrapped(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0] if isinstance(self.layer, nn.LSTM) or "LSTM" in type(self.layer).__name__ else self.layer(x, x, x)[0]


kept = {}
for layer in (nn.LSTM(8, 6), nn.MultiheadAttention(8, 2)):
    network, x = Wrapped(layer).eval(), torch.randn(5, 3, 8)
    kept[type(layer).__name__] = off(ModuleValidator.fix(network).eval()(x), network(x))
    print(f"{type(layer).__name__}: outputs after fix differ by {kept[type(layer).__name__]:.0e} of their norm")
network = nn.Sequential(nn.Conv2d(3, 40, 3), nn.BatchNorm2d(40), nn.ReLU(), nn.Conv2d(40, 33, 3), nn.BatchNorm2d(33))
for norm in (network[1], network[4]):
    nn.init.uniform_(norm.weight, .2, 3)
    nn.init.uniform_(norm.bias, -1, 1)
network.eval()
order = torch.randperm(40)
twin = copy.deepcopy(network)
with torch.no_grad():
    for piece in (twin[0].weight, twin[0].bias, twin[1].weight, twin[1].bias, twin[1].running_mean, twin[1].running_var):
        piece.copy_(piece[order].clone())
    twin[3].weight.copy_(twin[3].weight[:, order].clone())
x = torch.randn(4, 3, 9, 9)
fixed, fixed_twin = ModuleValidator.fix(network).eval(), ModuleValidator.fix(twin).eval()
new = [fixed[1], fixed[4]]
ranges = [f"{norm.weight.min():.0f} to {norm.weight.max():.0f}" for norm in new]
print("batch norm -> group norm: groups", *(norm.num_groups for norm in new), " scales from", " and ".join(ranges),
      " convolutions kept:", torch.equal(fixed[0].weight, network[0].weight))
apart = off(twin(x), network(x)), off(fixed_twin(x), fixed(x))
print(f"a network and its permuted twin: outputs differ by {apart[0]:.0e} before fix, by {apart[1]:.2f} after")
assert max(kept.values()) < 1e-5 and torch.equal(fixed[0].weight, network[0].weight)
assert [norm.num_groups for norm in new] == [8, 1]
assert all((norm.weight == 1).all() and (norm.bias == 0).all() for norm in new)
assert apart[0] < 1e-5 and apart[1] > .05
PYTHON
