#!/usr/bin/env bash
# One would guess: `merge([a, b], data, metric, method="fisher")` tries networks between a and b, each weight nearer to the one with the
#   larger Fisher information in it, and returns the best of 51 mixtures.
# What happens: the Fisher information is computed from outputs for which no graph was recorded, and is exactly 0 for both. The first
#   network's is then raised to 1e-6, so that 50 of 51 mixtures are a, to rounding, and the one with the coefficient 0 for a is not a
#   number. What comes back is a, with a's accuracy, also where b alone is better. `normalize=True` and False do the same.
# Versions: mergelib 0.0.1a0, torch 2.13.0, numpy 2.4.6, tqdm 4.67.1
# Why it matters: "Fisher merging gains nothing over the single network" is then measured in all good faith, and a coefficient curve that is
#   flat to the last digit reads as linear mode connectivity.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 tqdm==4.67.1
"$folder/venv/bin/pip" install -q --no-deps mergelib==0.0.1a0
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import sys
import types

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

sys.modules["evaluate"] = types.ModuleType("evaluate")  # of it a type is named
sys.modules["evaluate"].EvaluationModule = object
from mergelib import merge
from mergelib.engine.fisher import compute_fisher_matrices

torch.set_num_threads(1)


class Classifier(nn.Module):
    """What mergelib expects of a network: a configuration, a body, and a classifier that is not merged."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.classifier = nn.Linear(16, 3)

    def forward(self, input_ids, labels=None):
        return types.SimpleNamespace(logits=self.classifier(self.body(input_ids)))


class Accuracy:
    """A metric with the two methods that are called; keeps the scores."""

    def __init__(self):
        self.right, self.scores = [], []

    def add_batch(self, predictions, references):
        self.right.append((predictions == references).float())

    def compute(self):
        self.scores.append(torch.cat(self.right).mean().item())
        self.right = []
        return {"accuracy": self.scores[-1]}


torch.manual_seed(0)
config = types.SimpleNamespace(num_labels=3)
x = torch.randn(120, 4)
y = (x @ torch.randn(4, 3)).argmax(1)
data = [{"input_ids": x[i:i + 30], "labels": y[i:i + 30]} for i in range(0, 120, 30)]
networks = []
for seed, steps in enumerate((15, 200)):  # a is the worse network
    torch.manual_seed(seed)
    networks.append(Classifier(config))
    optimizer = torch.optim.Adam(networks[-1].parameters(), lr=.01)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(networks[-1](x).logits, y).backward()
        optimizer.step()
fisher = [sum(f.abs().sum().item() for f in compute_fisher_matrices(network, data)) for network in networks]


def loss(parameters, example, label):
    return nn.functional.cross_entropy(functional_call(networks[0], parameters, (example,)).logits, label)


slopes = vmap(grad(loss), (None, 0, 0))(dict(networks[0].named_parameters()), x, y)
single = [(network(x).logits.argmax(1) == y).float().mean().item() for network in networks]
print(f"sum of the Fisher information: {fisher}; mean squared gradients of the first network sum to",
      f"{sum(s.square().mean(0).sum().item() for s in slopes.values()):.3f}")
for normalize in (True, False):
    metric = Accuracy()
    merged, best, coefficients = merge(networks, data, metric, normalize=normalize)
    distance = max((p - q).abs().max().item() for p, q in zip(merged.parameters(), networks[0].parameters()))
    same = sum(score == single[0] for score in metric.scores)
    print(f"normalize={normalize}: {same} of {len(metric.scores)} mixtures score as a, {single[0]:.3f} (b alone: {single[1]:.3f});",
          f"the best, {best['accuracy']:.3f} at {coefficients}, is a to {distance:.1g}")
    assert fisher == [0, 0] and same == 50 and len(metric.scores) == 51 and distance < 1e-6 and best["accuracy"] == single[0] < single[1]
PYTHON
