#!/usr/bin/env bash
# One would guess: `get_Hessian` of a quadratic loss is the matrix of the quadratic form: differences are exact there, whatever the step.
# What happens: off the diagonal it is, on the diagonal it is twice that, with a gradient of one's own as with differences. A saddle with
#   the eigenvalues -1 and 3 comes out as flat and convex, 0 and 4; a form with the eigenvalues 1 to 6, on random axes, gets 3.4 to 10.9,
#   and its top eigenvector is turned by 10 degrees. The stochastic estimate beside it, `get_Hessian_SPSA_approx`, has the right mean.
# Versions: orqviz 0.2.0 (the newest that pip installs: later archives call themselves 0.2.0 too), numpy 2.4.6, scipy 1.17.1,
#   scikit-learn 1.9.1
# Why it matters: the sign of the lowest eigenvalue tells a saddle between two minima from a minimum, and scans along the eigenvectors,
#   the next step in this package, then run in other directions. A loss with independent parameters only looks twice as sharp.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q orqviz==0.2.0 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
from orqviz.hessians import get_Hessian, get_Hessian_SPSA_approx

rng = np.random.default_rng(0)
np.random.seed(0)  # orqviz draws from the global generator
axes = np.linalg.qr(rng.normal(size=(6, 6)))[0]
forms = {"a saddle": np.array([[1.0, 2.0], [2.0, 1.0]]), "a minimum": axes @ np.diag(np.arange(1.0, 7)) @ axes.T}
for name, form in forms.items():
    here = rng.normal(size=len(form))


    def loss(w):
        return w @ form @ w / 2


    def slope(w, direction):
        return form @ w @ direction


    twice = form + np.diag(np.diag(form))
    found = {"differences": get_Hessian(here, loss), "own gradient": get_Hessian(here, loss, slope)}
    turned = np.degrees(np.arccos(abs(found["differences"].eigenvectors[-1] @ np.linalg.eigh(form)[1][:, -1])))
    print(f"{name}: eigenvalues {np.round(np.linalg.eigvalsh(form), 3)}; top eigenvector turned by {turned:.0f} degrees")
    for way, result in found.items():
        print(f"  {way}: {np.round(result.eigenvalues, 3)}")
        assert np.allclose(result.hessian_matrix, twice, atol=1e-9)
    mean = get_Hessian_SPSA_approx(here, loss, n_reps=20000).hessian_matrix
    off, further = (np.linalg.norm(mean - matrix) / np.linalg.norm(form) for matrix in (form, twice))
    print(f"  stochastic: off by {off:.2f} of the norm, from the doubled one {further:.2f}")
    assert off < .1 < .4 < further
PYTHON
