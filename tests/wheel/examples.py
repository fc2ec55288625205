"""The five lines and the examples of all public names, by the installed package alone: python -I examples.py."""

import doctest
import importlib
import sys
from pathlib import Path

import torch
from torch import nn

import lmc_helpers as lmc


def trained(seed: int, x: torch.Tensor, y: torch.Tensor) -> nn.Module:
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(2, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    descent = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(100):
        descent.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        descent.step()
    return net.eval()


def five_lines() -> None:
    x = torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    y = (x.prod(dim=1) > 0).long()
    net_a, net_b, loss, data = trained(1, x, y), trained(2, x, y), nn.functional.cross_entropy, (x, y)
    b = lmc.match(net_a, net_b, x, by="weights", restarts=5)
    curve = lmc.line(net_a, b, loss, data)
    print(curve.barrier, curve.barrier_kinds)
    merged = lmc.repair(net_a, b, data)
    report = lmc.compare(net_a, net_b, loss, data)
    torch.testing.assert_close(b(x), net_b(x))
    assert merged(x).shape == (300, 2) and str(report)


def examples() -> tuple[int, int]:
    """How many examples of the public names ran, and how many failed."""
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for module, names in ((lmc, lmc.__all__), (lmc.theory, lmc.theory.__all__)):
        for name in names:
            value = getattr(module, name)
            home = value if name == "theory" else importlib.import_module(value.__module__)
            for test in finder.find(value, name, home, globs=dict(vars(home))):
                runner.run(test)
    return runner.tries, runner.failures


assert Path(lmc.__file__).is_relative_to(sys.prefix), lmc.__file__
five_lines()
tried, failed = examples()
print(f"{tried - failed} passed, {failed} failed")
sys.exit(failed > 0)
