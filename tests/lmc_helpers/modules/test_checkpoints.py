"""Networks, weights and data by the names of files and functions; each wrong one is one sentence."""

import argparse

import numpy as np
import pytest
import torch
from oracles.readers import state
from safetensors.torch import save_file, save_model
from torch import nn

from lmc_helpers import Axis, Loss, Symmetry
from lmc_helpers.modules import checkpoints


def test_weights_are_read_from_each_kind_of_file(nets):
    save_file(state(), "a.safetensors")
    torch.save(state(), "a.pt")
    np.savez("a.npz", **{name: value.numpy() for name, value in state().items()})
    for path in ("a.safetensors", "a.pt", "a.npz"):
        found = checkpoints.with_weights(f"{nets}:make", path)
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
    found = checkpoints.with_weights(f"{nets}:make", "a.ckpt").state_dict()
    assert all(torch.equal(found[name], value) for name, value in state().items())


def test_a_missing_counter_and_tied_weights_are_the_models_own(nets):
    normed = {k: v for k, v in checkpoints.built(f"{nets}:normed").state_dict().items() if "num_batches" not in k}
    save_file(normed, "a.safetensors")
    assert checkpoints.with_weights(f"{nets}:normed", "a.safetensors")[1].num_batches_tracked == 0
    net = checkpoints.built(f"{nets}:tied")
    save_model(net, "a.safetensors")
    again = checkpoints.with_weights(f"{nets}:tied", "a.safetensors")
    assert again[0].weight is again[1].weight and torch.equal(again[0].weight, net[0].weight)
    torch.save({"0.weight": torch.zeros(4, 3), "1.weight": torch.ones(4, 3)}, "b.pt")
    with pytest.raises(ValueError, match=r"'1\.weight' differ"):
        checkpoints.with_weights(f"{nets}:tied", "b.pt")


def test_a_mask_of_infinities_is_the_models_own(nets):
    net = nn.Linear(2, 2)
    net.register_buffer("mask", torch.full((2,), -torch.inf))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "built", lambda name: net)
        torch.save(net.state_dict(), "a.pt")
        assert checkpoints.with_weights("its:factory", "a.pt") is net
        torch.save(net.state_dict() | {"mask": torch.full((2,), torch.inf)}, "a.pt")
        with pytest.raises(ValueError, match=r"'mask' of .* is not finite; allowed"):
            checkpoints.with_weights("its:factory", "a.pt")


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
        lambda s: s | {"0.bias": torch.arange(4, dtype=torch.int8)},
        lambda s: s | {"0.bias": s["0.bias"] + 1j},
        lambda s: {f"base.{name}": value for name, value in (s | {"0.adapter": torch.ones(2)}).items()},
        lambda s: {"code": Code()},
        lambda s: [1, 2],
        lambda s: {"net": s, "ema": s},
        lambda s: {"net": s, "args": argparse.Namespace(lr=0.1)},
    ],
    ids="missing unknown shape NaN codes complex adapter code list two Namespace".split(),
)
def test_wrong_weights_are_one_sentence(nets, spoil):
    torch.save(spoil(state()), "a.pt")
    with pytest.raises(ValueError, match=r"^[^\n\x1b]*; allowed: [^\n]*$"):
        checkpoints.with_weights(f"{nets}:make", "a.pt")


@pytest.mark.parametrize("name", ["make", "none_such:make", "{}:missing", "{}:sized", "{}:number"])
def test_wrong_factories_are_one_sentence(nets, name):
    with pytest.raises(ValueError, match=r"^[^\n]*; allowed: [^\n]*$"):
        checkpoints.built(name.format(nets))


