#!/usr/bin/env bash
# One would guess: `cp_flip_sign(cp)` returns the same tensor with its signs in one mode, as it says, and leaves the decomposition that it
#   was given alone, as `cp_normalize` and `cp_permute_factors` do.
# What happens: the result is right. But the factors of the argument are overwritten in place, and its weights are not: a component
#   with a negative weight has its sign moved into the factor and keeps it in the weight. The decomposition that was handed over is another
#   tensor afterwards, off by 1.8 times its norm here; with positive weights it is the same tensor with other factors.
# Versions: tensorly 0.10.0, numpy 2.4.6, scipy 1.17.1
# Why it matters: two decompositions are made comparable by signs and a permutation of components, and then compared with the ones before,
#   as a check: the check fails for a right result, or the "fit of the original" drops. Only decompositions with weights of both signs tell.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q tensorly==0.10.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from tensorly.cp_tensor import CPTensor, cp_flip_sign, cp_normalize, cp_permute_factors


def full(cp):
    return np.einsum("r,ir,jr,kr->ijk", cp.weights, *cp.factors)


def off(a, b):
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


actions = {"cp_flip_sign": cp_flip_sign, "cp_normalize": cp_normalize, "cp_permute_factors": lambda cp: cp_permute_factors(reference, cp)[0]}
found = {}
for signs, weights in (("of both signs", [-1, 2, -3]), ("positive", [1, 2, 3])):
    for name, action in actions.items():
        rng = np.random.default_rng(0)
        reference, cp = (CPTensor((np.array(weights, float), [rng.standard_normal((size, 3)) for size in (4, 5, 6)])) for _ in range(2))
        tensor, factors = full(cp), [factor.copy() for factor in cp.factors]
        result = action(cp)
        same = all(np.array_equal(a, b) for a, b in zip(factors, cp.factors))
        found[signs, name] = off(full(result), tensor), off(full(cp), tensor), same
        print(f"weights {signs:13}: {name:18} result off by {found[signs, name][0]:.0e}, its argument by {found[signs, name][1]:.2f};",
              "factors of the argument", "untouched" if same else "overwritten")
for (signs, name), (result, argument, same) in found.items():
    assert result < 1e-12 and same == (name != "cp_flip_sign")
    assert argument > .5 if (signs, name) == ("of both signs", "cp_flip_sign") else argument < 1e-12
PYTHON
