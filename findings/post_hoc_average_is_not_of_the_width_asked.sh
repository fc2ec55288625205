#!/usr/bin/env bash
# One would guess: `PostHocEMA(...).synthesize_ema_model(sigma_rel=.15)` is the power-law average of that width: its weights have a mean
#   at .82 of the training and a standard deviation of .15, whatever `update_every`, which only says how finely it is sampled.
# What happens: so it is, to three digits, with update_every=1. But the decay does not know of `update_every`, a tenth of the updates are
#   made and each forgets as little as before. With update_every=10, the README's, the width asked as .05 is .25; asked for .15 one gets
#   an average with its mean at .24 and half of its weight on the first twentieth of the training, .38 on the very first step. With 100,
#   the default, three quarters of the weight lie there for a width of .1.
# Versions: ema-pytorch 0.8.3 (its KarrasEMA and PostHocEMA), torch 2.13.0, numpy 2.4.6, beartype 0.23.1
# Why it matters: an average that is a third or more random initialisation lies behind every barrier there is, and asking for other widths
#   afterwards, the point of the method, moves it further that way; longer training cures it only slowly.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 beartype==0.23.1
"$folder/venv/bin/pip" install -q --no-deps ema-pytorch==0.8.3
"$folder/venv/bin/python" -W ignore - "$folder" <<'PYTHON'
import sys

import torch
from ema_pytorch import KarrasEMA, PostHocEMA
from torch import nn

torch.set_num_threads(1)
torch.set_grad_enabled(False)
steps = 2000


def train(network, average):
    """A "training" whose weights after step t are the t-th unit vector: the average's weights then say how much it took of each step."""
    for step in range(steps):
        network.weight.zero_()
        network.weight[0, step] = 1
        average.update()
    return average


def profile(average):
    """Mean and standard deviation of the steps in the average, and the share of the first twentieth, in units of the training."""
    share, time = average.ema_model.weight[0].double(), (torch.arange(steps) + 1).double() / steps
    mean = (share * time).sum() / share.sum()
    return mean.item(), ((time - mean).square() * share).sum().sqrt().item(), share[:steps // 20].sum().item()


found = {}
for every in (1, 10):
    network = nn.Linear(steps, 1, bias=False)
    averages = train(network, PostHocEMA(network, sigma_rels=(.05, .28), update_every=every, checkpoint_every_num_steps=100,
                                         checkpoint_folder=f"{sys.argv[1]}/{every}"))
    for width in (.05, .1, .15, .2):
        found[every, width] = profile(averages.synthesize_ema_model(sigma_rel=width))
network = nn.Linear(steps, 1, bias=False)
found["default", .1] = profile(train(network, KarrasEMA(network, sigma_rel=.1)))
for (every, width), (mean, deviation, start) in found.items():
    print(f"update_every {every}, asked for {width}: mean {mean:.2f}, deviation {deviation:.2f}, share of the first twentieth {start:.2f}")
assert all(abs(found[1, width][1] - width) < .001 and found[1, width][2] < .001 for width in (.05, .1, .15, .2))
assert round(found[1, .15][0], 2) == .82 and round(found[10, .05][1], 2) == .25 and round(found[10, .15][0], 2) == .24
assert found[10, .15][2] > .5 and found["default", .1][2] > .75
PYTHON
