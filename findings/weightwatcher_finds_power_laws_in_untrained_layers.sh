#!/usr/bin/env bash
# One would guess: the exponent alpha of a layer's spectrum, 2 to 6 for a well-trained layer, is beyond 6 for one that was never trained:
#   a random matrix has no power law. Eight layers of one shape, as drawn, have about the same.
# What happens: of 56 untrained linear layers of seven shapes, 29 have an alpha between 2 and 6 and no warning; six of eight with 64 units.
#   It says more of the draw and of the shape than of anything learnt: eight draws of one shape reach from 2.4 to 27. The fit starts
#   wherever the edge of the spectrum looks most like a power law. A network of 2 layers that is right for .93 of unseen digits
#   has 1.8 in both, "over-trained", and had 6.3 and 5.1 as drawn.
# Versions: weightwatcher 0.7.7, powerlaw 2.0.0, torch 2.13.0, numpy 2.4.6, scipy 1.17.1, scikit-learn 1.9.1
# Why it matters: alpha is read as quality without data, layer by layer, and compared between networks. In small layers a draw of the
#   lot moves it by more than training does; only the same shape, many times, as drawn, says what is much.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q weightwatcher==0.7.7 powerlaw==2.0.0 torch==2.13.0 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io
import logging

import torch
from sklearn.datasets import load_digits
from torch import nn

with contextlib.redirect_stdout(io.StringIO()):
    import weightwatcher

logging.disable(logging.WARNING)
torch.set_num_threads(1)


def spectra(layers):
    """Exponents and warnings of a list of layers."""
    with contextlib.redirect_stdout(io.StringIO()):
        table = weightwatcher.WeightWatcher(model=nn.Sequential(*layers)).analyze()
    return table["alpha"].tolist(), table["warning"].tolist()


found, ends = {}, {}
torch.manual_seed(0)
for units, inputs in ((64, 64), (64, 128), (100, 200), (128, 256), (200, 400), (256, 512), (512, 1024)):
    alphas, warned = spectra([nn.Linear(inputs, units) for _ in range(8)])
    inside = sum(2 < alpha < 6 and not warning for alpha, warning in zip(alphas, warned))
    found[units, inputs] = inside, min(alphas), max(alphas)
    print(f"8 layers of {inputs:4} inputs and {units:3} units, untrained: alpha {min(alphas):5.2f} to {max(alphas):5.2f};",
          f"{inside} are between 2 and 6 and without a warning")

data = load_digits()
x, y = torch.tensor(data.data / 16).float(), torch.tensor(data.target)
network = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
for steps in (0, 50, 500):
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x[:1200]), y[:1200]).backward()
        optimizer.step()
    right = (network(x[1200:]).argmax(1) == y[1200:]).float().mean().item()
    alphas, warned = spectra([network[0], network[2]])
    ends[right] = alphas
    print(f"digits, {steps:3} further steps: accuracy {right:.2f}, alpha {', '.join(f'{alpha:.2f}' for alpha in alphas)}; warnings {warned}")
total = sum(inside for inside, _, _ in found.values())
print(f"{total} of 56 untrained layers are between 2 and 6 and without a warning")
assert 20 < total < 40 and found[64, 64][0] >= 4 and found[64, 128][0] >= 4 and max(most / least for _, least, most in found.values()) > 4
assert max(ends) > .85 and max(ends[max(ends)]) < 2.5
PYTHON
