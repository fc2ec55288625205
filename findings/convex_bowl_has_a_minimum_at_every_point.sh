#!/usr/bin/env bash
# One would guess: the minima of a loss surface on a grid are counted alike by all tools for persistent homology, apart from noise; a
#   convex bowl, which has no noise, has one.
# What happens: which points are neighbours decides. With the grid as vertices (gudhi's `vertices=`, cripser) a point has four; with
#   the grid as pixels (gudhi's `top_dimensional_cells=`, ripser) eight. A quadratic bowl across the diagonal has with curvatures of 1 and 10
#   already 5 minima for the former, with 1 and 1,000 as many as the axis has points, and 1 for the latter. Turned by 30 degrees it has
#   several for both: 7 and 3 with 1 and 30, 59 and 31 with 1 and 1,000. A finer grid has more of them, not fewer,
#   and the deepest of the false ones takes .2 to climb out of, where the valley rises by 2.
# Versions: gudhi 3.13.0, cripser 0.0.37, ripser 0.6.15, numpy 2.4.6
# Why it matters: networks have curvatures far more unequal than that. Numbers of minima and sums of persistence of their
#   surfaces tell of the tool and of the direction of the valley on the grid; a random direction is hardly ever along an axis.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q gudhi==3.13.0 cripser==0.0.37 ripser==0.6.15 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import cripser
import gudhi
import numpy as np
import ripser


def bars(losses):
    """Birth and death of the minima of a grid of losses, by four ways."""
    found = {}
    for name in ("vertices", "top_dimensional_cells"):
        cubes = gudhi.CubicalComplex(**{name: losses})
        cubes.compute_persistence()
        found[f"gudhi {name}"] = cubes.persistence_intervals_in_dimension(0)
    intervals = cripser.computePH(losses, maxdim=0)
    found["cripser"] = intervals[intervals[:, 0] == 0][:, 1:3]
    found["ripser"] = ripser.lower_star_img(losses)
    return {name: ends[ends[:, 1] - ends[:, 0] > 1e-9] for name, ends in found.items()}


def bowl(degrees, curvature, points):
    """u^2 + curvature v^2 over a square, with u and v turned by an angle."""
    axis = np.linspace(-1, 1, points)
    x, y = np.meshgrid(axis, axis)
    along, across = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return (along * x + across * y) ** 2 + curvature * (along * y - across * x) ** 2


counts = {}
for degrees in (0, 45, 30):
    for curvature in (10, 30, 1000):
        for points in (25, 51, 101):
            counts[degrees, curvature, points] = {name: len(ends) for name, ends in bars(bowl(degrees, curvature, points)).items()}
        print(f"turned by {degrees:2}, curvatures 1 and {curvature:4}; minima with 25, 51 and 101 points:",
              "; ".join(name + " " + ", ".join(str(counts[degrees, curvature, points][name]) for points in (25, 51, 101))
                        for name in ("gudhi vertices", "cripser", "gudhi top_dimensional_cells", "ripser")))
false = bars(bowl(45, 1000, 101))["gudhi vertices"]
depth = np.diff(false[np.isfinite(false[:, 1])], axis=1).max()
print(f"depth of the deepest false minimum of 101: {depth:.2f}; the loss rises along the valley by {bowl(45, 1000, 101)[-1, -1]:.2f}")
for (degrees, curvature, points), found in counts.items():
    assert found["gudhi vertices"] == found["cripser"] and found["gudhi top_dimensional_cells"] == found["ripser"]
    assert degrees or set(found.values()) == {1}
four, eight = ({key: found[name] for key, found in counts.items()} for name in ("cripser", "ripser"))
assert four[45, 10, 101] == 5 and eight[45, 10, 101] == 1 and four[45, 1000, 101] == 101 and eight[45, 1000, 101] == 1
assert (eight[30, 30, 101], four[30, 30, 101], eight[30, 1000, 101], four[30, 1000, 101]) == (3, 7, 31, 59)
assert eight[30, 1000, 25] < eight[30, 1000, 51] < eight[30, 1000, 101]
PYTHON
