#!/usr/bin/env bash
# One would guess: `RiemannianSGD` on plain parameters, where the manifold is flat, is `torch.optim.SGD` to rounding, as geoopt's
#   `RiemannianAdam` is `torch.optim.Adam`; on a sphere a function that is constant there leaves the point where it is.
# What happens: the momentum starts as the raw gradient and is then updated with the same gradient: the first step is 1.9 times as
#   long with momentum .9, and after 50 steps the two runs are 3 % apart. On the sphere the raw gradient is not even a direction in
#   it: for |x|^2, which is 1 on all of it, the first step leads through the centre and the point comes out at its antipode.
# Versions: geoopt 0.5.1, torch 2.13.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: trained "with the same optimiser from the same start" is the premise of most comparisons of trajectories; and a
#   descent on a sphere may begin on its other side.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q geoopt==0.5.1 torch==2.13.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import geoopt
import torch
from torch import nn

torch.set_num_threads(1)


def trained(make, steps):
    """Weights before and after some steps on a product of two inputs."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).double()
    optimizer = make(network.parameters())
    x = torch.randn(64, 4).double()
    ends = []
    for step in range(steps + 1):
        ends.append(torch.cat([p.detach().reshape(-1) for p in network.parameters()]))
        optimizer.zero_grad()
        (network(x)[:, 0] - x[:, 0] * x[:, 1]).square().mean().backward()
        optimizer.step()
    return ends[0], ends[-1]


def pair(name, ours, theirs, steps):
    """How far apart two optimisers end, relative to the weights, and the ratio of their moves."""
    (start, a), (_, b) = trained(ours, steps), trained(theirs, steps)
    apart, ratio = ((a - b).norm() / b.norm()).item(), ((a - start).norm() / (b - start).norm()).item()
    print(f"{name:18} after {steps:2} steps: {apart:.1e} apart, moved {ratio:.4f} times as far")
    return apart, ratio


rate = dict(lr=.1, momentum=.9)
first = pair("SGD, momentum .9", lambda p: geoopt.optim.RiemannianSGD(p, **rate), lambda p: torch.optim.SGD(p, **rate), 1)
later = pair("SGD, momentum .9", lambda p: geoopt.optim.RiemannianSGD(p, **rate), lambda p: torch.optim.SGD(p, **rate), 50)
plain = pair("SGD", lambda p: geoopt.optim.RiemannianSGD(p, lr=.1), lambda p: torch.optim.SGD(p, lr=.1), 50)
adam = pair("Adam", lambda p: geoopt.optim.RiemannianAdam(p, lr=.01), lambda p: torch.optim.Adam(p, lr=.01), 50)
cosine = {}
for momentum in (0, .9):
    point = geoopt.ManifoldParameter(torch.tensor([.6, .8]).double(), manifold=geoopt.Sphere())
    before, optimizer = point.detach().clone(), geoopt.optim.RiemannianSGD([point], lr=1, momentum=momentum)
    point.square().sum().backward()
    optimizer.step()
    cosine[momentum] = (point.detach() @ before).item()
    print(f"sphere, |x|^2, momentum {momentum}: cosine with the start {cosine[momentum]:.3f}")
assert abs(first[1] - 1.9) < 1e-9 and later[0] > .01
assert plain[0] < 1e-12 and adam[0] < 1e-9
assert abs(cosine[0] - 1) < 1e-6 and abs(cosine[.9] + 1) < 1e-6
PYTHON
