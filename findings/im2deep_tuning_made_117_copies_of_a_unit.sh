#!/usr/bin/env bash
# One would guess: units of a trained layer are distinct, and fine-tuning moves each a little. Those whose weights are nearly 0 stay
#   there.
# What happens: im2deep publishes a network and the one that Adam made from it for a second task. In the first layer 200 of 256 units
#   were silent, with weights near .001, as an L1 penalty leaves them. 117 of them have risen together: they are one unit, 117 times
#   over, with cosines above .999 and norms within 10 %. In the next two layers it is 83 of 256 and 53 of 128. Before, no two units
#   were so alike. Silent units have gradients of one direction, and Adam's steps do not shrink with a gradient; likely that is why.
# Versions: im2deep 2.0.2 (its weights alone), torch 2.13.0, numpy 2.4.6
# Why it matters: the order of 117 copies is arbitrary, so a matching of these layers means little; a distance counts one change 117
#   times; and a start with silent units is not kept by tuning, unit by unit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" download -q --no-deps -d "$folder" im2deep==2.0.2
"$folder/venv/bin/python" -W ignore - "$folder" <<'PYTHON'
import io
import sys
import zipfile
from pathlib import Path

import torch


def state(name):
    with zipfile.ZipFile(next(Path(sys.argv[1]).glob("im2deep*.whl"))) as wheel:
        return torch.load(io.BytesIO(wheel.read(f"im2deep/models/TIMS/{name}.ckpt")), weights_only=True, map_location="cpu")["state_dict"]


def units(network, layer):
    """Incoming weights and bias of each unit, one row each."""
    name = f"ConvAtomComp.{layer}.conv."
    return torch.cat([network[name + "weight"].flatten(1), network[name + "bias"][:, None]], 1).double()


def copies(rows):
    """The largest group whose rows have cosine > .999 with one of them."""
    direction = rows / rows.norm(dim=1, keepdim=True)
    close = direction @ direction.T > .999
    return close[close.sum(1).argmax()]


before, after = state("multi_output_backbone"), state("IM2DeepMulti")
found = []
for layer in (0, 1, 3):
    old, new = units(before, layer), units(after, layer)
    group = copies(new)
    low, high = new[group].norm(dim=1).aminmax()
    silent = (old.norm(dim=1) < .05).sum().item()
    found.append((copies(old).sum().item(), group.sum().item()))
    print(f"layer {layer}: {len(new)} units, {silent} had norms below .05; largest group of equal directions before {found[-1][0]}, after",
          f"{found[-1][1]}: norms {low:.2f} to {high:.2f},",
          f"before at most {old[group].norm(dim=1).max():.3f}, median {old[group].norm(dim=1).median():.4f}")
    assert high / low < 1.11 and old[group].norm(dim=1).max() < .1 * low
assert [f[0] for f in found] == [1, 1, 1] and [f[1] for f in found] == [117, 83, 53]
PYTHON
