#!/usr/bin/env bash
# One would guess: between two normalizing flows of one architecture every point of the line is a flow: invertible by construction, whatever
#   its weights, and its density has the mass 1. Barriers in likelihood are differences of likelihoods.
# What happens: `AllInOneBlock` keeps the fixed permutation of its channels, drawn when it is made, and that permutation's inverse as two
#   parameters without gradient. `parameters()` lists them and the midpoint averages them. The mean of a permutation and another is not a
#   permutation, and the mean of the inverses is not its inverse; the Jacobian still counts both as 1. Halfway, inverse and forward
#   pass disagree by the size of the data, and the "density" has a mass of 21, and 150 with soft (orthogonal) permutations, on the square
#   where that of both ends is 1. Moving only parameters that require a gradient leaves a flow.
# Versions: FrEIA 0.2, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: the negative log-likelihood on such a line is not bounded by anything: a path can look better than both ends. Averages
#   over one run are safe, averages over two seeds are not; nor is a matching that takes these matrices for weights.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q FrEIA==0.2 torch==2.13.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy
import math

import numpy as np
import torch
from FrEIA.framework import SequenceINN
from FrEIA.modules import AllInOneBlock
from torch import nn

torch.set_num_threads(1)
torch.set_grad_enabled(False)


def subnet(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))


def new(seed, soft):
    torch.manual_seed(seed)
    np.random.seed(seed)
    flow = SequenceINN(2)
    for _ in range(4):
        flow.append(AllInOneBlock, subnet_constructor=subnet, permute_soft=soft)
    return flow.double().eval()


def inverse_error(flow):
    x = torch.randn(500, 2, generator=torch.Generator().manual_seed(0)).double()
    return ((flow(flow(x)[0], rev=True)[0] - x).norm() / x.norm()).item()


def mass(flow, half=20, points=401):
    """Integral of the density that the flow gives to the plane."""
    axis = torch.linspace(-half, half, points).double()
    x = torch.cartesian_prod(axis, axis)
    z, logdet = flow(x)
    return (torch.exp(logdet - (z**2).sum(1) / 2).sum() / (2 * math.pi) * (axis[1] - axis[0]) ** 2).item()


def midpoint(a, b, chosen):
    middle = copy.deepcopy(a)
    for p, q in zip(middle.parameters(), b.parameters()):
        if chosen(p):
            p.copy_((p + q) / 2)
    return middle


found = {}
for soft in (False, True):
    a, b = new(0, soft), new(1, soft)
    for name, flow in (("a", a), ("b", b), ("midpoint", midpoint(a, b, lambda p: True)),
                       ("midpoint of what is trained", midpoint(a, b, lambda p: p.requires_grad))):
        found[soft, name] = inverse_error(flow), mass(flow)
        error, total = found[soft, name]
        print("soft" if soft else "hard", f"permutations, {name:27}: inverse off by {error:.0e}, mass {total:.3f}")
for (_, name), (error, total) in found.items():
    if name == "midpoint":
        assert error > .3 and total > 10
    else:
        assert error < 1e-6 and abs(total - 1) < .02
PYTHON
