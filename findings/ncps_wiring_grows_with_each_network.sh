#!/usr/bin/env bash
# One would guess: a wiring is drawn once, from its seed. Two networks that are made from one wiring object, as in a loop over seeds, have
#   the same synapses and differ in their weights.
# What happens: each network that is made draws synapses anew and adds them to what is there. Of ten LTC networks of one object the first has
#   44 synapses, the second 70 and the tenth 106; ten CfC networks, dense within layers, have 138 to 183. The masks are parameters (without
#   gradient) of the same names and shapes, so that nothing tells, and the midpoint of two has synapses of one half.
# Versions: ncps 1.0.1, torch 2.13.0, numpy 2.4.6
# Why it matters: networks "of one architecture" that are compared, matched or averaged have other graphs, denser by the number of
#   networks made before; with a wiring for each, of one seed, they agree.
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

torch.set_num_threads(1)


def synapses(network):
    """Synapses that the network's masks let through, inputs and states together; CfC counts each layer's own as dense."""
    return sum(int(p.sum()) for name, p in network.named_parameters() if "mask" in name)


def new(kind, wiring):
    with contextlib.redirect_stdout(io.StringIO()):
        return kind(4, wiring)


found = {}
for name, wire in {"NCP": lambda: AutoNCP(16, 3), "Random": lambda: Random(16, 3, sparsity_level=.75)}.items():
    for kind in (LTC, CfC):
        shared = wire()
        networks = [new(kind, shared) for _ in range(10)]
        apart = [synapses(new(kind, wire())) for _ in range(2)]
        found[name, kind.__name__] = counts = [synapses(network) for network in networks]
        print(f"{kind.__name__} by {name}: synapses of ten networks of one wiring {counts}, of two with a wiring each {apart}")
        for p, q in zip(networks[0].parameters(), networks[1].parameters()):
            p.data.lerp_(q.data, .5)
        masks = [p for name, p in networks[0].named_parameters() if "mask" in name]
        halves = sorted({value for mask in masks for value in mask.unique().tolist()})
        print("  entries of the masks half-way:", halves)
        assert counts == sorted(counts) and counts[0] == apart[0] == apart[1] < counts[1] < counts[-1] and halves == [0, .5, 1]
assert found["NCP", "LTC"][::9] == [44, 106] and found["NCP", "LTC"][1] == 70 and found["NCP", "CfC"][::9] == [138, 183]
PYTHON
