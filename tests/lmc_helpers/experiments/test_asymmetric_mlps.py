"""Objectives against all permutations, lines against averaged networks, and what the networks of a pair share."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch

from lmc_helpers.experiments import asymmetric_mlps
from lmc_helpers.experiments.asymmetric_mlps import CORE, Experiment, Variant, ends, fixed_entries, measure, runs
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack

SMALL = dict(dataset="digits", width=8, images=150, epochs=2, stages=[0, 1], pairs=3, sweep_pairs=2)
SMALL |= dict(sigmas=[5.0], shares=[0.5], seed=3)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        found = Experiment(4, **SMALL)
        for name in found.runs:
            found.result(name)
        yield found


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


def test_drops_are_those_of_the_averaged_networks(experiment):
    found, (a, b) = experiment.found("W 1"), ends(experiment.result("W 1"))
    middle = Stack(a.model, {name: (a.params[name] + b.params[name]) / 2 for name in a.params})
    right = [
        (stack.forward(experiment.x).argmax(dim=-1) == experiment.y).double().mean(dim=1) for stack in (a, b, middle)
    ]
    torch.testing.assert_close(found.drop(), 100 * ((right[0] + right[1]) / 2 - right[2]))
    assert found.accuracy["none"].shape == (3, 5) and experiment.found("W 5").accuracy["none"].shape == (2, 3)


def test_a_permuted_copy_is_found():
    a = MLP((3, 6, 2), "gelu", "layer").initial([1, 2])
    order = torch.tensor([[1, 2, 3, 4, 5, 0]]).expand(2, -1)
    x = torch.randn(60, 3, generator=torch.Generator().manual_seed(1))
    y = a.forward(x)[0].argmax(dim=-1)
    found = measure(a, a.permuted({"0": order}), x, y, (0, 0.5, 1), published=True)
    assert found.optimal.min() > 1 - 1e-6 and found.stays.max() == 0
    assert found.drop("correlation").abs().max() < 1e-9 and set(found.accuracy) == {"none", "correlation", "published"}


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


def test_the_stages_are_those_that_were_kept(experiment):
    before = experiment.found("W 1", 0)
    initial = experiment.runs["W 1"].model.initial(experiment.runs["W 1"].seeds, fixed=experiment.runs["W 1"].fixed())
    a, b = initial.ordinary([0, 2, 4]), initial.ordinary([1, 3, 5])
    torch.testing.assert_close(before.identity, measure(a, b, experiment.x, experiment.y).identity)
    value, error = experiment.lead("W 1", "W 0", 0)
    ahead = [experiment.found(name, 0).way() for name in ("W 1", "W 0")]
    assert value == pytest.approx(
        sum(s * (u.mean() / v.mean()).item() for s, (u, v) in zip((1, -1), ahead, strict=True))
    )
    assert error > 0
    assert experiment.way("W 1", layer=2)[0] == pytest.approx(
        (lambda u, v: (u[:, 2].mean() / v[:, 2].mean()).item())(*experiment.found("W 1").way())
    )


def test_counts_of_fixed_entries():
    assert fixed_entries(784, 512) == (64, 64, 64, 256)
    assert fixed_entries(64, 8) == (5, 1, 1, 4) and fixed_entries(64, 8, 0.25) == (16, 2, 2, 2)


def test_runs_follow_from_their_arguments():
    some = dict(zip(asymmetric_mlps.variants([5.0], [0.5]), runs(**SMALL), strict=True))
    assert len(some["MLP"].seeds) == 6 and len(some["W 5"].mask_seeds) == 2 and some["W 5"].keep == ()
    assert all(some[name].keep == (0, 1) for name in CORE)
    assert some["MLP"].model.init == "torch" and some["W 0"].model.init == "normal"
    assert len({run.digest for run in some.values()}) == len(some)
    assert runs(**SMALL)[0].digest != runs(**(SMALL | {"seed": 4}))[0].digest
    assert runs(**(SMALL | {"images": 60_000}))[0].data.size == 1293


def test_a_pair_of_which_one_diverged_is_left_out(experiment):
    result = experiment.result("MLP")
    fewer = replace(result, stack=result.stack.ordinary([0, 1, 3, 4, 5]), survivors=(0, 1, 3, 4, 5))
    a, b = ends(fewer)
    assert len(a) == 2 and b.params["0.bias"].equal(result.stack.params["0.bias"][[1, 5]])
    with pytest.raises(ValueError, match="a pair 2p and 2p \\+ 1"):
        ends(replace(result, stack=result.stack.ordinary([1, 2]), survivors=(1, 2)))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="kind = 'x' is unknown; allowed: mlp, w, syre, sigma"):
        Variant("x")
    with pytest.raises(ValueError, match="places = 3; allowed: an even integer"):
        Experiment(3, **SMALL)
