#!/usr/bin/env bash
# One would guess: layers with `spectral_norm` have norm 1, whatever their raw weights; so has the average of two such networks, or
#   of the end of one training, and `use_buffers=True` makes the average only more exact.
# What happens: a layer is divided by u' W v with the *stored* vectors u and v. Averaging the parameters alone keeps the first
#   network's vectors: the average of two networks has layers of norm 1.4. With use_buffers=True the vectors are averaged too, and
#   shorten or cancel: norms of 4 and 128, and over ten checkpoints of one training 14 and 44, where the loss rises from .1 to 2.7.
#   A network and its twin with u and v negated are the same function, and their average is not a number.
# Versions: torch 2.13.0, numpy 2.4.6
# Why it matters: the bound of 1 is what such layers are for (critics, invertible or certified networks), and only training mode
#   restores it; in eval mode barriers and weight averages are those of networks outside the family.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.optim.swa_utils import AveragedModel

torch.set_num_threads(1)


def new():
    return nn.Sequential(spectral_norm(nn.Linear(10, 32)), nn.ReLU(), spectral_norm(nn.Linear(32, 32)), nn.ReLU(), nn.Linear(32, 2))


def examples(generator, number):
    x = torch.randn(number, 10, generator=generator)
    return x, (x[:, 0] * x[:, 1] > 0).long()


def train(network, seed, steps):
    network.train()
    generator, optimizer = torch.Generator().manual_seed(seed), torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(steps):
        x, y = examples(generator, 64)
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    return network.eval()


held_out = examples(torch.Generator().manual_seed(99), 1000)


def average(networks, use_buffers):
    mean = AveragedModel(networks[0], use_buffers=use_buffers)
    for network in networks:
        mean.update_parameters(network)
    return mean.module.eval()


def report(name, network):
    x, y = held_out
    loss = nn.functional.cross_entropy(network(x), y).item()
    norms = [torch.linalg.matrix_norm(network[k].weight.detach(), 2).item() for k in (0, 2)] if loss == loss else [float("nan")] * 2
    print(f"{name:58} norms {norms[0]:7.3f} {norms[1]:7.3f}  loss {loss:.3f}")
    return max(norms), loss


torch.manual_seed(0)
a, b = (train(new(), seed, 300) for seed in (0, 1))
single = report("network a", a)
two = [report(f"average of a and b, use_buffers={buffers}", average([a, b], buffers)) for buffers in (False, True)]
checkpoints = [train(new(), 2, 100)]
for seed in range(3, 12):
    checkpoints.append(train(copy.deepcopy(checkpoints[-1]), seed, 100))
end = report("end of one training", checkpoints[-1])
path = [report(f"average of its last ten checkpoints, use_buffers={buffers}", average(checkpoints, buffers)) for buffers in (False, True)]
twin = copy.deepcopy(a)
for k in (0, 2):
    for vector in twin[k].parametrizations.weight[0].buffers():
        vector.neg_()
assert torch.equal(twin(held_out[0]), a(held_out[0]))
same = [report(f"average of a and its twin, use_buffers={buffers}", average([a, twin], buffers)) for buffers in (False, True)]
assert single[0] < 1.1 and end[0] < 1.1
assert two[0][0] > 1.3 and two[1][0] > 2.5 and path[1][0] > 2.5
assert abs(same[0][1] - single[1]) < 1e-6 and same[1][1] != same[1][1]
PYTHON
