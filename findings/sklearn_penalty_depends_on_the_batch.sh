#!/usr/bin/env bash
# One would guess: `alpha` of MLPClassifier is the strength of one penalty, alpha |W|^2 / 2n for n examples, whatever solver and batch
#   size: in a convex problem lbfgs and adam end at the same weights.
# What happens: the penalty is divided by the size of the *batch*. Without hidden layers, on two digits (360 examples), lbfgs and adam
#   with one batch of 360 end at weights of norm 2.30; adam with batches of 60 at 1.23, with batches of 12 at .52: there alpha is 30
#   times as strong. The default batch of 200 makes alpha five times as strong for 1,000 examples, 300 times for 60,000.
# Versions: scikit-learn 1.9.1, numpy 2.4.6, scipy 1.17.1
# Why it matters: minima found by two solvers, or with small and large batches, belong to different losses; sharpness, norms and
#   barriers between them, a favourite comparison, then compare penalties. `loss_` adds the same penalty and does not show it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
OMP_NUM_THREADS=1 "$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

x, y = load_digits(return_X_y=True)
x, y = x[y < 2] / 16, y[y < 2]
alpha, n = 10.0, len(y)


def own(divisor):
    """Norm of the minimiser of mean log-loss + alpha |w|² / 2 divisor: logistic regression, the offset free."""

    def objective(w):
        score = (x @ w[:-1] + w[-1]) * (2 * y - 1)
        slope = -(2 * y - 1) / (1 + np.exp(score)) / n
        penalty = alpha / divisor * w[:-1]
        return np.log1p(np.exp(-score)).mean() + penalty @ w[:-1] / 2, np.r_[slope @ x + penalty, slope.sum()]

    return np.linalg.norm(minimize(objective, np.zeros(65), jac=True, method="L-BFGS-B", options=dict(ftol=1e-12)).x[:-1])


def fitted(**options):
    return np.linalg.norm(MLPClassifier((), alpha=alpha, random_state=0, tol=1e-9, n_iter_no_change=50, **options).fit(x, y).coefs_[0])


found = {"lbfgs": fitted(solver="lbfgs", max_iter=1000)}
print(f"{n} examples; lbfgs: norm {found['lbfgs']:.4f}, penalty divided by {n}: {own(n):.4f}")
for batch in (360, 60, 12):
    found[batch] = fitted(solver="adam", batch_size=batch, max_iter=2000, learning_rate_init=.01 if batch == n else .003)
    print(f"adam, batches of {batch:3}: norm {found[batch]:.4f}, penalty divided by {batch:3}: {own(batch):.4f}")
    assert abs(found[batch] / own(batch) - 1) < .02
assert n == 360 and abs(found["lbfgs"] / own(n) - 1) < .01
assert found["lbfgs"] > 1.5 * found[60] > 3 * found[12]
PYTHON
