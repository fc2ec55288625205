#!/usr/bin/env bash
# One would guess: a sample of SWAG has the covariance that the iterates had, up to its known halving: half on the diagonal and half of low
#   rank. Iterates that move along one line give samples that keep to that line, with all layers moving together.
# What happens: the coefficients of the low-rank part are drawn anew for each tensor, so that two layers, or a layer's weight and its bias,
#   are independent in every sample, where the iterates had correlations of 1. And nothing is halved: with the default scale 1 the
#   variance is the diagonal plus the low-rank part, 1.8 times the iterates' after 20 of at most 20; the latter is divided by
#   the *allowed* number of iterates, so after 5 of at most 20 it is a fifth of the diagonal.
# Versions: torch-uncertainty 0.13.0 (its module swag), torch 2.13.0, numpy 2.4.6
# Why it matters: the point of the low-rank part is to leave the trajectory's valley along its floor; layers that move apart leave it
#   across. The spread of such samples, their losses and calibration are those of another posterior than SWAG's.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps torch-uncertainty==0.13.0
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys
import types
from importlib.util import find_spec

import torch
from torch import nn

# the two files alone, without Lightning and what else the package imports
root = find_spec("torch_uncertainty").submodule_search_locations[0]
for name in ("torch_uncertainty", "torch_uncertainty.methods"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [root + name[17:].replace(".", "/")]
from torch_uncertainty.methods.swag import SWAG

torch.set_num_threads(1)
torch.manual_seed(0)
network = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
start = nn.utils.parameters_to_vector(network.parameters()).detach()
direction = torch.randn_like(start)
sizes = [p.numel() for p in network.parameters()]
found = {}
for iterates in (20, 5):
    model = SWAG(network, cycle_start=0, cycle_length=1, max_num_models=20, num_estimators=1)
    along = torch.randn(iterates)
    for epoch, step in enumerate(along, 1):
        nn.utils.vector_to_parameters(start + step * direction, network.parameters())
        model.update_wrapper(epoch)
    draws = torch.stack([nn.utils.parameters_to_vector(model.sample(1.0).parameters()).detach() for _ in range(2000)])
    draws = (draws - draws.mean(0)) / direction  # 1 in every entry along the line
    correlation = torch.corrcoef(draws.T)
    blocks = [slice(sum(sizes[:k]), sum(sizes[:k + 1])) for k in range(len(sizes))]
    inside = torch.stack([(correlation[block, block].sum() - size) / (size * size - size) for block, size in zip(blocks, sizes)]).mean()
    across = torch.stack([correlation[p, q].mean() for p in blocks for q in blocks if p != q]).abs().max()
    found[iterates] = inside.item(), across.item(), (draws.var(0).mean() / along.var(correction=0)).item()
    print(f"{iterates:2} iterates on a line: correlation of two entries of a tensor {inside:.2f}, of two tensors at most {across:.2f};",
          f"variance {found[iterates][2]:.2f} of the iterates'")
assert .3 < found[20][0] < .6 and max(across for _, across, _ in found.values()) < .05 and found[20][2] > 1.5
assert found[5][0] < .5 * found[20][0] and 1 < found[5][2] < 1.4
PYTHON
