"""Asymmetric layers against direct computations with W_eff = F + D ⊙ W, schemes against their definitions."""

import math

import pytest
import torch
from torch import nn

from lmc_helpers.identifiability import LinearResidual, Sparse, Syre, WAsymmetric, WBernoulli, asymmetrise
from lmc_helpers.identifiability.asymmetric import layer_parts


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


SQUARE = [WAsymmetric(2, 0.7), WBernoulli(0.3, 2.0), Syre(0.5, 0.4), LinearResidual(), Sparse(1)]


def parts(module, name="weight"):
    plan = module.parametrizations[name]
    return plan[0].F, plan[0].D, plan.original


@pytest.mark.parametrize("scheme", SQUARE)
def test_linear_map(scheme):
    torch.manual_seed(1)
    layer = nn.Linear(5, 5).double()
    before, bias = layer.weight.detach().clone(), layer.bias.detach().clone()
    layer, given = asymmetrise(layer, scheme, seed=3), layer
    assert given.weight.equal(before) and not hasattr(given, "parametrizations")  # the module stays as it is
    F, D, W = parts(layer)
    assert W.equal(before)  # the present weights become W
    x = torch.randn(7, 5, dtype=torch.float64)
    expected = torch.stack([sum((F + D * W)[:, j] * row[j] for j in range(5)) + bias for row in x])
    torch.testing.assert_close(layer(x), expected)


@pytest.mark.parametrize("training", [True, False])
def test_attention(training):
    torch.manual_seed(2)
    heads, width = 2, 6
    layer = nn.MultiheadAttention(width, heads, batch_first=True, bias=False).double().train(training)
    layer = asymmetrise(layer, WAsymmetric(3, 1.0), seed=5)
    assert set(layer_parts(layer)) == {"in_proj_weight", "out_proj.weight"}
    stacked, out = (F + D * W for F, D, W in (parts(layer, "in_proj_weight"), parts(layer.out_proj)))
    x = torch.randn(2, 4, width, dtype=torch.float64)
    q, k, v = (x @ w.T for w in stacked.chunk(3))
    size = width // heads
    heads_out = []
    for h in range(heads):
        s = slice(h * size, (h + 1) * size)
        heads_out.append((q[..., s] @ k[..., s].mT / math.sqrt(size)).softmax(dim=-1) @ v[..., s])
    with torch.set_grad_enabled(training):
        torch.testing.assert_close(layer(x, x, x, need_weights=False)[0], torch.cat(heads_out, dim=-1) @ out.T)


def test_attention_with_three_matrices():
    layer = asymmetrise(nn.MultiheadAttention(4, 2, kdim=3, vdim=5), Sparse(1), seed=1)
    assert list(layer_parts(layer)) == ["q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"]
    net = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.MultiheadAttention(4, 2))
    assert layer_parts(net) == {}
    net = asymmetrise(net, {"0.weight": Sparse(2), "2.in_proj_weight": Syre(0.5, 0.4)}, seed=3)
    found = layer_parts(net)
    assert list(found) == ["0.weight", "2.in_proj_weight"]
    for (F, D, W), weight in zip(found.values(), (net[0].weight, net[2].in_proj_weight), strict=True):
        torch.testing.assert_close(F + D * W, weight)
        assert W.requires_grad and not F.requires_grad


def test_gradient_goes_through_D_only_and_F_and_D_stay():
    torch.manual_seed(1)
    layer = asymmetrise(nn.Linear(6, 4, bias=False).double(), Syre(1.0, 0.5), seed=1)
    F, D, W = parts(layer)
    x = torch.randn(3, 6, dtype=torch.float64)
    effective = (F + D * W).detach().requires_grad_()
    (x @ effective.T).tanh().sum().backward()
    layer(x).tanh().sum().backward()
    torch.testing.assert_close(W.grad, D * effective.grad)
    assert [name for name, _ in layer.named_parameters()] == ["parametrizations.weight.original"]
    kept = F.clone(), D.clone()
    torch.optim.SGD(layer.parameters(), lr=0.1, weight_decay=0.5).step()
    assert parts(layer)[0].equal(kept[0]) and parts(layer)[1].equal(kept[1])


def test_a_pair_shares_F_and_D():
    def network():
        return nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))

    a, b = (asymmetrise(network(), WAsymmetric(2, 1.0), seed=11) for _ in range(2))
    for i in (0, 2):
        (F, D, W), (F2, D2, W2) = parts(a[i]), parts(b[i])
        assert F.equal(F2) and D.equal(D2) and not W.equal(W2)
    other = asymmetrise(network(), WAsymmetric(2, 1.0), seed=12)
    assert not parts(other[0])[0].equal(parts(a[0])[0])
    net = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
    plain, wrapped = (asymmetrise(one, Sparse(2), seed=1) for one in (net, nn.DataParallel(net)))
    assert list(wrapped.state_dict()) == list(plain.state_dict()) and wrapped[2].weight.equal(plain[2].weight)
    net = asymmetrise(nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 3)), {"1.weight": Sparse(2)}, seed=0)
    assert not hasattr(net[0], "parametrizations") and (net[1].weight == 0).sum() == 6
    with pytest.raises(ValueError, match=r"'2.weight'.*allowed: 0.weight, 1.weight"):
        asymmetrise(net, {"2.weight": Sparse(2)}, seed=0)
    with pytest.raises(ValueError, match="already"):
        asymmetrise(net, Sparse(1), seed=0)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("shape", [(4, 7), (6, 3, 3, 3), (1, 1)])
def test_counts_of_fixed_entries(shape, dim):
    for fixed in (0, 1):
        F, D = WAsymmetric(fixed, 1.0, dim).draw(shape, generator())
        assert ((D == 0).transpose(0, dim).flatten(1).sum(dim=1) == fixed).all()
        assert ((F != 0) == (D == 0)).all()


def test_masks_are_uniform_and_schemes_have_their_laws():
    F, D = WAsymmetric(3, 2.0).draw((20_000, 5), generator())
    share = (D == 0).double().mean(dim=0)
    assert (share - 0.6).abs().max() < 4.5 * math.sqrt(0.24 / 20_000)
    assert F[D == 0].std().item() == pytest.approx(2.0, rel=0.02)
    pairs = (D[:, 0] + D[:, 1] == 0).double().mean().item()  # 3 of 5 fixed: both with probability 3/10
    assert abs(pairs - 0.3) < 4.5 * math.sqrt(0.21 / 20_000)
    F, D = WBernoulli(0.25, 1.0).draw((400, 500), generator())
    assert abs((D == 0).double().mean().item() - 0.25) < 4.5 * math.sqrt(0.25 * 0.75 / 200_000)
    F, D = Syre(0.3, 0.2).draw((300, 300), generator())
    u = D.pow(-2)
    assert 0.8 < u.min() < 0.801 and 1.199 < u.max() < 1.2  # uniform between 1 - ε and 1 + ε
    assert u.mean().item() == pytest.approx(1, abs=0.002) and u.var().item() == pytest.approx(0.2**2 / 3, rel=0.02)
    assert F.std().item() == pytest.approx(0.3, rel=0.02)
    F, D = LinearResidual().draw((2, 2, 3, 5), generator())
    x = torch.randn(1, 2, 6, 7, dtype=torch.float64)
    torch.testing.assert_close(nn.functional.conv2d(x, F, padding=(1, 2)), x)
    assert D.eq(1).all()
