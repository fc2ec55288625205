"""Which axes of parameters read units, by the definition of each layer."""

import pytest
import torch
from torch import nn

from lmc_helpers.modules._layers import group_of, readers
from lmc_helpers.modules.symmetry import symmetry


class Written(nn.Module):
    """Weights without a layer: (inputs, units) and (outputs, units)."""

    def __init__(self):
        super().__init__()
        self.first, self.shift = nn.Parameter(torch.randn(4, 6)), nn.Parameter(torch.randn(6))
        self.last = nn.Parameter(torch.randn(3, 6))

    def forward(self, x):
        return torch.einsum("...h,oh->...o", torch.tanh(x @ self.first + self.shift), self.last)


CONVOLUTIONS = [nn.Conv2d(3, 3, 3), nn.BatchNorm2d(3), nn.ConvTranspose2d(3, 3, 3)]
CASES = {
    "linear": ([nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4)], (5, 4), {("0.weight", 1), ("2.weight", 1)}),
    "sequences": ([nn.Linear(4, 6, bias=False), nn.Linear(6, 4)], (2, 5, 4), {("0.weight", 1), ("1.weight", 1)}),
    "convolutions": (CONVOLUTIONS, (2, 3, 6, 6), {("0.weight", 1), ("2.weight", 0)}),
    "written": ([Written()], (2, 5, 4), {("first", 0), ("last", 1)}),
    "attention": (
        [nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)],
        (2, 5, 8),
        {
            ("self_attn.in_proj_weight", 1),
            ("self_attn.out_proj.weight", 1),
            ("linear1.weight", 1),
            ("linear2.weight", 1),
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_readers(name):
    layers, shape, expected = CASES[name]
    net = nn.Sequential(*layers) if len(layers) > 1 else layers[0]
    assert readers(net.eval(), torch.randn(shape)) == expected


def test_the_group_of_a_layer():
    net, x = nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.Flatten(), nn.Linear(5, 2)), torch.ones(2, 3, 3, 3)
    found, reading = symmetry(net, x), readers(net, x)
    assert group_of("0", found, reading) == group_of("1", found, reading)
    for layer in ("3", "5"):
        with pytest.raises(ValueError, match="allowed"):
            group_of(layer, found, reading)
