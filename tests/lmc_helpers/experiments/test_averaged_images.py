"""Averaged images against means by hand."""

import pytest
import torch

from lmc_helpers.experiments.averaged_images import Averaged
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

SMALL = ResNet20(width=1, base=2, blocks=1, input_shape=(2, 4, 5))
MODEL = Averaged(SMALL, 2, (2, 8, 11))


def test_outputs_are_those_of_the_model_on_means():
    stack, x = MODEL.initial([1, 2], torch.float64), torch.randn(2, 3, 2, 8, 11, dtype=torch.float64)
    means = torch.stack([x[..., i:8:2, j:10:2] for i in (0, 1) for j in (0, 1)]).mean(dim=0)
    torch.testing.assert_close(stack.forward(x), SMALL.forward(stack.params, means))
    torch.testing.assert_close(stack.forward(x[0]), SMALL.forward(stack.params, means[0]))
    torch.testing.assert_close(MODEL.averaged(x), means)


def test_the_rest_is_that_of_the_model():
    assert MODEL.shapes() == SMALL.shapes() and MODEL.maps() == SMALL.maps() and MODEL.classes == 10
    assert MODEL.symmetry() == SMALL.symmetry() and MODEL.widest() == SMALL.widest()
    assert MODEL.map_shape("stem.weight") == SMALL.map_shape("stem.weight")
    drawn = [model.initial([3]).params["stem.weight"] for model in (MODEL, SMALL)]
    assert drawn[0].equal(drawn[1])


def test_a_run_of_it_is_data():
    run = Run(MODEL, Descent(1, 10), DataSpec("digits", n=50), (1,))
    assert run.digest != Run(SMALL, Descent(1, 10), DataSpec("digits", n=50), (1,)).digest and "Averaged" in run.title


def test_a_side_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"side = 3 of .* gives .* allowed: \(2, 4, 5\)"):
        Averaged(SMALL, 3, (2, 8, 11))
