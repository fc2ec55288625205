"""Bad arguments of what is not checked by annotations yet: one sentence that says what is allowed."""

import numpy as np
import torch
from bad_arguments import (
    Array,
    Flag,
    Function,
    Given,
    Integer,
    Other,
    Row,
    Text,
    refused,
    rows,
    runs,
)

from lmc_helpers import (
    claims,
    device,
    error_bars,
    seeds,
)

SEED = Integer(1, least=0, most=2**32 - 1)

SHAPE = {"empty": (), "zero": (2, 0), "negative": (2, -1), "a fraction": (2, 1.5), "a string": "ab", "nothing": None}

TABLE = [
    Row(device.device, {"name": Other("cpu", {"unknown": "nonsense", "empty": "", "a number": 7, "nothing": None})}),
    Row(device.describe, {"where": Other(torch.device("cpu"), {"a string": "cpu", "a number": 7})}),
    Row(device.fix_threads, {"count": Integer(1, least=1)}),
    Row(seeds.seed_sequence, {"seed": SEED, "purpose": Text("a")}),
    Row(seeds.numpy_generator, {"seed": SEED, "purpose": Text("a")}),
    Row(seeds.torch_generator, {"seed": SEED, "purpose": Text("a")}),
    Row(seeds.normal_stream, {"seed": SEED, "purpose": Text("a")}),
    Row(
        seeds.normal,
        {
            "shape": Other((2, 3), {k: v for k, v in SHAPE.items() if k not in ("empty", "zero")}),
            "seed": SEED,
            "purpose": Text("a"),
        },
    ),
    Row(
        error_bars.mean_and_error,
        {"x": Array([1.0, 2.0, 3.0], free=(-1,))},
        lambda x: error_bars.mean_and_error([[1.0, 2.0], x]),
    ),
    Row(
        error_bars.ratio_of_means,
        {"x": Array([1.0, 2.0, 3.0]), "y": Array([2.0, 4.0, 6.0]), "paired": Flag()},
    ),
    Row(error_bars.slope_and_error, {name: Array([1.0, 2.0, 4.0]) for name in ("x", "y", "stderr")}),
    Row(
        error_bars.power_law,
        {
            "x": Array([1.0, 2.0, 4.0]),
            "samples": Array([[0.9, 1.1], [0.2, 0.3], [0.1, 0.05]], free=(-1,)),
        },
    ),
    Row(
        error_bars.place_of_peak,
        {"x": Array([1.0, 2.0, 3.0]), "samples": Array([[0.0, 0.1], [1.0, 1.1], [0.5, 0.4]], free=(-1,)), "seed": SEED},
    ),
    Row(error_bars.share, {"successes": Integer(3, least=0, most=5), "n": Integer(5, least=3)}),
    Row(
        error_bars.bootstrap,
        {"statistic": Function(np.mean), "values": Array([1.0, 2.0, 3.0], free=(-1,), holes=False), "seed": SEED}
        | {"resamples": Integer(5, least=2)},
    ),
    Row(error_bars.widening, {"G": Integer(5, least=2)}),
    Row(error_bars.over_clusters, {"values": Array([[1.0, 1.0], [3.0, 3.0]], free=(-1, -2), few=False)}),
    Row(
        error_bars.jackknife,
        {"statistic": Function(lambda a, b: a - b), "x": Array([1.0, 2.0, 4.0]), "y": Array([1.0, 1.0, 2.0])},
        lambda statistic, x, y: error_bars.jackknife(statistic, x, y),
    ),
    Row(claims.worst, {"verdicts": Other(["holds"], {"unknown": ["nonsense"], "empty": [], "nothing": None})}),
    Row(claims.best_reading, {"verdicts": Other(["holds"], {"unknown": ["nonsense"], "empty": [], "nothing": None})}),
    Row(
        claims.part,
        {
            "id": Other(
                "Z1.sampled", {"unknown": "Z1.nothing", "no part": "Z1", "empty": "", "nothing": None, "a number": 1}
            )
        }
        | {"folder": Given(None)},
    ),
]


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
