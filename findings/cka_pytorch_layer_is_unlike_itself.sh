#!/usr/bin/env bash
# One would guess: centred kernel alignment of a layer with itself is 1 and does not change when its activations are multiplied
#   by a number: that is what makes CKA comparable between layers.
# What happens: an `epsilon` of 1e-4 stands in the units of HSIC, that is of activations to the fourth power. The output layer
#   of a network at its initial weights has CKA .08 with itself, and the diagonal of the matrix falls with depth; with inputs a
#   tenth as large it is .97, .27, .01, .002, .00 in the five layers, with inputs ten times as large 1 in all.
# Versions: cka-pytorch 1.1.3, lightning 2.6.0, seaborn 0.13.2, torch 2.13.0, numpy 2.4.6
# Why it matters: a dissimilarity between two networks in late layers, or early in training, may be the units of the activations.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 seaborn==0.13.2 tqdm fsspec torchmetrics lightning-utilities pyyaml
"$folder/venv/bin/pip" install -q --no-deps cka-pytorch==1.1.3 lightning==2.6.0 pytorch-lightning==2.6.0  # of it a type is imported
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import torch
from cka_pytorch.cka import CKACalculator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs = torch.randn(96, 6)
network = nn.Sequential(nn.Linear(6, 40, bias=False), nn.ReLU(), nn.Linear(40, 20, bias=False), nn.ReLU(), nn.Linear(20, 2, bias=False))


def with_itself(scale):
    """CKA of each layer with itself, inputs times ``scale``; no layer has a bias, so activations scale alike."""
    loader = DataLoader(TensorDataset(scale * inputs, torch.zeros(96)), batch_size=96)
    calculator = CKACalculator(network, network, model1_name="a", model2_name="b", verbose=False)
    return torch.as_tensor(calculator.calculate_cka_matrix(loader)).diagonal().tolist()


found = {scale: with_itself(scale) for scale in (10.0, 1.0, 0.1)}
for scale, diagonal in found.items():
    print(f"inputs × {scale:<4}: CKA of each layer with itself", [round(value, 4) for value in diagonal])
assert min(found[10.0]) > .99
assert found[1.0][0] > .999 and found[1.0][-1] < .2
assert found[0.1][0] > found[0.1][1] > found[0.1][2] > found[0.1][3] and found[0.1][2] < .05
PYTHON
