#!/usr/bin/env bash
# One would guess: `multi_aso` compares the scores of k networks pair by pair, each pair the more strictly the more there are: for two
#   networks it says what `aso` says. `bonferroni_correction` returns corrected p-values in the order in which they came.
# What happens: the correction runs the wrong way. With two networks the confidence becomes 1, and both entries are 1, "no difference", or
#   not a number if their runs do not even overlap. With three it is .967, and from there the same two differ the more, the more others
#   there are: epsilon is .125 among three and .118 among four, near the .112 of no correction, where three and six comparisons ask for .145
#   and .163. Corrected, the p-values .04, .001 and .02 are .04, .04 and .003: they are put back by the wrong permutation, and a network
#   gets another's.
# Versions: deepsig 1.2.8, numpy 2.4.6, scipy 1.17.1, pandas 3.1.1
# Why it matters: a dozen runs each of two architectures, which this test is made for, "do not differ significantly" whatever they are, and
#   networks added to a table make the others in it differ. `aso` for a single pair, with a confidence of one's own, is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q deepsig==1.2.8 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
from deepsig import aso, bonferroni_correction, multi_aso

generator = np.random.default_rng(0)
a, b = generator.normal(.6, 1, 12), generator.normal(0, 1, 12)  # scores of twelve runs each
keys = dict(seed=0, num_bootstrap_iterations=100, dt=.01, show_progress=False)
plain, found, asked = aso(a, b, **keys), {}, {}
print(f"two networks, no correction: {plain:.3f}")
for networks in 2, 3, 4:
    scores = [a, b] + [generator.normal(-3, 1, 12) for _ in range(networks - 2)]
    found[networks] = multi_aso([list(score) for score in scores], **keys)[0, 1]
    comparisons = networks * (networks - 1) // 2
    asked[networks] = aso(a, b, confidence_level=1 - .05 / comparisons, **keys)
    print(f"the same two among {networks}: {found[networks]:.3f}; at the confidence 1 - .05 / {comparisons}: {asked[networks]:.3f}")
apart = multi_aso([list(b + 10), list(b)], **keys)
print("two whose runs do not overlap:", apart.round(3).tolist(), f"without correction {aso(b + 10, b, **keys):.3f}")
corrected = bonferroni_correction([.04, .001, .02])
print("p-values .04, .001, .02, corrected:", corrected.round(4).tolist())
assert found[2] == 1 and plain < found[4] < found[3] < asked[3] < asked[4]
assert np.isnan(apart[[0, 1], [1, 0]]).all() and aso(b + 10, b, **keys) == 0
assert np.allclose(corrected, [.04, .04, .003])
PYTHON
