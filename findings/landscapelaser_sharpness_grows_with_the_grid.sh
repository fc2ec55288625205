#!/usr/bin/env bash
# One would guess: the sharpness of a loss surface, a mean slope about its centre, belongs to the surface: a finer grid over the same square
#   gives the same number, near enough, and the sharper of two surfaces has the larger one.
# What happens: it is a sum over rays whose number grows with the grid, of slopes per *point*, with strides of one, two, three, … points.
#   With 21, 41, 81 and 161 points over one square the sharpness of one bowl is .8, 1.4, 2.6 and 5.1: it all but doubles with the
#   resolution. A bowl of half the curvature is the "sharper" one on a finer grid (2.5), and the same bowl over twice the width (5.7).
# Versions: landscapelaser 0.1.1, numpy 2.4.6, scipy 1.17.1
# Why it matters: minima are compared by the surfaces that papers publish, of other grids and widths; with this number only surfaces of
#   one grid over one square can be.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q landscapelaser==0.1.1 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from landscapelaser import LandscapeLaser


def sharpness(curvature, points, width=1.0):
    """Of a bowl of this curvature on so many points from -width to width in both directions."""
    axis = np.linspace(-width, width, points)
    return float(LandscapeLaser().calculate(curvature * (axis[:, None] ** 2 + axis ** 2) / 2)[0])


by_points = {points: sharpness(2, points) for points in (21, 41, 81, 161)}
print("one bowl on a finer and finer grid:", by_points)
half, wide = sharpness(1, 161), sharpness(2, 41, width=2.0)
print(f"half the curvature on 161 points {half}, twice the width on 41 points {wide}")
values = list(by_points.values())
assert all(1.7 < finer / coarser < 2.4 for coarser, finer in zip(values, values[1:]))
assert half > by_points[41] and abs(wide / by_points[41] - 4) < .05
PYTHON
