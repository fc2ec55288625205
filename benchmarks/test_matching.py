"""Weight matching against a plain loop with NumPy and SciPy, which takes the same steps to the same permutations.

``python benchmarks/test_matching.py`` prints ratios of times, of runs in turn: the loop's to ours, medians of 20.
"""

import statistics
import time

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment

from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.device import fix_threads
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.seeds import torch_generator

THREADS = min(2, torch.get_num_threads())
SETTINGS = [(width, pairs) for pairs in (1, 8) for width in (32, 64, 128, 256, 512, 1024, 2048)]


def problem(width, pairs):
    fix_threads(THREADS)
    model = MLP((784, width, width, width, 10))
    return model.symmetry(), *(model.initial(range(k, k + pairs)).params for k in (0, pairs))


def stacked(symmetry, a, b):
    return weight_matching(a, b, symmetry, seed=1).values[0].tolist()


def plain(symmetry, a, b):
    """Ainsworth et al.'s Algorithm 1, one pair after another, in float64."""
    return [
        one_pair(symmetry, *({k: v[n].double().numpy() for k, v in end.items()} for end in (a, b)))
        for n in range(len(a["0.weight"]))
    ]


def one_pair(symmetry, a, b):
    generator, groups = torch_generator(1, "weight matching, restart 0"), list(symmetry.groups)
    axes = {(place.name, place.axis): group for group, places in symmetry.groups.items() for place in places}
    p, progress = {group: np.arange(m) for group, m in symmetry.sizes.items()}, True

    def moved(name, left_out=None):
        value = b[name]
        for d in range(value.ndim):
            if d != left_out and (name, d) in axes:
                value = np.take(value, p[axes[name, d]], axis=d)
        return value

    while progress:
        progress = False
        for k in torch.randperm(len(groups), generator=generator).tolist():
            m, own = symmetry.sizes[groups[k]], p[groups[k]]
            C = np.zeros((m, m))
            for name, axis in (at for at, group in axes.items() if group == groups[k]):
                A, B = (np.moveaxis(value, axis, 0).reshape(m, -1) for value in (a[name], moved(name, axis)))
                C += A @ B.T
            rows, found = linear_sum_assignment(C, maximize=True)
            if C[rows, found].sum() > C[rows, own].sum() + 1e-12:
                p[groups[k]], progress = found, True
    return sum(np.vdot(a[name], moved(name)) for name in {name for name, _ in axes})


@pytest.mark.parametrize(("width", "pairs"), [setting for setting in SETTINGS if setting[0] in (32, 512)])
@pytest.mark.parametrize("method", [stacked, plain])
def test_weight_matching(benchmark, width, pairs, method):
    benchmark.group = f"784-{width}-{width}-{width}-10, {pairs} pairs"
    arguments = problem(width, pairs)
    values = benchmark.pedantic(method, args=arguments, rounds=3, warmup_rounds=1)
    assert values == pytest.approx((plain if method is stacked else stacked)(*arguments), rel=1e-9)


def ratios(arguments, repetitions=20):
    """Times of the loop over ours, of runs in turn."""
    seconds = {plain: [], stacked: []}
    for turn in range(repetitions + 1):
        for method in (plain, stacked) if turn % 2 else (stacked, plain):
            start = time.perf_counter()
            method(*arguments)
            seconds[method].append(time.perf_counter() - start)
    return [one / two for one, two in zip(seconds[plain][1:], seconds[stacked][1:], strict=True)], seconds


if __name__ == "__main__":
    for setting in SETTINGS:
        found, seconds = ratios(problem(*setting))
        print(
            *setting, f"{statistics.median(found):.2f}", f"ours {statistics.median(seconds[stacked]):.4f} s", flush=True
        )
