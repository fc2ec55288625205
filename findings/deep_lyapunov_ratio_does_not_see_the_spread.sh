#!/usr/bin/env bash
# One would guess: `convergence_ratio` is how far the perturbed copies of a network lie apart after training, over how far they lay apart
#   before it, as it says; it is below 1 where the Lyapunov exponent is negative. Recorded by hand, in the loop that the README shows, the
#   training measured is the one that took place. A convex problem, where equal batches draw all copies together, has a negative exponent.
# What happens: the standard deviation is taken over copies *and* coordinates at once, so the ratio compares how far the path's two ends are
#   from its middle. Copies that have come together 43-fold have .29, whatever the size of the perturbation; copies that have come together
#   5-fold in a training that speeds up have 2.3, "divergent"; copies that have parted 1,100-fold have .06, "convergent". The README's loop
#   trains the network, and what is recorded are copies of it that nothing trains: exponent 0 and ratio 1, for a training that converges
#   as for one that blows up. With shuffled batches each copy gets an order of its own: the exponent is then that of the noise over
#   the perturbation, .15 for 1 % and .38 for .01 %, where with one order for all copies it is -1.3 for both.
# Versions: deep-lyapunov 0.1.2, torch 2.13.0, numpy 2.4.6, scikit-learn 1.9.1
# Why it matters: "convergent" is what `behavior` and the report say, and whether trainings from one start come together is what decides
#   their linear connectivity. Right is the exponent of trainings without chance: -.18 for -.19 here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q deep-lyapunov==0.1.2 scikit-learn==1.9.1 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
import torch
from deep_lyapunov import StabilityAnalyzer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
x = torch.randn(256, 10)
data = TensorDataset(x, x @ torch.randn(10, 2) + .5 * torch.randn(256, 2))
epochs = 20


def training(rate, one_order=False):
    """One epoch of SGD on a linear regression per call, at a rate that depends on the epoch; if asked for, in one order for all copies."""
    seen = {}

    def train(network, loader, n_epochs):
        epoch = seen[network] = seen.get(network, -1) + 1
        if one_order:
            torch.manual_seed(epoch)
        optimizer = torch.optim.SGD(network.parameters(), lr=rate(epoch))
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = (network(inputs) - targets).square().mean()
            loss.backward()
            optimizer.step()
        return {"loss": [loss.item()]}
    return train


def vectors(networks):
    """Parameters of the networks, one in a row."""
    return torch.stack([nn.utils.parameters_to_vector(network.parameters()).detach() for network in networks]).numpy()


def run(name, rate, batch, scale, one_order=False):
    """What the tool says, and the spread of the copies at the end over the one at the start, from their parameters alone."""
    torch.manual_seed(1)
    analyzer = StabilityAnalyzer(nn.Linear(10, 2), perturbation_scale=scale, n_trajectories=5, device="cpu")
    inner, first = training(rate, one_order), {}

    def train(network, loader, n_epochs):
        first.setdefault(network, vectors([network])[0])
        return inner(network, loader, n_epochs)
    found = analyzer.analyze(train, DataLoader(data, batch_size=batch, shuffle=True), n_epochs=epochs)
    start, end = np.stack(list(first.values())), vectors(analyzer.get_models())
    true = np.sqrt(end.var(0).sum() / start.var(0).sum())
    print(f"{name}, perturbed by {scale}: ratio {found.convergence_ratio:.3f}, in truth {true:.2e}, {found.behavior};",
          f"exponent {found.lyapunov:.3f}, in truth {np.log(true) / epochs:.3f}")
    return found.convergence_ratio, true, found.behavior, found.lyapunov


steady = [run("all examples at once", lambda epoch: .2, 256, scale) for scale in (.01, .0001)]
rising = run("rate rises from .004 to .3", lambda epoch: .004 * 2 ** (epoch / 3), 256, .01)
shuffled = [run("batches of 16", lambda epoch: .1, 16, scale) for scale in (.01, .0001)]
equal = [run("batches of 16, one order for all copies", lambda epoch: .1, 16, scale, True) for scale in (.01, .0001)]
for ratio, true, behavior, exponent in steady:
    assert behavior == "convergent" and true < .03 and ratio > 8 * true and abs(exponent - np.log(true) / epochs) < .02
assert abs(steady[0][0] / steady[1][0] - 1) < .01
assert rising[2] == "divergent" and rising[0] > 2 and rising[1] < .3 and rising[3] < 0
for ratio, true, behavior, exponent in shuffled:
    assert behavior == "convergent" and ratio < .1 and true > 5 and exponent > .1
assert shuffled[1][1] > 500 and shuffled[1][3] > shuffled[0][3] + .2
assert all(exponent < -1 for _, _, _, exponent in equal) and abs(equal[0][3] - equal[1][3]) < .1

for rate in (.1, 2.):
    torch.manual_seed(1)
    network = nn.Linear(10, 2)
    analyzer = StabilityAnalyzer(network, device="cpu")
    analyzer.start_recording()
    before, train = vectors([network]), training(lambda epoch: rate)
    for _ in range(epochs):
        train(network, DataLoader(data, batch_size=256), 1)
        analyzer.record_checkpoint()
    found = analyzer.compute_metrics()
    moved = np.linalg.norm(vectors([network]) - before)
    print(f"by hand, rate {rate}: the network has moved by {moved:.3g}; exponent {found.lyapunov:.1e}, ratio {found.convergence_ratio:.6f}")
    assert moved > 1 and abs(found.lyapunov) < 1e-6 and abs(found.convergence_ratio - 1) < 1e-5
assert moved > 1e4
PYTHON
