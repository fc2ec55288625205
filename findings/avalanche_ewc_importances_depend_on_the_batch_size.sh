#!/usr/bin/env bash
# One would guess: the importances of elastic weight consolidation are the diagonal of the Fisher information, a mean over examples; the
#   batch size with which the examples are read changes nothing.
# What happens: the mean gradient of a batch is squared, not each example's. With batches of one example the importances are the mean
#   squares; with 32 they are 34 times smaller, and with all 500 in one batch, at a trained network, 14,000 times, since the mean
#   gradient all but vanishes there. Nor is it a factor: logarithms of the importances have a correlation of .77 with those of the mean
#   squares for batches of 32, and of -.2 for one batch. Batches count alike: with 160 the last one has 20 examples and rules, and the sum
#   is larger than with 128.
# Versions: avalanche-lib 0.6.0 (its EWC alone), torch 2.13.0, numpy 2.4.6
# Why it matters: the strength of the penalty and which weights it holds depend on the training batch size, which is used here too; an average
#   of networks weighted by such importances weighs noise. Learning rates and penalties tuned with one batch size do not carry over.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps avalanche-lib==0.6.0
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys
import types
from importlib.util import find_spec

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.utils.data import TensorDataset

# the plugin's file and the file of its tools; of what they import, a base class and a function are used
root = find_spec("avalanche").submodule_search_locations[0]


class Plugin:
    def __class_getitem__(cls, _):
        return cls


for name, content in {"avalanche": {}, "avalanche.models": {}, "avalanche.training": {}, "avalanche.training.plugins": {},
                      "avalanche.models.utils": {"avalanche_forward": lambda model, x, task: model(x)},
                      "avalanche.models.batch_renorm": {"BatchRenorm2D": None}, "avalanche.benchmarks": {"OnlineCLExperience": None},
                      "avalanche.training.plugins.strategy_plugin": {"SupervisedPlugin": Plugin}}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    sys.modules[name].__path__ = [root + name[9:].replace(".", "/")]
from avalanche.training.plugins.ewc import EWCPlugin

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(500, 6)
y = (x @ torch.randn(6, 3) + torch.randn(500, 3)).argmax(1)
network = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.LBFGS(network.parameters(), max_iter=300, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(network(x), y) + 1e-3 * sum(p.square().sum() for p in network.parameters())
    loss.backward()
    return loss


optimizer.step(closure)


def loss_of_one(parameters, example, label):
    return nn.functional.cross_entropy(functional_call(network, parameters, (example,)), label)


slopes = vmap(grad(loss_of_one), (None, 0, 0))({name: p.detach() for name, p in network.named_parameters()}, x, y)
own = torch.cat([slope.square().mean(0).flatten() for slope in slopes.values()])
found = {}
for size in (1, 8, 32, 128, 160, 500):
    importances = EWCPlugin(ewc_lambda=1.0).compute_importances(
        network, nn.CrossEntropyLoss(), torch.optim.SGD(network.parameters(), lr=.1), TensorDataset(x, y, torch.zeros(500)), "cpu", size)
    values = torch.cat([importance.data.flatten() for importance in importances.values()])
    correlation = torch.corrcoef(torch.stack([values.log(), own.log()]))[0, 1].item()
    found[size] = values.sum().item(), correlation
    print(f"batches of {size:3}: importances sum to {found[size][0]:.4f} (mean squared slopes {own.sum():.4f}), correlation of logarithms",
          f"with those {correlation:.2f}")
assert abs(found[1][0] / own.sum().item() - 1) < 1e-4 and found[1][1] > .999
assert found[1][0] > 20 * found[32][0] and found[1][0] > 1000 * found[500][0] and found[160][0] > 1.5 * found[128][0]
assert found[32][1] < .9 and found[500][1] < .3
PYTHON
