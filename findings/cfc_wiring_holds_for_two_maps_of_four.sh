#!/usr/bin/env bash
# One would guess: the wiring of a closed-form continuous-time network (CfC) says which neuron reads which: where it has no synapse, the
#   one's next state does not depend on the other's. So it is in LTC, the other kind of network in the package, step by step.
# What happens: the mask is put on two of a cell's four linear maps; the two that set the pace are dense. The first layer's 8 neurons have
#   16 synapses from 4 inputs and depend on all 4 (32 of 32). Synapses within a layer are not looked up at all: a `Random` wiring with
#   three quarters of its synapses left out is one dense layer.
# Versions: ncps 1.0.1, torch 2.13.0, numpy 2.4.6
# Why it matters: which neurons can be exchanged, how sparse a network is and which way a signal went are read off the wiring; a matching
#   that takes the wiring for the graph leaves out most of the weights.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 packaging future
"$folder/venv/bin/pip" install -q --no-deps ncps==1.0.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io

import torch
from ncps.torch import LTC, CfC
from ncps.wirings import AutoNCP, Random
from torch.autograd.functional import jacobian

torch.set_num_threads(1)
torch.manual_seed(0)
inputs, state = torch.rand(1, 4).double(), torch.rand(1, 16).double()


def new(kind, wiring):
    with contextlib.redirect_stdout(io.StringIO()):
        return kind(4, wiring).double()


def dependences(step, *points):
    """For each of the arguments of one step: which entries of the next state (rows) depend on which of its entries."""
    return [slopes[:, 0] != 0 for slopes in jacobian(lambda *x: step(*x)[0], points)]


found = {}
for name, wire in {"NCP": lambda: AutoNCP(16, 3), "Random": lambda: Random(16, 3, sparsity_level=.75)}.items():
    wiring = wire()  # of a fixed seed, and one for each network: a wiring that two networks share grows
    liquid, closed = new(LTC, wire()).rnn_cell, new(CfC, wiring).rnn_cell
    liquid._ode_unfolds = 1  # one step of its solver, so that no way of two synapses counts
    senses = torch.as_tensor(wiring.sensory_adjacency_matrix).T != 0
    synapses = torch.as_tensor(wiring.adjacency_matrix).T != 0
    first = wiring.get_neurons_of_layer(0)
    layer = closed._layers[0]
    by_inputs, by_state = dependences(lambda x, h: liquid(x, h)[1], inputs, state)
    a = int(senses.sum()), int((by_inputs & ~senses).sum()), int((by_state & ~synapses & ~torch.eye(16).bool()).sum())
    by_inputs, by_state = dependences(lambda x, h: layer(x, h, torch.ones(1).double())[1], inputs, state[:, :len(first)])
    inside = synapses[first][:, first]
    b = int(senses[first].sum()), int(by_inputs.sum()), by_inputs.numel(), int(inside.sum()), int(by_state.sum()), by_state.numel()
    found[name] = a, b
    print(f"{name}: LTC has {a[0]} synapses from inputs; dependences without a synapse {a[1]} on inputs, {a[2]} on other neurons")
    print(f"  first layer of CfC: {b[0]} synapses from inputs, dependences {b[1]} of {b[2]}; {b[3]} synapses in the layer, {b[4]} of {b[5]}")
for (_, outside, between), (_, dense, of, _, also, dense_of) in found.values():
    assert outside == between == 0 and dense == of and also == dense_of
PYTHON
