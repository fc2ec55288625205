"""What a reader brings: a module of factories of networks, and weights."""

import sys

import pytest
import torch


@pytest.fixture
def nets(tmp_path, monkeypatch):
    """A module of factories in the working directory, and files of weights and examples."""
    (tmp_path / "nets_of_a_reader.py").write_text(
        "from torch import nn\nimport lmc_helpers as lmc\n"
        "weighed = lmc.Loss(nn.functional.mse_loss, lambda outputs, targets: len(targets))\n"
        "def groups():\n    return lmc.Symmetry({'by hand': (lmc.Axis('0.weight', 0), lmc.Axis('0.bias', 0),"
        " lmc.Axis('2.weight', 1))}, {'by hand': 4})\n"
        "def make():\n    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))\n"
        "def sized(m):\n    return nn.Linear(m, m)\n"
        "def number():\n    return 3\n"
        "def normed():\n    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))\n"
        "def tied():\n    net = nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 4, bias=False))\n"
        "    net[1].weight = net[0].weight\n    return net\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "nets_of_a_reader"
    sys.modules.pop("nets_of_a_reader", None)


def state(seed: int = 0) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = {"0.weight": (4, 3), "0.bias": (4,), "2.weight": (2, 4), "2.bias": (2,)}
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
