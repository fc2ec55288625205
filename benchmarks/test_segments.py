"""Losses on the lines of 8 pairs of MLPs at 25 points: stacked against one network after another in plain PyTorch."""

import pytest
import torch
from torch import nn

from lmc_helpers.device import device, fix_threads
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.segments import along_segments

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
THREADS = min(2, torch.get_num_threads())  # OMP_NUM_THREADS=1 for one core
PAIRS, POINTS, EXAMPLES = 8, 25, 1000
WIDTHS = [32, 512]


def problem(where, width):
    fix_threads(THREADS)
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(EXAMPLES, 784, generator=draw).to(device(where))
    y = torch.randint(10, (EXAMPLES,), generator=draw).to(device(where))
    model = MLP((784, width, width, width, 10))
    return [model.initial(range(k, k + PAIRS)).to(device(where)) for k in (0, PAIRS)], x, y


def stacked(ends, x, y):
    return along_segments(*ends, x, y, torch.linspace(0, 1, POINTS).tolist()).loss


def one_by_one(ends, x, y):
    """The usual loop: load the mean of two state dicts, evaluate."""
    layers = []
    for name in (name for name in ends[0].params if name.endswith("weight")):
        layers += [nn.Linear(*reversed(ends[0].params[name].shape[1:]), device=x.device), nn.ReLU()]
    net, names = nn.Sequential(*layers[:-1]), list(ends[0].params)
    keys = {name: f"{2 * int(name.split('.')[0])}.{name.split('.')[1]}" for name in names}
    losses = []
    with torch.no_grad():
        for pair in range(PAIRS):
            a, b = ({keys[name]: end.params[name][pair] for name in names} for end in ends)
            for lam in torch.linspace(0, 1, POINTS).tolist():
                net.load_state_dict({key: lam * a[key] + (1 - lam) * b[key] for key in a})
                losses.append(nn.functional.cross_entropy(net(x), y))
    return torch.stack(losses).view(PAIRS, POINTS).double()


@pytest.mark.parametrize("where", DEVICES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("method", [stacked, one_by_one])
def test_lines(benchmark, where, width, method):
    benchmark.group = f"{PAIRS} pairs at {POINTS} points, 784-{width}-{width}-{width}-10, {EXAMPLES} images, {where}"
    arguments = problem(where, width)
    wait = torch.cuda.synchronize if where == "cuda" else lambda: None
    losses = benchmark.pedantic(lambda: (method(*arguments), wait())[0], rounds=3, warmup_rounds=1)
    torch.testing.assert_close(losses, one_by_one(*arguments), rtol=1e-4, atol=1e-5)
