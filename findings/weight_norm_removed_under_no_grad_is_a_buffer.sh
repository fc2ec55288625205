#!/usr/bin/env bash
# One would guess: `no_grad` decides what is recorded for the backward pass, not what a module consists of. To fold a weight norm into
#   its layer under it, as all surgery on weights is done, gives the layer that one gets without it.
# What happens: `remove_parametrizations` then registers the folded weight as a *buffer*. `parameters()` ends with the bias, an
#   optimizer trains that alone, a midpoint over the parameters moves the bias alone, and nothing warns: the state dictionary
#   has the same names. `spectral_norm`, `orthogonal` and the older `torch.nn.utils.weight_norm` give a parameter both ways.
# Versions: torch 2.13.0, numpy 2.4.6
# Why it matters: weight norm is folded before networks are compared, merged or fine-tuned; a chord over such networks bends, since
#   their weights stay while their biases move, and fine-tuning a merged network leaves its weights as they were.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from torch import nn
from torch.nn.utils import parametrize, remove_weight_norm
from torch.nn.utils import weight_norm as older_weight_norm
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm


def folded(way, grad):
    torch.manual_seed(0)
    layer = way(nn.Linear(6, 6))
    with torch.set_grad_enabled(grad):
        remove_weight_norm(layer) if way is older_weight_norm else parametrize.remove_parametrizations(layer, "weight")
    return layer


found = {}
ways = {"weight_norm": weight_norm, "older weight_norm": older_weight_norm, "spectral_norm": spectral_norm, "orthogonal": orthogonal}
for name, way in ways.items():
    plain, quiet = folded(way, True), folded(way, False)
    assert list(plain.state_dict()) == list(quiet.state_dict()) and torch.equal(plain.weight, quiet.weight)
    found[name] = [sorted(key for key, _ in layer.named_parameters()) for layer in (plain, quiet)]
    print(f"{name:18} parameters after folding: {found[name][0]}, under no_grad: {found[name][1]}")
moved = []
for grad in (True, False):
    layer = folded(weight_norm, grad)
    start = layer.weight.detach().clone()
    optimizer = torch.optim.SGD(layer.parameters(), .1)
    layer(torch.ones(4, 6)).square().sum().backward()
    optimizer.step()
    moved.append((layer.weight - start).norm().item())
print("a step of SGD moves the weight by", moved[0], "and, folded under no_grad, by", moved[1])
both = ["bias", "weight"]
assert found == {name: [both, ["bias"] if name == "weight_norm" else both] for name in found}
assert moved[0] > .1 and moved[1] == 0
PYTHON
