"""CNNs against nn.Sequential, and the depth of the paper."""

import pytest
import torch
from oracles.networks import DOUBLE, convolutional, fill, numbers, perturbed
from torch import nn

from lmc_helpers.networks.cnn import CNN


@pytest.mark.parametrize("norm", ["none", "layer"])
@pytest.mark.parametrize(("depth", "pools", "after"), [(2, 0, ()), (2, 1, (0,)), (4, 2, (0, 2)), (7, 3, (1, 3, 5))])
def test_cnn_is_that_of_torch(norm, depth, pools, after):
    model = CNN(4, depth, pools, norm, input_shape=(2, 8, 11), classes=3)
    stack, x, record = perturbed(model), numbers(5, 2, 8, 11), {}
    outputs = stack.forward(x, record)
    net, tensors = convolutional(model, after)
    for i in range(3):
        fill(tensors, {name: value[i] for name, value in stack.params.items()})
        torch.testing.assert_close(outputs[i], net(x), rtol=0, atol=1e-12)
        ends = [place + 1 for place, layer in enumerate(net) if isinstance(layer, nn.ReLU)]
        for k, end in enumerate(ends):
            pixels = net[:end](x).movedim(1, -1).reshape(-1, 4)
            torch.testing.assert_close(record[str(k)][i], pixels, rtol=0, atol=1e-12)
    assert list(record) == list(model.symmetry().groups)


def test_the_depth_of_the_paper():
    model = CNN(width=64)
    assert len(model.maps()) == 16
    with torch.device("meta"):
        net, _ = convolutional(model, (4, 9, 14))
    assert model.parameters() == sum(p.numel() for p in net.parameters())
    net(torch.ones(1, 3, 32, 32, dtype=DOUBLE, device="meta"))  # 32 → 16 → 8 → 4 pixels
    assert model.initial([1]).forward(torch.ones(1, 3, 32, 32)).isfinite().all()
    assert CNN(2, 2, 0, input_shape=(40, 3, 3)).widest() == 360
