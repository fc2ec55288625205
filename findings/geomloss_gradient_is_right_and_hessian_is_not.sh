#!/usr/bin/env bash
# One would guess: the kernel losses of geomloss, the squared distance of two clouds of points in the mean of a kernel, are sums of
#   exponentials or distances; autograd's Hessian of them is as right as its gradient.
# What happens: the gradient agrees with differences; the Hessian does not, and nothing is said. With a Gaussian kernel it is off by 3
#   times the norm of the true one, and all its eigenvalues are negative, -.49 to -.13, where the true ones run from -.16 to .16; with
#   the energy distance and the Laplacian kernel it is off by .9 and .4. geomloss detaches one argument and doubles the gradient of
#   the other, which is right once. The same loss written out, in two lines, has the true Hessian.
# Versions: geomloss 0.3.1, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: such losses fit clouds of points, or the activations of a layer to another's; curvature, Newton steps and influence
#   functions come out with wrong signs, a minimum as a maximum, and a check of gradients does not tell.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q geomloss==0.3.1 torch==2.13.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import torch
from geomloss import SamplesLoss
from torch.autograd.functional import hessian

torch.set_num_threads(1)
torch.manual_seed(0)
target, start = torch.randn(7, 2).double(), torch.randn(10).double()


def kernel(a, b):
    return torch.exp(-(a[:, None] - b).square().sum(2) / (2 * .5**2)).mean()


def written_out(points):
    """The Gaussian kernel loss without geomloss."""
    return (kernel(points, points) + kernel(target, target)) / 2 - kernel(points, target)


def by_differences(function, at, h=1e-4):
    """Gradient and Hessian by central differences of the function's values."""
    steps = torch.eye(len(at)).double() * h
    value = lambda *moves: function(at + sum(moves)).item()
    gradient = torch.tensor([(value(e) - value(-e)) / (2 * h) for e in steps])
    second = [[value(e, f) - value(e, -f) - value(-e, f) + value(-e, -f) for f in steps] for e in steps]
    return gradient, torch.tensor(second) / (4 * h * h)


def off(a, b):
    return ((a - b).norm() / b.norm()).item()


losses = {"Gaussian, written out": lambda x: written_out(x.view(5, 2))}
for kind in ("gaussian", "energy", "laplacian"):
    loss = SamplesLoss(kind, blur=.5, backend="tensorized")
    losses[f"geomloss, {kind}"] = lambda x, loss=loss: loss(x.view(5, 2), target)
found = {}
for name, loss in losses.items():
    point = start.clone().requires_grad_()
    gradient, matrix = torch.autograd.grad(loss(point), point)[0], hessian(loss, start)
    true_gradient, true_matrix = (piece.double() for piece in by_differences(loss, start))
    ends = [torch.linalg.eigvalsh((m + m.T) / 2)[[0, -1]].tolist() for m in (matrix, true_matrix)]
    found[name] = off(gradient, true_gradient), off(matrix, true_matrix), ends
    print(f"{name:22} gradient off by {found[name][0]:.0e}, Hessian by {found[name][1]:.0e}; its eigenvalues from {ends[0][0]:6.3f} to",
          f"{ends[0][1]:6.3f} by autograd, from {ends[1][0]:6.3f} to {ends[1][1]:6.3f} in truth")
assert max(gradient for gradient, _, _ in found.values()) < .01
assert found.pop("Gaussian, written out")[1] < 1e-3
assert min(matrix for _, matrix, _ in found.values()) > .2 and found["geomloss, gaussian"][1] > 2
assert found["geomloss, gaussian"][2][0][1] < 0 < found["geomloss, gaussian"][2][1][1]
PYTHON
