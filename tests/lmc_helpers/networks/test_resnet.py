"""ResNets against functions of torch, the channels of Bürgin et al., and the groups of group norm."""

import pytest
import torch
from oracles.networks import numbers, perturbed, residual

from lmc_helpers.networks.permutations import verify
from lmc_helpers.networks.resnet import ResNet20


@pytest.mark.parametrize(("blocks", "groups"), [(1, 1), (2, 2), (3, 1), (1, None)])
def test_resnet_is_that_of_torch(blocks, groups):
    model = ResNet20(1, blocks, groups, base=4, input_shape=(2, 8, 9), classes=3)
    stack, x, record = perturbed(model), numbers(5, 2, 8, 9), {}
    outputs = stack.forward(x, record)
    for i in range(3):
        expected, _, units = residual(model, {name: value[i] for name, value in stack.params.items()}, x)
        torch.testing.assert_close(outputs[i], expected, rtol=0, atol=1e-12)
        assert set(units) == set(record)
        for group, pixels in units.items():
            torch.testing.assert_close(record[group][i], pixels, rtol=0, atol=1e-12)


def test_the_resnet_of_the_paper():
    model = ResNet20(width=8)
    assert model.parameters() == 17_289_866
    layers = [name for name in model.maps() if "shortcut" not in name]
    assert len(layers) == 20 and len(model.maps()) == 22
    sizes = model.symmetry().sizes
    assert [sizes[f"stream {g}"] for g in (1, 2, 3)] == [128, 256, 512] and len(sizes) == 12


def test_group_norm_with_groups_in_between_keeps_no_permutation_of_all_channels():
    model = ResNet20(1, 1, norm_groups=2, base=4, input_shape=(1, 8, 8))
    with pytest.raises(ValueError, match="norm_groups = 2 keeps no permutation of all channels; allowed: 1, None"):
        model.symmetry()

    class Bold(ResNet20):
        def symmetry(self):
            return ResNet20(1, 1, base=4, input_shape=(1, 8, 8)).symmetry()

    assert verify(Bold(1, 1, 1, base=4, input_shape=(1, 8, 8))).holds()
    assert verify(Bold(1, 1, 2, base=4, input_shape=(1, 8, 8))).permuted["all"] > 1e-3
