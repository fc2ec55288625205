#!/usr/bin/env bash
# One would guess: the Hessian of a mean loss over 100 examples is the same matrix however the examples are cut into batches.
# What happens: `HessianOperator` gives each batch the same weight. With batches of 32, 32, 32 and 4 the last four examples
#   weigh eight times as much as any other, and the eigenvalues are those of another loss.
# Versions: hessian-eigenthings 1.0.0a5, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: a DataLoader with its default drop_last=False gives such batches; sharpness of two minima measured with
#   different batch sizes differs although the networks, the data and the loss are the same.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q hessian-eigenthings==1.0.0a5 torch==2.13.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from hessian_eigenthings import HessianOperator, lanczos, supervised_loss
from torch import nn
from torch.func import functional_call, hessian

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 1)).double()
x, y = torch.randn(100, 5).double(), 3 * torch.randn(100, 1).double()
names = [name for name, _ in network.named_parameters()]
shapes = [p.shape for p in network.parameters()]
flat = torch.cat([p.detach().reshape(-1) for p in network.parameters()])


def top(weights):
    """Largest eigenvalue of the Hessian of Σ weights · squared error, by autograd."""

    def loss(vector):
        pieces = vector.split([s.numel() for s in shapes])
        outputs = functional_call(network, {n: p.reshape(s) for n, p, s in zip(names, pieces, shapes)}, (x,))
        return (weights * (outputs - y).square()[:, 0]).sum()

    return torch.linalg.eigvalsh(hessian(loss)(flat))[-1].item()


def measured(size):
    batches = [(x[i : i + size], y[i : i + size]) for i in range(0, 100, size)]
    operator = HessianOperator(network, batches, supervised_loss(nn.functional.mse_loss))
    found = lanczos(operator, k=10, seed=0, which="LA")
    assert found.converged[0]
    return found.eigenvalues[0].item()


mean, by_batch = torch.full((100,), 1 / 100), torch.cat([torch.full((96,), 1 / 128), torch.full((4,), 1 / 16)])
print(f"one batch of 100: {measured(100):.4f}; the mean loss, by autograd: {top(mean):.4f}")
print(f"batches of 32, 32, 32, 4: {measured(32):.4f}; with the last four examples eight times as heavy: {top(by_batch):.4f}")
assert abs(measured(100) - top(mean)) < 1e-5
assert abs(measured(32) - top(by_batch)) < 1e-5
assert abs(measured(32) - measured(100)) > .05
PYTHON
