#!/usr/bin/env bash
# One would guess: an exponential average with decay .999 of one run's weights is the same, near enough, whichever package keeps it:
#   its weights are 1,000 steps old on average, or half the run if that is shorter.
# What happens: after 1,000 steps the mean age is 631 in torch, which counts the first weights in full; 499 in ema-pytorch as it comes
#   (nothing for 100 steps, then each tenth step, with a rising decay), 93 there when it is called to count each step, and 100 in
#   torch-ema, whose decay rises too. After 5,000 steps it is 992, 1973, 280 and 500, the ages of decays from .9964 to .9995.
# Versions: torch 2.13.0, ema-pytorch 0.8.3, torch-ema 0.3, numpy 2.4.6
# Why it matters: how far an average lies from the last weights, and whether there is a barrier between them, goes with its age;
#   results with "the same" decay are not comparable between packages, and which is the older changes with the length of the run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 ema-pytorch==0.8.3 torch-ema==0.3
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from ema_pytorch import EMA
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch_ema import ExponentialMovingAverage

torch.set_num_threads(1)


def ages(steps, decay=.999):
    """Mean age, in steps, of each package's average of a weight that is t after step t, so that the average is the mean time."""
    network = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(network.weight)
    own, usual = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(decay)), EMA(network, beta=decay)
    each, old = EMA(network, beta=decay, update_after_step=0, update_every=1), ExponentialMovingAverage(network.parameters(), decay=decay)
    for step in range(1, steps + 1):
        nn.init.constant_(network.weight, step)
        own.update_parameters(network)
        for average in (usual, each, old):
            average.update()
    times = {"torch": own.module.weight, "ema-pytorch": usual.ema_model.weight, "ema-pytorch, each step": each.ema_model.weight,
             "torch-ema": old.shadow_params[0]}
    return {name: steps - time.item() for name, time in times.items()}


found = {steps: ages(steps) for steps in (1000, 5000)}
for steps, age in found.items():
    print(f"mean age after {steps} steps:", *(f"{name} {value:.0f}" for name, value in age.items()), sep="  ")
short, long = found.values()
assert [round(value, -1) for value in short.values()] == [630, 500, 90, 100]
assert [round(value, -1) for value in long.values()] == [990, 1970, 280, 500]
PYTHON
