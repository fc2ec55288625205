#!/usr/bin/env bash
# One would guess: a Gaussian process with the neural tangent kernel stands for an infinitely wide network: all but without noise it goes
#   through any 24 points of a sine on [-3, 3], and `bias`, which `fit` tunes as it tunes all hyperparameters, decides where it can bend.
# What happens: in the kernel the biases are trained and not drawn: they start at 0. On one input every unit then bends at 0 and nowhere else,
#   whatever depth and bias: the kernel has rank 4, two straight lines, and the residual is .43, for a sine with a root mean square of .71.
#   A wide network's own kernel agrees if its biases start at 0; with biases drawn as its weights are it has rank 24. A column of ones beside
#   the input, which is a drawn bias, brings the residual below 2e-5. Nor is `bias` tuned: its gradient is not a number for points on opposite
#   sides of 0, and `fit` returns the start value, with a likelihood that is not a number, and warns only of divisions by 0 and of
#   an optimiser that did not converge.
# Versions: scikit-ntk 1.2.1, scikit-learn 1.9.1, numpy 2.4.6, scipy 1.17.1
# Why it matters: standardised inputs lie on both sides of 0, and one input is the example that everybody draws. With more inputs the fit is
#   a straight line along every ray from 0, and one point that is there as x and as -x stops the tuning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q scikit-ntk==1.2.1 scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from skntk import NeuralTangentKernel
from sklearn.gaussian_process import GaussianProcessRegressor

x = np.linspace(-3, 3, 24)[:, None]
y = np.sin(2 * x[:, 0])
bias = .1


def rank(kernel):
    """Eigenvalues above 1e-6 of the largest."""
    values = np.linalg.eigvalsh(kernel)
    return int((values > 1e-6 * values[-1]).sum())


def residual(kernel, inputs):
    """Root mean square of what a process all but without noise leaves at its own points."""
    process = GaussianProcessRegressor(kernel, alpha=1e-6).fit(inputs, y)
    return float(np.sqrt(np.mean((process.predict(inputs) - y) ** 2)))


def network_kernel(spread, width=200000):
    """Inner products of the gradients of a network with one hidden layer of rectifiers, its biases drawn with that spread."""
    rng = np.random.default_rng(0)
    into, biases, out = rng.normal(size=(1, width)), spread * rng.normal(size=width), rng.normal(size=width)
    active = (before := x @ into + bias * biases) > 0
    return 2 / width * ((before * active) @ (before * active).T + (active * out) @ (active * out).T * (x @ x.T + bias ** 2)) + bias ** 2


def fixed(depth, value=bias):
    """The package's kernel, with its bias held."""
    return NeuralTangentKernel(depth=depth, bias=value, bias_bounds="fixed")


with_ones = np.hstack([x, np.ones_like(x)])
sides = np.array([x[:, 0] > 0, x[:, 0] > 0, x[:, 0] < 0, x[:, 0] < 0]) * np.array([x[:, 0], x[:, 0] ** 0] * 2)
lines = y - sides.T @ np.linalg.lstsq(sides.T, y, rcond=None)[0]
best = np.sqrt(np.mean(lines ** 2))
print(f"sine: {np.sqrt(np.mean(y ** 2)):.3f}; what two straight lines that meet anyhow leave of it: {best:.3f}")
for depth in (1, 2, 5):
    for value in (.1, 1., 10.):
        found = rank(fixed(depth, value)(x)), residual(fixed(depth, value), x), residual(fixed(depth, value), with_ones)
        print(f"depth {depth}, bias {value}: rank {found[0]}, residual {found[1]:.3f}; with a column of ones {found[2]:.1e}")
        assert found[0] == 4 and abs(found[1] - best) < .003 and found[2] < 1e-4

package = fixed(1)(x) * 2 * (1 + bias ** 2)  # the package divides by the number of layers and by 1 + bias²
for spread in (0, 1, 10):
    own = network_kernel(spread)
    print(f"a network's own kernel, biases drawn with {spread}: rank {rank(own)}, off by {np.abs(own - package).max() / package.max():.3f}")
    assert rank(own) == 4 if spread == 0 else rank(own) > 8
    assert spread or np.abs(own - package).max() < .03 * package.max()

kernel = NeuralTangentKernel(depth=2, bias=bias)
gradient = kernel(x, eval_gradient=True)[1]
process = GaussianProcessRegressor(kernel, alpha=1e-6).fit(x, y)
print(f"gradients by the bias that are not a number: {np.isnan(gradient).mean():.2f}; bias after fit {process.kernel_.bias:.3f},",
      f"likelihood {process.log_marginal_likelihood_value_}")
assert np.isnan(gradient).mean() > .3 and abs(process.kernel_.bias - bias) < 1e-9 and np.isnan(process.log_marginal_likelihood_value_)
positive = np.abs(x) + .1
process = GaussianProcessRegressor(kernel, alpha=1e-6).fit(positive, y)
print(f"on one side of 0: bias after fit {process.kernel_.bias:.3g}, likelihood {process.log_marginal_likelihood_value_:.3g}")
assert abs(process.kernel_.bias - bias) > .01 and np.isfinite(process.log_marginal_likelihood_value_)

rng = np.random.default_rng(0)
inputs = rng.normal(size=(40, 3))
process = GaussianProcessRegressor(fixed(3), alpha=1e-6).fit(inputs, np.sin(2 * inputs).sum(1))
ray = process.predict(np.outer([.5, 1, 1.5, 2], rng.normal(size=3)))
gradient = kernel(np.vstack([inputs, -inputs[:1]]), eval_gradient=True)[1]
print(f"three inputs: along a ray {np.round(ray, 3)}, second differences {np.abs(np.diff(ray, 2)).max():.1e};",
      f"with one point mirrored {np.isnan(gradient).sum()} gradients are not a number")
assert np.ptp(ray) > .1 and np.abs(np.diff(ray, 2)).max() < 1e-5 and np.isnan(gradient).sum() == 2
PYTHON
