#!/usr/bin/env bash
# One would guess: the batch norms for complex numbers and Clifford algebras whiten: real and imaginary part, or the blades, come out
#   uncorrelated and of variance 1, as the matrix of scales behind it presumes. `CliffordGroupNorm1d(g, num_groups, channels)` makes
#   `num_groups` groups of the channels, as `torch.nn.GroupNorm(num_groups, channels)` does.
# What happens: the inverse root of the covariance is applied transposed. Uncorrelated parts are whitened; two of variance 1 with a
#   correlation of .9 come out with variances of 1.5 and 5.2 and a correlation of -.93, which is no better than before. And `num_groups` is
#   the number of channels *in* a group: 1 normalises each channel by itself, and all of them make a single group.
# Versions: cliffordlayers 0.1.1, torch 2.13.0, numpy 2.4.6
# Why it matters: correlated parts are what these norms are for; activations grow from layer to layer, and a fixed turn of the inputs' phase
#   is not taken out. `num_groups=1`, layer norm to the reader, is instance norm: sizes of channels relative to each other are lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps cliffordlayers==0.1.1  # without pytest, which it names as well
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from cliffordlayers.nn.modules.batchnorm import CliffordBatchNorm1d, ComplexBatchNorm1d
from cliffordlayers.nn.modules.groupnorm import CliffordGroupNorm1d
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
torch.set_default_dtype(torch.double)
covariances = {}
for correlation in 0.0, .5, .9:
    parts = torch.randn(20000, 1, 2) @ torch.linalg.cholesky(torch.tensor([[1, correlation], [correlation, 1]])).T
    normed = torch.view_as_real(ComplexBatchNorm1d(1)(torch.view_as_complex(parts)).detach())
    covariances[correlation] = torch.cov(normed[:, 0].T)
    print(f"complex, correlation {correlation}: covariance after the norm {covariances[correlation].round(decimals=2).tolist()}")
mixed = torch.randn(20000, 1, 4) @ torch.randn(4, 4)
blades = torch.cov(CliffordBatchNorm1d((1, 1), 1)(mixed)[:, 0].detach().T)
print("four blades, mixed: variances after the norm", blades.diag().round(decimals=2).tolist())
spread = {}
for groups in 1, 2, 6:
    x = torch.randn(500, 6, 20, 4) * 2.0 ** torch.arange(6)[:, None, None]  # each channel twice as large as the one before
    spread[groups] = [norm.detach().std((0, 2, 3)) for norm in
                      (CliffordGroupNorm1d((1, 1), groups, 6)(x), nn.GroupNorm(groups, 6)(x.flatten(2)).unflatten(2, (20, 4)))]
    print(f"num_groups={groups}: sizes of the six channels {spread[groups][0].round(decimals=2).tolist()}, by torch",
          spread[groups][1].round(decimals=2).tolist())
assert (covariances[0.0] - torch.eye(2)).abs().max() < .05
assert 1.3 < covariances[.9][0, 0] < 1.7 and covariances[.9][1, 1] > 4.5 and covariances[.9][0, 1] < -2
assert (spread[1][0] - 1).abs().max() < .05 and (spread[6][1] - 1).abs().max() < .05
assert spread[1][1][0] < .15 and spread[6][0][0] < .15
PYTHON
