#!/usr/bin/env bash
# One would guess: training has moved all weights of a published network; what it started from, let alone the seed, is not to be had.
# What happens: an LSTM of torch adds two biases. Their gradients are equal, so SGD and Adam move them alike, and the difference of the two
#   is what was drawn at the start, to rounding. In all eight pairs of biases of silero-vad and BeatNet it has the triangular
#   distribution that torch draws, never beyond its ends, where the sums reach 2.5 to 7 times as far. For BeatNet, whose
#   layers are known, 100 seeds were tried: the draws of seed 1 agree with all three of its networks to 1e-5, no other's to .1.
#   With the seed the whole start is back: after training, weights have cosines of .4 to .6 with it.
# Versions: silero-vad 5.1.2, BeatNet 1.1.3 (their weights alone), torch 2.13.0, numpy 2.4.6
# Why it matters: networks of one start are known as such however far they have moved, and how far is measured, without a checkpoint
#   of the start. Distances, averages and matchings of LSTM networks count those draws, a gauge of which the function knows nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" download -q --no-deps -d "$folder" silero-vad==5.1.2 BeatNet==1.1.3
"$folder/venv/bin/python" -W ignore - "$folder" <<'PYTHON'
import io
import sys
import zipfile
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)


def content(package, name):
    with zipfile.ZipFile(next(Path(sys.argv[1]).glob(f"{package}*.whl"))) as wheel:
        return io.BytesIO(wheel.read(name))


networks = {f"BeatNet {k}": torch.load(content("BeatNet", f"BeatNet/models/model_{k}_weights.pt"), weights_only=True) for k in (1, 2, 3)}
networks["silero-vad"] = torch.jit.load(content("silero_vad", "silero_vad/data/silero_vad.jit"), map_location="cpu").state_dict()

# a control: the difference under SGD with momentum and under Adam
for optimizer in (torch.optim.SGD, torch.optim.Adam):
    torch.manual_seed(0)
    lstm, x = nn.LSTM(3, 8).double(), torch.randn(10, 20, 3).double()
    start = lstm.bias_ih_l0.detach() - lstm.bias_hh_l0.detach(), lstm.bias_ih_l0.detach() + lstm.bias_hh_l0.detach()
    step = optimizer(lstm.parameters(), lr=1e-2, **({"momentum": .9} if optimizer is torch.optim.SGD else {}))
    for _ in range(100):
        step.zero_grad()
        (lstm(x)[0] - x.cumsum(0).tanh()[..., :1]).square().mean().backward()
        step.step()
    end = lstm.bias_ih_l0.detach() - lstm.bias_hh_l0.detach(), lstm.bias_ih_l0.detach() + lstm.bias_hh_l0.detach()
    change = [(now - then).abs().max().item() for now, then in zip(end, start)]
    print(f"control, {optimizer.__name__:4}: the difference of the biases moved by {change[0]:.0e}, their sum by {change[1]:.2f}")
    assert change[0] < 1e-9 and change[1] > .05

pairs = []
for name, state in networks.items():
    for key in state:
        if "bias_ih" in key:
            one, two = state[key].double(), state[key.replace("_ih", "_hh")].double()
            ends = 2 / (len(one) / 4) ** .5  # each is drawn between plus and minus half of it
            difference, total = (one - two) / ends, (one + two) / ends
            pairs.append((difference.abs().max().item(), difference.std().item(), total.abs().max().item()))
            print(f"{name:10} {key:28}: in units of the draw, difference at most {pairs[-1][0]:.2f}, deviation {pairs[-1][1]:.2f}",
                  f"(triangular 1, .41), sum at most {pairs[-1][2]:.1f}")
assert len(pairs) == 8 and all(.9 < most < 1 and .37 < deviation < .45 and total > 2 for most, deviation, total in pairs)


def start(seed):
    """The layers of BeatNet as drawn, in their order."""
    torch.manual_seed(seed)
    layers = nn.ModuleDict({"conv1": nn.Conv1d(1, 2, 10), "linear0": nn.Linear(262, 150), "lstm": nn.LSTM(150, 150, 2)})
    return {key: value.detach() for key, value in layers.named_parameters()}


def gap(state, drawn):
    """Largest disagreement of the differences of biases, in both layers."""
    return max(((state[f"lstm.bias_ih_l{k}"] - state[f"lstm.bias_hh_l{k}"]) - (drawn[f"lstm.bias_ih_l{k}"] - drawn[f"lstm.bias_hh_l{k}"]))
               .abs().max().item() for k in (0, 1))


gaps = {seed: [gap(networks[f"BeatNet {k}"], start(seed)) for k in (1, 2, 3)] for seed in range(100)}
best, second = sorted(gaps, key=lambda seed: max(gaps[seed]))[:2]
print(f"seed {best}: differences of biases agree to {max(gaps[best]):.0e}; next best seed {second}: {min(gaps[second]):.2f}")
drawn, other = start(best), start(second)
for key in ("linear0.weight", "lstm.weight_ih_l0", "lstm.weight_hh_l0", "lstm.weight_ih_l1"):
    cosines = [[torch.cosine_similarity(networks[f"BeatNet {k}"][key].flatten(), initial[key].flatten(), dim=0).item() for k in (1, 2, 3)]
               for initial in (drawn, other)]
    print(f"{key:18}: cosines with the start", *(f"{value:.2f}" for value in cosines[0]), " with another seed's",
          *(f"{value:.2f}" for value in cosines[1]))
    assert min(cosines[0]) > .2 and max(map(abs, cosines[1])) < .05
assert best == 1 and max(gaps[1]) < 1e-5 and min(gaps[second]) > .1
PYTHON
