#!/usr/bin/env bash
# One would guess: a normal prior of standard deviation .1 pulls a weight of 1 towards 0 by 1 / .01, a hundred times as hard as one of .01,
#   and its density at 1 is e^-50 of that at 0. In a regression on one input the trained posterior is the exact one, in closed form.
# What happens: the density has 1e-6 added before its logarithm is taken, so that the penalty stops growing at 13.8. The pull is right to
#   .4 (-40), then falls to -3.4 at .6, 4e-6 at .8 and 0 from 1.5 on: the prior has no effect on a weight further out than six deviations.
#   In the regression, with a slope of 2 and 50 examples, the exact posterior mean is .64 and the trained one 1.92, the least-squares
#   slope; with 10 examples both are .21: there the likelihood does not reach over the edge.
# Versions: blitz-bayesian-pytorch 0.2.8, torch 2.13.0, torchvision 0.28.0, numpy 2.4.6
# Why it matters: .1 is the default prior, and six deviations of it are a weight of .6, which trained networks exceed, and so do the
#   weights of a network that is made Bayesian after training: they are not regularised at all, and the divergence in the loss is a count
#   of them times 13.8. A tighter prior, to shrink more, lets go of more of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q blitz-bayesian-pytorch==0.2.8 torchvision==0.28.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from blitz.modules import BayesianLinear
from blitz.utils import variational_estimator
from torch import nn
from torch.distributions import Normal

torch.set_num_threads(1)
prior = BayesianLinear(1, 1, prior_sigma_1=.1, prior_pi=1).weight_prior_dist
pulls, densities = {}, {}
for value in (.1, .2, .4, .6, .8, 1.5):
    weight = torch.tensor([value], requires_grad=True)
    density = prior.log_prior(weight)
    pulls[value] = torch.autograd.grad(density, weight)[0].item()
    densities[value] = density.item() + .5
    exact = Normal(0, .1).log_prob(torch.tensor(value)).item()
    print(f"weight {value}: log density {densities[value]:.2f}, exact {exact:.2f}; pull {pulls[value]:.1e}, exact {-value / .01:.0f}")
assert all(abs(pulls[value] * .01 / value + 1) < .01 for value in (.1, .2, .4))
assert abs(pulls[.6]) < 5 and abs(pulls[.8]) < 1e-4 and pulls[1.5] == 0 and abs(densities[1.5] + 13.8155) < 1e-3


@variational_estimator
class Slope(nn.Module):
    """One Bayesian weight."""

    def __init__(self):
        super().__init__()
        self.layer = BayesianLinear(1, 1, bias=False, prior_sigma_1=.1, prior_pi=1)

    def forward(self, x):
        return self.layer(x)


found = {}
for examples in (10, 50):
    torch.manual_seed(0)
    x = torch.randn(examples, 1)
    x /= x.square().mean().sqrt()
    y = 2 * x + torch.randn(examples, 1)
    squares, product = x.square().sum().item(), (x * y).sum().item()
    network = Slope()
    optimizer = torch.optim.Adam(network.parameters(), lr=.01)
    for step in range(4000):
        if step == 3000:
            optimizer.param_groups[0]["lr"] = .001
        optimizer.zero_grad()
        # half the squared error: a likelihood of noise 1
        network.sample_elbo(x, y, lambda out, target: (out - target).square().sum() / 2, sample_nbr=4).backward()
        optimizer.step()
    mean = network.layer.weight_mu.item()
    width = network.layer.weight_rho.exp().log1p().item()
    found[examples] = mean, product / (squares + 100), product / squares
    print(f"{examples} examples: trained mean {mean:.3f}, width {width:.3f}; exact {found[examples][1]:.3f},",
          f"width {(squares + 100) ** -.5:.3f}; least squares {found[examples][2]:.3f}")
assert abs(found[10][0] - found[10][1]) < .05 and abs(found[50][0] - found[50][2]) < .1 and found[50][0] > 2 * found[50][1]
PYTHON
