#!/usr/bin/env bash
# One would guess: a network whose output layer is its embedding keeps one tensor through torch.export: `parameters()` names it once
#   before the file and after it, as `ExportedProgram.module()` does before it is saved.
# What happens: after `save` and `load` the module has two Parameters that lie over one memory. `parameters()` yields both: 1872
#   numbers instead of 1072, and a loop that moves each parameter half-way to a second network, in place, moves the tied weight
#   three quarters of the way. `deepcopy` then parts them: in the copy both layers read output.weight and none the embedding,
#   which stays where it was when the copy is trained.
# Versions: torch 2.13.0, numpy 2.4.6
# Why it matters: tied weights are the rule in language models; a midpoint, an exponential average or a penalty over the parameters
#   of a loaded program is wrong in the largest tensor, and every later comparison of "both" weights says that they are equal.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - "$folder" <<'PYTHON'
import copy
import sys

import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.hidden, self.output = nn.Embedding(50, 16), nn.Linear(16, 16), nn.Linear(16, 50, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):
        return self.output(torch.tanh(self.hidden(self.embedding(tokens))))


torch.manual_seed(0)
tokens = torch.randint(50, (6,))
network, other = Tied(), Tied()
program = torch.export.export(network, (tokens,))
torch.export.save(program, f"{sys.argv[1]}/program.pt2")
loaded = torch.export.load(f"{sys.argv[1]}/program.pt2").module()
assert torch.equal(loaded(tokens), network(tokens))
counts = [sum(p.numel() for p in m.parameters()) for m in (network, program.module(), loaded)]
print("numbers in parameters(): network, exported, saved and loaded:", *counts)
position = {}
for name, module in (("the network", copy.deepcopy(network)), ("saved and loaded", loaded)):
    with torch.no_grad():
        for key, parameter in module.named_parameters():
            parameter.lerp_(other.state_dict()[key], .5)
    position[name] = [((module.get_parameter(key) - start).norm() / (other.get_parameter(key) - start).norm()).item()
                      for key, start in network.named_parameters()]
    print(f"{name}: half-way of", *(f"{key} {share:.2f}" for (key, _), share in zip(network.named_parameters(), position[name])))
assert loaded.get_parameter("output.weight").data_ptr() == loaded.get_parameter("embedding.weight").data_ptr()
parted = copy.deepcopy(loaded)
before, changes = parted(tokens).detach(), {}
for name in ("embedding.weight", "output.weight"):
    kept = parted.get_parameter(name).detach().clone()
    with torch.no_grad():
        parted.get_parameter(name).zero_()
        changes[name] = (parted(tokens) - before).norm().item()
        parted.get_parameter(name).copy_(kept)
print("a copy's outputs move, with one of the two weights set to 0, by", *(f"{value:.2f} ({name})" for name, value in changes.items()))
assert counts == [1072, 1072, 1872]
assert changes["embedding.weight"] == 0 < 1 < changes["output.weight"]
assert max(abs(share - .5) for share in position["the network"]) < 1e-5
assert abs(position["saved and loaded"][0] - .75) < 1e-5 and abs(position["saved and loaded"][1] - .5) < 1e-5
PYTHON
