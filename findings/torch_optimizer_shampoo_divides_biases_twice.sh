#!/usr/bin/env bash
# One would guess: Shampoo divides a gradient by the size that gradients have had, as Adagrad and Adam do: a hundred times the loss is the
#   same first step, and about the same path, for matrices and biases alike.
# What happens: for a bias, which has one dimension, it takes the inverse of the sum of outer products where the inverse root belongs: the
#   step goes with the inverse of the gradient. With the loss times 100 convolutions and matrices move 1.2 times and as far in the first
#   step, and biases a hundredth. With the loss as it is a bias moves ten times as far, entry for entry, as the weights before it.
# Versions: torch-optimizer 0.3.0, torch 2.13.0, numpy 2.4.6
# Why it matters: mean or sum over the batch, a factor of 1/2 in the loss and how near a minimum is decide which part of the network is
#   trained; scales and shifts of norms count as biases in this. Distances and paths "of Shampoo" may be those of biases above all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch-optimizer==0.3.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
import torch_optimizer
from torch import nn

torch.set_num_threads(1)


def moved(factor, make, steps):
    """How far the tensors of a small network have moved, each per root of its size, for a loss times that factor."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv1d(2, 3, 3), nn.Tanh(), nn.Flatten(), nn.Linear(18, 4)).double()
    x, y = torch.randn(30, 2, 8).double(), torch.randint(4, (30,))
    start, optimizer = [p.detach().clone() for p in network.parameters()], make(network.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        (factor * nn.functional.cross_entropy(network(x), y)).backward()
        optimizer.step()
    return torch.tensor([(p.detach() - before).square().mean().sqrt() for p, before in zip(network.parameters(), start)])


optimizers = {
    "Shampoo": lambda p: torch_optimizer.Shampoo(p, lr=1e-3),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-3),
    "Adam": lambda p: torch.optim.Adam(p, lr=1e-3),
}
ratios = {}
for name, make in optimizers.items():
    for steps in 1, 30:
        one = moved(1, make, steps)
        size = one if (name, steps) == ("Shampoo", 1) else size
        ratios[name, steps] = moved(100, make, steps) / one
        print(f"{name}, {steps} steps: convolution, its bias, matrix, its bias move by", ", ".join(f"{move:.1e}" for move in one),
              "and with the loss times 100", ", ".join(f"{ratio:.2f}" for ratio in ratios[name, steps]), "times as far")
first = ratios["Shampoo", 1]
assert (first[[0, 2]] > .8).all() and (first[[1, 3]] < .02).all() and ratios["Shampoo", 30][1] < .5
assert all((ratios[name, steps] - 1).abs().max() < .02 for name in ("Adagrad", "Adam") for steps in (1, 30))
assert size[1] > 5 * size[0] and size[3] > 5 * size[2]
PYTHON
