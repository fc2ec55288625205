#!/usr/bin/env bash
# One would guess: a network and its twin, hidden units renumbered or, with tanh, flipped in sign, remain twins under every optimizer that
#   draws nothing: it knows neither the numbers nor the signs of units. What differs at the end is no more than rounding.
# What happens: for AdamW, Lion, LAMB, Adafactor and Shampoo, to 1e-11. SOAP's twins, renumbered, end as far apart as they have moved.
#   Its basis comes from the first gradient, which has fewer directions than there are units; the others are whatever the eigensolver
#   returns, which goes by the numbers. (With 3 units, inputs and outputs it has them all: 1e-6.) Ranger and Nero, which subtract means
#   over a unit's weights, and Rose part flipped twins, by .2 to .4 of the way, with other losses. The same start twice gives the
#   same end to the last bit with all of them.
# Versions: pytorch-optimizer 4.1.0, torch 2.13.0, numpy 2.4.6
# Why it matters: "train a permuted copy, undo the permutation, compare" is the natural control for matching and for barriers. With SOAP
#   a perfect matching of the starts is none of the ends, though the data, their order and the seed are the same.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pytorch-optimizer==4.1.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import torch
from pytorch_optimizer import load_optimizer
from torch import nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.double)


def parts(network):
    return network[0].weight, network[0].bias, network[2].weight, network[2].bias


def renumber(first, bias, second, last):
    return first[order], bias[order], second[:, order], last


def renumber_back(first, bias, second, last):
    back = order.argsort()
    return first[back], bias[back], second[:, back], last


def flip(first, bias, second, last):
    return signs[:, None] * first, signs * bias, second * signs, last


def as_it_is(*weights):
    return weights


def train(name, change, undo, steps=200):
    """Loss at the end and weights, with the change of the start undone, in one vector."""
    network = copy.deepcopy(start)
    with torch.no_grad():
        for parameter, value in zip(parts(network), change(*(p.clone() for p in parts(network)))):
            parameter.copy_(value)
    torch.manual_seed(7)
    optimizer = load_optimizer(name)(network.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(network(x), y)
        loss.backward()
        optimizer.step()
    return loss.item(), torch.cat([p.detach().flatten() for p in undo(*parts(network))])


found = {}
for inputs, units, names in ((5, 8, ("adamw", "lion", "lamb", "adafactor", "shampoo", "soap", "ranger", "nero", "rose")), (3, 3, ("soap",))):
    torch.manual_seed(0)
    x = torch.randn(64, inputs)
    y = torch.tanh(x @ torch.randn(inputs, 3))
    start = nn.Sequential(nn.Linear(inputs, units), nn.Tanh(), nn.Linear(units, 3))
    order, signs = torch.randperm(units), (-1.0) ** torch.arange(units)
    origin = torch.cat([p.detach().flatten() for p in parts(start)])
    for name in names:
        loss, end = train(name, as_it_is, as_it_is)
        assert torch.equal(end, train(name, as_it_is, as_it_is)[1])  # nothing is drawn
        twins = {"renumbered": train(name, renumber, renumber_back), "flipped": train(name, flip, flip)}
        gaps = {key: ((weights - end).norm() / (end - origin).norm()).item() for key, (_, weights) in twins.items()}
        found[name if units == 8 else f"{name}, {units} units"] = gaps
        print(f"{inputs} inputs, {units} units, {name:9}: loss {loss:.5f};",
              "; ".join(f"{key} {twins[key][0]:.5f}, apart by {gap:.0e}" for key, gap in gaps.items()))
for name in ("adamw", "lion", "lamb", "adafactor", "shampoo"):
    assert max(found[name].values()) < 1e-8, name
assert found["soap"]["renumbered"] > .3 and found["soap"]["flipped"] < 1e-8 and found["soap, 3 units"]["renumbered"] < 1e-4
for name in ("ranger", "nero", "rose"):
    assert found[name]["renumbered"] < 1e-5 and found[name]["flipped"] > .1, name
PYTHON
