"""What chapter *your networks* measures of a reader's pair, whatever the networks and the examples are."""

import math

import numpy as np
import pytest
import torch
from oracles.readers import state
from torch import nn

from lmc_helpers._chapters import your_networks as yours
from lmc_helpers.chapter import ParameterError
from lmc_helpers.data.digits import digits
from lmc_helpers.identifiability import Syre


class Tokens(nn.Module):
    """Integers in, and a number that its users give beside them."""

    def __init__(self):
        super().__init__()
        self.e, self.a, self.h = nn.Embedding(9, 8), nn.Linear(8, 6), nn.Linear(6, 3)

    def forward(self, ids, scale):
        return self.h(torch.relu(self.a(self.e(ids).mean(1) * scale[:, None])))


def given(nets, x, y, loss="cross_entropy"):
    torch.save(state(), "a.pt"), torch.save(state(1), "b.pt")
    np.savez("val.npz", x=x, y=y)
    return yours.given(f"{nets}:make", "a.pt", "b.pt", "val.npz", loss, "", 100, 1, 1, 0)


@pytest.mark.parametrize(
    ("x", "y", "loss", "why"),
    [
        (np.zeros((20, 3)), np.zeros(20), "mse", r"outputs \(\d+, 2\) and targets \(\d+,\)"),
        (np.zeros((20, 3)), np.zeros((20, 1), dtype=int), "cross_entropy", "targets .* 1"),
        (np.zeros((20, 4)), np.zeros(20, dtype=int), "cross_entropy", r"inputs \(\d+, 4\) float32"),
        (np.zeros((20, 3), dtype=np.uint8), np.zeros(20, dtype=int), "cross_entropy", "inputs .* uint8"),
        (np.zeros((20, 3)), np.arange(20), "cross_entropy", "labels"),
    ],
)
def test_examples_that_do_not_go_with_the_model_are_one_sentence(nets, x, y, loss, why):
    with pytest.raises(ValueError, match=rf"^[^\n]*{why}[^\n]*; allowed: [^\n]*$"):
        given(nets, x, y, loss)


def test_units_out_of_place_are_counted():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    net.load_state_dict(state())
    x = torch.ones(2, 3)
    whole = yours.lmc.symmetry(net, x)
    moved = yours.lmc.permuted(net, whole, {"0": torch.tensor([1, 0, 2, 3])})
    assert yours.out_of_place(net, moved, whole) == 0.5
    assert yours.out_of_place(net, net, whole) == 0
    net, x = nn.Sequential(nn.Linear(4, 3)), torch.ones(2, 4)
    whole = yours.lmc.symmetry(net, x)
    assert yours.layer_of(net, whole, "") == "" and yours.pairs_of_units(net, "") == {}
    with pytest.raises(ValueError, match="layer = '0'; allowed: none"):
        yours.layer_of(net, whole, "0")


def test_an_exchange_by_other_weights_than_the_least_has_another_price(monkeypatch):
    x, y = (one.float() if one.is_floating_point() else one for one in digits(100, 0))
    net = yours.trained(lambda: yours.mlp(4), x, y, 1, 0)
    whole = yours.lmc.symmetry(net, x)
    found = yours.exchanges(net, "0", Syre(0.3, 0.5), x, 0, whole, 100)
    assert found.n == 6
    assert yours.exchanges(net, "0", Syre(0.3, 0.5), x, 0, whole, 4).n == 4
    assert found.error < 1e-12 < 1e-3 < found.plain
    costs = yours.lmc.swap_costs
    monkeypatch.setattr(yours.lmc, "swap_costs", lambda *layer: 2 * costs(*layer), raising=False)
    assert yours.exchanges(net, "0", Syre(0.3, 0.5), x, 0, whole, 100).error > 1e-3


def test_dead_units_and_inputs_of_any_kind_exchange_at_their_price():
    torch.manual_seed(0)
    net = Tokens().eval()
    net.a.bias.data[:2] = -100.0  # two units that are never active
    x = torch.randint(9, (40, 5)), torch.rand(40)
    found = yours.exchanges(net, "a", Syre(0.3, 0.5), x, 0, yours.lmc.symmetry(net, x), 100)
    assert found.n == 15 and found.error < 1e-12
    assert yours.price(net, "a", (2, 3), Syre(0.3, 0.5), x, 0) == pytest.approx(
        yours.price(net, "a", (3, 2), Syre(0.3, 0.5), x, 0)
    )
    moved = yours.lmc.match(net, Tokens().eval(), x)
    assert yours.change(net, moved, x) > 1e-3 > 1e-12 > yours.change(net, net, x)


def test_numpys_float64_ignored_labels_and_a_price_before_it_begins(nets, monkeypatch, capfd):
    y = np.where(np.arange(40) % 4, np.arange(40) % 2, -100)
    this = given(nets, np.random.default_rng(0).normal(size=(40, 3)), y)
    assert len(this.seen[1]) == len(this.unseen[1]) == 20 and sorted([*this.seen[1], *this.unseen[1]]) == sorted(y)
    monkeypatch.setattr(yours, "estimate", lambda *_: 3.0)
    assert yours.begin(this, "0", 1, 1, 1, 4.0) == "about 3 min"
    with pytest.raises(ParameterError, match=r"^minutes = 2\.0, and this pair takes about 3 min; allowed: more"):
        yours.begin(this, "0", 1, 1, 1, 2.0)


def test_units_of_a_large_network_do_not_meet(nets, monkeypatch):
    this = given(nets, np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2)
    (net, _), found = this.networks["yours"][0], []
    assert yours.meet(this, net, "0", (0, 1), 1).path.losses.isfinite().all()
    monkeypatch.setattr(yours, "MOST", yours.parameters_of(net) - 1)
    monkeypatch.setattr(yours.lmc, "merge_path", lambda *_: found.append(1), raising=False)
    assert (
        yours.attempt(yours.meet, this, net, "0", (0, 1), 1)[1] == "a permutation point in 26 parameters; allowed: 25"
    )
    assert yours.estimate(this, "0", 1, 1, 6) > 0 and found == []
    one, more = (yours.estimate(this, "0", 1, steps, 6) for steps in (1, 1000))
    assert 0 < one < more / 4 < math.inf
