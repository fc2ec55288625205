"""Files are read without running them; exact optima and small networks against other ways to compute them."""

import io
import itertools
import math
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from lmc_helpers._chapters import networks_from_the_wild as wild


class Spy:
    def __reduce__(self):
        return exec, ("raise SystemExit('it ran')",)


def small(seed: int) -> dict[str, torch.Tensor]:
    """A random network of the shape of onsets_brnn_pp."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {"out": (1, 8), "bias": (1,)}
    for g in wild.GROUPS:
        shapes |= {f"W{g}": (4, 1 if g[0] == "1" else 8), f"U{g}": (4, 4), f"b{g}": (4,)}
    return {n: torch.randn(shape, dtype=torch.float64, generator=generator) for n, shape in shapes.items()}


def by_torch(net: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Outputs (frames, curves) by nn.RNN."""
    rnn = nn.RNN(1, 4, 2, bidirectional=True).double()
    state = {name: torch.zeros_like(one) for name, one in rnn.state_dict().items()}
    for (layer, end), g in zip(itertools.product("01", ("", "_reverse")), wild.GROUPS, strict=True):
        for kind, name in (("W", "weight_ih"), ("U", "weight_hh"), ("b", "bias_ih")):
            state[f"{name}_l{layer}{end}"] = net[kind + g]
    rnn.load_state_dict(state)
    return torch.sigmoid(rnn(x[..., None])[0] @ net["out"][0] + net["bias"])


def test_a_file_of_torch_is_read_without_its_classes_and_a_pickle_runs_nothing():
    file = io.BytesIO()
    torch.save({"state": {"w": torch.arange(6.0).view(2, 3).T, "n": torch.tensor(3)}, "spy": Spy()}, file)
    found = wild.torch_file(file.getvalue())["state"]
    assert found["w"].equal(torch.arange(6.0).view(2, 3).T)
    assert found["n"] == 3
    content = pickle.dumps({"weight": np.arange(3.0), "spy": Spy()}, protocol=4)
    found = wild.Restricted(io.BytesIO(content)).load()
    assert found["weight"].tolist() == [0, 1, 2]


def test_the_small_networks_are_those_of_torch():
    net, x = small(1), torch.rand(9, 5, dtype=torch.float64)
    one = {name: value[None] for name, value in net.items()}
    assert wild.run(one, x)[0].allclose(by_torch(net, x))
    assert by_torch(wild.backwards(net), x.flip(0)).flip(0).allclose(by_torch(net, x))
    moved = wild.in_order(net, wild.all_orders(True)[torch.tensor([[5, 300, 17, 200]])])
    assert wild.run(moved, x)[0].allclose(by_torch(net, x))


@pytest.mark.parametrize("signed", [False, True])
def test_no_order_is_better_than_the_best(signed):
    """Against all choices of a few orders, by the sum of products of all weights."""
    a, b, P = small(1), small(2), wild.all_orders(signed)
    assert len(P) == math.factorial(4) * (16 if signed else 1)
    few = P[torch.randperm(len(P), generator=torch.Generator().manual_seed(3))[:9]]
    choices = torch.tensor(list(itertools.product(range(9), repeat=4)))
    moved = wild.in_order(b, few[choices])
    every = sum((a[name] * one).flatten(1).sum(dim=1) for name, one in moved.items())
    values, orders = wild.best_orders(a, b, few, 50)
    assert values.allclose(every.topk(50).values)
    assert choices[every.argmax()].equal(orders[0])


def test_descriptors_stay_if_a_molecule_is_turned_and_its_atoms_are_counted_otherwise():
    generator = torch.Generator().manual_seed(0)
    kinds, at = torch.tensor([0, 1, 1, 2, 3, 0]), 2 * torch.rand(6, 3, dtype=torch.float64, generator=generator)
    Q, p = wild.haar((3, 3), generator), torch.tensor([3, 5, 0, 1, 4, 2])
    rows = wild.descriptors(kinds, at)
    assert rows.shape == (6, 384)
    assert wild.descriptors(kinds[p], at[p] @ Q + 1).allclose(rows[p])
    far = at.clone()
    far[0] += 100  # the first atom is alone
    assert wild.descriptors(kinds, far)[0].abs().max() == 0


def test_a_rotation_of_a_code_is_found_by_rotations_alone():
    generator = torch.Generator().manual_seed(0)
    A = torch.randn(300, 8, dtype=torch.float64, generator=generator)
    left = wild.left_by(A, 3 * A @ wild.haar((8, 8), generator))
    assert left["orthogonal"] == pytest.approx(0, abs=1e-12)
    assert left["linear"] == pytest.approx(0, abs=1e-12)
    assert 1 > left["identity"] > left["permutation"] > left["signed"] > 0.05
    assert wild.left_by(A, A[:, torch.randperm(8)])["permutation"] == pytest.approx(0, abs=1e-12)


def test_only_orders_that_agree_compose():
    p = {pair: torch.randperm(5) for pair in wild.pairs(8)}
    inverse = [torch.randperm(5) for _ in range(8)]
    planted = [{"0": inverse[b][inverse[a].argsort()]} for a, b in wild.pairs(8)]
    assert np.min(wild.composed(planted)) == 1
    assert np.mean(wild.composed([{"0": one} for one in p.values()])) < 0.5
    found = wild.measured()
    assert set(found) == set(wild.SECTIONS)
    assert (wild.HERE / "measured.json").stat().st_size < 100_000
    assert len(wild.packages()) == 9
