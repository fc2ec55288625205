#!/usr/bin/env bash
# One would guess: `functional_call(a, parameters of b, x)` is b's output: that is how lines, planes, ensembles and Hessians are evaluated
#   without touching a network. `load_state_dict(state, assign=True)` makes a into b, as it does without `assign`.
# What happens: liquid time-constant networks (LTC) keep a dictionary of their own beside the registered parameters and compute with that.
#   What `functional_call` puts in place is not read: all points of a line have the outputs of the network that was called, to the bit,
#   and the gradient by `torch.func` is exactly 0. After `assign=True` the state dictionary is b's and the function a's. In-place changes,
#   `load_state_dict` without `assign` and optimizers work, and so does CfC from the same package in all of these.
# Versions: ncps 1.0.1, torch 2.13.0, numpy 2.4.6
# Why it matters: a barrier of exactly 0 between any two networks, zero curvature and an ensemble of k equal members look like results; the
#   way that big checkpoints are loaded leaves the network at its random start.
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
from ncps.wirings import AutoNCP
from torch.func import functional_call, grad

torch.set_num_threads(1)
x = torch.randn(6, 10, 4, generator=torch.Generator().manual_seed(0))


def new(kind, seed):
    torch.manual_seed(seed)
    with contextlib.redirect_stdout(io.StringIO()):
        return kind(4, AutoNCP(16, 3))


def off(a, b):
    return ((a - b).norm() / b.norm()).item()


found = {}
for kind in (LTC, CfC):
    a, b = new(kind, 0), new(kind, 1)
    pa, pb = ({name: p.detach() for name, p in network.named_parameters()} for network in (a, b))
    line = [functional_call(a, {name: torch.lerp(pa[name], pb[name], t) for name in pa}, (x,))[0].detach() for t in (0, .5, 1)]
    slope = grad(lambda p: functional_call(a, p, (x,))[0].square().mean())(pa)
    slope = sum(g.square().sum().item() for g in slope.values()) ** .5
    a(x)[0].square().mean().backward()
    true = sum(p.grad.square().sum().item() for p in a.parameters() if p.grad is not None) ** .5
    ends = [network(x)[0].detach() for network in (a, b)]
    loaded, assigned = new(kind, 0), new(kind, 0)
    loaded.load_state_dict(b.state_dict()), assigned.load_state_dict(b.state_dict(), assign=True)
    loaded, assigned = (network(x)[0].detach() for network in (loaded, assigned))
    found[kind] = [off(point, ends[0]) for point in line], off(line[-1], ends[1]), slope, off(loaded, ends[1]), off(assigned, ends[1])
    print(f"{kind.__name__}: a and b differ by {off(*ends):.2f}; line from a to b, distance from a", *(f"{d:.2f}" for d in found[kind][0]),
          f"and at its end from b {found[kind][1]:.2f}; gradient {slope:.4f} for {true:.4f};",
          f"from b when loaded {found[kind][3]:.2f}, assigned {found[kind][4]:.2f}")
assert found[LTC][0] == [0, 0, 0] and found[LTC][1] > .1 and found[LTC][2] == 0 and found[LTC][3] == 0 and found[LTC][4] == found[LTC][1]
assert min(found[CfC][0][1:]) > .1 and max(found[CfC][1], found[CfC][3], found[CfC][4]) < 1e-6 < found[CfC][2]
PYTHON
