#!/usr/bin/env bash
# One would guess: slopes of trained PReLU units lie between 0 and 1, about their start of .25: a leaky rectifier, a monotone
#   function.
# What happens: in the three networks of MTCNN, as facenet-pytorch ships them, 535 of 870 slopes are negative: those units fall and
#   rise, as |x| does. In the fully connected layers it is 303 of 384, and in the first layer of the smallest network slopes run from
#   -1.28 to 1.01. In two of the three heads for face or no face the two rows are opposites, with cosines below -.9999.
# Versions: facenet-pytorch 2.6.0 (its weights alone), torch 2.13.0, numpy 2.4.6
# Why it matters: a unit of slope a is one of slope 1/a with incoming weights negated and outgoing ones times -a, so the sign of a
#   unit is arbitrary for PReLU, and for a slope near -1 so is which half it fires on: matching by permutations alone misses such
#   twins.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" download -q --no-deps -d "$folder" facenet-pytorch==2.6.0
"$folder/venv/bin/python" -W ignore - "$folder" <<'PYTHON'
import io
import sys
import zipfile
from pathlib import Path

import torch

slopes, opposite = {}, {}
with zipfile.ZipFile(next(Path(sys.argv[1]).glob("facenet*.whl"))) as wheel:
    for name in ("pnet", "rnet", "onet"):
        state = torch.load(io.BytesIO(wheel.read(f"facenet_pytorch/data/{name}.pt")), weights_only=True, map_location="cpu")
        for key, value in state.items():
            if "prelu" in key:
                slopes[name, key] = value.double()
                print(f"{name} {key}: {(value < 0).sum():3} of {len(value):3} negative, from {value.min():5.2f} to {value.max():4.2f}")
            elif key.endswith("weight") and len(value) == 2:
                opposite[name] = torch.cosine_similarity(*value.double().flatten(1), dim=0).item()
                print(f"{name} {key}: cosine of the two rows {opposite[name]:.6f}")
every = torch.cat(list(slopes.values()))
dense = torch.cat([value for (name, key), value in slopes.items() if (name, key[5]) in (("rnet", "4"), ("onet", "5"))])
print(f"in all {(every < 0).sum()} of {len(every)} negative, {(every > 1).sum()} above 1;",
      f"in fully connected layers {(dense < 0).sum()} of {len(dense)}")

# a unit and its twin, and one of slope -1 and its mirror image
x = torch.linspace(-3, 3, 101).double()


def unit(slope, x):
    return torch.where(x > 0, x, slope * x)


for slope in (-.5, .25):
    assert torch.allclose(unit(slope, x), -slope * unit(1 / slope, -x))
assert torch.equal(unit(-1, x), unit(-1, -x))
assert (every < 0).double().mean() > .4 and (dense < 0).double().mean() > .6 and every.min() < -1
PYTHON
