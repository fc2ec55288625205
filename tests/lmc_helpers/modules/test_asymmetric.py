"""A layer's inputs against those written out by hand."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lmc_helpers.identifiability import Syre, asymmetrise
from lmc_helpers.modules.asymmetric import asymmetric_layer


def projector(inputs):
    """On the span of rows (n, d)."""
    return torch.linalg.pinv(inputs) @ inputs


def test_a_linear_layer_behind_others():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 5), nn.Identity(), nn.Dropout(), nn.Linear(5, 3))
    net = asymmetrise(net, {"3.weight": Syre(1.0, 0.3)}, 1)
    net, x = net.double(), torch.randn(4, 6, 2).double()
    layer = asymmetric_layer(net, "3", x, explained=1.0)
    torch.testing.assert_close(layer.U @ layer.U.T, projector(net[0](x).flatten(0, 1).detach()))
    torch.testing.assert_close(layer.F + layer.D * layer.W, net[3].weight.detach())
    assert layer.U.shape == (5, 3) and layer.F.abs().sum() > 0 and net.training and not net[3]._forward_pre_hooks
    plain = asymmetric_layer(net, "0", x)
    assert plain.F.eq(0).all() and plain.D.eq(1).all() and plain.W.equal(net[0].weight)


def test_patches_of_a_convolution():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 3, (2, 3), stride=2, padding=1, bias=False), nn.Flatten(), nn.Linear(27, 2))
    x = torch.randn(1, 2, 5, 6)
    layer = asymmetric_layer(net, "0", x, explained=1.0)
    patches = F.unfold(x.double(), (2, 3), stride=2, padding=1)[0].T  # (pixels, 12)
    torch.testing.assert_close(layer.U @ layer.U.T, projector(patches))
    outputs = layer.W @ patches.T
    torch.testing.assert_close(outputs.float().view(3, 3, 3), net[0](x)[0])


@pytest.mark.parametrize("layer", ["1", "5", "3"])
def test_what_is_no_linear_map_is_refused(layer):
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2), nn.Conv1d(2, 2, 1, groups=2))
    with pytest.raises(ValueError, match="allowed"):
        asymmetric_layer(net, layer, torch.ones(2, 4))
