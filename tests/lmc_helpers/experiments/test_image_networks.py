"""Counts against Table 3, lines against averaged networks, and runs that follow from their arguments."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from lmc_helpers.experiments.averaged_images import Averaged
from lmc_helpers.experiments.image_networks import (
    RESNET,
    VIT,
    Experiment,
    choose_images,
    entries,
    networks,
    runs,
    schemes,
    seconds_per_image,
    table_3,
    variants,
)
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.resnet import ResNet20

SMALL = dict(dataset="digits", widths=[2], resnet=[1, 2, 1], vit=[8, 1, 2], images=60, epochs=[1, 1, 1], warm_up=0)
SMALL |= dict(pairs=2, sweep_pairs=2, sigmas=[0.5], batch=30, seed=3)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield Experiment(2, 40, **SMALL, together=1)


def test_entries_are_those_of_table_3():
    found = entries(RESNET)
    printed = {"stem": 12, "1.1.outer": 108, "2.0.inner": 162, "2.0.shortcut": 18, "3.2.inner": 216}
    printed |= {"3.0.shortcut": 24, "head": 24}
    assert all(found[f"{name}.weight"] == table_3(f"{name}.weight") == count for name, count in printed.items())
    assert set(entries(VIT).values()) == {8}
    small = entries(ResNet20(width=1, base=2, blocks=4, input_shape=(1, 8, 8)))
    assert (
        small["stem.weight"] == 4 and small["1.3.inner.weight"] == round(108 * 18 / 1152) and min(small.values()) == 1
    )
    fixed = RESNET.fixed_parts({"stem.weight": schemes(RESNET, "w", 2.0)["stem.weight"]}, 1)["stem.weight"]
    assert fixed[1][0].flatten(1).eq(0).sum(dim=1).unique().tolist() == [12]


def test_the_networks_of_the_papers():
    found = networks((3, 32, 32), 4, [8, 32], [8, 16, 3], [384, 8, 6])
    assert found["ResNet"] == RESNET and found["ViT"] == VIT and found["CNN 32"].width == 32
    averaged = networks((1, 28, 28), 7, [8], [1, 4, 1], [24, 2, 2], side=2)
    assert isinstance(averaged["CNN 8"], Averaged) and averaged["ResNet"].model.input_shape == (1, 14, 14)
    assert averaged["ViT"].tokens == 17


def test_runs_follow_from_their_arguments():
    some, pairwise = runs(**SMALL), runs(**SMALL, together=1)
    assert len(some) == len(variants([2], [0.5])) == 9 and len(pairwise) == 18
    assert pairwise[0].seeds + pairwise[1].seeds == some[0].seeds and some[0].descent.optimiser == "adam"
    assert some[2].fixed()["head.weight"][0].eq(0).all() and not some[3].fixed()["head.weight"][0].eq(0).all()
    assert len({run.digest for run in some + pairwise}) == 27
    warm = runs(**(SMALL | {"warm_up": 1, "epochs": [1, 2, 1]}))[1].descent
    assert warm.schedule == "warm-up" and warm.rate_in(0) == pytest.approx(1e-4) and warm.rate_in(1) == 1e-2
    assert list(variants([2], [0.0, 2.0])) == list(variants([2], []))


def test_lines_are_those_of_averaged_networks(experiment):
    lines = experiment.losses("CNN 2")
    assert lines["direct"].shape == (2, 3) and lines["repaired"].shape == (2, 1)
    params = experiment.runs["CNN 2"][1].result().stack.params
    middle = {name: (value[:1] + value[1:]) / 2 for name, value in params.items()}
    outputs = experiment.runs["CNN 2"][1].model.forward(middle, experiment.x)[0]
    assert lines["direct"][1, 1].item() == pytest.approx(cross_entropy(outputs, experiment.y).item(), rel=1e-4)
    torch.testing.assert_close(lines["direct"][:, [0, 2]], lines["permuted"][:, [0, 2]], rtol=1e-4, atol=1e-5)
    found = experiment.found("W-ResNet 2")
    assert found.identity.shape == (2, 6) and found.accuracy["correlation"].shape == (2, 3)
    assert 0 <= experiment.accuracy("ViT") <= 1 and experiment.name == "digits" and experiment.verified


def test_averaged_networks_are_followed_on_averaged_images(experiment, monkeypatch):
    run = experiment.runs["CNN 2"][0]
    small = CNN(width=2, pools=2, input_shape=(1, 4, 4))
    averaged = Averaged(small, 2, (1, 8, 8))
    other = Experiment(2, 40, **SMALL, together=1)
    other.runs["CNN 2"] = [type(run)(averaged, run.descent, run.data, run.seeds)]
    lines = other.losses("CNN 2")
    stack = other.runs["CNN 2"][0].result().stack
    expected = cross_entropy(averaged.forward(stack.params, other.x)[0], other.y).item()  # the first network, λ = 1
    assert lines["direct"][0, 2].item() == pytest.approx(expected, rel=1e-4)


def test_stand_ins_are_never_larger():
    assert choose_images("digits")[0] == "digits"


def test_a_step_takes_time():
    assert 0 < seconds_per_image(CNN(width=2, input_shape=(1, 8, 8)), 2) < 60


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="kind = 'x' is unknown; allowed: w, syre"):
        schemes(RESNET, "x", 1.0)
    with pytest.raises(ValueError, match="allowed: a ResNet20 or a ViT"):
        entries(CNN())
    with pytest.raises(ValueError, match="places = 3; allowed: an even integer"):
        Experiment(3, 40, **SMALL)
