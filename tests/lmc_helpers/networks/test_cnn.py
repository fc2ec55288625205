"""CNNs against functions of torch, and the depth of the paper."""

import pytest
import torch
from oracles.networks import convolutional, numbers, perturbed

from lmc_helpers.networks.cnn import CNN


@pytest.mark.parametrize("norm", ["none", "layer"])
@pytest.mark.parametrize(("depth", "pools", "after"), [(2, 0, ()), (2, 1, (0,)), (4, 2, (0, 2)), (7, 3, (1, 3, 5))])
def test_cnn_is_that_of_torch(norm, depth, pools, after):
    model = CNN(4, depth, pools, norm, input_shape=(2, 8, 11), classes=3)
    stack, x, record = perturbed(model), numbers(5, 2, 8, 11), {}
    outputs = stack.forward(x, record)
    for i in range(3):
        expected, _, units = convolutional(model, {name: value[i] for name, value in stack.params.items()}, x, after)
        torch.testing.assert_close(outputs[i], expected, rtol=0, atol=1e-12)
        for k, pixels in units.items():
            torch.testing.assert_close(record[k][i], pixels, rtol=0, atol=1e-12)
    assert list(record) == list(model.symmetry().groups) == list(units)


def test_the_depth_of_the_paper():
    model = CNN(width=64)
    assert len(model.maps()) == 16
    assert model.parameters() == 64 * (3 * 9 + 1) + 14 * 64 * (64 * 9 + 1) + 10 * (64 + 1)
    stack, x = model.initial([1]), torch.ones(1, 3, 32, 32)
    params = {name: value[0] for name, value in stack.params.items()}
    torch.testing.assert_close(stack.forward(x)[0], convolutional(model, params, x, (4, 9, 14))[0])  # 32 → 4 pixels
    assert CNN(2, 2, 0, input_shape=(40, 3, 3)).widest() == 360
