"""One training step of 16 W-MLPs (784-512-512-512-10) as one stack, one after another, and by torch.func.

The loop runs with torch's default optimiser and with the fused one that the two others use. After two steps in float64
the first weights of all methods agree.
"""

import copy

import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state

from lmc_helpers.device import device, fix_threads
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
THREADS = min(2, torch.get_num_threads())  # OMP_NUM_THREADS=1 for one core
NET, N = MLP((784, 512, 512, 512, 10), "gelu", "layer"), 16
FIXED = {f"{k}.weight": WAsymmetric(64 if k < 3 else 256, 1.0) for k in range(4)}  # App. F.1


def problem(where, batch, dtype):
    fix_threads(THREADS)
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(N, batch, 784, generator=draw, dtype=torch.float64).to(device(where), dtype)
    y = torch.randint(10, (N, batch), generator=draw).to(device(where))
    return NET.initial(range(N), dtype, NET.fixed_parts(FIXED, seed=1)).to(device(where)), x, y


class Masked(nn.Module):
    """x ↦ (F + D ⊙ W) x + b."""

    def __init__(self, W, b, F, D):
        super().__init__()
        self.W, self.b = nn.Parameter(W.clone()), nn.Parameter(b.clone())
        self.register_buffer("F", F)
        self.register_buffer("D", D)

    def forward(self, x):
        return nn.functional.linear(x, self.F + self.D * self.W, self.b)


def modules(stack):
    nets = []
    for i in range(N):
        layers = []
        for k in range(4):
            F, D = stack.fixed[f"{k}.weight"]
            layers.append(Masked(stack.params[f"{k}.weight"][i], stack.params[f"{k}.bias"][i], F[0], D[0]))
            if k < 3:
                layers += [nn.LayerNorm(512, device=F.device, dtype=F.dtype), nn.GELU()]
        nets.append(nn.Sequential(*layers))
    return nets


def adamw(params, fused=True):
    return torch.optim.AdamW(params, lr=1e-3, weight_decay=1e-2, fused=fused)


def stacked(where, batch, dtype):
    """All networks in batched products."""
    start, x, y = problem(where, batch, dtype)
    stack = Stack(NET, {name: value.requires_grad_() for name, value in start.params.items()}, start.fixed)
    optimiser = adamw(stack.params.values())

    def step():
        outputs = stack.forward(x)
        loss = nn.functional.cross_entropy(outputs.flatten(0, 1), y.flatten(), reduction="sum") / batch
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return stack.params["0.weight"]

    return step


def one_by_one(where, batch, dtype, fused=None):
    """The usual loop."""
    stack, x, y = problem(where, batch, dtype)
    nets = modules(stack)
    optimisers = [adamw(net.parameters(), fused) for net in nets]

    def step():
        for i, (net, optimiser) in enumerate(zip(nets, optimisers, strict=True)):
            loss = nn.functional.cross_entropy(net(x[i]), y[i])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        return torch.stack([net[0].W for net in nets])

    return step


def one_by_one_fused(where, batch, dtype):
    """The same loop with the fused optimiser."""
    return one_by_one(where, batch, dtype, fused=True)


def functional(where, batch, dtype):
    """torch.func: parameters of the modules stacked, the forward pass vectorised by vmap."""
    stack, x, y = problem(where, batch, dtype)
    nets = modules(stack)
    params, buffers = stack_module_state(nets)
    buffers = {name: value[0] for name, value in buffers.items()}  # F and D are shared
    base = copy.deepcopy(nets[0]).to("meta")
    optimiser = adamw(params.values())

    def loss_of(parameters, inputs, labels):
        return nn.functional.cross_entropy(functional_call(base, (parameters, buffers), (inputs,)), labels)

    def step():
        loss = torch.vmap(loss_of)(params, x, y).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return params["0.W"]

    return step


@pytest.mark.parametrize("where", DEVICES)
@pytest.mark.parametrize("batch", [64, 512])
@pytest.mark.parametrize("method", [stacked, one_by_one, one_by_one_fused, functional])
def test_step(benchmark, where, batch, method):
    benchmark.group = f"a step of {N} W-MLPs (784-512-512-512-10), batches of {batch}, {where}"
    step = method(where, batch, torch.float32)
    wait = torch.cuda.synchronize if where == "cuda" else lambda: None
    benchmark.pedantic(lambda: (step(), wait()), rounds=15, warmup_rounds=3)
    steps = 60_000 // batch  # in an epoch of MNIST
    benchmark.extra_info["seconds an epoch of MNIST"] = round(steps * benchmark.stats.stats.median, 1)
    weights = []
    for other in (method, one_by_one):
        step = other(where, 8, torch.float64)
        step()
        weights.append(step().detach())
    torch.testing.assert_close(*weights, rtol=1e-6, atol=1e-9)
