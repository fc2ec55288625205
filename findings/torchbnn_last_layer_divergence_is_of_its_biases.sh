#!/usr/bin/env bash
# One would guess: `BKLLoss(last_layer_only=True)` returns the divergence of the last layer's posterior from its prior, weights and biases;
#   "mean" divides it by their number. A circular convolution of width 3 with a padding of 1 keeps the size of the image.
# What happens: one variable is written over: what is left at the end is the divergence of the last tensor looked at, the biases: 2.0 for
#   48.6, and the layer's weights get no gradient. "mean" and "sum" return the same. A last layer without biases is right. Trained with
#   this loss the weights' root mean square is 1.31, and .25 with the whole divergence; their deviations are .026 and .088. The circular
#   padding is split between the two sides: 8 by 8 becomes 7 by 7, torch's image less its last row and column.
# Versions: torchbnn 1.2, torch 2.13.0, numpy 2.4.6
# Why it matters: the network whose last layer alone is Bayesian is the usual cheap one. Its loss falls as it should, but no prior
#   holds the weights: they go to the point of least loss, and the uncertainties of the predictions go with them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q torchbnn==1.2 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
import torchbnn
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.nn import functional

torch.set_num_threads(1)
torch.manual_seed(0)


def exact(layer):
    """Divergences of the weights and of the biases, each summed."""
    pairs = ((layer.weight_mu, layer.weight_log_sigma), (layer.bias_mu, layer.bias_log_sigma))
    return [kl_divergence(Normal(mean, log_sigma.exp()), Normal(0., .1)).sum().item() for mean, log_sigma in pairs]


def made():
    """A fixed layer and a Bayesian one."""
    return nn.Sequential(nn.Linear(4, 8).requires_grad_(False), nn.ReLU(), torchbnn.BayesLinear(0, .1, 8, 3))


network = made()
last = network[2]
weights, biases = exact(last)
values = {kind: torchbnn.BKLLoss(kind, last_layer_only=True)(network) for kind in ("sum", "mean")}
whole = torchbnn.BKLLoss("sum")(network).item()
slope = torch.autograd.grad(values["sum"], [last.weight_mu, last.weight_log_sigma, last.bias_mu], allow_unused=True)
print(f"last layer alone: sum {values['sum'].item():.3f}, mean {values['mean'].item():.3f};",
      f"all Bayesian layers, of which there is one: {whole:.3f}")
print(f"closed form: weights {weights:.3f}, biases {biases:.3f}; gradients by weights:", slope[:2])
assert abs(values["sum"].item() - biases) < 1e-4 and abs(values["mean"].item() - biases) < 1e-4 and abs(whole - weights - biases) < 1e-3
assert slope[0] is None and slope[1] is None and slope[2].norm() > 1 and weights > 10 * biases

x = torch.randn(64, 4)
y = torch.stack([x[:, 0] + x[:, 1], x[:, 2], x[:, 3]], 1) + .5 * torch.randn(64, 3)
sizes = {}
for name, keys in ("last_layer_only=True", {"last_layer_only": True}), ("whole", {}):
    torch.manual_seed(0)
    network = made()
    penalty, optimizer = torchbnn.BKLLoss("sum", **keys), torch.optim.Adam(network.parameters(), lr=.01)
    for _ in range(3000):
        optimizer.zero_grad()
        ((network(x) - y).square().sum() / (2 * .25) + penalty(network).sum()).backward()
        optimizer.step()
    sizes[name] = network[2].weight_mu.square().mean().sqrt().item(), network[2].weight_log_sigma.exp().mean().item()
    print(f"trained, {name}: root mean square of the weights' means {sizes[name][0]:.3f}, mean deviation {sizes[name][1]:.4f}")
assert sizes["last_layer_only=True"][0] > 1.5 * sizes["whole"][0] and sizes["last_layer_only=True"][1] < .9 * sizes["whole"][1]

layer = torchbnn.BayesConv2d(0, .1, 1, 1, 3, padding=1, padding_mode="circular")
with torch.no_grad():
    layer.weight_log_sigma.fill_(-30)
    layer.bias_log_sigma.fill_(-30)
    image = torch.randn(1, 1, 8, 8)
    out = layer(image)
    torch_out = functional.conv2d(functional.pad(image, (1, 1, 1, 1), mode="circular"), layer.weight_mu, layer.bias_mu)
print("circular convolution of 8 by 8:", tuple(out.shape[2:]), "torch's", tuple(torch_out.shape[2:]),
      "equal but for the last row and column:", torch.allclose(out, torch_out[..., :-1, :-1], atol=1e-6))
assert out.shape[2:] == (7, 7) and torch.allclose(out, torch_out[..., :-1, :-1], atol=1e-6)
PYTHON
