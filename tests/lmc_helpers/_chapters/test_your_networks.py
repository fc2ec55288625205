"""What chapter *your networks* reads of a reader, each wrong file in one sentence, and what it measures of a pair."""

import argparse
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import save_file, save_model
from torch import nn

from lmc_helpers._chapters import your_networks as yours
from lmc_helpers.identifiability import Syre


@pytest.fixture
def nets(tmp_path, monkeypatch):
    """A module of factories in the working directory, and files of weights and examples."""
    (tmp_path / "nets_of_a_reader.py").write_text(
        "from torch import nn\n"
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


def test_weights_are_read_from_each_kind_of_file(nets):
    save_file(state(), "a.safetensors")
    torch.save(state(), "a.pt")
    np.savez("a.npz", **{name: value.numpy() for name, value in state().items()})
    for path in ("a.safetensors", "a.pt", "a.npz"):
        found = yours.with_weights(f"{nets}:make", path)
        assert not found.training
        assert all(torch.equal(found.state_dict()[name], value) for name, value in state().items())


CHECKPOINTS = {
    "a script's": lambda s: {
        "net": s,
        "acc": np.float64(93.2),
        "epoch": 3,
        "optimizer": {"state": {0: {"step": s["0.bias"]}}},
    },
    "of Lightning": lambda s: {"state_dict": {f"model.{k}": v for k, v in s.items()} | {"loss.weight": torch.ones(2)}},
    "nested": lambda s: {"model": {"weights": s}, "args": {"lr": 0.1}},
    "parallel": lambda s: {f"module.{k}": v for k, v in s.items()},
    "compiled": lambda s: {"model": {f"module._orig_mod.{k}": v for k, v in s.items()}},
    "averaged": lambda s: {"n_averaged": torch.tensor(3)} | {f"module.{k}": v for k, v in s.items()},
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_checkpoints_are_read_as_people_save_them(nets, kind):
    torch.save(CHECKPOINTS[kind](state()), "a.ckpt")
    found = yours.with_weights(f"{nets}:make", "a.ckpt").state_dict()
    assert all(torch.equal(found[name], value) for name, value in state().items())


def test_a_missing_counter_and_tied_weights_are_the_models_own(nets):
    normed = {k: v for k, v in yours.built(f"{nets}:normed").state_dict().items() if "num_batches" not in k}
    save_file(normed, "a.safetensors")
    assert yours.with_weights(f"{nets}:normed", "a.safetensors")[1].num_batches_tracked == 0
    net = yours.built(f"{nets}:tied")
    save_model(net, "a.safetensors")
    again = yours.with_weights(f"{nets}:tied", "a.safetensors")
    assert again[0].weight is again[1].weight and torch.equal(again[0].weight, net[0].weight)
    torch.save({"0.weight": torch.zeros(4, 3), "1.weight": torch.ones(4, 3)}, "b.pt")
    with pytest.raises(ValueError, match=r"'1\.weight' differ"):
        yours.with_weights(f"{nets}:tied", "b.pt")


class Code:
    """An object whose pickle runs code when it is read."""

    def __reduce__(self):
        return exec, ("raise SystemExit('code ran')",)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda s: {name: value for name, value in s.items() if name != "0.bias"},
        lambda s: s | {"3.bias": torch.zeros(1)},
        lambda s: s | {"0.bias": torch.zeros(5)},
        lambda s: s | {"0.bias": torch.full((4,), torch.nan)},
        lambda s: {"code": Code()},
        lambda s: [1, 2],
        lambda s: {"net": s, "ema": s},
        lambda s: {"net": s, "args": argparse.Namespace(lr=0.1)},
    ],
    ids=["missing", "unknown", "shape", "NaN", "pickled code", "a list", "two", "a Namespace"],
)
def test_wrong_weights_are_one_sentence(nets, spoil):
    torch.save(spoil(state()), "a.pt")
    with pytest.raises(ValueError, match=r"^[^\n\x1b]*; allowed: [^\n]*$"):
        yours.with_weights(f"{nets}:make", "a.pt")


@pytest.mark.parametrize("name", ["make", "none_such:make", "{}:missing", "{}:sized", "{}:number"])
def test_wrong_factories_are_one_sentence(nets, name):
    with pytest.raises(ValueError, match=r"^[^\n]*; allowed: [^\n]*$"):
        yours.built(name.format(nets))


@pytest.mark.parametrize(
    "arrays",
    [
        *({"x": np.zeros((4, 3))}, {"x": np.zeros((4, 3)), "y": np.zeros(3, dtype=int)}),
        *({"x": np.full((4, 3), np.inf), "y": np.zeros(4, dtype=int)}, {"x": np.zeros((4, 3)), "y": np.zeros(4)}),
        *({"x": np.zeros((4, 3)), "y": np.array([0, 1, -1, 0])}, {"x": np.zeros((4, 3)), "y": np.array([None] * 4)}),
    ],
    ids=["no targets", "lengths", "infinite", "no labels", "negative", "objects"],
)
def test_wrong_examples_are_one_sentence(tmp_path, arrays):
    np.savez(tmp_path / "val.npz", **arrays)
    with pytest.raises(ValueError, match=r"^[^\n]*; allowed: [^\n]*$"):
        yours.examples(str(tmp_path / "val.npz"), "cross_entropy", 100, 0)


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
    torch.save(state(), "a.pt")
    np.savez("val.npz", x=x, y=y)
    with pytest.raises(ValueError, match=rf"^[^\n]*{why}[^\n]*; allowed: [^\n]*$"):
        yours.networks_and_data(f"{nets}:make", "a.pt", "a.pt", "val.npz", loss, 100, 1, 1, 0)


def test_examples_of_numpy_have_the_type_of_the_model(nets):
    torch.save(state(), "a.pt")
    np.savez("val.npz", x=np.zeros((20, 3)), y=np.where(np.arange(20) % 2, 1, -100))
    pairs, (x, y), _ = yours.networks_and_data(f"{nets}:make", "a.pt", "a.pt", "val.npz", "cross_entropy", 100, 1, 1, 0)
    assert x.dtype == torch.float32 and y.min() == -100 and pairs["yours"][0][0](x).shape == (10, 2)


def test_units_out_of_place_are_counted():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    net.load_state_dict(state())
    x = torch.ones(2, 3)
    whole = yours.lmc.symmetry(net, x)
    moved = yours.lmc.permuted(net, whole, {"0": torch.tensor([1, 0, 2, 3])})
    assert yours.out_of_place(net, moved, whole) == 0.5
    assert yours.out_of_place(net, net, whole) == 0


def test_an_exchange_by_other_weights_than_the_least_has_another_price(monkeypatch):
    net = yours.trained(lambda: yours.mlp(4), *yours.examples("", "cross_entropy", 100, 0), 1, 0)
    x = yours.examples("", "cross_entropy", 100, 0)[0]
    found = yours.exchanges(net, "0", Syre(0.3, 0.5), x, 0)
    assert found.n == 6
    assert found.error < 1e-12 < 1e-3 < found.plain
    costs = yours.lmc.swap_costs
    monkeypatch.setattr(yours.lmc, "swap_costs", lambda *layer: 2 * costs(*layer), raising=False)
    assert yours.exchanges(net, "0", Syre(0.3, 0.5), x, 0).error > 1e-3
