#!/usr/bin/env bash
# One would guess: `CKA(a, b).compare(loader)` feeds every batch of the loader to both networks. Kernel alignment is defined for two
#   representations of the same examples, in the same order, and the order does not matter.
# What happens: without a second loader the one loader is iterated twice, side by side. With shuffle=True network b gets other
#   examples than network a: two copies of one network have CKA 0 up to noise in every layer instead of 1, without a word. One network
#   as both arguments hides it: its hooks then keep the second batch alone.
# Versions: torch-cka 0.21, torch 2.13.0, numpy 2.4.6
# Why it matters: training loaders shuffle; any two networks then look unrelated.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 matplotlib tqdm
"$folder/venv/bin/pip" install -q --no-deps torch-cka==0.21  # torchvision is needed by its examples only
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch_cka import CKA

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Linear(40, 20), nn.ReLU(), nn.Linear(20, 2))
twin = copy.deepcopy(network)
examples = TensorDataset(torch.randn(96, 6), torch.zeros(96))


def with_twin(other, shuffle):
    cka = CKA(network, other, device="cpu")
    cka.compare(DataLoader(examples, batch_size=24, shuffle=shuffle))
    return cka.export()["CKA"].diagonal()


in_order, shuffled, same = with_twin(twin, False), with_twin(twin, True), with_twin(network, True)
for name, found in (("copy, in order", in_order), ("copy, shuffled", shuffled), ("the object itself, shuffled", same)):
    print(f"{name}: CKA from {found.min():.3f} to {found.max():.3f}")
assert in_order.min() > .999 and same.min() > .999
assert shuffled.abs().max() < .2
PYTHON
