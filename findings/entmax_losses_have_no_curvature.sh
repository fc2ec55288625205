#!/usr/bin/env bash
# One would guess: a loss whose gradient PyTorch finds has a Hessian that PyTorch finds too, or the second call of `grad` is refused.
# What happens: the losses of entmax keep their gradient from the forward pass as a number. Their second derivative is 0 to autograd,
#   without a word: for a linear classifier, a convex problem, the whole Hessian is 0, where differences of the gradient give a
#   largest eigenvalue of .9 (sparsemax) and .6 (1.5-entmax). With a hidden layer only the terms remain that the Gauss-Newton matrix
#   lacks, .38 for .84. The mapping `entmax15` itself, in attention say, has the Hessian NaN as soon as one of its weights is 0: that
#   of a square root at 0. `sparsemax` has the right one.
# Versions: entmax 1.3, torch 2.13.0, numpy 2.4.6
# Why it matters: a sharpness of 0, a Newton step or a Laplace approximation without the data are read off such Hessians, and "flat"
#   is what one hopes to see; gradients, and so training and every gradient check, are right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q entmax==1.3 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import entmax
import torch
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(60, 4).double()
y = (x @ torch.randn(4, 3).double() + .5 * torch.randn(60, 3).double()).argmax(1)


def by_differences(function, w, h=1e-5):
    """Hessian by central differences of the gradient."""
    columns = []
    for direction in torch.eye(w.numel()).double() * h:
        ends = [(w + sign * direction).requires_grad_() for sign in (1, -1)]
        plus, minus = (torch.autograd.grad(function(end), end)[0] for end in ends)
        columns.append((plus - minus) / (2 * h))
    return torch.stack(columns)


def top(matrix):
    return torch.linalg.eigvalsh((matrix + matrix.T) / 2)[-1].item()


def linear(loss):
    return lambda w: loss(x @ w.view(4, 3), y).mean()


def hidden(loss):
    return lambda w: loss(torch.tanh(x @ w[:20].view(4, 5)) @ w[20:].view(5, 3), y).mean()


losses = {"cross entropy": lambda z, y: F.cross_entropy(z, y, reduction="none"), "sparsemax_loss": entmax.sparsemax_loss,
          "entmax15_loss": entmax.entmax15_loss, "entmax_bisect_loss": entmax.entmax_bisect_loss}
found = {}
for name, loss in losses.items():
    for kind, network, size in (("linear", linear, 12), ("hidden layer", hidden, 35)):
        function, w = network(loss), .3 * torch.randn(size, generator=torch.Generator().manual_seed(1)).double()
        pair = torch.autograd.functional.hessian(function, w), by_differences(function, w)
        found[name, kind] = [top(matrix) for matrix in pair]
        print(f"{name:18} {kind:12} largest eigenvalue by autograd {found[name, kind][0]:6.3f}, by differences {found[name, kind][1]:6.3f}")
nan = {}
for name in ("sparsemax", "entmax15"):
    mapping = getattr(entmax, name)
    for scores in (torch.tensor([.3, .2, .1]).double(), torch.tensor([3., .2, .1]).double()):
        weights = mapping(scores, dim=0)
        matrix = torch.autograd.functional.hessian(lambda s: (mapping(s, dim=0) * torch.arange(3)).sum().square(), scores)
        nan[name, (weights == 0).any().item()] = matrix.isnan().any().item()
        print(f"{name:9} weights", *(f"{value:.2f}" for value in weights), " Hessian has NaN:", matrix.isnan().any().item())
assert all(abs(a - d) < 1e-6 for (name, _), (a, d) in found.items() if name == "cross entropy")
assert all(found[name, "linear"][0] == 0 and found[name, "linear"][1] > .5 for name in losses if name != "cross entropy")
assert all(found[name, "hidden layer"][0] < .8 * found[name, "hidden layer"][1] for name in losses if name != "cross entropy")
assert nan == {("sparsemax", False): False, ("sparsemax", True): False, ("entmax15", False): False, ("entmax15", True): True}
PYTHON
