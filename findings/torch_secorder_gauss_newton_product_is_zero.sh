#!/usr/bin/env bash
# One would guess: `gauss_newton_product(network, loss, x, y, v)` is J'HJ v, with the Jacobian J of the outputs and the Hessian H of the
#   loss in them. `estimate_eigenvalues(..., num_eigenvalues=6)` gives the six largest eigenvalues of the Hessian, by Lanczos, its default,
#   as by power iteration.
# What happens: between the two halves of the product the outputs are taken out of their graph, and a gradient that is not there counts as
#   0: the product is exactly 0, for any network, loss and v. Lanczos runs for 100 steps without orthogonalising anew, and finds the largest
#   eigenvalue again and again: six times 1.13 in single precision, with six vectors that are one, where there are 1.13, .85, .71, .67, .59
#   and .50. Power iteration and the exact Hessian products of the package are right.
# Versions: torch-secorder 0.0.1, torch 2.13.0, numpy 2.4.6
# Why it matters: no curvature in the Gauss-Newton sense anywhere, and a plane along "the two sharpest directions" that is a line, pass for
#   results. The gap between eigenvalues, by which outliers are counted, is 0 for every network.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch-secorder==0.0.1 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss, one_hot
from torch_secorder import estimate_eigenvalues, exact_hvp, gauss_newton_product

torch.set_num_threads(1)


def vector(tensors):
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


torch.manual_seed(0)
network = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 4))
x, y = torch.randn(100, 6), torch.randint(4, (100,))
optimizer = torch.optim.Adam(network.parameters(), lr=.02)
for _ in range(200):
    optimizer.zero_grad()
    cross_entropy(network(x), y).backward()
    optimizer.step()
parameters = list(network.parameters())
v = [torch.randn_like(p) for p in parameters]
for name, loss, target in ("cross entropy", cross_entropy, y), ("squares", mse_loss, one_hot(y, 4).float()):
    outputs = network(x)
    jacobian = torch.stack([vector(torch.autograd.grad(output, parameters, retain_graph=True)) for output in outputs.reshape(-1)])
    inner = torch.autograd.functional.hessian(lambda z: loss(z.reshape(100, 4), target), outputs.detach().reshape(-1))
    truth = jacobian.T @ (inner @ (jacobian @ vector(v)))
    product = vector(gauss_newton_product(network, loss, x, target, v))
    print(f"{name}: norm of the Gauss-Newton product {product.norm():.3f}, in truth {truth.norm():.3f}")
    assert (product == 0).all() and truth.norm() > .1

slopes = vector(torch.autograd.grad(cross_entropy(network(x), y), parameters, create_graph=True))
hessian = torch.stack([vector(torch.autograd.grad(slope, parameters, retain_graph=True)) for slope in slopes])
truth = torch.linalg.eigvalsh(hessian).flip(0)[:6]
exact = vector(exact_hvp(lambda: cross_entropy(network(x), y), parameters, v))
keys = dict(loss_fn=lambda network, x, y: cross_entropy(network(x), y), data=x, target=y, num_eigenvalues=6)
lanczos, vectors = estimate_eigenvalues(network, **keys)
power, _ = estimate_eigenvalues(network, method="power_iteration", num_iterations=300, **keys)
units = torch.stack([vector(one) / vector(one).norm() for one in vectors])
print("six largest eigenvalues", *(f"{value:.3f}" for value in truth))
print("by power iteration     ", *(f"{value:.3f}" for value in power))
print("by Lanczos             ", *(f"{value:.3f}" for value in lanczos), "; cosines with the first vector",
      *(f"{value:.2f}" for value in units @ units[0]))
assert (exact - hessian @ vector(v)).norm() < 1e-3 * exact.norm()
assert ((power - truth).abs() < .02 * truth).all() and (truth[0] - truth[1:] > .1).all()
assert (lanczos[:4] - truth[0]).abs().max() < .01 and (units @ units[0])[:4].abs().min() > .99
PYTHON
