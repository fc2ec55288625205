#!/usr/bin/env bash
# One would guess: a number that the loss does not depend on keeps its initial value: the bias of attention's keys (the softmax drops
#   it), the bias before a batch norm (its mean is subtracted). Their gradients are 0 but for rounding, about 1e-9.
# What happens: Adam divides the rounding by its own size. In 1,000 steps at rate .001 the key biases move by .005 and the biases before
#   batch norm by .007, half as far as the last bias; SGD moves them by 1e-8 or less, and Adam in double precision by 1e-11. In the
#   twelve encoders that semibin publishes (Adam, batch norm after the layer) .1 to .6 of the first layer's biases have left the interval
#   that they were drawn from, up to twenty times its half-length: what they carry is rounding.
# Versions: torch 2.13.0, semibin 2.6.0 (its weights alone), numpy 2.4.6
# Why it matters: distances between networks, weight matching and any "how far did it move" count these numbers; they differ between
#   machines, thread counts and batch orders.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" download -q --no-deps -d "$folder" semibin==2.6.0
"$folder/venv/bin/python" -W ignore - "$folder" <<'PYTHON'
import io
import sys
import zipfile
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.place, self.value = nn.Parameter(.3 * torch.randn(10, 16)), nn.Linear(1, 16)
        self.q, self.k, self.v, self.out = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(160, 2)

    def forward(self, x):
        h = self.value(x[..., None]) + self.place
        weights = (self.q(h) @ self.k(h).mT / 4).softmax(-1)
        return self.out((weights @ self.v(h) + h).flatten(1))


class Normed(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))


def moved(make, names, optimizer, dtype, steps=1000):
    """Mean distance that each named bias moved."""
    torch.manual_seed(0)
    network = make().to(dtype)
    start = {name: network.get_parameter(name).detach().clone() for name in names}
    optimizer = optimizer(network.parameters())
    x = torch.randn(512, 10).to(dtype)
    y = (x[:, 0] * x[:, 1] > 0).long()
    for _ in range(steps):
        batch = torch.randint(512, (64,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x[batch]), y[batch]).backward()
        optimizer.step()
    return [(network.get_parameter(name) - value).abs().mean().item() for name, value in start.items()]


found = {}
for name, optimizer, dtype in (("Adam, single", lambda p: torch.optim.Adam(p, 1e-3), torch.float32),
                               ("Adam, double", lambda p: torch.optim.Adam(p, 1e-3), torch.float64),
                               ("SGD, single", lambda p: torch.optim.SGD(p, .05, momentum=.9), torch.float32)):
    found[name] = [*moved(Attention, ["k.bias", "q.bias"], optimizer, dtype), *moved(Normed, ["0.bias", "3.bias"], optimizer, dtype)]
    print(f"{name:12}: mean move of key bias {found[name][0]:.1e} (query bias {found[name][1]:.1e}), "
          f"of bias before batch norm {found[name][2]:.1e} (last bias {found[name][3]:.1e})")
outside = {}
with zipfile.ZipFile(next(Path(sys.argv[1]).glob("semibin*.whl"))) as wheel:
    for file in sorted(name for name in wheel.namelist() if name.endswith("_model.pt")):
        state = torch.load(io.BytesIO(wheel.read(file)), weights_only=True, map_location="cpu")
        state = state.get("model_state_dict", state)
        assert "encoder1.1.running_mean" in state  # the layer is followed by a batch norm
        bound = state["encoder1.0.weight"].shape[1] ** -.5
        bias = state["encoder1.0.bias"].abs() / bound
        outside[Path(file).stem] = (bias > 1).double().mean().item(), bias.max().item()
print("semibin, first layer: share of biases outside their initial interval, largest in its half-lengths")
print(*(f"{name.removesuffix('_model')} {share:.2f} {largest:.1f}" for name, (share, largest) in outside.items()), sep="; ")
single, double, sgd = found.values()
assert min(single[0], single[2]) > 5e-4
assert max(double[0], double[2]) < 1e-6 and max(sgd[0], sgd[2]) < 1e-6
assert len(outside) == 12 and min(share for share, _ in outside.values()) > .05 and max(largest for _, largest in outside.values()) > 15
PYTHON
