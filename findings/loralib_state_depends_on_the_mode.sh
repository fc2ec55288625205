#!/usr/bin/env bash
# One would guess: the state dictionary of a network is its function: saved in eval mode or in training mode, loaded in eval mode or in
#   training mode, it gives the same outputs. `lora_state_dict`, the adapters alone, can be loaded over the same base weights likewise.
# What happens: `eval()` adds the update to the base weight and `train()` takes it off again, and which of the two a file holds is written
#   nowhere. Saved after an evaluation and loaded into a new network the update counts twice: outputs are off by 1.1 times their norm.
#   The other way round it is missing, .7, in eval mode and after `train()`, which takes off what was never added. Adapters loaded into
#   a network in eval mode are not used, and `train()` then subtracts them from a base that holds others. No error, no warning: names and
#   shapes agree.
# Versions: loralib 0.1.2, torch 2.13.0, numpy 2.4.6
# Why it matters: checkpoints are saved after evaluations; "best" and "last" are then different functions of the same training, and a
#   barrier or a merged network between two such files joins a base with an update to one without.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q loralib==0.1.2 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import loralib
import torch
from torch import nn

torch.set_num_threads(1)
torch.set_grad_enabled(False)
torch.manual_seed(0)
base = nn.Sequential(loralib.Linear(8, 16, r=2), nn.ReLU(), loralib.Linear(16, 4, r=2))
x = torch.randn(50, 8)


def adapted(seed):
    """A network over the one base with an update that is as large as the base."""
    torch.manual_seed(seed)
    network = copy.deepcopy(base)
    for layer in (network[0], network[2]):
        nn.init.normal_(layer.lora_A, std=.5)
        nn.init.normal_(layer.lora_B, std=.5)
    return network


def off(network):
    return ((network(x) - truth).norm() / truth.norm()).item()


saved = adapted(1)
truth = saved(x)
assert off(saved.eval()) < 1e-5
found = {}
for at_save in ("train", "eval"):
    for at_load in ("train", "eval"):
        for what, state in (("all", nn.Module.state_dict), ("adapters", loralib.lora_state_dict)):
            getattr(saved, at_save)()
            other = getattr(adapted(2), at_load)()
            other.load_state_dict(copy.deepcopy(state(saved)), strict=False)
            found[what, at_save, at_load] = off(other), off(other.eval()), off(other.train())
            print(f"{what:8} saved in {at_save:5}, loaded in {at_load:5}: outputs off by {found[what, at_save, at_load][0]:.2f},",
                  "then in eval {1:.2f}, then in train {2:.2f}".format(*found[what, at_save, at_load]))
for (what, at_save, at_load), errors in found.items():
    right = at_load == "train" if what == "adapters" else at_save == at_load
    assert max(errors) < 1e-5 if right else min(errors) > .3
PYTHON
