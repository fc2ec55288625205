#!/usr/bin/env bash
# One would guess: weights that are all +s or -s, one bit each, are held by four bits per weight exactly, but for the rounding of s to half
#   precision. A network and its twin, hidden units renumbered and flipped in sign, stay one function, as both go into the file without loss.
# What happens: Q4_0 has one scale per block of 32 and 16 steps, -8 to 7, which are not symmetric. The weight that comes first in the block
#   gets the step -8, all of its sign are exact, and those of the other sign end at 7/8 s; in Q5_0 at 15/16 s. The weights are off by .086 of
#   their norm, as much as normally distributed ones (.087), the outputs of a network trained on digits by .15. Which sign loses is up to
#   the order: twins end .06 of their outputs' norm apart. Q4_1, with a smallest weight beside the scale, and Q8_0 are exact to .0005; but
#   Q4_1 makes -.067 s of the zeros of ternary weights, which Q4_0 keeps. TQ2_0, made for ternary weights, is exact for both.
# Versions: gguf 0.19.0, numpy 2.4.6, torch 2.13.0, scikit-learn 1.9.1
# Why it matters: networks of one bit or three values per weight are trained for such files. In the usual four bits half of their weights are
#   an eighth too small, and a comparison of two of them, by function or weight by weight, measures the file and not the training.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q gguf==0.19.0 scikit-learn==1.9.1 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from sklearn.datasets import load_digits
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
digits = load_digits()
x, y = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
unseen = torch.arange(len(y)) % 3 == 0


def stored(weights, kind):
    """The matrix as it comes out of a file."""
    kind = GGMLQuantizationType[kind]
    return torch.tensor(dequantize(quantize(np.asarray(weights), kind), kind))


def off(a, b):
    """Distance over the second one's norm."""
    return ((a - b).norm() / b.norm()).item()


def binary(weight):
    """Signs times one size, with the gradient of the weight itself."""
    return weight + (torch.where(weight > 0, 1., -1.) * weight.abs().mean() - weight).detach()


def outputs(weights, inputs=x[unseen]):
    """A network with tanh units, without biases."""
    for weight in weights[:-1]:
        inputs = torch.tanh(inputs @ weight.T)
    return inputs @ weights[-1].T


raw = [(.1 * torch.randn(*shape)).requires_grad_() for shape in ((64, 64), (64, 64), (10, 64))]
optimizer = torch.optim.Adam(raw, lr=.005)
for _ in range(1500):
    optimizer.zero_grad()
    nn.functional.cross_entropy(outputs([binary(weight) for weight in raw], x[~unseen]), y[~unseen]).backward()
    optimizer.step()
network = [(torch.where(weight > 0, 1., -1.) * weight.abs().mean()).detach() for weight in raw]
signs, order = [torch.tensor(rng.choice([-1., 1.], 64), dtype=torch.float32) for _ in range(2)], [rng.permutation(64) for _ in range(2)]
twin = [(signs[0][:, None] * network[0])[order[0]], (signs[1][:, None] * network[1] * signs[0])[order[1]][:, order[0]],
        (network[2] * signs[1])[:, order[1]]]
normal = [weight.std() * torch.randn_like(weight) for weight in network]
assert off(outputs(twin), outputs(network)) < 1e-5
print("right for", (outputs(network).argmax(1) == y[unseen]).float().mean().item(), "of unseen digits; values of a layer",
      network[1].unique().numpy(), "stored in Q4_0", stored(network[1], "Q4_0").unique().numpy())

found = {}
for kind in ("Q4_0", "Q5_0", "Q4_1", "Q8_0"):
    back = [stored(weight, kind) for weight in network]
    found[kind] = (off(torch.cat([w.flatten() for w in back]), torch.cat([w.flatten() for w in network])),
                   off(torch.cat([stored(w, kind).flatten() for w in normal]), torch.cat([w.flatten() for w in normal])),
                   off(outputs(back), outputs(network)), off(outputs([stored(weight, kind) for weight in twin]), outputs(back)))
    print(kind, "weights off by {:.4f}, normal ones by {:.4f}; outputs by {:.4f}, between the twins {:.4f}".format(*found[kind]))
blocks, kept = network[1].reshape(-1, 32), {kind: stored(network[1], kind).reshape(-1, 32) for kind in ("Q4_0", "Q5_0")}
for kind, part in (("Q4_0", 7 / 8), ("Q5_0", 15 / 16)):
    expected = torch.where(blocks * blocks[:, :1] > 0, blocks, part * blocks)
    assert torch.allclose(kept[kind], expected, rtol=1e-3)
assert found["Q4_0"][0] > .08 and abs(found["Q4_0"][0] / found["Q4_0"][1] - 1) < .1 and found["Q4_0"][2] > .1 and found["Q4_0"][3] > .03
assert found["Q5_0"][0] > .04 and max(found["Q4_1"][0], found["Q8_0"][0]) < 1e-3

ternary = torch.tensor(rng.integers(-1, 2, (64, 256)), dtype=torch.float32)
values = {kind: stored(ternary, kind).unique().numpy() for kind in ("Q4_0", "Q4_1", "TQ2_0")}
print("weights of -1, 0 and 1:", values)
assert values["Q4_1"][1] < -.06 and len(values["Q4_0"]) == 5 and list(values["TQ2_0"]) == [-1, 0, 1]
assert torch.equal(stored(torch.where(ternary < 1, -1., 1.), "TQ2_0"), torch.where(ternary < 1, -1., 1.))
PYTHON
