#!/usr/bin/env bash
# One would guess: stochastic weight averaging after k updates is the mean of k checkpoints, as with torch's own `AveragedModel`.
# What happens: the counter is set to 1 at the first update and raised once more in the same call, so the first checkpoint is counted
#   twice: weights 2/3, 1/3; then 1/2, 1/4, 1/4; after ten 2/11 and nine times 1/11. The package's exponential average moves the
#   parameters alone, and its copy of the network never sees a batch: in eval mode its batch norm has the mean 0 and the variance 1 of the
#   start, whatever was trained, and its outputs differ from the trained network's by more than their norm, even with momentum 0, which copies
#   the parameters at each step.
# Versions: torch-uncertainty 0.13.0 (its modules swa and ema), torch 2.13.0, numpy 2.4.6
# Why it matters: the first checkpoint of a cycle is the worst and the one furthest from the others: for two it pulls the "midpoint" to
#   two thirds of the way, where the barrier is lower than half-way or higher. An average with batch norm looks useless though its weights
#   are right.
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
from torch.optim.swa_utils import AveragedModel

# the two files alone, without Lightning and what else the package imports
root = find_spec("torch_uncertainty").submodule_search_locations[0]
for name in ("torch_uncertainty", "torch_uncertainty.methods"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [root + name[17:].replace(".", "/")]
from torch_uncertainty.methods.ema import EMA
from torch_uncertainty.methods.swa import SWA

torch.set_num_threads(1)
torch.manual_seed(0)
for k in (1, 2, 3, 10):
    network = nn.Linear(k, 1, bias=False)
    theirs, plain = SWA(network, cycle_start=0, cycle_length=1), AveragedModel(network)
    for epoch in range(k):  # checkpoint number `epoch` is a unit vector, so that the average shows its weights
        with torch.no_grad():
            network.weight.copy_(torch.eye(k)[epoch])
        theirs.update_wrapper(epoch)
        plain.update_parameters(network)
    weights, equal = theirs.swa_model.weight[0], plain.module.weight[0]
    print(f"{k:2} checkpoints: weights", *(f"{w:.4f}" for w in weights), " AveragedModel", *(f"{w:.4f}" for w in equal))
    assert torch.allclose(equal, torch.full((k,), 1 / k))
    assert torch.allclose(weights, torch.tensor([2.0] + [1] * (k - 1)) / (k + 1) if k > 1 else torch.ones(1))

x, apart = 5 + 3 * torch.randn(500, 4), {}
for momentum in (0, .9):
    network = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    average, optimizer = EMA(network, momentum), torch.optim.SGD(network.parameters(), 1e-2)
    for _ in range(300):
        optimizer.zero_grad()
        nn.functional.mse_loss(average(x), x[:, :1]).backward()
        optimizer.step()
        average.update_wrapper()
    average.eval()
    norm = average.ema_model[1]
    apart[momentum] = ((average(x) - network(x)).norm() / network(x).norm()).item()
    weights = nn.utils.parameters_to_vector
    moved = ((weights(average.ema_model.parameters()) - weights(network.parameters())).norm() / weights(network.parameters()).norm()).item()
    print(f"momentum {momentum}: weights differ by {moved:.0e} of their norm, outputs in eval mode by {apart[momentum]:.1f};",
          f"running mean {norm.running_mean.norm():.0f}, variance from {norm.running_var.min():.0f} to {norm.running_var.max():.0f},",
          f"batches seen {norm.num_batches_tracked}; the network's {network[1].running_mean.norm():.1f}")
    assert moved < .02 and apart[momentum] > 1 and norm.num_batches_tracked == 0 and (norm.running_var == 1).all()
PYTHON
