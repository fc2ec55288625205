"""Weight matching against an independent implementation, the package rebasin, where it is installed.

It is no part of the lock, as it pins packages that the book does not need. CI puts it beside the checkout; by hand:

    .venv/bin/pip install --no-deps --target build/others rebasin==0.0.47 torchview==0.2.7 graphviz==0.21

Maps are without biases, of which it adds the same number for all permutations. At version 0.0.47 it counts the incoming
weights of a layer twice and the outgoing ones once, which the first test takes into account.
"""

import sys
from pathlib import Path

import pytest
import torch

from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.permutations import permute

sys.path.append(str(Path(__file__).parents[3] / "build" / "others"))
pytest.importorskip("rebasin", reason="rebasin is not installed")


def plain(parameters, pair=0):
    """A network of torch with the weights of one MLP without biases, float64."""
    weights = [parameters[name][pair] for name in sorted(parameters)]
    layers = []
    for W in weights:
        layer = torch.nn.Linear(W.shape[1], W.shape[0], bias=False, dtype=torch.float64)
        layer.weight.data.copy_(W)
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def theirs(a, b, seed):
    """The weights of b after rebasin's coordinate descent from the identity."""
    from rebasin import PermutationCoordinateDescent

    torch.manual_seed(seed)
    first, second = plain(a), plain(b)
    x = torch.zeros(2, first[0].in_features, dtype=torch.float64)
    PermutationCoordinateDescent(first, second, x).rebasin()
    return [layer.weight.detach() for layer in second if isinstance(layer, torch.nn.Linear)]


def product(a, weights):
    """Σ ⟨A, B⟩ over all maps."""
    return sum((W[0] * other).sum().item() for W, other in zip((a[name] for name in sorted(a)), weights, strict=True))


def drawn(sizes, seed):
    model = MLP(sizes, bias=False)
    ends = (model.initial([one], torch.float64).params for one in (seed, seed + 100))
    return model.symmetry(), *ends


@pytest.mark.parametrize("seed", range(4))
def test_one_hidden_layer_is_the_same_assignment(seed):
    symmetry, a, b = drawn((6, 9, 4), seed)
    twice = ({name: W * 2**0.5 if name == "0.weight" else W for name, W in end.items()} for end in (a, b))
    ours = permute(b, symmetry, weight_matching(*twice, symmetry).permutations)
    for mine, other in zip((ours[name][0] for name in sorted(ours)), theirs(a, b, seed), strict=True):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("sizes", [(6, 9, 9, 4), (5, 12, 7, 8, 3)])
def test_the_best_of_many_descents_is_as_good(sizes):
    for pair in range(3):
        symmetry, a, b = drawn(sizes, 10 + pair)
        found = weight_matching(a, b, symmetry, restarts=60)
        values = [product(a, theirs(a, b, seed)) for seed in range(5)]
        ours = permute(b, symmetry, found.permutations)
        best = product(a, [ours[name][0] for name in sorted(ours)])
        assert best == pytest.approx(found.values.max().item())
        assert best >= max(values) - 1e-9  # theirs begin at the identity, five times
        assert min(values) > product(a, [b[name][0] for name in sorted(b)])
