"""Measurements as runs: what the networks give directly, a digest that sees everything, a file."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import lmc_helpers.experiments.measured_pairs as module
from lmc_helpers.data.images import load
from lmc_helpers.experiments.asymmetric_mlps import CORE
from lmc_helpers.experiments.measured_pairs import Experiment, long_settings, measurements, runs
from lmc_helpers.training.runs import Run

SMALL = dict(dataset="digits", width=8, images=150, epochs=2, stages=[0, 1], pairs=3, sweep_pairs=2)
SMALL |= dict(sigmas=[5.0], shares=[0.5], seed=3, places=4, looked=100)


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


@pytest.fixture(scope="module")
def experiment():
    return Experiment(**SMALL)


def right(stack, parameters, x, y):
    """Accuracies of networks with these parameters."""
    outputs = stack.model.forward(parameters, x)
    return (outputs.argmax(dim=-1) == y).double().mean(dim=1)


def test_lines_are_those_of_the_networks_themselves(experiment):
    result = experiment.result("W 1")
    data = experiment.runs["W 1"].data
    images = load(data.name, data.split, data.n, data.seed)
    x, y = images.inputs(flat=True)[:100], images.y[:100]
    whole = result.stack.effective()
    a, b = ({name: value[k::2] for name, value in whole.items()} for k in (0, 1))
    found = experiment.found("W 1").accuracy["none"]  # (pairs, places)
    assert found.shape == (3, 5) and experiment.lambdas == [0, 0.25, 0.5, 0.75, 1]
    for place, lam in enumerate(experiment.lambdas):
        line = {name: lam * a[name] + (1 - lam) * b[name] for name in a}
        torch.testing.assert_close(found[:, place], right(result.stack, line, x, y))
    assert experiment.found("W 5").accuracy["none"].shape == (2, 3)
    assert set(experiment.found("MLP").accuracy) == {"none", "correlation", "published", "absolute"}


def test_objectives_at_the_beginning_are_correlations_of_units(experiment):
    result, data = experiment.result("W 0"), experiment.runs["W 0"].data
    x = load(data.name, data.split, data.n, data.seed).inputs(flat=True)[:100]
    record = {}
    result.kept[0].ordinary(range(6)).forward(x, record)
    found = experiment.found("W 0", 0)
    for pair in range(3):
        for layer in range(3):
            za, zb = (record[str(layer)][2 * pair + k].double().numpy().T for k in (0, 1))
            S = np.corrcoef(za, zb)[:8, 8:]
            assert found.identity[pair, layer].item() == pytest.approx(S.diagonal().mean(), abs=1e-6)
            assert found.random[pair, layer].item() == pytest.approx(S.mean(), abs=1e-6)
    assert found.accuracy == {}


def test_it_is_measured_once_and_read_whole(monkeypatch):
    one = measurements(**SMALL)["MLP"]
    first = one.result()
    assert one.done() and one.path().name == f"{one.digest}.npz" and one.path().stat().st_size < 20_000
    monkeypatch.setattr(module, "measure", None)  # nothing is measured again
    again = one.result()
    assert list(again.found) == list(first.found) == [0, 1, None]
    for epoch, found in first.found.items():
        for part in module.PARTS:
            assert getattr(again.found[epoch], part).equal(getattr(found, part))
        assert all(again.found[epoch].accuracy[way].equal(line) for way, line in found.accuracy.items())
    assert again.provenance == first.provenance and again.provenance["training"]["images"]
    assert again.pairs == (0, 1, 2) and again.survivors == tuple(range(6)) and again.diverged == ()


def test_a_file_that_lies_with_the_book_needs_no_networks(tmp_path, monkeypatch):
    one = replace(measurements(**SMALL)["W 1"], looked=90)
    there = runs(**SMALL | {"looked": 90})
    one.result()
    kept = tmp_path / "book" / one.path().name
    kept.parent.mkdir()
    kept.write_bytes(one.path().read_bytes())
    monkeypatch.setattr(module, "recorded", lambda: kept.parent)
    monkeypatch.setenv("LMC_RUNS", str(tmp_path / "empty"))
    monkeypatch.setattr(Run, "result", None)  # nothing is trained
    assert one.path() == kept and one.done() and one.result().pairs == (0, 1, 2)
    assert not measurements(**SMALL)["W 1"].done()  # another number of images
    left = runs(**SMALL | {"looked": 90})
    assert {run.digest for run in there} - {run.digest for run in left} == {one.training.digest}


def test_trainings_come_first_and_once():
    found = runs(**SMALL)
    names = len(measurements(**SMALL))
    assert [isinstance(run, Run) for run in found] == [True] * names + [False] * names
    assert all(run.prices().cpu_hours > 0 and run.resources()["memory_mib"] > 500 for run in found)
    longer = runs(**SMALL, long_epochs=4, long_pairs=2)
    assert len(longer) == len(found) + 2 * len(CORE)
    more = measurements(**long_settings(4, 2, **SMALL))
    assert list(more) == list(CORE) and all(one.training.descent.epochs == 4 for one in more.values())
    assert more["MLP"].training.seeds == measurements(**SMALL)["MLP"].training.seeds[:4]


def test_a_digest_sees_everything():
    one = measurements(**SMALL)["W 0"]
    others = [
        replace(one, places=6),
        replace(one, looked=99),
        replace(one, training=replace(one.training, seeds=tuple(range(6)))),
        replace(one, training=replace(one.training, keep=(0,))),
    ]
    assert len({run.digest for run in [one, *others]}) == len(others) + 1
    assert replace(one) == one and hash(replace(one)) == hash(one)


def test_after_a_divergence_partners_stay_together(monkeypatch):
    some = Experiment(**SMALL)
    whole = {name: some.measured(name) for name in ("MLP", "W 1")}
    less = replace(
        whole["MLP"],
        survivors=(0, 2, 3, 4, 5),
        diverged=(some.runs["MLP"].seeds[1],),
        found={
            epoch: replace(
                found,
                **{part: getattr(found, part)[1:] for part in module.PARTS},
                accuracy={way: line[1:] for way, line in found.accuracy.items()},
            )
            for epoch, found in whole["MLP"].found.items()
        },
    )
    monkeypatch.setitem(some._measured, "MLP", less)
    assert less.pairs == (1, 2)
    mine, other = some.together(("MLP", less.found[None].optimal), ("W 1", whole["W 1"].found[None].optimal))
    assert mine.equal(whole["MLP"].found[None].optimal[1:]) and other.equal(whole["W 1"].found[None].optimal[1:])
    ways = [[part[1:] for part in whole[name].found[None].way()] for name in ("W 1", "MLP")]
    expected = ways[0][0].sum() / ways[0][1].sum() - ways[1][0].sum() / ways[1][1].sum()
    assert some.lead("W 1", "MLP")[0] == pytest.approx(expected.item())
    with pytest.raises(ValueError, match="MLP has 2 pairs and values of 3"):
        some.together(("MLP", whole["MLP"].found[None].optimal))
    none = replace(less, survivors=(0, 3))
    monkeypatch.setitem(some._measured, "MLP", none)
    with pytest.raises(ValueError, match="at least one pair that all have"):
        some.together(("MLP", torch.zeros(0)), ("W 1", whole["W 1"].found[None].optimal))


def test_a_damaged_file_is_named():
    one = replace(measurements(**SMALL)["sigma"], looked=80)
    other = replace(one, looked=81)
    for run in (one, other):
        run.result()
    path, whole = one.path(), one.path().read_bytes()
    provenance, tensors = module.read(path, one._identity())
    fewer = tensors | {"None/optimal": tensors["None/optimal"][:1]}
    for spoil in (
        lambda: path.write_bytes(whole[:-200]),
        lambda: path.write_bytes(other.path().read_bytes()),
        lambda: path.write_bytes(b""),
        lambda: module.write(path, one._identity(), provenance, fewer),
        lambda: module.write(path, one._identity(), provenance, {"survivors": torch.tensor([0, 1])}),
    ):
        spoil()
        with pytest.raises(ValueError, match=f"{path.name} cannot be read"):
            one.result()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"places": 3}, "places = 3"),
        ({"places": 0}, "places = 0"),
        ({"looked": 1}, "looked = 1"),
        ({"looked": True}, "looked = True"),
        ({"only": ("MPL",)}, "only = 'MPL'"),
        ({"pairs": 0}, "pairs = 0"),
    ],
)
def test_errors(change, message):
    with pytest.raises(ValueError, match=message):
        measurements(**SMALL | change)


def test_other_errors():
    some = measurements(**SMALL)
    with pytest.raises(ValueError, match="looked = 151"):
        replace(some["MLP"], looked=151)
    with pytest.raises(ValueError, match="a Run of pairs of MLPs"):
        replace(some["MLP"], training=replace(some["MLP"].training, seeds=(1, 2, 3)))
    with pytest.raises(ValueError, match="a Run of pairs of MLPs"):
        replace(some["MLP"], training=None)
    experiment = Experiment(**SMALL)
    with pytest.raises(ValueError, match="name = 'W 2'"):
        experiment.measured("W 2")
    with pytest.raises(ValueError, match="epoch = 7"):
        experiment.found("MLP", 7)
    with pytest.raises(ValueError, match="show_progress"):
        some["MLP"].result(show_progress=1)
