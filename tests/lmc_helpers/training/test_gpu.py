"""One code path for CPU and GPU: training and matching give the same on both, in double precision."""

import pytest
import torch

from lmc_helpers.alignment.activation_matching import match_moments, recorded_moments
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import load
from lmc_helpers.identifiability import WAsymmetric
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT
from lmc_helpers.training.fit import fit
from lmc_helpers.training.recipes import Descent

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")

SEEDS = [1, 2, 3, 4]
PERCEPTRON = MLP((64, 16, 16, 10), "gelu", "layer")
MODELS = [
    PERCEPTRON,
    CNN(width=4, depth=4, pools=1, input_shape=(1, 8, 8)),
    ResNet20(width=1, base=4, blocks=1, input_shape=(1, 8, 8)),
    ViT(patch=2, dimension=8, depth=1, heads=2, input_shape=(1, 8, 8)),
]


def trained(model, where, precision="float64", scheme=None, epochs=2):
    schemes = {name: scheme for name in model.maps()[:1]} if scheme else {}
    stack = model.initial(SEEDS, torch.float64, model.fixed_parts(schemes, seed=1) if scheme else None)
    images = load("digits", n=200, seed=1)
    flat = len(model.input_shape) == 1
    x = images.inputs(torch.float64, flat=flat).to(where)
    descent = Descent(epochs, 50, "adamw", 1e-3, weight_decay=1e-2)
    return fit(stack, descent, x, images.y.to(where), SEEDS, precision=precision)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_networks_are_trained_alike(model):
    here, there = trained(model, "cpu"), trained(model, "cuda")
    assert there.survivors == here.survivors and there.losses.is_cuda
    torch.testing.assert_close(there.losses.cpu(), here.losses, rtol=1e-6, atol=1e-9)
    for name, value in here.stack.params.items():
        torch.testing.assert_close(there.stack.params[name].cpu(), value, rtol=1e-5, atol=1e-8)


def test_fixed_entries_stay_fixed():
    here, there = (trained(PERCEPTRON, where, scheme=WAsymmetric(8, 1.0)) for where in ("cpu", "cuda"))
    mine, other = (end.stack.effective()["0.weight"].cpu() for end in (here, there))
    torch.testing.assert_close(other, mine, rtol=1e-5, atol=1e-8)
    F, D = here.stack.fixed["0.weight"]
    kept = (D == 0).expand_as(mine)
    assert other[kept].equal(F.expand_as(mine)[kept])


def test_matchers_find_the_same_permutations():
    stack = trained(PERCEPTRON, "cpu").stack
    x = load("digits", n=300, seed=2).inputs(torch.float64, flat=True)
    found = []
    for where in ("cpu", "cuda"):
        a, b = (stack.ordinary(range(k, 4, 2)).to(where) for k in (0, 1))
        by_weights = weight_matching(a.params, b.params, PERCEPTRON.symmetry(), restarts=5, seed=1)
        by_activations = match_moments(recorded_moments(a, b, x.to(where)))
        found.append([by_weights.permutations, by_activations.permutations])
    for here, there in zip(*found, strict=True):
        assert all(there[group].cpu().equal(p) for group, p in here.items())


def test_lower_precisions_follow():
    exact = trained(PERCEPTRON, "cuda", epochs=6).losses[-1]
    for precision, error in (("float32", 1e-3), ("bfloat16", 5e-2)):
        losses = trained(PERCEPTRON, "cuda", precision, epochs=6).losses[-1]
        torch.testing.assert_close(losses, exact, rtol=error, atol=0)
