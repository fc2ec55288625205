"""Weight matching of stacked pairs against a plain loop with NumPy and SciPy, at width 512 and on many small pairs."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.device import fix_threads
from lmc_helpers.networks.mlp import MLP

SETTINGS = {"width 512, 1 pair": ((784, 512, 512, 512, 10), 1), "width 32, 50 pairs": ((64, 32, 32, 10), 50)}


def pairs(name):
    fix_threads(1)
    sizes, P = SETTINGS[name]
    model = MLP(sizes)
    return model, model.initial(range(P)).params, model.initial(range(P, 2 * P)).params


def stacked(model, a, b):
    return weight_matching(a, b, model.symmetry(), seed=1).values[0].tolist()


def plain(model, a, b):
    """Algorithm 1 for one pair after another, layer by layer in random order."""
    rng, values, L = np.random.default_rng(1), [], len(model.sizes) - 2
    for n in range(len(a["0.weight"])):
        W, V = ([end[f"{k}.weight"][n].double().numpy() for k in range(L + 1)] for end in (a, b))
        c, d = ([end[f"{k}.bias"][n].double().numpy() for k in range(L)] for end in (a, b))
        p, progress = [np.arange(m) for m in model.sizes[1:-1]], True
        while progress:
            progress = False
            for k in rng.permutation(L):
                before = V[k][:, p[k - 1]] if k else V[k]
                after = V[k + 1][p[k + 1]] if k < L - 1 else V[k + 1]
                C = W[k] @ before.T + np.outer(c[k], d[k]) + W[k + 1].T @ after
                _, q = linear_sum_assignment(C, maximize=True)
                rows = np.arange(len(q))
                if C[rows, q].sum() > C[rows, p[k]].sum() + 1e-12:
                    p[k], progress = q, True
        value = sum(c[k] @ d[k][p[k]] for k in range(L))
        for k in range(L + 1):
            moved = V[k][:, p[k - 1]] if k else V[k]
            value += (W[k] * (moved[p[k]] if k < L else moved)).sum()
        values.append(value)
    return values


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("method", [stacked, plain])
def test_weight_matching(benchmark, name, method):
    benchmark.group = name
    model, a, b = pairs(name)
    values = benchmark.pedantic(method, args=(model, a, b), rounds=3)
    other = (plain if method is stacked else stacked)(model, a, b)
    assert np.mean(values) == pytest.approx(np.mean(other), rel=0.05)  # other orders, other local optima
