#!/usr/bin/env bash
# One would guess: `simplify` removes channels whose weights are all 0, as pruning leaves them, and carries their biases on: the function
#   stays to rounding. A network in which nothing is 0 comes back as it was.
# What happens: for real zeros that holds, to 1e-7. But a channel counts as zeroed when its weights have the *sum* 0. An edge detector
#   (Sobel, Laplace) in a convolution is removed, and the outputs change by .9 of their norm. A class whose ternary weights sum to 0 is removed
#   from the output layer: 9 of 10 are left, the later ones renumbered, and .44 of the examples keep theirs; no error.
# Versions: torch-simplify 1.1.4, torch 2.13.0, numpy 2.4.6
# Why it matters: filters for edges are what first layers learn, and with ternary, quantised or hand-made ones the sum is exactly 0. The
#   smaller network is then not the one that was pruned, and the loss of accuracy is put down to pruning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps torch-simplify==1.1.4
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy
import sys
import types

import torch
from torch import nn

# three classes of torchvision are named to tell whether the network is one of them
for name in ("torchvision", "torchvision.models", "torchvision.models.densenet"):
    sys.modules[name] = types.ModuleType(name)
    for each in ("MobileNetV3", "ShuffleNetV2", "_DenseLayer"):
        setattr(sys.modules[name], each, type(each, (), {}))
from simplify import simplify

torch.set_num_threads(1)
torch.set_grad_enabled(False)
torch.manual_seed(0)
sobel = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
images = torch.randn(8, 1, 8, 8)
found = {}
for name, filter in {"drawn filters": None, "a filter of zeros": torch.zeros(3, 3), "a Sobel filter": sobel}.items():
    network = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 4)).eval()
    if filter is not None:
        network[0].weight[1, 0] = filter
    smaller = simplify(copy.deepcopy(network), torch.zeros(1, 1, 8, 8))
    truth = network(images)
    found[name] = ((smaller(images) - truth).norm() / truth.norm()).item(), len(smaller[0].weight)
    print(f"{name}: {found[name][1]} of 3 filters left, outputs off by {found[name][0]:.2g} of their norm")
classes = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 10)).eval()
classes[2].weight.copy_(torch.randint(-1, 2, (10, 32)).float())
sums = classes[2].weight.sum(1)
examples = torch.randn(200, 16)
truth, left = classes(examples), simplify(copy.deepcopy(classes), torch.zeros(1, 16))(examples)
print(f"ternary output layer with the sums {sums.int().tolist()}: {left.shape[1]} of 10 classes left,",
      f"the same class for {(left.argmax(1) == truth.argmax(1)).float().mean().item():.2f} of the examples")
assert found["drawn filters"] == (0, 3) and found["a filter of zeros"][0] < 1e-6 and found["a filter of zeros"][1] == 2
assert found["a Sobel filter"][1] == 2 and found["a Sobel filter"][0] > .5
assert left.shape[1] == int((sums != 0).sum()) < 10
PYTHON
