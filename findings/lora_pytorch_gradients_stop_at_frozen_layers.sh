#!/usr/bin/env bash
# One would guess: after `LoRA.from_module(network, rank)` the gradient of the loss by an adapter's weights is that gradient: the frozen
#   weights take no gradient themselves and pass it on, as with `requires_grad_(False)`.
# What happens: every frozen layer runs under `no_grad`, and what reaches the layers before it comes through its adapter alone, which is
#   0 at the start: of three layers only the last adapter has a gradient, where finite differences find 2.1 and 1.0 for the two before
#   it. It is wrong later too: after 300 steps of Adam from a trained network its cosines with the differences are -.17 and .21. A layer's
#   own `weight` attribute, base and update together, gives the right gradient; trained with it, from the same start, the same network
#   comes to a loss of .0043, and to .0315 as the library trains it.
# Versions: lora-pytorch 0.2.0, torch 2.13.0, numpy 2.4.6
# Why it matters: nothing fails and the loss falls; adapters seem to need many steps, or to matter only near the output. Which layers a
#   fine-tuning changes, how far apart two adapted networks are and the barrier between them are those of another optimiser. Where skip
#   connections lead round the layers, part of the gradient is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q lora-pytorch==0.2.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import torch
from lora_pytorch import LoRA
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)
x = torch.randn(200, 6, generator=generator).double()
old = torch.stack([x[:, 4] * x[:, 5], x[:, 1].cos(), x[:, 0]], 1)
y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].sin(), x[:, 3] - x[:, 4]], 1)
torch.manual_seed(0)
base = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 3)).double()
optimizer = torch.optim.Adam(base.parameters(), lr=.01)
for _ in range(1000):  # trained on another task
    optimizer.zero_grad()
    (base(x) - old).square().mean().backward()
    optimizer.step()


def adapted():
    """The trained network with adapters of rank 4."""
    torch.manual_seed(0)
    return LoRA.from_module(copy.deepcopy(base), rank=4)


def as_library(network):
    """Loss of the library's forward pass."""
    return (network(x) - y).square().mean()


def by_weights(network):
    """The same loss, from the sum of base and update that each layer gives as its weight."""
    out = x
    for layer in network.module:
        out = functional.linear(out, layer.weight, layer.module.bias) if isinstance(layer, LoRA) else layer(out)
    return (out - y).square().mean()


def layers(network):
    """Each layer's adapter weights."""
    return [list(network.module[i].lora_module.parameters()) for i in (0, 2, 4)]


def gradient(network, loss):
    """The gradient by each layer's adapter, flattened."""
    groups = layers(network)
    found = torch.autograd.grad(loss(network), [p for group in groups for p in group], allow_unused=True)
    found = [torch.zeros_like(p) if g is None else g for g, p in zip(found, [p for group in groups for p in group])]
    sizes = [len(group) for group in groups]
    return [torch.cat([g.reshape(-1) for g in part]) for part in (found[:sizes[0]], found[sizes[0]:-sizes[2]], found[-sizes[2]:])]


@torch.no_grad()
def differences(network, step=1e-5):
    """Central differences of the library's own loss by each layer's adapter."""
    result = []
    for group in layers(network):
        slopes = []
        for flat in (p.view(-1) for p in group):
            for i, value in enumerate(flat.tolist()):
                flat[i] = value + step
                above = as_library(network)
                flat[i] = value - step
                slopes.append((above - as_library(network)) / (2 * step))
                flat[i] = value
        result.append(torch.stack(slopes))
    return result


def compare(name, network):
    """Print and return norms and cosines of the library's gradient and the differences."""
    rows = []
    for layer, (own, weights, slope) in enumerate(zip(gradient(network, as_library), gradient(network, by_weights), differences(network))):
        rows.append((own.norm().item(), slope.norm().item(), functional.cosine_similarity(own, slope, dim=0).item()))
        error = ((weights - slope).norm() / slope.norm()).item()
        print(f"{name}, layer {layer + 1}: gradient {rows[-1][0]:.3f}, differences {rows[-1][1]:.3f}, cosine {rows[-1][2]:.2f};",
              f"through `weight` off by {error:.0e}")
        assert error < 1e-3
    return rows


def train(loss, steps=300):
    """Adam on the adapters alone."""
    network = adapted()
    optimizer = torch.optim.Adam([p for group in layers(network) for p in group], lr=.01)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(network).backward()
        optimizer.step()
    return network


start = adapted()
assert abs(as_library(start) - by_weights(start)) < 1e-12
first = compare("start", start)
library, right = train(as_library), train(by_weights)
assert abs(as_library(library) - by_weights(library)) < 1e-12
later = compare("after 300 steps", library)
ends = as_library(library).item(), as_library(right).item()
print(f"loss at the start {as_library(start).item():.3f}, after 300 steps as the library does {ends[0]:.4f},",
      f"through `weight` {ends[1]:.4f}")
assert first[0][0] == first[1][0] == 0 and min(first[0][1], first[1][1]) > .05 and first[2][2] > .999999
assert max(later[0][2], later[1][2]) < .5 and later[2][2] > .9999
assert ends[0] > 4 * ends[1]
PYTHON
