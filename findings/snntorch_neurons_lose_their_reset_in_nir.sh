#!/usr/bin/env bash
# One would guess: a spiking network comes back from the intermediate representation (NIR) as it went, by export and import of one library:
#   it is there to carry networks between libraries, and what it cannot hold is refused or warned of.
# What happens: what a neuron does after a spike is not carried. `Leaky` comes back with its membrane set to zero, whatever it was before:
#   subtraction of the threshold, snntorch's own way, is lost (.94 of the spikes are the same), and so is no reset at all (160 spikes
#   instead of 1,890). `Synaptic` comes back as none of the three: 926 spikes for 953, 433 and 2,482. No error, no warning.
#   Only the `Leaky` that was set to zero before is the same network, in every spike.
# Versions: snntorch 1.0.0, nir 1.0.8, nirtorch 2.6, torch 2.13.0, numpy 2.4.6
# Why it matters: weights are right to the last bit, so that a comparison of files finds nothing; a loss of accuracy is put
#   down to the chip or the library at the other end.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 h5py==3.16.0
"$folder/venv/bin/pip" install -q --no-deps snntorch==1.0.0 nir==1.0.8 nirtorch==2.6
"$folder/venv/bin/python" -W error::UserWarning - <<'PYTHON'
import contextlib
import io

import snntorch
import torch
from snntorch.export_nir import export_to_nir
from snntorch.import_nir import import_from_nir
from torch import nn

torch.set_num_threads(1)
torch.set_grad_enabled(False)
x = (torch.rand(500, 1, 10, generator=torch.Generator().manual_seed(0)) < .2).float()


def cell(kind, size, reset):
    options = {"beta": torch.full((size,), .8), "threshold": torch.ones(size), "init_hidden": True, "reset_mechanism": reset}
    if kind == "Synaptic":
        options["alpha"] = torch.full((size,), .5)
    return getattr(snntorch, kind)(**options)


def new(kind, reset):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(10, 30), cell(kind, 30, reset), nn.Linear(30, 5), cell(kind, 5, reset))
    for layer in network[::2]:
        nn.init.uniform_(layer.weight, -.2, .3)
    return network


def carried(network):
    """The network after export to the intermediate representation and import from it."""
    with contextlib.redirect_stdout(io.StringIO()):
        return import_from_nir(export_to_nir(network, x[0, 0]))


def run(network, keeps_state):
    """Spikes of the last layer at each time step."""
    memory, spikes = None, []
    for step in x:
        if keeps_state:
            out = network(step)
        else:
            out, memory = network(step, memory)
        spikes.append(out[0] if isinstance(out, tuple) else out)
    return torch.stack(spikes)


found = {}
for kind in ("Leaky", "Synaptic"):
    for reset in ("subtract", "zero", "none"):
        before, after = run(new(kind, reset), True), run(carried(new(kind, reset)), False)
        found[kind, reset] = int(before.sum()), int(after.sum()), (before == after).float().mean().item()
        print(f"{kind:8}, reset {reset:8}: {found[kind, reset][0]:4} spikes before and {found[kind, reset][1]:4} after;",
              f"the same at {found[kind, reset][2]:.3f} of the places")
counts = {key: values[:2] for key, values in found.items()}
assert found["Leaky", "zero"][2] == 1 and all(share < .96 for key, (_, _, share) in found.items() if key != ("Leaky", "zero"))
assert len({counts["Leaky", reset][1] for reset in ("subtract", "zero", "none")}) == 1
assert len({counts["Synaptic", reset][1] for reset in ("subtract", "zero", "none")}) == 1
assert counts["Leaky", "none"][0] > 5 * counts["Leaky", "none"][1] and counts["Synaptic", "zero"][1] > 1.5 * counts["Synaptic", "zero"][0]
PYTHON
