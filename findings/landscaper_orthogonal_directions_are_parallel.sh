#!/usr/bin/env bash
# One would guess: `generate_random_orthogonal_directions(network, 2)` gives two random directions with the inner product 0 and of about one
#   length, and the landscape over them is that of a plane. Even as drawn they are nearly orthogonal, with that many weights.
# What happens: the part along the first is taken off without division by that one's squared norm, N times too large for N weights. What
#   remains of the second is the first, turned round, 9 to 23 times as long, with cosines of -.993 to -.999. The landscape is that of a
#   line, drawn twice: at a loss of .002, that rises to 11 in the corners, a diagonal through the network differs from it by less than .002;
#   over two directions as drawn it rises to 8 and more. A loss that is not a number is shown as the mean of the others.
# Versions: landscaper 1.3.1 (its modules utils and compute), torch 2.13.0, numpy 2.4.6, tqdm 4.67.1
# Why it matters: a straight valley of equal loss through any network, as long as the picture, is what one hopes to see of mode
#   connectivity; the minima, saddles and persistence that the package goes on to compute are those of the line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 tqdm==4.67.1
"$folder/venv/bin/pip" install -q --no-deps landscaper==1.3.1  # two of its files are used; what others import is not installed
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import contextlib
import importlib.util
import io
import sys
import types

import torch
from torch import nn

torch.set_num_threads(1)
package = types.ModuleType("landscaper")  # the package without its __init__, which imports everything
package.__path__ = importlib.util.find_spec("landscaper").submodule_search_locations
sys.modules["landscaper"] = package
from landscaper.compute import compute_loss_landscape  # noqa: E402
from landscaper.utils import generate_random_orthogonal_directions  # noqa: E402


def cosine(a, b):
    a, b = (torch.cat([tensor.reshape(-1) for tensor in tensors]) for tensors in (a, b))
    return (a @ b / a.norm() / b.norm()).item(), (b.norm() / a.norm()).item()


cosines = []
for width in 16, 64, 256:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 4))
    number = sum(p.numel() for p in network.parameters())
    first, second = generate_random_orthogonal_directions(network, 2)
    found, longer = cosine(first, second)
    drawn = [torch.randn_like(p) for p in network.parameters()]
    cosines.append(abs(found))
    print(f"{number} weights: cosine {found:.4f}, the second {longer:.0f} times as long; two as drawn: cosine {cosine(first, drawn)[0]:.3f}")

x, y = torch.randn(200, 8), torch.randint(4, (200,))
optimizer = torch.optim.Adam(network.parameters(), lr=.01)
for _ in range(300):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(x), y).backward()
    optimizer.step()


def landscape(directions, loss):
    with contextlib.redirect_stdout(io.StringIO()):
        return compute_loss_landscape(network, None, directions, loss, steps=5, distance=1.0, dim=2, device="cpu")[0]


def loss(network, _):
    return nn.functional.cross_entropy(network(x), y).item()


centre = loss(network, None)
flat = {}
for name, directions in ("orthogonal", [first, second]), ("as drawn", [first, drawn]):
    surface = landscape(directions, loss)
    flat[name] = [abs(surface[[0, 1, 3, 4], columns] - centre).max() for columns in ([0, 1, 3, 4], [4, 3, 1, 0])]
    print(f"{name}: the network's loss {centre:.3f}, the largest of the surface {surface.max():.2f}; on its diagonals losses differ from the",
          f"network's by at most {flat[name][0]:.3f} and {flat[name][1]:.3f}")
values = iter([1.0, 2.0, float("nan"), *22 * [3.0]])
holes = landscape([first, drawn], lambda network, _: next(values))
print(f"losses 1, 2, not a number, 3, ...: {holes[0, 0]:.2f}, {holes[0, 1]:.2f}, {holes[0, 2]:.2f}")
assert min(cosines) > .98 and flat["orthogonal"][0] < .01 and flat["orthogonal"][1] > 5 and min(flat["as drawn"]) > 2
assert abs(holes[0, 2] - (1 + 2 + 22 * 3) / 24) < 1e-9
PYTHON
