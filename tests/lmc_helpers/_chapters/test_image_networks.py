"""Chapter *image networks*: averaged images against means by hand."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from lmc_helpers._chapters.image_networks import Averaged, Experiment, Parameters, networks, variants
from lmc_helpers.identifiability.printed_networks import RESNET, VIT
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

SMALL = ResNet20(width=1, base=2, blocks=1, input_shape=(2, 4, 5))
AVERAGED = Averaged(SMALL, 2, (2, 8, 11))


def test_outputs_are_those_of_the_model_on_means():
    stack, x = AVERAGED.initial([1, 2], torch.float64), torch.randn(2, 3, 2, 8, 11, dtype=torch.float64)
    means = torch.stack([x[..., i:8:2, j:10:2] for i in (0, 1) for j in (0, 1)]).mean(dim=0)
    torch.testing.assert_close(stack.forward(x), SMALL.forward(stack.params, means))
    torch.testing.assert_close(stack.forward(x[0]), SMALL.forward(stack.params, means[0]))
    run = Run(AVERAGED, Descent(1, 10), DataSpec("digits", n=50), (1,))
    assert run.digest != Run(SMALL, Descent(1, 10), DataSpec("digits", n=50), (1,)).digest
    drawn = [model.initial([3]).params["stem.weight"] for model in (AVERAGED, SMALL)]
    assert drawn[0].equal(drawn[1])


SIZES = dict(widths=[2], resnet=[1, 2, 1], vit=[8, 1, 2], side=1, images=60, epochs=[1, 1, 1], warm_up=0, batch=30)
PARAMETERS = Parameters(dataset="digits", **SIZES, pairs=2, sweep_pairs=2, sigmas=[0.5], together=1, seed=3)


@pytest.fixture(scope="module")
def experiment():
    return Experiment(PARAMETERS, 2, 40)


def test_runs_follow_from_their_arguments():
    some, pairwise = replace(PARAMETERS, together=1000).runs(), PARAMETERS.runs()
    assert len(some) == len(variants([2], [0.5])) == 9 and len(pairwise) == 18
    assert pairwise[0].seeds + pairwise[1].seeds == some[0].seeds and some[0].descent.optimiser == "adam"
    assert some[2].fixed()["head.weight"][0].eq(0).all() and not some[3].fixed()["head.weight"][0].eq(0).all()
    assert len({run.digest for run in some + pairwise}) == 27
    warm = replace(PARAMETERS, warm_up=1, epochs=[1, 2, 1], together=2).runs()[1].descent
    assert warm.schedule == "warm-up" and warm.rate_in(0) == pytest.approx(1e-4) and warm.rate_in(1) == 1e-2
    assert list(variants([2], [0.0, 2.0])) == list(variants([2], []))
    found = networks((3, 32, 32), 4, [8, 32], [8, 16, 3], [384, 8, 6])
    assert found["ResNet"] == RESNET and found["ViT"] == VIT and found["CNN 32"].width == 32
    averaged = networks((1, 28, 28), 7, [8], [1, 4, 1], [24, 2, 2], side=2)
    assert isinstance(averaged["CNN 8"], Averaged) and averaged["ResNet"].model.input_shape == (1, 14, 14)
    assert averaged["ViT"].tokens == 17


def test_lines_are_those_of_averaged_networks(experiment):
    lines = experiment.losses("CNN 2")
    assert lines["direct"].shape == (2, 3) and lines["repaired"].shape == (2, 1)
    params = experiment.runs["CNN 2"][1].result().stack.params
    middle = {name: (value[:1] + value[1:]) / 2 for name, value in params.items()}
    outputs = experiment.runs["CNN 2"][1].model.forward(middle, experiment.x)[0]
    assert lines["direct"][1, 1].item() == pytest.approx(cross_entropy(outputs, experiment.y).item(), rel=1e-4)
    torch.testing.assert_close(lines["direct"][:, [0, 2]], lines["permuted"][:, [0, 2]], rtol=1e-4, atol=1e-5)
    found = experiment.measured("W-ResNet 2")
    assert found.identity.shape == (2, 6) and found.accuracy["correlation"].shape == (2, 3)
    assert 0 <= experiment.accuracy("ViT") <= 1 and experiment.source == "digits"


def test_averaged_networks_are_followed_on_averaged_images(experiment, monkeypatch):
    run = experiment.runs["CNN 2"][0]
    small = CNN(width=2, pools=2, input_shape=(1, 4, 4))
    averaged = Averaged(small, 2, (1, 8, 8))
    other = Experiment(PARAMETERS, 2, 40)
    other.runs["CNN 2"] = [type(run)(averaged, run.descent, run.data, run.seeds)]
    lines = other.losses("CNN 2")
    stack = other.runs["CNN 2"][0].result().stack
    expected = cross_entropy(averaged.forward(stack.params, other.x)[0], other.y).item()  # the first network, λ = 1
    assert lines["direct"][0, 2].item() == pytest.approx(expected, rel=1e-4)
