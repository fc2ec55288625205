"""Weight matching against a plain loop with NumPy and SciPy, which takes the same steps to the same permutations.

``OMP_WAIT_POLICY=passive python benchmarks/test_matching.py PATH.csv`` (so that threads of the one that waits do not
spin beside the other) writes ratios of times, of runs in turn: the loop's to ours, medians and quartiles of 20 to 200,
fewer where they would take longer than their part of five minutes; those of lines (8 pairs at 25 points) beside.
"""

import csv
import statistics
import sys
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
SETTINGS = [(2**k, pairs) for pairs, last in ((1, 11), (8, 10)) for k in range(5, last + 1)]  # widths to 2048 and 1024


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


def ratios(ours, theirs, arguments, budget=15.0):
    """Ratios of seconds, theirs to ours, of runs in turn, and the seconds of each: 20 to 200, fewer beyond a budget."""
    seconds, begin = {ours: [], theirs: []}, time.perf_counter()
    for turn in range(201):
        for method in (ours, theirs) if turn % 2 else (theirs, ours):
            start = time.perf_counter()
            method(*arguments)
            seconds[method].append(time.perf_counter() - start)
        spent = time.perf_counter() - begin
        if spent > budget or (turn >= 20 and spent > budget / 5):
            break
    one, two = (seconds[method][1:] or seconds[method] for method in (theirs, ours))  # without the first
    return [x / y for x, y in zip(one, two, strict=True)], one, two


def measured():
    """Rows of the table."""
    import test_segments as lines

    cases = [("match", width, pairs, stacked, plain, problem(width, pairs)) for width, pairs in SETTINGS]
    for width in lines.WIDTHS:
        arguments = lines.problem("cpu", width)
        cases.append(("lines", width, lines.PAIRS, lines.stacked, lines.one_by_one, arguments))
    for what, width, pairs, ours, theirs, arguments in cases:
        found, one, two = ratios(ours, theirs, arguments)
        low, ratio, high = statistics.quantiles(found, n=4) if len(found) > 1 else found * 3
        ms = (f"{1e3 * x:.0f}" if x >= 0.1 else f"{1e3 * x:.3g}" for x in map(statistics.median, (one, two)))
        yield what, width, pairs, *ms, f"{ratio:.2f}", f"{low:.2f} to {high:.2f}", len(found)


if __name__ == "__main__":
    with open(sys.argv[1], "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = ("what", "width", "pairs", "loop ms", "ours ms", "ratio", "quartiles", "runs")
        writer.writerow(columns)
        for row in measured():
            writer.writerow(row)
            file.flush()
            print(*row, flush=True)
