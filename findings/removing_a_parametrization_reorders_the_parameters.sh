#!/usr/bin/env bash
# One would guess: `remove_parametrizations` after `weight_norm`, `prune.remove` after `prune.identity`, give back the network as it
#   was: the same function, names, shapes and length, so that its vector of parameters is the same vector.
# What happens: the weight is registered anew, behind the bias. `parameters_to_vector` of the network before and after differ by
#   more than their norm though no number changed, and `vector_to_parameters` writes one's vector into the other without complaint:
#   another function. The state of an optimizer goes by position too.
# Versions: torch 2.13.0, numpy 2.4.6
# Why it matters: distances, chords, task vectors and Hessian directions are taken over such vectors. One of two networks that was
#   pruned by nothing, or trained under weight norm, is then compared in another order. State dictionaries, by name, are safe.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, parametrize, prune, vector_to_parameters
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

torch.manual_seed(0)
inputs = torch.randn(20, 8)
network = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
nn.init.orthogonal_(network[2].weight)


def pruned(layer):
    prune.remove(prune.identity(layer, "weight"), "weight")


def once(parametrization):
    return lambda layer: parametrize.remove_parametrizations(parametrization(layer), "weight")


ways = {"prune.identity": pruned, "weight_norm": once(weight_norm), "orthogonal": once(orthogonal), "spectral_norm": once(spectral_norm)}
vector = parameters_to_vector(network.parameters()).detach()
for name, way in ways.items():
    twin = copy.deepcopy(network)
    way(twin[2])
    twin.load_state_dict(network.state_dict())  # by name, to be free of rounding
    order = [key for key, _ in twin.named_parameters() if key.startswith("2.")]
    other = parameters_to_vector(twin.parameters()).detach()
    distance = ((vector - other).norm() / vector.norm()).item()
    assert torch.equal(twin(inputs), network(inputs)) and other.shape == vector.shape
    vector_to_parameters(vector.clone(), twin.parameters())
    change = ((twin(inputs) - network(inputs)).norm() / network(inputs).norm()).item()
    print(f"{name:14} and back: {', '.join(order)}; distance of the vectors {distance:.2f} of their norm;",
          f"the network's vector written into its twin: outputs change by {change:.2f} of their norm")
    assert order == ["2.bias", "2.weight"] and distance > .3 and change > .2
PYTHON
