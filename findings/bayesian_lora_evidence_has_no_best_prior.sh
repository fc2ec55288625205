#!/usr/bin/env bash
# One would guess: `model_evidence` is the evidence of Laplace's approximation for the Kronecker factors given: it has a maximum as a
#   function of the prior variance, which is tuned by it. Factors and predictive variances do not depend on the batch size with which the
#   data are read.
# What happens: the penalty and the determinant come with the wrong sign, the norm of the weights is not squared, and the prior's own
#   normalisation is left out: the value falls with the prior variance all the way, from 1,189 at .001 to -382 at 10,000, where the
#   evidence has its maximum of -68 near .1. Maximised, the prior variance goes to 0; minimised, as a loss is, to infinity. Low-rank factors are made of the gradients of batch means and summed: the curvature is that of the data for batches of
#   one example, a quarter of it for batches of 4 and a 256th for all 256 in one; predictive variances are .14, .39 and 1.50 where exact
#   factors give .14. Factors of full rank are those of a single example whatever the batch: 1.50.
# Versions: bayesian-lora 0.0.6, transformers 5.24.0, torch 2.13.0, numpy 2.4.6
# Why it matters: the two numbers that a Laplace approximation has to give, how wide the prior is and how sure the network, are set by the
#   length of a training loop and by what fits into memory. More data do not make it surer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q bayesian-lora==0.0.6 transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math
from types import SimpleNamespace

import torch
from bayesian_lora import calculate_kronecker_factors, cholesky_decompose_small_factors, model_evidence, variance
from torch import nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


class Network(nn.Module):
    """An adapter's first factor, tanh, and a read-out of four classes, at the last token."""

    def __init__(self, inputs, rank):
        super().__init__()
        self.lora_A = nn.Linear(inputs, rank, bias=False)
        self.head = nn.Linear(rank, 4)

    def forward(self, x):
        return self.head(torch.tanh(self.lora_A(x)))[:, -1]


inputs, rank, kept = 30, 3, 4
network = Network(inputs, rank)
wide = 2 * torch.randn(inputs, kept)
draws = torch.randn(rank, 20)
narrow = torch.linalg.cholesky(draws @ draws.T / 20)
weights, fit = network.lora_A.weight.detach(), torch.tensor(-50.)
curvature = torch.kron(wide @ wide.T, narrow @ narrow.T)
variances, values, exact = [.001, .01, .1, 1., 100., 10000.], [], []
for prior in variances:
    values.append(model_evidence(network, fit, {"lora_A": (wide, narrow)}, rank, kept, torch.tensor(prior)).item())
    precision = curvature + torch.eye(inputs * rank) / prior
    log_prior = -weights.square().sum() / (2 * prior) - inputs * rank / 2 * math.log(prior)
    exact.append((fit + log_prior - torch.linalg.slogdet(precision)[1] / 2).item())
    print(f"prior variance {prior}: library {values[-1]:.1f}, Laplace's evidence with the same factors {exact[-1]:.1f}")
print(f"mean square of the weights {weights.square().mean():.3f}")
assert sorted(values, reverse=True) == values and exact.index(max(exact)) == 2

examples, inputs = 256, 20
x = torch.randn(examples, 1, inputs) @ (torch.randn(inputs, inputs) / 3)
network = Network(inputs, rank)
with torch.no_grad():
    network.lora_A.weight.mul_(3)
hidden = network.lora_A(x)[:, 0].detach()
jacobian = torch.func.vmap(torch.func.jacrev(lambda h: network.head(torch.tanh(h))))(hidden).detach()
p = network(x).softmax(-1).detach()
outer = (jacobian.mT @ (torch.diag_embed(p) - p[:, :, None] * p[:, None]) @ jacobian).mean(0)
inner = x[:, 0].T @ x[:, 0] / examples
by_weights = torch.func.jacrev(lambda w, z: network.head(torch.tanh(z @ w.T)))
slopes = torch.func.vmap(by_weights, in_dims=(None, 0))(network.lora_A.weight.detach(), x[:8, 0]).detach()
flat = slopes.mT.flatten(-2)


def mean_variance(covariances):
    """Mean over examples and classes."""
    return covariances.diagonal(dim1=-2, dim2=-1).mean().item()


right = mean_variance(flat @ torch.linalg.inv(examples * torch.kron(inner, outer) + torch.eye(inputs * rank)) @ flat.mT)
single = mean_variance(flat @ torch.linalg.inv(torch.kron(inner, outer) + torch.eye(inputs * rank)) @ flat.mT)
print(f"exact factors: predictive variance {right:.3f}; with the curvature of one example {single:.3f}")
found = {}
for low_rank in (True, False):
    for batch in (1, 4, 16, 256):
        torch.manual_seed(1)  # labels are drawn from the network
        loader = torch.utils.data.DataLoader(x, batch_size=batch)
        factors = calculate_kronecker_factors(network, lambda net, z: net(z), loader, inputs if low_rank else None, 10, ["lora"])
        first, second = factors["lora_A"]
        trace = (first.square().sum() if low_rank else first.trace()) * second.trace()
        share = (trace / (examples * inner.trace() * outer.trace())).item()
        factors = cholesky_decompose_small_factors(factors, 10 if low_rank else 1000, "cpu", torch.float64)
        tokens = SimpleNamespace(input_ids=torch.zeros(8, 1))
        covariances = variance(tokens, {"lora_A.weight": slopes}, factors, torch.tensor(1.), 4, rank, inputs, "cpu")
        found[low_rank, batch] = share, mean_variance(covariances)
        print(f"{'low' if low_rank else 'full'} rank, batches of {batch:3}: curvature {share:.4f} of the data's,",
              f"predictive variance {found[low_rank, batch][1]:.3f}")
for batch in (1, 4, 16, 256):
    assert abs(found[True, batch][0] * batch - 1) < .05 and abs(found[False, batch][0] * examples - 1) < .05
    assert abs(found[False, batch][1] / single - 1) < .05
assert abs(found[True, 1][1] / right - 1) < .1 and abs(found[True, 256][1] / single - 1) < .05
PYTHON
