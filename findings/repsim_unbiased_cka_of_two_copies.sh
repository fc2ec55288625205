#!/usr/bin/env bash
# One would guess: kernel alignment of two equal arrays is 1 with every estimator: numerator and denominator are the same number. The
#   unbiased estimators ("song", "lange") are there for few examples and many units.
# What happens: the numerator is unbiased, the denominator is not. `cka([x, x], "linear", "song")` has 1 on its diagonal, which
#   is not computed, and .91 beside it for 200 examples of 20 units, .38 for 50 of 80, .09 for 50 of 500. With
#   numerator and denominator from the package's own unbiased `hsic` it is 1.
# Versions: repsim 0.1.5, numpy 2.4.6
# Why it matters: wider layers look less alike. The unlikeness of two networks at a layer is the layer's width over the number of
#   examples, and a network compared with itself does not show it: the diagonal says 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q repsim==0.1.5 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import repsim

rng = np.random.default_rng(0)
for examples, units in ((500, 10), (200, 20), (100, 50), (50, 80), (50, 500)):
    x = rng.normal(size=(examples, units))
    found, ratio = {}, {}
    for estimator in ("gretton", "song", "lange"):
        table = repsim.cka([x, x.copy()], "linear", estimator)
        assert table[0, 0] == table[1, 1] == 1
        found[estimator] = table[0, 1]
        parts = repsim.hsic([x, x.copy()], "linear", estimator)
        ratio[estimator] = parts[0, 1] / np.sqrt(parts[0, 0] * parts[1, 1])
    print(f"{examples:3} examples of {units:3} units, two copies:", *(f"{name} {value:.4f}" for name, value in found.items()),
          " from hsic:", *(f"{value:.4f}" for value in ratio.values()))
    assert abs(found["gretton"] - 1) < 1e-9 and all(abs(value - 1) < 1e-9 for value in ratio.values())
    assert all(found[name] < 1 - .8 * units / (examples + units) for name in ("song", "lange"))
PYTHON
