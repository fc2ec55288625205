#!/usr/bin/env bash
# One would guess: a spiking layer that keeps its membranes between batches starts a batch of another size at rest, or refuses it: there is
#   no state to go on from. Where nothing is drawn, the same network and the same inputs give the same outputs.
# What happens: each example of the new batch gets the membrane of an example of the last one, drawn at random with repetition. A last
#   smaller batch, or one example after a batch, has other outputs each time it is run, in eval mode and without dropout; two copies of a
#   network differ; and the drawing takes numbers from torch's generator, so that what is drawn next, dropout say, changes too.
#   With equal sizes, or `reset_states()` before, outputs repeat.
# Versions: sinabs 3.1.3, nir 1.0.8, torch 2.13.0, numpy 2.4.6
# Why it matters: a loader with its default drop_last=False ends in such a batch: the loss of one network is another number with every
#   seed, and the difference of two networks, or of the two ends of a line, has noise that no batch norm or dropout explains.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 nir==1.0.8 nirtorch==2.6 matplotlib==3.11.2 pbr==7.1.3
"$folder/venv/bin/pip" install -q --no-deps sinabs==3.1.3
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from sinabs.layers import LIF
from torch import nn

torch.set_num_threads(1)
torch.set_grad_enabled(False)
torch.manual_seed(0)
network = nn.Sequential(nn.Linear(5, 8), LIF(tau_mem=20.0), nn.Linear(8, 3)).eval()
whole, last, equal = 4 * torch.rand(8, 20, 5), 4 * torch.rand(3, 20, 5), 4 * torch.rand(8, 20, 5)


def outputs(second, seed, reset=False):
    """Outputs for a second batch that follows the batch of eight, and a number drawn after it."""
    network[1].reset_states()
    torch.manual_seed(seed)
    network(whole)
    if reset:
        network[1].reset_states()
    return network(second), torch.rand(()).item()


def spread(second, reset=False):
    runs = [outputs(second, seed, reset)[0] for seed in range(6)]
    return max(((run - runs[0]).norm() / runs[0].norm()).item() for run in runs)


found = spread(equal), spread(last), spread(last, reset=True)
print("six seeds, largest difference: second batch of equal size {:.2f}, smaller {:.2f}, smaller after a reset {:.2f}".format(*found))
drawn = [outputs(second, 0)[1] for second in (equal, last)]
print("the next random number of torch after them:", *(f"{value:.4f}" for value in drawn))
assert found[0] == 0 and found[1] > .05 and drawn[0] != drawn[1]
PYTHON
