#!/usr/bin/env bash
# One would guess: components of n states under the Fisher metric merge at the n - 1 edges of the minimum spanning tree, "exact", as it
#   says. A circle of states is a loop, whatever lies beside it, and a diagram with one short bar more has the bottleneck distance of half
#   that bar.
# What happens: when two components merge, another one's death may be written over: of the 29 merges of 30 random states 19 are left. Loops
#   are counted from vertices, edges and triangles alone: four states close together, a tetrahedron, count as minus one loop and hide the
#   circle. And the shorter of two diagrams is filled up with copies of its first point: a bar of .1 more costs 3.95 instead of .05.
# Versions: fisher-homology 1.0.1, numpy 2.4.6, scipy 1.17.1
# Why it matters: "the number of phases" of a training run and "has cycles" are read off these numbers. A run that rests somewhere for four
#   checkpoints loses a loop, and two runs are "topologically distinct" for a bar that is noise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q fisher-homology==1.0.1 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
from fisher_homology import FisherHomology, bottleneck_distance
from scipy.sparse.csgraph import minimum_spanning_tree

generator = np.random.default_rng(0)
merges = {}
for states in 5, 10, 30:
    points = generator.uniform(size=(states, 3))
    diagram = FisherHomology().fit(points.tolist())
    tree = np.sort(minimum_spanning_tree(np.array(diagram.distance_matrix)).data)
    deaths = np.sort([death for _, death in diagram.persistence_b0])
    merges[states] = len(deaths), len(tree)
    print(f"{states} states: {len(deaths)} merges, {len(tree)} edges of the minimum spanning tree")
    assert np.isclose(deaths[:, None], tree).any(1).all()  # those that are left are right
angles = np.arange(12) * 2 * np.pi / 12
circle = .5 + .3 * np.stack([np.cos(angles), np.sin(angles)], 1)
cycles = {}
for others in 0, 3, 4, 8:
    beside = .95 + .002 * generator.normal(size=(others, 2))
    diagram = FisherHomology().fit(np.concatenate([circle, beside]).tolist())
    cycles[others] = diagram.has_cycles()
    print(f"a circle of 12 states and {others} states at one other place: has cycles: {cycles[others]}")
distances = [bottleneck_distance([(0, 4)], [(0, 4)] + short) for short in ([], [(0, .1)])]
print("bottleneck distance of a diagram from itself, and with a bar of .1 more:", *(round(distance, 3) for distance in distances))
assert merges[5] == (4, 4) and merges[30] == (19, 29)
assert cycles == {0: True, 3: True, 4: False, 8: False}
assert distances[0] == 0 and abs(distances[1] - 3.95) < 1e-9
PYTHON
