"""Layers of stacked networks against torch layers, one network at a time."""

import pytest
import torch
from oracles.networks import DOUBLE, numbers
from torch import nn

from lmc_helpers.networks import layers

N, B, C = 3, 5, 4


def close(a, b):
    torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch's first forward derivative
@pytest.mark.parametrize("shared", [True, False])
def test_derivatives_of_linear(shared):
    """First and second derivatives, forwards and backwards, against differences and against torch's own product."""
    h, W, b = numbers(1 if shared else N, B, C), numbers(N, 7, C), numbers(N, 7)
    inputs = [tensor.requires_grad_() for tensor in (h, W, b)]
    assert torch.autograd.gradcheck(layers.linear, inputs, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(layers.linear, inputs)

    def usual(h, W, b):
        return torch.baddbmm(b[:, None], h.expand(N, -1, -1), W.mT)

    for by in (torch.func.jacrev, torch.func.jacfwd):
        for ours, theirs in zip(by(layers.linear, (0, 1, 2))(h, W, b), by(usual, (0, 1, 2))(h, W, b), strict=True):
            close(ours, theirs)


def test_slopes_of_linear_lie_as_its_weights():
    """The reason why linear has a derivative of its own: a transposed slope costs a slow copy."""
    h, W, b = numbers(N, B, C), numbers(N, 7, C).requires_grad_(), numbers(N, 7)
    torch.linalg.vector_norm(layers.linear(h, W, b)).backward()
    assert W.grad.is_contiguous()
    h, W = numbers(N, B, C).requires_grad_(), numbers(N, 7, C)
    layers.linear(h, W, b).sum().backward()  # slopes in h alone
    close(h.grad, W.sum(dim=1)[:, None].expand(N, B, C))


def test_linear_in_bfloat16():
    """Under autocast the product is of that type, and slopes are of the weights' own."""
    h, W, b = (tensor.float() for tensor in (numbers(N, B, C), numbers(N, 7, C), numbers(N, 7)))
    W.requires_grad_(), h.requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        out = layers.linear(h, W, b)
    out.float().sum().backward()
    assert (out.dtype, W.grad.dtype, h.grad.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    torch.testing.assert_close(W.grad, h.sum(dim=1)[:, None].expand_as(W), rtol=0.02, atol=0.05)
    torch.testing.assert_close(h.grad, W.sum(dim=1)[:, None].expand_as(h), rtol=0.02, atol=0.05)


def test_initial_laws_are_those_of_torch():
    draw, shape = torch.Generator().manual_seed(1), (200, 20, 3, 3)
    torch.manual_seed(0)
    conv = nn.Conv2d(20, 200, 3)
    ours = layers.initial(shape, 180, "torch", draw)
    assert ours.dtype == DOUBLE and ours.abs().max() <= 180**-0.5
    assert ours.std().item() == pytest.approx(conv.weight.std().item(), rel=0.02)
    assert layers.initial((200,), 180, "torch", draw).abs().max() <= 180**-0.5
    he = layers.initial(shape, 180, "he", draw)
    assert he.std().item() == pytest.approx(nn.init.kaiming_normal_(conv.weight).std().item(), rel=0.02)
    assert (he.abs() > 3 * (2 / 180) ** 0.5).any()  # normal, not uniform
    assert layers.initial((200,), 180, "he", draw).eq(0).all()
    normal = layers.initial(shape, 180, "normal", draw)
    assert normal.std().item() == pytest.approx(180**-0.5, rel=0.02) and (normal.abs() > 3 * 180**-0.5).any()
    assert 0 < layers.initial((200,), 180, "normal", draw).abs().max() <= 180**-0.5
    shapes = {"a.weight": (4, 100, 3, 3), "a.bias": (4,), "a.gain": (4,), "a.shift": (4,), "b.weight": (4, 4)}
    drawn = layers.draw_by_law(shapes, "torch", torch.Generator().manual_seed(1))
    assert {name: tuple(value.shape) for name, value in drawn.items()} == shapes
    assert drawn["a.gain"].eq(1).all() and drawn["a.shift"].eq(0).all()
    assert max(drawn[name].abs().max() for name in ("a.weight", "a.bias")) <= 1 / 30 < drawn["b.weight"].abs().max()
