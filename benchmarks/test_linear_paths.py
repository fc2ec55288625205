"""Paths between 64 pairs of minima of a linear network as one batch against one pair after another."""

import pytest
import torch

from lmc_helpers.device import fix_threads
from lmc_helpers.general_linear import determinant_sign, random_invertible
from lmc_helpers.linear_nets.minimum import from_group, path_in_minimum
from lmc_helpers.seeds import torch_generator

PAIRS, STEPS = 64, 51
SIZES = [(3, 2), (3, 8), (5, 4)]  # layers and width


def problem(layers, h):
    fix_threads(1)
    generator = torch_generator(1, f"benchmark {layers} {h}")
    X, Y = random_invertible((2,), h, generator)
    g, goal = random_invertible((2, layers - 1, PAIRS), h, generator)
    goal[..., 0, :] *= (determinant_sign(g) * determinant_sign(goal))[..., None]  # the same component
    return from_group(list(g), X, Y), from_group(list(goal), X, Y), X, Y


def batched(a, b, X, Y):
    return path_in_minimum(a, b, X, Y, STEPS)


def one_by_one(a, b, X, Y):
    paths = [path_in_minimum([W[k] for W in a], [W[k] for W in b], X, Y, STEPS) for k in range(PAIRS)]
    return [torch.stack(layer) for layer in zip(*paths, strict=True)]


@pytest.mark.parametrize(("layers", "h"), SIZES)
@pytest.mark.parametrize("method", [batched, one_by_one])
def test_sixty_four_pairs(benchmark, layers, h, method):
    benchmark.group = f"{layers} layers of width {h}"
    arguments = problem(layers, h)
    result = benchmark.pedantic(method, args=arguments, rounds=5, warmup_rounds=1)
    for W, expected in zip(result, one_by_one(*arguments), strict=True):
        torch.testing.assert_close(W, expected, rtol=1e-9, atol=1e-9)
