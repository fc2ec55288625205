"""What chapter *asymmetric mlps* computes, against independent oracles."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch

import lmc_helpers._chapters.asymmetric_mlps as module
from lmc_helpers._chapters import asymmetric_mlps
from lmc_helpers._chapters.asymmetric_mlps import (
    CORE,
    Experiment,
    Parameters,
    ends,
    fixed_entries,
    measure,
)
from lmc_helpers.data.images import load
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.training.run_files import read, write
from lmc_helpers.training.runs import Run

# ---------- asymmetric mlps
#
# Objectives against all permutations, lines against averaged networks, and what the networks of a pair share.


SIZES = dict(dataset="digits", width=8, images=150, epochs=2, stages=[0, 1], batch=64, pairs=3, sweep_pairs=2)
PARAMETERS = Parameters(**SIZES, sigmas=[5.0], shares=[0.5], seed=3, places=4, looked=100)


@pytest.fixture(scope="module", autouse=True)
def experiment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield Experiment(PARAMETERS)


@pytest.fixture(scope="module")
def images(experiment):
    """The images on which units are matched, (100, 64), and their labels."""
    data = experiment.runs["MLP"].data
    images = load(data.name, data.split, data.n, data.seed)
    return images.inputs(flat=True)[:100], images.y[:100]


def test_objectives_are_those_of_all_permutations():
    model = MLP((3, 4, 5, 2), "gelu", "layer")
    a, b = model.initial([1, 2]), model.initial([3, 4])
    x = torch.randn(60, 3, generator=torch.Generator().manual_seed(1))
    found = measure(a, b, x, torch.zeros(60, dtype=torch.long))
    for p in range(2):
        records = [{}, {}]
        for stack, record in zip((a, b), records, strict=True):
            stack.forward(x, record)
        for layer, m in enumerate((4, 5)):
            za, zb = (record[str(layer)][p].double().numpy().T for record in records)
            S = np.corrcoef(za, zb)[:m, m:]
            every = np.array(
                [S[range(m), order].mean() for order in permutations(range(m))]
            )  # the first is the identity
            assert found.identity[p, layer].item() == pytest.approx(every[0], abs=1e-6)
            assert found.optimal[p, layer].item() == pytest.approx(every.max(), abs=1e-6)
            assert found.random[p, layer].item() == pytest.approx(every.mean(), abs=1e-6)
            assert found.spread[p, layer].item() == pytest.approx(every.std(), abs=1e-6)
            best = list(permutations(range(m)))[every.argmax()]
            assert found.stays[p, layer].item() == pytest.approx(np.mean(np.array(best) == np.arange(m)))
    assert found.accuracy == {}


def test_drops_are_those_of_the_averaged_networks(experiment, images):
    (x, y), found, (a, b) = images, experiment.measured("W 1"), ends(experiment.result("W 1"))
    middle = Stack(a.model, {name: (a.params[name] + b.params[name]) / 2 for name in a.params})
    right = [(stack.forward(x).argmax(dim=-1) == y).double().mean(dim=1) for stack in (a, b, middle)]
    torch.testing.assert_close(found.drop(), 100 * ((right[0] + right[1]) / 2 - right[2]))
    assert found.accuracy["none"].shape == (3, 5) and experiment.measured("W 5").accuracy["none"].shape == (2, 3)


def test_a_permuted_copy_is_found():
    a = MLP((3, 6, 2), "gelu", "layer").initial([1, 2])
    order = torch.tensor([[1, 2, 3, 4, 5, 0]]).expand(2, -1)
    x = torch.randn(60, 3, generator=torch.Generator().manual_seed(1))
    y = a.forward(x)[0].argmax(dim=-1)
    found = measure(a, a.permuted({"0": order}), x, y, (0, 0.5, 1), published=True)
    assert found.optimal.min() > 1 - 1e-6 and found.stays.max() == 0
    assert set(found.accuracy) == {"none", "correlation", "published", "absolute"}
    assert found.drop("correlation").abs().max() < 1e-9 and found.drop("absolute").abs().max() < 1e-9


def test_pairs_share_fixed_parts_and_variants_share_masks(experiment):
    fixed = {name: experiment.result(name).stack.fixed for name in ("W 0", "W 1", "W 5", "syre 1", "sigma")}
    (F0, D0), (F1, D1), (F5, D5) = (fixed[name]["1.weight"] for name in ("W 0", "W 1", "W 5"))
    assert D1.equal(D0) and D5.equal(D1[:2]) and not D1[0].equal(D1[1])
    assert F0.eq(0).all() and torch.allclose(5 * F1[:2], F5)
    assert fixed["syre 1"]["1.weight"][1].eq(1).all()
    assert list(fixed["sigma"]) == ["0.gate", "1.gate", "2.gate"] and fixed["sigma"]["0.gate"][1].eq(0).all()
    a, b = ends(experiment.result("W 1"))
    same = a.params["1.weight"] == b.params["1.weight"]
    assert same[D1 == 0].all() and not same[D1 == 1].any()


def test_the_stages_are_those_that_were_kept(experiment, images):
    before = experiment.measured("W 1", 0)
    initial = experiment.runs["W 1"].model.initial(experiment.runs["W 1"].seeds, fixed=experiment.runs["W 1"].fixed())
    a, b = initial.ordinary([0, 2, 4]), initial.ordinary([1, 3, 5])
    torch.testing.assert_close(before.identity, measure(a, b, *images).identity)
    value, error = experiment.lead("W 1", "W 0", 0)
    ahead = [experiment.measured(name, 0).above_random() for name in ("W 1", "W 0")]
    assert value == pytest.approx(
        sum(s * (u.mean() / v.mean()).item() for s, (u, v) in zip((1, -1), ahead, strict=True))
    )
    assert error > 0
    assert experiment.relative("W 1", layer=2)[0] == pytest.approx(
        (lambda u, v: (u[:, 2].mean() / v[:, 2].mean()).item())(*experiment.measured("W 1").above_random())
    )


def test_counts_of_fixed_entries():
    assert fixed_entries(784, 512) == (64, 64, 64, 256)
    assert fixed_entries(64, 8) == (5, 1, 1, 4) and fixed_entries(64, 8, 0.25) == (16, 2, 2, 2)


def test_runs_follow_from_their_arguments():
    some = PARAMETERS.training_runs()
    assert list(some) == list(asymmetric_mlps.variants([5.0], [0.5]))
    assert len(some["MLP"].seeds) == 6 and len(some["W 5"].mask_seeds) == 2 and some["W 5"].keep == ()
    assert all(some[name].keep == (0, 1) for name in CORE)
    assert some["MLP"].model.init == "torch" and some["W 0"].model.init == "normal"
    assert len({run.digest for run in some.values()}) == len(some)
    assert some["MLP"].digest != replace(PARAMETERS, seed=4).training_runs()["MLP"].digest
    assert replace(PARAMETERS, images=60_000).training_runs()["MLP"].data.size == 1293


def test_a_pair_of_which_one_diverged_is_left_out(experiment):
    result = experiment.result("MLP")
    fewer = replace(result, stack=result.stack.ordinary([0, 1, 3, 4, 5]), survivors=(0, 1, 3, 4, 5))
    a, b = ends(fewer)
    assert len(a) == 2 and b.params["0.bias"].equal(result.stack.params["0.bias"][[1, 5]])


# ---------- measured pairs
#
# Measurements as runs: what the networks give directly, a digest that sees everything, a file.


def right(stack, parameters, x, y):
    """Accuracies of networks with these parameters."""
    outputs = stack.model.forward(parameters, x)
    return (outputs.argmax(dim=-1) == y).double().mean(dim=1)


def test_lines_are_those_of_the_networks_themselves(experiment, images):
    result, (x, y) = experiment.result("W 1"), images
    whole = result.stack.effective()
    a, b = ({name: value[k::2] for name, value in whole.items()} for k in (0, 1))
    found = experiment.measured("W 1").accuracy["none"]  # (pairs, places)
    assert found.shape == (3, 5) and experiment.lambdas == [0, 0.25, 0.5, 0.75, 1]
    for place, lam in enumerate(experiment.lambdas):
        line = {name: lam * a[name] + (1 - lam) * b[name] for name in a}
        torch.testing.assert_close(found[:, place], right(result.stack, line, x, y))
    assert experiment.measured("W 5").accuracy["none"].shape == (2, 3)
    assert set(experiment.measured("MLP").accuracy) == {"none", "correlation", "published", "absolute"}


def test_objectives_at_the_beginning_are_correlations_of_units(experiment, images):
    result, (x, _) = experiment.result("W 0"), images
    record = {}
    result.kept[0].ordinary(range(6)).forward(x, record)
    found = experiment.measured("W 0", 0)
    for pair in range(3):
        for layer in range(3):
            za, zb = (record[str(layer)][2 * pair + k].double().numpy().T for k in (0, 1))
            S = np.corrcoef(za, zb)[:8, 8:]
            assert found.identity[pair, layer].item() == pytest.approx(S.diagonal().mean(), abs=1e-6)
            assert found.random[pair, layer].item() == pytest.approx(S.mean(), abs=1e-6)
    assert found.accuracy == {}


def test_it_is_measured_once_and_read_whole(monkeypatch):
    one = PARAMETERS.measurements()["MLP"]
    first = one.result()
    assert one.done() and one.path().name == f"{one.digest}.npz" and one.path().stat().st_size < 20_000
    monkeypatch.setattr(module, "measure", None)  # nothing is measured again
    again = one.result()
    assert list(again.by_epoch) == list(first.by_epoch) == [0, 1, None]
    for epoch, found in first.by_epoch.items():
        for part in module.PARTS:
            assert getattr(again.by_epoch[epoch], part).equal(getattr(found, part))
        assert all(again.by_epoch[epoch].accuracy[way].equal(line) for way, line in found.accuracy.items())
    assert again.provenance == first.provenance and again.provenance["training"]["images"]
    assert again.pairs == (0, 1, 2) and again.survivors == tuple(range(6)) and again.diverged == ()


def test_a_file_that_lies_with_the_book_needs_no_networks(tmp_path, monkeypatch):
    one = replace(PARAMETERS.measurements()["W 1"], images=90)
    there = replace(PARAMETERS, looked=90).runs()
    one.result()
    kept = tmp_path / "book" / one.path().name
    kept.parent.mkdir()
    kept.write_bytes(one.path().read_bytes())
    monkeypatch.setattr(module, "recorded", lambda: kept.parent)
    monkeypatch.setenv("LMC_RUNS", str(tmp_path / "empty"))
    monkeypatch.setattr(Run, "result", None)  # nothing is trained
    assert one.path() == kept and one.done() and one.result().pairs == (0, 1, 2)
    assert not PARAMETERS.measurements()["W 1"].done()  # another number of images
    left = replace(PARAMETERS, looked=90).runs()
    assert {run.digest for run in there} - {run.digest for run in left} == {one.training.digest}


def test_trainings_come_first_and_once():
    found = PARAMETERS.runs()
    names = len(PARAMETERS.measurements())
    assert [isinstance(run, Run) for run in found] == [True] * names + [False] * names
    assert all(run.prices().cpu_hours > 0 and run.resources()["memory_mib"] > 500 for run in found)
    long = replace(PARAMETERS, long_epochs=4, long_pairs=2)
    longer = long.runs()
    assert len(longer) == len(found) + 2 * len(CORE)
    more = long.longer().measurements(CORE)
    assert list(more) == list(CORE) and all(one.training.descent.epochs == 4 for one in more.values())
    assert more["MLP"].training.seeds == PARAMETERS.measurements()["MLP"].training.seeds[:4]


def test_a_digest_sees_everything():
    one = PARAMETERS.measurements()["W 0"]
    others = [
        replace(one, intervals=6),
        replace(one, images=99),
        replace(one, training=replace(one.training, seeds=tuple(range(6)))),
        replace(one, training=replace(one.training, keep=(0,))),
    ]
    assert len({run.digest for run in [one, *others]}) == len(others) + 1
    assert replace(one) == one and hash(replace(one)) == hash(one)


def test_after_a_divergence_partners_stay_together(monkeypatch):
    some = Experiment(PARAMETERS)
    whole = {name: some.stages(name) for name in ("MLP", "W 1")}
    less = replace(
        whole["MLP"],
        survivors=(0, 2, 3, 4, 5),
        diverged=(some.runs["MLP"].seeds[1],),
        by_epoch={
            epoch: replace(
                found,
                **{part: getattr(found, part)[1:] for part in module.PARTS},
                accuracy={way: line[1:] for way, line in found.accuracy.items()},
            )
            for epoch, found in whole["MLP"].by_epoch.items()
        },
    )
    monkeypatch.setitem(some._measured, "MLP", less)
    assert less.pairs == (1, 2)
    mine, other = some.on_common_pairs(
        ("MLP", less.by_epoch[None].optimal), ("W 1", whole["W 1"].by_epoch[None].optimal)
    )
    assert mine.equal(whole["MLP"].by_epoch[None].optimal[1:]) and other.equal(whole["W 1"].by_epoch[None].optimal[1:])
    ways = [[part[1:] for part in whole[name].by_epoch[None].above_random()] for name in ("W 1", "MLP")]
    expected = ways[0][0].sum() / ways[0][1].sum() - ways[1][0].sum() / ways[1][1].sum()
    assert some.lead("W 1", "MLP")[0] == pytest.approx(expected.item())
    none = replace(less, survivors=(0, 3))
    monkeypatch.setitem(some._measured, "MLP", none)


def test_a_damaged_file_is_named():
    one = replace(PARAMETERS.measurements()["sigma"], images=80)
    other = replace(one, images=81)
    for run in (one, other):
        run.result()
    path, whole = one.path(), one.path().read_bytes()
    provenance, tensors = read(path, one._identity())
    fewer = tensors | {"None/optimal": tensors["None/optimal"][:1]}
    for spoil in (
        lambda: path.write_bytes(whole[:-200]),
        lambda: path.write_bytes(other.path().read_bytes()),
        lambda: path.write_bytes(b""),
        lambda: write(path, one._identity(), provenance, fewer),
        lambda: write(path, one._identity(), provenance, {"survivors": torch.tensor([0, 1])}),
    ):
        spoil()
        with pytest.raises(ValueError, match=f"{path.name} cannot be read"):
            one.result()
