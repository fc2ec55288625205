#!/usr/bin/env bash
# One would guess: the top eigenvalue of the Hessian by power iteration, converged by the tool's own tolerance (1e-3, or 1e-6), is
#   right to that tolerance; only its sign could be in doubt where the lowest is as large.
# What happens: at small weights the eigenvalues of largest modulus come in pairs ±s, the iterate turns in the plane of the two for
#   ever, and the quotient is any number between. For s = .37 pyhessian gives .04 to .34, by the seed; nngeom .01 to
#   .28, and, as it deflates what it found, second eigenvalues of -.42 where the lowest is -.36. Its Lanczos is right.
# Versions: pyhessian 0.1, nngeom 0.2.0, torch 2.13.0, numpy 2.4.6
# Why it matters: sharpness at initialisation (weights of deviation .02, as in transformers) and along a path through a saddle is
#   a draw of lots, and a top eigenvalue that falls along the path need not have fallen. After training the same calls are right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 nngeom==0.2.0
"$folder/venv/bin/pip" install -q --no-deps pyhessian==0.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from nngeom.curvature import lanczos_spectrum, power_iteration
from nngeom.models import Model
from pyhessian import hessian as Estimator
from torch import nn
from torch.func import functional_call, hessian

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(200, 10).double()
y = (x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] > .5).long()
loss = nn.CrossEntropyLoss()
network = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 3)).double()
for layer in (network[0], network[2]):
    nn.init.normal_(layer.weight, std=.02)
    nn.init.zeros_(layer.bias)


def spectrum():
    shapes = {name: p.shape for name, p in network.named_parameters()}

    def value(vector):
        parts = vector.split([shape.numel() for shape in shapes.values()])
        return loss(functional_call(network, {name: part.view(shape) for part, (name, shape) in zip(parts, shapes.items())}, (x,)), y)

    return torch.linalg.eigvalsh(hessian(value)(torch.cat([p.detach().flatten() for p in network.parameters()])))


def estimates():
    first = []
    for seed in range(8):
        torch.manual_seed(seed)
        first.append(Estimator(network, loss, data=(x, y), cuda=False).eigenvalues()[0][0])
    model = Model(network, loss_fn=lambda module, batch: loss(module(batch[0]), batch[1]))
    pairs = [power_iteration(model, (x, y), k=2, seed=seed).eigenvalues.tolist() for seed in range(8)]
    return first, pairs, max(lanczos_spectrum(model, (x, y), m=40, seed=0).eigenvalues)


found = {}
for name in ("initial weights", "trained"):
    exact = spectrum()
    first, pairs, lanczos = estimates()
    print(f"{name}: exact {exact[0]:.4f} {exact[1]:.4f} … {exact[-2]:.4f} {exact[-1]:.4f}, nngeom's Lanczos {lanczos:.4f}")
    print("  pyhessian, 8 seeds:", *(f"{value:.3f}" for value in first))
    print("  nngeom, two a seed:", *(f"({p:.3f}, {q:.3f})" for p, q in pairs))
    found[name] = exact, first, pairs, lanczos
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    for _ in range(300):
        optimizer.zero_grad()
        loss(network(x), y).backward()
        optimizer.step()
for exact, *_, lanczos in found.values():
    assert abs(lanczos / exact[-1] - 1) < .01
exact, first, pairs, _ = found["initial weights"]
assert exact[0] < -.9 * exact[-1] and max(first) - min(first) > .1 and min(abs(value) for value in first) < .6 * exact[-1]
assert any(q > 1.02 * exact[-1] or q < 1.02 * exact[0] for pair in pairs for q in pair)
exact, first, *_ = found["trained"]
assert all(abs(value / exact[-1] - 1) < .01 for value in first)
PYTHON
