#!/usr/bin/env bash
# One would guess: `odeint_adjoint` is `odeint` with less memory: outputs and gradients agree to the solver's tolerance, and so do
#   second derivatives, or they are refused.
# What happens: the adjoint is solved without recording. Gradients agree to 1e-7 and `create_graph=True` is accepted, but what went
#   through the solver is a constant in the gradient. Of the Hessian of a small network with one such layer the rows of the layers
#   before the solver, and of the field itself, lack what the rows behind it have: it is off by .45 of its norm and not symmetric.
#   `eigvalsh` reads one triangle: the largest eigenvalue is 4.96 by the lower, 4.40 by the upper, and 5.02 in truth.
# Versions: torchdiffeq 0.2.5, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: sharpness, Newton and meta-learning steps, and gradient penalties on neural differential equations come out as
#   numbers without a warning; Lanczos and conjugate gradients presume the symmetry that is gone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torchdiffeq==0.2.5 torch==2.13.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint

torch.set_num_threads(1)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))

    def forward(self, time, state):
        return self.layers(state)


class Network(nn.Module):
    def __init__(self, solve):
        super().__init__()
        self.first, self.field, self.last, self.solve = nn.Linear(2, 2), Field(), nn.Linear(2, 1), solve

    def forward(self, x):
        times = torch.tensor([0, 1]).double()
        return self.last(self.solve(self.field, self.first(x).tanh(), times, rtol=1e-6, atol=1e-7)[-1])


def derivatives(solve):
    """Gradient and Hessian of the squared error by autograd, and the Hessian's columns by differences of the gradient."""
    torch.manual_seed(1)
    network, x, y = Network(solve).double(), torch.randn(8, 2).double(), torch.randn(8, 1).double()
    parameters = list(network.parameters())

    def gradient(create_graph=False):
        loss = nn.functional.mse_loss(network(x), y)
        return torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, parameters, create_graph=create_graph)])

    recorded = gradient(create_graph=True)
    rows = []
    for entry in recorded:
        pieces = torch.autograd.grad(entry, parameters, retain_graph=True, allow_unused=True)
        rows.append(torch.cat([(torch.zeros_like(p) if g is None else g).reshape(-1) for p, g in zip(parameters, pieces)]))
    columns, h = [], 1e-3
    with torch.no_grad():
        for parameter in parameters:
            for place in range(parameter.numel()):
                ends = []
                for shift in (h, -2 * h):
                    parameter.view(-1)[place] += shift
                    with torch.enable_grad():
                        ends.append(gradient())
                parameter.view(-1)[place] += h
                columns.append((ends[0] - ends[1]) / (2 * h))
    return recorded.detach(), torch.stack(rows), torch.stack(columns, 1)


def off(a, b):
    return ((a - b).norm() / b.norm()).item()


(gradient, matrix, differences), (other_gradient, other, other_differences) = map(derivatives, (odeint, odeint_adjoint))
print(f"gradients differ by {off(other_gradient, gradient):.1e}, Hessians by differences by {off(other_differences, differences):.1e}")
tops = {}
for name, found, truth in (("odeint", matrix, differences), ("odeint_adjoint", other, other_differences)):
    tops[name] = [torch.linalg.eigvalsh(found, UPLO=half)[-1].item() for half in "LU"]
    print(f"{name:14} Hessian by autograd: off by {off(found, truth):.1e}, asymmetric by {off(found, found.T):.1e},",
          "largest eigenvalue by the lower and the upper triangle", *(f"{value:.3f}" for value in tops[name]))
print(f"largest eigenvalue by differences {torch.linalg.eigvalsh(differences)[-1]:.3f}")
assert off(other_gradient, gradient) < 1e-5 and off(other_differences, differences) < 1e-3 and off(matrix, differences) < 1e-3
assert off(other, other_differences) > .3 and off(other, other.T) > .3
assert abs(tops["odeint"][0] - tops["odeint"][1]) < 1e-4 < .05 < abs(tops["odeint_adjoint"][0] - tops["odeint_adjoint"][1])
PYTHON
