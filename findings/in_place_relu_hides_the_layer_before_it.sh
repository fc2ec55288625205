#!/usr/bin/env bash
# One would guess: networks that differ in `nn.ReLU(inplace=True)` alone compute the same at every layer, so that tools which read
#   layers see no difference, and a layer differs from its rectification.
# What happens: the recorded tensor is kept, not copied, and the next module overwrites it. For three tools that compare
#   representations the layers before an in-place ReLU are the layers after it: alignment of the two "networks" is .93 and .87 at
#   a linear layer and a batch norm, and 1 everywhere else; a layer and its rectification have alignment 1 instead of .93.
# Versions: pytorch-cka 1.1.3, torch-cka 0.21, nngeom 0.2.0, torch 2.13.0, numpy 2.4.6
# Why it matters: torchvision's residual networks rectify in place, hand-written ones mostly do not. A statistic of what
#   comes before an activation (mean and variance to repair, correlations to match by) is that of what comes after it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 matplotlib tqdm nngeom==0.2.0
"$folder/venv/bin/pip" install -q pytorch-cka==1.1.3 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps torch-cka==0.21  # torchvision is needed by its examples only
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import torch
from cka import compute_cka
from nngeom.representations import extract_activations, linear_cka
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch_cka import CKA

inputs = torch.randn(96, 6, generator=torch.Generator().manual_seed(0))
loader = DataLoader(TensorDataset(inputs, torch.zeros(96)), batch_size=32)
names = [str(k) for k in range(6)]


def network(inplace):
    torch.manual_seed(1)
    layers = nn.Linear(6, 40), nn.ReLU(inplace), nn.Linear(40, 20), nn.BatchNorm1d(20), nn.ReLU(inplace), nn.Linear(20, 3)
    return nn.Sequential(*layers).eval()


def pytorch_cka(a, b):
    return compute_cka(a, b, loader, layers=names, progress=False)[0].double()


def torch_cka(a, b):
    tool = CKA(a, b, model1_layers=names, model2_layers=names, device="cpu")
    tool.compare(loader)
    return tool.export()["CKA"].double()


def nngeom(a, b):
    a, b = extract_activations(a, inputs, names), extract_activations(b, inputs, names)
    return torch.tensor([[linear_cka(a[p], b[q]) for q in names] for p in names])


plain, other = network(False), network(True)
assert torch.equal(plain(inputs), other(inputs))
for tool in (pytorch_cka, torch_cka, nngeom):
    own = tool(plain, network(False))
    across, itself = tool(plain, other).diagonal(), tool(other, network(True))
    print(f"{tool.__name__:12} plain and in place, layer by layer:", *(f"{value:.3f}" for value in across),
          f" linear layer and its ReLU: plain {own[0, 1]:.3f}, in place {itself[0, 1]:.3f}")
    assert min(own.diagonal()) > .999 and own[0, 1] < .97
    assert across[0] < .97 and across[3] < .95 and min(across[k] for k in (1, 2, 4, 5)) > .999 and itself[0, 1] > .999
PYTHON
