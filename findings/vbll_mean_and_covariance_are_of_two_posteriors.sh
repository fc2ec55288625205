#!/usr/bin/env bash
# One would guess: a variational Bayesian last layer for regression, with full covariance and known noise, has the exact posterior for its
#   optimum, as the objective is exact for linear models: each output is a linear regression with one prior.
# What happens: that holds for one output, to 1e-7. With more, the squared error is averaged over the outputs and the rest of the objective
#   is not: the trained mean is, to 1e-8, that of a prior 4 times as narrow with 4 outputs and 16 times with 16, off by .07 and .3
#   of its norm. The covariance remains that of the prior that was given. Mean and covariance belong to two posteriors.
# Versions: vbll 0.4.9, torch 2.13.0, numpy 2.4.6
# Why it matters: predictions shrink towards 0 as outputs are added, with error bars that know nothing of it; a prior tuned to mend the
#   mean spoils the covariance. Splitting the outputs among layers of one output each gives other networks.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q vbll==0.4.9 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math

import torch
from vbll import Regression

torch.set_num_threads(1)
torch.set_default_dtype(torch.double)
examples, features, noise = 40, 4, .5
found = {}
for outputs in (1, 4, 16):
    torch.manual_seed(0)
    x = torch.randn(examples, features)
    y = .7 * x @ torch.randn(features, outputs) + noise * torch.randn(examples, outputs)
    layer = Regression(features, outputs, 1 / examples, prior_scale=1.0)  # weight of the prior: as documented, 1 / examples
    with torch.no_grad():  # known noise; and a tame start
        layer.noise_logdiag.requires_grad_(False).fill_(math.log(noise))
        layer.W_logdiag.zero_()
        layer.W_offdiag.zero_()
    optimizer = torch.optim.LBFGS([p for p in layer.parameters() if p.requires_grad], max_iter=5000, tolerance_grad=1e-10,
                                  tolerance_change=1e-15, history_size=50, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = layer(x).train_loss_fn(y)
        loss.backward()
        return loss

    optimizer.step(closure)
    mean, covariance = layer.W().mean.detach(), layer.W().covariance.detach()[0]

    def posterior(prior):
        """Mean and covariance of linear regression with a prior of that variance, of each output for itself."""
        inverse = torch.linalg.inv(x.T @ x / noise**2 + torch.eye(features) / prior)
        return (inverse @ x.T @ y / noise**2).T, inverse

    def off(a, b):
        return ((a - b).norm() / b.norm()).item()

    one, narrow = posterior(1 / features), posterior(1 / features / outputs)
    found[outputs] = off(mean, one[0]), off(mean, narrow[0]), off(covariance, one[1]), off(covariance, narrow[1])
    print(f"{outputs:2} outputs: mean off by {found[outputs][0]:.0e} of the posterior's, by {found[outputs][1]:.0e} of that for a prior",
          f"{outputs} times as narrow; covariance by {found[outputs][2]:.0e} and {found[outputs][3]:.0e}")
assert found[1][0] < 1e-4 and max(values[1] for values in found.values()) < 1e-4 and max(values[2] for values in found.values()) < 1e-4
assert found[4][0] > .05 and found[16][0] > .2 and found[4][3] > .05 and found[16][3] > .3
PYTHON
