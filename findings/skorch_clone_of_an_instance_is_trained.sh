#!/usr/bin/env bash
# One would guess: `sklearn.base.clone` yields an estimator with the same settings that has seen no data; the folds of a
#   cross-validation and the members of a bagged ensemble of skorch networks therefore start untrained, and apart.
# What happens: that holds if `module` is a class. skorch also takes an *instance*, and an instance is a setting: `clone` copies it
#   with its weights, `initialize` leaves them, and `fit` trains the very object that was handed over. Cross-validation after one fit
#   begins each fold with a network that has seen the fold: accuracy .8 on random labels, where chance is .5. Four bagged networks
#   start from equal weights, to the bit.
# Versions: skorch 1.4.0, scikit-learn 1.9.1, torch 2.13.0, numpy 2.4.6
# Why it matters: held-out accuracy is wrong by any amount, and an ensemble that shares its start lies closer together and is less
#   diverse than one believes: barriers between its members say nothing about independent trainings.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q skorch==1.4.0 scikit-learn==1.9.1 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
import torch
from skorch import NeuralNetClassifier
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import cross_val_score
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(200, 20)).astype("float32"), rng.integers(0, 2, 200)


class Network(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(20, 200), nn.ReLU(), nn.Linear(200, 2))


def net(module, epochs=40, lr=.004):
    return NeuralNetClassifier(module, criterion=nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=lr, max_epochs=epochs, verbose=0,
                               train_split=None, iterator_train__shuffle=True)


found = {}
for name, module in (("class", Network), ("instance", Network())):
    estimator = net(module)
    before = cross_val_score(estimator, x, y, cv=5).mean()
    estimator.fit(x, y)
    cloned = clone(estimator).initialize().score(x, y)
    after = cross_val_score(estimator, x, y, cv=5).mean()
    members = BaggingClassifier(net(Network if name == "class" else Network(), epochs=1, lr=0.0), n_estimators=4).fit(x, y).estimators_
    starts = torch.stack([member.module_[0].weight.detach() for member in members])
    apart = (starts[1:] - starts[0]).norm(dim=(1, 2)).min().item()
    found[name] = before, cloned, after, apart
    print(f"{name:8}: random labels, cross-validated before a fit {before:.2f}, after it {after:.2f}; a clone's accuracy {cloned:.2f};",
          f"starts of bagged members at least {apart:.2f} apart")
assert max(found["class"][:3]) < .65 and found["class"][3] > 1
assert found["instance"][0] < .65 and min(found["instance"][1:3]) > .75 and found["instance"][3] == 0
PYTHON
