#!/usr/bin/env bash
# One would guess: a plane through a network is spanned by directions of its *weights*; filter-wise normalised ones of length 1
#   reach losses that are high, but numbers. Batch norm's running statistics stay, or are taken anew.
# What happens: `generate_random_directions` draws a direction for every floating entry of the state dictionary, running means and
#   variances included, as long as the entry itself. Variances become negative, and the loss is not a number at nine of ten points of
#   the square of half-width 1; where it is one it is off by a factor of 1.4 to 2. With these entries of the directions set to 0
#   it is finite everywhere.
# Versions: loss-landscape-3d 0.1.3, torch 2.13.0, numpy 2.4.6
# Why it matters: the sharp walls of a landscape of a network with batch norm are those of its statistics, not of its weights.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 matplotlib
"$folder/venv/bin/pip" install -q loss-landscape-3d==0.1.3 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
import torch
from loss_landscape_3d import LossLandscapeCalculator, generate_random_directions
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
network = nn.Sequential(nn.Linear(8, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(network.parameters(), 1e-2)
for _ in range(200):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(x), y).backward()
    optimizer.step()
network.eval()
loader = DataLoader(TensorDataset(x, y), batch_size=256)
axis, centre = np.linspace(-1, 1, 11), {key: value.clone() for key, value in network.state_dict().items()}
weights = {name for name, _ in network.named_parameters()}


def grid(first, second):
    return LossLandscapeCalculator(network, loader, nn.CrossEntropyLoss(), device="cpu").calculate(axis, axis, first, second, centre)


shares, ratios = [], []
for seed in range(4):
    torch.manual_seed(seed)
    drawn = generate_random_directions(network)
    lengths = {key: (drawn[0][key].norm() / value.norm()).item() for key, value in centre.items() if key.endswith("running_var")}
    still = [{key: value if key in weights else torch.zeros_like(value) for key, value in direction.items()} for direction in drawn]
    all_entries, weights_alone = grid(*drawn), grid(*still)
    assert np.isfinite(weights_alone).all() and abs(all_entries[5, 5] - weights_alone[5, 5]) < 1e-6
    number = np.isfinite(all_entries)
    number[5, 5] = False
    shares.append(1 - np.isfinite(all_entries).mean())
    ratios.append(np.exp(np.abs(np.log(all_entries[number] / weights_alone[number])).mean()))
    print(f"seed {seed}: length of the directions of running_var over its own: {', '.join(f'{v:.2f}' for v in lengths.values())}; "
          f"not a number at {shares[-1]:.0%} of the points, elsewhere off by a factor of {ratios[-1]:.1f}; "
          f"loss at the centre {weights_alone[5, 5]:.3f}, at most {weights_alone.max():.1f} with weights alone")
    assert min(lengths.values()) > .9
assert min(shares) > .3 and np.mean(shares) > .5 and max(ratios) > 1.2
PYTHON
