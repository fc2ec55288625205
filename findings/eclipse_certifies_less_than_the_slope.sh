#!/usr/bin/env bash
# One would guess: the "certified upper bound" of a fully connected network's Lipschitz constant is one: no slope of the network exceeds it.
#   What the method does not cover is refused. The "trivial" bound is the product of the layers' spectral norms.
# What happens: every activation is taken to have slopes between 0 and 1, and of all layers but linear ones nothing is read. Four layers of
#   orthogonal weights are certified with 1.00: that is right for ReLU and tanh, but slopes reach 1.30 with SiLU and 1.37 with GELU. With a
#   batch norm behind the first layer the certificate is .78 and slopes reach 8.5; with the norm folded into that layer, the same function,
#   it is 12.1. The trivial bound multiplies Frobenius norms: 16 for the four layers.
# Versions: eclipse-nn 0.1.7, cvxpy 1.9.3, torch 2.13.0, numpy 2.4.6
# Why it matters: GELU and SiLU are what networks have now, and a certificate below the truth is worse than none: it is taken for
#   robustness. After folding the batch norm it is another while the function is the same.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q eclipse-nn==0.1.7 cvxpy==1.9.3 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from eclipse_nn.LipConstEstimator import LipConstEstimator
from torch import nn
from torch.nn.utils.fusion import fuse_linear_bn_eval

torch.set_num_threads(1)
torch.manual_seed(0)
torch.set_default_dtype(torch.double)


def steepest(network, inputs):
    """The largest slope of the network at the inputs: a lower bound of its Lipschitz constant."""
    slopes = torch.func.vmap(torch.func.jacrev(lambda x: network(x[None])[0]))(inputs)
    return torch.linalg.matrix_norm(slopes, 2).max().item()


bounds, slopes = {}, {}
for activation in nn.ReLU, nn.Tanh, nn.SiLU, nn.GELU:
    torch.manual_seed(0)  # the same weights for each
    network = nn.Sequential()
    for _ in range(3):
        network.extend([nn.Linear(4, 4), activation()])
    network.append(nn.Linear(4, 4))
    for layer in network[::2]:
        nn.init.orthogonal_(layer.weight)
        nn.init.constant_(layer.bias, 1.0)
    name, estimator = activation.__name__, LipConstEstimator(network)
    bounds[name], trivial = float(estimator.estimate("ECLipsE_Fast")), float(estimator.estimate("trivial"))
    slopes[name] = steepest(network, 3 * torch.randn(20000, 4))
    print(f"four orthogonal layers, {name}: certified {bounds[name]:.3f}, slopes up to {slopes[name]:.3f}; trivial bound {trivial:.0f}")
inputs = .1 * torch.randn(500, 4)
network = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
for _ in range(200):
    network(inputs)  # running statistics
network.eval()
folded = nn.Sequential(fuse_linear_bn_eval(network[0], network[1]), *network[2:])
certified = [float(LipConstEstimator(one).estimate("ECLipsE_Fast")) for one in (network, folded)]
steep = steepest(network, inputs)
print(f"with batch norm: certified {certified[0]:.3f}, slopes up to {steep:.3f}; folded into the linear layer: certified {certified[1]:.3f}")
assert all(abs(bound - 1) < 1e-6 for bound in bounds.values()) and abs(trivial - 16) < 1e-6
assert slopes["ReLU"] < 1.001 and slopes["Tanh"] < 1.001 and slopes["SiLU"] > 1.1 and slopes["GELU"] > 1.15
assert certified[0] < 1 < 5 < steep < certified[1]
PYTHON
