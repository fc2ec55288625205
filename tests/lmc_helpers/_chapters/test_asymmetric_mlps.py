"""What chapter *asymmetric mlps* computes, against independent oracles."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import lmc_helpers._chapters.asymmetric_mlps as module
from lmc_helpers._chapters.asymmetric_mlps import Experiment, Parameters
from lmc_helpers.alignment.pairs import ends, measure
from lmc_helpers.data.images import load
from lmc_helpers.identifiability.printed_networks import CORE, variants
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.runs import Run

SIZES = dict(dataset="digits", width=8, images=150, epochs=2, stages=[0, 1], batch=64, pairs=3, sweep_pairs=2)
PARAMETERS = Parameters(**SIZES, sigmas=[5.0], shares=[0.5], seed=3, places=4, looked=100)


@pytest.fixture(scope="module")
def experiment():
    return Experiment(PARAMETERS)


@pytest.fixture(scope="module")
def looked_at(experiment):
    data = experiment.runs["W 1"].data
    images = load(data.name, data.split, data.n, data.seed)
    return images.inputs(flat=True)[:100], images.y[:100]


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


def test_lines_and_stages_are_those_of_the_networks_themselves(experiment, looked_at):
    result, (x, y) = experiment.result("W 1"), looked_at
    params = result.stack.effective()
    a, b = ({name: value[k::2] for name, value in params.items()} for k in (0, 1))
    found = experiment.measured("W 1").accuracy["none"]  # (pairs, places)
    assert found.shape == (3, 5) and experiment.lambdas == [0, 0.25, 0.5, 0.75, 1]
    for place, lam in enumerate(experiment.lambdas):
        outputs = result.stack.model.forward({name: lam * a[name] + (1 - lam) * b[name] for name in a}, x)
        torch.testing.assert_close(found[:, place], (outputs.argmax(dim=-1) == y).double().mean(dim=1))
    drops = 100 * ((found[:, 0] + found[:, -1]) / 2 - found[:, 2])
    torch.testing.assert_close(experiment.measured("W 1").drop(), drops)
    assert experiment.measured("W 5").accuracy["none"].shape == (2, 3)
    assert set(experiment.measured("MLP").accuracy) == {"none", "correlation", "published", "absolute"}
    run = experiment.runs["W 1"]
    initial = run.model.initial(run.seeds, fixed=run.fixed())
    before = measure(initial.ordinary([0, 2, 4]), initial.ordinary([1, 3, 5]), x, y)
    torch.testing.assert_close(experiment.measured("W 1", 0).identity, before.identity)
    assert experiment.measured("W 1", 0).accuracy == {}
    u, v, w, z = (part for name in ("W 1", "W 0") for part in experiment.measured(name, 0).above_random())
    value, error = experiment.lead("W 1", "W 0", 0)
    assert value == pytest.approx((u.mean() / v.mean() - w.mean() / z.mean()).item()) and error > 0
    u, v = experiment.measured("W 1").above_random()
    assert experiment.relative("W 1", layer=2)[0] == pytest.approx((u[:, 2].mean() / v[:, 2].mean()).item())


def test_a_start_that_hides_F_is_that_of_ordinary_networks(experiment):
    run = experiment.runs["hidden"]
    start = run.model.initial(run.seeds, torch.float64, run.fixed())
    assert start.fixed["0.weight"][0].std() > 0.9  # σ_F = 1
    plain = MLP(run.model.sizes, "gelu", "layer", init="normal").initial(run.seeds, torch.float64)
    for name, value in start.ordinary(range(len(start))).params.items():
        torch.testing.assert_close(value, plain.params[name], rtol=0, atol=1e-14)
    rows = experiment.stages("hidden").rows
    W = experiment.result("hidden").stack.effective()["1.weight"].numpy()  # (4, 8, 8)
    a, b = (V / np.linalg.norm(V, axis=2, keepdims=True) for V in (W[0::2], W[1::2]))
    np.testing.assert_allclose(rows[None][:, 1], (a * b).sum(axis=2).mean(axis=1), rtol=1e-5)
    assert set(rows) == {0, 1, None}


def test_runs_follow_from_their_arguments():
    some = PARAMETERS.training_runs()
    assert list(some) == list(variants([5.0], [0.5]))
    assert len(some["MLP"].seeds) == 6 and len(some["W 5"].mask_seeds) == 2 and some["W 5"].keep == ()
    assert all(some[name].keep == (0, 1) for name in CORE)
    assert some["MLP"].model.init == "torch" and some["W 0"].model.init == "normal"
    assert len({run.digest for run in some.values()}) == len(some)
    assert some["MLP"].digest != replace(PARAMETERS, seed=4).training_runs()["MLP"].digest
    assert replace(PARAMETERS, images=60_000).training_runs()["MLP"].data.size == 1293
    more = replace(PARAMETERS, sparse=(0.9,), again=("hidden",))
    assert set(more.measurements()) - set(PARAMETERS.measurements()) == {"share 0.9, 0"}
    new = {run.digest for run in more.runs()} - {run.digest for run in PARAMETERS.runs()}
    other = more.second().measurements(("hidden",))["hidden"]
    assert len(new) == 4 and {other.digest, other.training.digest} < new
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


def test_it_is_measured_once_and_read_again(monkeypatch):
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
    monkeypatch.setattr("lmc_helpers.training.cached.recorded", lambda: kept.parent)
    monkeypatch.setenv("LMC_RUNS", str(tmp_path / "empty"))
    monkeypatch.setattr(Run, "result", None)  # nothing is trained
    assert one.path() == kept and one.done() and one.result().pairs == (0, 1, 2)
    assert not PARAMETERS.measurements()["W 1"].done()  # another number of images
    left = replace(PARAMETERS, looked=90).runs()
    assert {run.digest for run in there} - {run.digest for run in left} == {one.training.digest}


def test_pairs_one_by_one_are_those_of_one_run():
    every = replace(PARAMETERS, long_epochs=2, long_hidden_pairs=2)
    found = every.longer().measurements(every.long_names)
    assert list(found) == [*CORE, "hidden"] and isinstance(found["hidden"], module.PairByPair)
    of = found["hidden"].of
    assert [one.training.seeds for one in of] == [found["hidden"].training.seeds[k : k + 2] for k in (0, 2)]
    assert set(of) <= set(every.runs()) and {one.training for one in of} <= set(every.runs())
    single = found["hidden"].result()
    whole = replace(of[0], training=found["hidden"].training).result()
    assert single.pairs == whole.pairs == (0, 1)
    torch.testing.assert_close(single.rows[None], whole.rows[None], rtol=0, atol=1e-5)
    for part in ("optimal", "identity", "random"):
        parts = (getattr(one.by_epoch[None], part) for one in (single, whole))
        torch.testing.assert_close(*parts, rtol=0, atol=1e-4)
    assert single.by_epoch[None].drop().shape == (2,) and single.accuracies.shape == (4,)


def test_a_digest_sees_everything():
    one = PARAMETERS.measurements()["W 0"]
    others = [replace(one, intervals=6), replace(one, images=99)]
    changes = {"seeds": tuple(range(6))}, {"keep": (0,)}
    others += [replace(one, training=replace(one.training, **change)) for change in changes]
    assert len({run.digest for run in [one, *others]}) == len(others) + 1


def test_after_a_divergence_partners_stay_together(monkeypatch, experiment):
    some = Experiment(PARAMETERS)
    every = {name: some.stages(name) for name in ("MLP", "W 1")}
    less = replace(
        every["MLP"],
        survivors=(0, 2, 3, 4, 5),
        diverged=(some.runs["MLP"].seeds[1],),
        by_epoch={
            epoch: replace(
                found,
                **{part: getattr(found, part)[1:] for part in module.PARTS},
                accuracy={way: line[1:] for way, line in found.accuracy.items()},
            )
            for epoch, found in every["MLP"].by_epoch.items()
        },
    )
    monkeypatch.setattr(some, "stages", {**every, "MLP": less}.get)
    assert less.pairs == (1, 2)
    theirs = "W 1", every["W 1"].by_epoch[None].optimal
    mine, other = some.on_common_pairs(("MLP", less.by_epoch[None].optimal), theirs)
    assert mine.equal(every["MLP"].by_epoch[None].optimal[1:]) and other.equal(every["W 1"].by_epoch[None].optimal[1:])
    ways = [[part[1:] for part in every[name].by_epoch[None].above_random()] for name in ("W 1", "MLP")]
    expected = ways[0][0].sum() / ways[0][1].sum() - ways[1][0].sum() / ways[1][1].sum()
    assert some.lead("W 1", "MLP")[0] == pytest.approx(expected.item())
    result = experiment.result("MLP")
    fewer = replace(result, stack=result.stack.ordinary([0, 1, 3, 4, 5]), survivors=(0, 1, 3, 4, 5))
    a, b = ends(fewer)
    assert len(a) == 2 and b.params["0.bias"].equal(result.stack.params["0.bias"][[1, 5]])
