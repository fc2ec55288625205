#!/usr/bin/env bash
# One would guess: Flipout draws another weight for each example from the same posterior, mean plus noise: where the posterior has no width
#   it returns the layer's mean output, and elsewhere its outputs have the variance of the plain layer's. `Radial` draws weights in
#   another way than the plain layer.
# What happens: not the deviation from the mean is multiplied by random signs, but the whole drawn weight, mean included, and the result is
#   added to the mean output. With a posterior of width 1e-13 the three outputs of one input have standard deviations of .20 to .29, the
#   norms of the terms that they are the sums of, where the plain layer has none. With the default width they are 34 to 115 times the
#   plain layer's. `Radial` sets a method that nothing calls: its layer is the plain one, the class itself, to the last bit.
# Versions: blitz-bayesian-pytorch 0.2.8, torch 2.13.0, torchvision 0.28.0, numpy 2.4.6
# Why it matters: the noise does not shrink as the posterior narrows, so that the spread of predictions says how large the weights are, not
#   how sure; training is noisier with Flipout, which is there to make it quieter. A comparison of plain and radial layers compares a
#   network with itself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q blitz-bayesian-pytorch==0.2.8 torchvision==0.28.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from blitz.modules import BayesianLinear
from blitz.utils import Flipout, Radial

torch.set_num_threads(1)
torch.manual_seed(0)
one = torch.randn(1, 5)
x = one.repeat(40000, 1)
ratios = {}
for rho in (-30., -7., 0.):
    layer = Flipout(BayesianLinear)(5, 3, posterior_rho_init=rho)
    plain = BayesianLinear(5, 3, posterior_rho_init=rho)
    plain.load_state_dict(layer.state_dict())
    with torch.no_grad():
        outputs = torch.stack([layer(x[:200]) for _ in range(200)]).reshape(-1, 3)
        drawn = torch.stack([plain(one)[0] for _ in range(10000)])
        width, bias_width = layer.weight_rho.exp().log1p(), layer.bias_rho.exp().log1p()
        noise = ((width * one).square().sum(1) + bias_width.square()).sqrt()
        terms = ((layer.weight_mu * one).square().sum(1) + layer.bias_mu.square() + noise.square()).sqrt()
        mean = layer.forward_frozen(one)[0]
    ratios[rho] = outputs.std(0) / noise
    print(f"posterior width {width.mean():.0e}: deviation of outputs, Flipout", outputs.std(0).numpy().round(3),
          "plain", drawn.std(0).numpy().round(4))
    print("  closed forms: whole weights", terms.numpy().round(3), "deviations alone", noise.numpy().round(4))
    assert (outputs.std(0) / terms - 1).abs().max() < .08 and (outputs.mean(0) - mean).abs().max() < 5 * terms.max() / 200 ** .5
    assert rho == -30 or (drawn.std(0) / noise - 1).abs().max() < .08
    assert rho != -30 or (drawn.std(0).max() < 1e-6 and outputs.std(0).min() > .05)
print("default width, Flipout by plain:", ratios[-7.].numpy().round(1))
assert ratios[-7.].min() > 20

layers = []
for wrap in (lambda layer: layer, Radial):
    torch.manual_seed(1)
    layers.append(wrap(BayesianLinear)(5, 3))
draws = []
for layer in layers:
    torch.manual_seed(2)
    draws.append(torch.stack([layer(one) for _ in range(100)]))
print("radial and plain layers: one class", type(layers[0]) is type(layers[1]), "largest difference of 100 draws",
      (draws[0] - draws[1]).abs().max().item())
assert type(layers[0]) is type(layers[1]) and torch.equal(*draws)
PYTHON
