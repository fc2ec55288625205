#!/usr/bin/env bash
# One would guess: `WassersteinDistance(p=2, q=2)` measures all distances in the plane of the diagrams by the 2-norm, to the diagonal and
#   between points, as gudhi does with `order=2, internal_p=2`. `p_norm(diagram, p=1)` is the sum of the lifetimes.
# What happens: p holds on the way to the diagonal alone; points are compared by the larger coordinate, whatever p is. A point moved by (1,
#   1) costs 1 for p=1, 2 and infinity, and 2, 1.41 and 1 by gudhi; one that goes to the diagonal costs the same by both. `p_norm` sums
#   *squares* for every p and then takes the p-th root: lifetimes of 3 and 4 have a "1-norm" of 25 and a "3-norm" of 2.9; only the 2-norm is
#   right. With p of infinity, the default, the distance is right.
# Versions: torch-topological 0.1.9, gudhi 3.13.0, torch 2.13.0, numpy 2.4.6
# Why it matters: both are terms of losses. A penalty with p=1 weighs features by their squares, so that large ones shrink and noise stays;
#   a distance that is cheap between points and dear to the diagonal matches noise with features, and the bounds proved for the one with p=2
#   do not hold for it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch-topological==0.1.9 gudhi==3.13.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
import torch
from gudhi.wasserstein import wasserstein_distance
from torch_topological.nn import PersistenceInformation, WassersteinDistance
from torch_topological.utils.summary_statistics import p_norm

torch.set_num_threads(1)


def both(a, b, p, q):
    """The distance of two diagrams, by torch-topological and by gudhi."""
    first, second = (PersistenceInformation(None, torch.tensor(diagram), 0) for diagram in (a, b))
    return WassersteinDistance(p=p, q=q)([first], [second]).item(), wasserstein_distance(np.array(a), np.array(b), order=q, internal_p=p)


found = {}
cases = {"a point moved by (1, 1)": ([[0., 5.]], [[1., 6.]]), "a point to the diagonal": ([[0., 5.], [0., 2.]], [[0., 5.]])}
for name, (a, b) in cases.items():
    for p, q in (np.inf, 1), (2, 2), (1, 1):
        found[name, p] = both(a, b, p, q)
        print(f"{name}, p={p}, q={q}: {found[name, p][0]:.3f}, by gudhi {found[name, p][1]:.3f}")
norms = {p: p_norm(torch.tensor([[0., 3.], [1., 5.]]), p=p).item() for p in (1, 2, 3)}
print("lifetimes 3 and 4:", ", ".join(f"{p}-norm {norm:.2f}" for p, norm in norms.items()), "in truth 7.00, 5.00, 4.50")
moved, gone = ({p: found[name, p] for p in (1, 2, np.inf)} for name in cases)
assert all(abs(ours - 1) < 1e-6 for ours, _ in moved.values()) and abs(moved[1][1] - 2) < 1e-6 and abs(moved[2][1] - 2**.5) < 1e-6
assert all(abs(ours - theirs) < 1e-6 for ours, theirs in gone.values())
assert np.allclose([norms[1], norms[2], norms[3]], [25, 5, 25 ** (1 / 3)])
PYTHON
