#!/usr/bin/env bash
# One would guess: `prior_variance=4` is a normal prior of variance 4: the divergence of a layer's posterior from it is 0 where the
#   posterior's standard deviation is 2.
# What happens: it is taken for the standard deviation. The divergence is .64 at 2, .32 for a weight and for a bias, and 0 at 4, in
#   linear, convolutional and flipout layers alike. `dnn_to_bnn` hands its `prior_sigma` to the same argument and is right by that:
#   the two ways to build one network take two priors from one number, unless it is 1, the default.
# Versions: bayesian-torch 0.5.0, torch 2.13.0, numpy 2.4.6
# Why it matters: a prior of variance .01 shrinks weights as one of variance .0001; where posteriors collapse, how wide minima are in
#   the sense of the divergence, and any comparison with another package's prior hang on it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps bayesian-torch==0.5.0  # the rest is for its examples
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math

import torch
from bayesian_torch.layers import Conv2dReparameterization, LinearFlipout, LinearReparameterization
from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn
from torch import nn
from torch.distributions import Normal, kl_divergence


def divergence(layer, deviation):
    """The layer's divergence from its prior with posterior N(0, deviation²) for all weights and biases."""
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.fill_(math.log(math.expm1(deviation)) if name.startswith("rho") else 0)
    return layer.kl_loss().item()


def truth(prior, deviation):
    """Mean over weights plus mean over biases, as the layers count."""
    return 2 * kl_divergence(Normal(0.0, deviation), Normal(0.0, prior)).item()


made = {}
for layer, sizes in ((LinearReparameterization, (10, 5)), (LinearFlipout, (10, 5)), (Conv2dReparameterization, (2, 5, 3))):
    made[layer.__name__] = layer(*sizes, prior_mean=0, prior_variance=4, posterior_mu_init=0, posterior_rho_init=-3)
network = nn.Sequential(nn.Linear(10, 5))
dnn_to_bnn(network, dict(prior_mu=0.0, prior_sigma=2.0, posterior_mu_init=0.0, posterior_rho_init=-3.0, type="Reparameterization",
                         moped_enable=False, moped_delta=.5))
made["dnn_to_bnn, sigma 2"] = network[0]
print(f"{'':26} posterior 2  posterior 4\n{'truth, variance 4':26} {truth(2.0, 2.0):11.4f} {truth(2.0, 4.0):12.4f}")
print(f"{'truth, deviation 4':26} {truth(4.0, 2.0):11.4f} {truth(4.0, 4.0):12.4f}")
found = {name: [divergence(layer, deviation) for deviation in (2.0, 4.0)] for name, layer in made.items()}
for name, (two, four) in found.items():
    print(f"{name:26} {two:11.4f} {four:12.4f}")
tuned = found.pop("dnn_to_bnn, sigma 2")
assert abs(tuned[0]) < 1e-4 and tuned[1] > .5
assert all(abs(two - truth(4.0, 2.0)) < 1e-4 and abs(four) < 1e-4 for two, four in found.values())
PYTHON
