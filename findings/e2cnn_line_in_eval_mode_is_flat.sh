#!/usr/bin/env bash
# One would guess: on the line between two equivariant networks the function changes, whatever their mode; in eval mode alone it is free of
#   batch effects, so that is where barriers are measured.
# What happens: `eval()` expands the parameters into filters, as buffers, and `forward` reads those. Parameters that move afterwards move
#   nothing: at every point of the line between two networks in eval mode, the other end included, the outputs are the first network's,
#   to the bit. `train()` throws the filters away, and the same parameters are another function: b. What it writes then does not load
#   into a network in eval mode, for want of filters.
# Versions: e2cnn 0.2.3, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: a barrier of exactly 0, which one hopes to see, sharpness 0 along any direction, and an average over the parameters
#   that "is as good as" the network it was copied from, are all that network evaluated again.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q e2cnn==0.2.3 torch==2.13.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from e2cnn import gspaces
from e2cnn import nn as equivariant

torch.set_num_threads(1)
torch.set_grad_enabled(False)
plane = gspaces.Rot2dOnR2(4)
fields = [plane.trivial_repr], 4 * [plane.regular_repr], 3 * [plane.trivial_repr]
image, hidden, out = (equivariant.FieldType(plane, field) for field in fields)


def new(seed):
    torch.manual_seed(seed)
    return equivariant.SequentialModule(equivariant.R2Conv(image, hidden, 5, padding=2), equivariant.ReLU(hidden),
                                        equivariant.R2Conv(hidden, out, 5, padding=2))


def outputs(network):
    return network(x).tensor.mean((2, 3))


def off(p, q):
    return ((p - q).norm() / q.norm()).item()


x = equivariant.GeometricTensor(torch.randn(8, 1, 9, 9), image)
apart = {}
for mode in ("train", "eval"):
    a, b, walker = (getattr(new(seed), mode)() for seed in (0, 1, 0))
    apart[mode] = []
    for step in range(5):
        for p, q, r in zip(walker.parameters(), a.parameters(), b.parameters()):
            p.copy_(q + step / 4 * (r - q))
        apart[mode].append(off(outputs(walker), outputs(a)))
    print(f"{mode:5}: distance of the outputs from a's on the line from a to b", *(f"{value:.3f}" for value in apart[mode]),
          f" (b itself {off(outputs(b), outputs(a)):.3f})")
again = off(outputs(walker.train()), outputs(b))
print(f"the last point after train(): {again:.3f} from b")
try:
    b.load_state_dict(walker.state_dict())
    refused = False
except RuntimeError as error:
    refused = "filter" in str(error)
print("state dictionary after eval() and train() refused in eval mode:", refused)
assert apart["eval"] == [0] * 5 and apart["train"][0] == 0 and min(apart["train"][1:]) > .1 and again < 1e-5 and refused
PYTHON