@pytest.mark.parametrize(
    "arrays",
    [
        *({"x": np.zeros((4, 3))}, {"x": np.zeros((4, 3)), "y": np.zeros(3, dtype=int)}),
        *({"image": np.zeros((4, 3)), "label": np.zeros(4)}, {"y": np.zeros(4)}),
        *(
            {"image": np.zeros((4, 3)), "mask": np.zeros((3, 3)), "y": np.zeros(4)},
            {"x": np.float64(1), "y": np.zeros(4)},
        ),
        *({"x": np.full((4, 3), np.inf), "y": np.zeros(4, dtype=int)}, {"x": np.zeros((4, 3)), "y": np.zeros(4)}),
        *({"x": np.zeros((4, 3)), "y": np.array([0, 1, -1, 0])}, {"x": np.zeros((4, 3)), "y": np.array([None] * 4)}),
    ],
    ids=[
        "no targets",
        "lengths",
        "no y",
        "no input",
        "input lengths",
        "a number",
        "infinite",
        "no labels",
        "negative",
        "objects",
    ],
)
def test_wrong_examples_are_one_sentence(tmp_path, arrays):
    np.savez(tmp_path / "val.npz", **arrays)
    with pytest.raises(ValueError, match=r"^[^\n]*; allowed: [^\n]*$"):
        checkpoints.examples(str(tmp_path / "val.npz"), "cross_entropy")


def test_examples_are_read_as_people_store_them(tmp_path):
    x, y, c = torch.randn(6, 3), torch.tensor([0, 1, -100, 0, 1, 1], dtype=torch.int32), torch.ones(6, 2)
    np.savez(tmp_path / "two bytes.npz", x=x.numpy(), y=np.arange(6, dtype="uint16"))
    assert checkpoints.examples(str(tmp_path / "two bytes.npz"), "cross_entropy")[1].tolist() == [0, 1, 2, 3, 4, 5]
    np.savez(tmp_path / "one.npz", x=x.double().numpy(), y=y.numpy())
    found = checkpoints.examples(str(tmp_path / "one.npz"), "cross_entropy")
    assert torch.equal(found[0], x.double()) and found[1].dtype == torch.int64 and torch.equal(found[1], y.long())
    save_file({"image": x, "c": c, "y": y}, tmp_path / "named.safetensors")
    named, _ = checkpoints.examples(str(tmp_path / "named.safetensors"))
    assert named.keys() == {"image", "c"} and torch.equal(named["c"], c)
    torch.save((x, c, y), tmp_path / "several.pt")
    several, _ = checkpoints.examples(str(tmp_path / "several.pt"))
    assert isinstance(several, tuple) and torch.equal(several[1], c)
    net, ones = nn.Linear(2, 1), torch.ones(2)
    loader = [(torch.arange(2 * k, 2 * k + 4).view(2, 2).float(), ones) for k in (0, 2, 4)]
    x, y = checkpoints.gathered(net, loader, 6, torch.Generator().manual_seed(0))
    assert sorted(x[:, 0].tolist()) == [0, 2, 4, 6, 8, 10] != x[:, 0].tolist() and len(y) == 6
    assert len(checkpoints.gathered(net, loader, 3, torch.Generator())[0]) == 3
    with pytest.raises(ValueError, match="several shapes"):
        checkpoints.gathered(net, [(torch.ones(2, 2), ones), (torch.ones(2, 3), ones)], 6, torch.Generator())


def test_losses_and_groups_are_found_by_name(nets):
    assert checkpoints.objective("mse") is nn.functional.mse_loss
    assert checkpoints.objective("l1_loss") is nn.functional.l1_loss
    assert isinstance(checkpoints.objective(f"{nets}:weighed"), Loss)
    assert checkpoints.groups("") is None
    axes = Axis("0.weight", 0), Axis("0.bias", 0), Axis("2.weight", 1)
    assert checkpoints.groups(f"{nets}:groups") == Symmetry({"by hand": axes}, {"by hand": 4})
    for wrong in (lambda: checkpoints.objective("relu"), lambda: checkpoints.groups(f"{nets}:make")):
        with pytest.raises(ValueError, match=r"^[^\n]*; allowed: [^\n]*$"):
            wrong()
