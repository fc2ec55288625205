"""The inputs' subspace against dense linear algebra, loops and direct definitions."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from oracles.draws import basis, normal

from lmc_helpers._chapters.coherence import exact_copy
from lmc_helpers.identifiability import AsymmetricLayer, coherence, exact_copies, grams, leverages, pca_basis


@pytest.mark.parametrize(("m", "d", "k"), [(1, 1, 1), (2, 3, 1), (5, 4, 4), (3, 12, 5)])
def test_a_layer_neuron_by_neuron(m, d, k):
    F, D, W, U = normal(m, d), normal(m, d, seed=1), normal(m, d, seed=2), basis(d, k)
    layer = AsymmetricLayer(F, D, W, U)
    x = U @ normal(k, 7)  # inputs (d, 7) of the subspace
    for i in range(m):
        preactivation = sum((F[i, n] + D[i, n] * W[i, n]) * x[n] for n in range(d))
        torch.testing.assert_close(layer.functions[i] @ (U.T @ x), preactivation)
        M = U.T @ torch.diag(D[i])
        torch.testing.assert_close(layer.trained_parts[i], M @ W[i])
        torch.testing.assert_close(layer.centres[i], U.T @ F[i])
    torch.testing.assert_close(layer.functions, layer.centres + layer.trained_parts)


def test_a_layer_is_float64_and_unpacks_in_order():
    given = [torch.full((2, 3), float(n)) for n in range(3)] + [torch.eye(3)]
    layer = AsymmetricLayer(*given)
    for x, y in zip(layer, given, strict=True):
        assert x.dtype == torch.float64 and x.equal(y.double())
    batch = AsymmetricLayer(*(x.expand(4, 2, 3) for x in given[:3]), torch.eye(3))
    assert batch.centres.shape == (4, 2, 3)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (6, 2), (5, 5)])
def test_gram_matrices_entry_by_entry(d, k):
    D, U = normal(2, 3, d), basis(d, k)
    for index in np.ndindex(2, 3):
        S = sum(D[index][n] ** 2 * torch.outer(U[n], U[n]) for n in range(d))
        torch.testing.assert_close(grams(D, U)[index], S)


@pytest.mark.parametrize(("d", "k", "copies"), [(12, 2, 5), (6, 3, 2), (4, 1, 4)])
def test_exact_copies(d, k, copies):
    U = exact_copies(d, k, copies)
    torch.testing.assert_close(U.T @ U, torch.eye(k).double())
    assert coherence(U).item() == pytest.approx(1 / copies)


def test_leverages_of_rows_and_the_largest_of_them():
    U = basis(9, 4)
    assert coherence(U).item() == pytest.approx((U @ U.T).diagonal().max().item())
    assert coherence(U @ basis(4, 4, seed=2)).item() == pytest.approx(coherence(U).item())
    H = torch.tensor(scipy.linalg.hadamard(8)).double() / math.sqrt(8)
    assert coherence(H[:, :3]).item() == pytest.approx(3 / 8)
    assert coherence(torch.eye(5)[:, :2]).item() == 1.0
    torch.testing.assert_close(leverages(U), (U @ U.T).diagonal())
    assert leverages(exact_copy(3, d=7)).tolist() == pytest.approx([1 / 3] * 6 + [0])


@pytest.mark.parametrize("centred", [False, True])
def test_pca_basis_against_numpy(centred):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6)) * [5, 3, 2, 1, 0.5, 0.1] + 2
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True) if centred else X.T @ X / 200)
    share = np.cumsum(values[::-1]) / values.sum()
    for explained in (0.5, 0.9, 0.999, 1.0):
        U = pca_basis(torch.tensor(X), explained, centred)
        k = int(np.argmax(share >= explained - 1e-12)) + 1
        expected = vectors[:, ::-1][:, :k]
        assert U.shape == (6, k)
        np.testing.assert_allclose((U @ U.T).numpy(), expected @ expected.T, atol=1e-9)


def test_pca_basis_of_exactly_low_rank_inputs():
    U = basis(7, 2)
    X = torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) @ U.T
    found = pca_basis(X, 1.0)
    assert found.shape == (7, 2)
    torch.testing.assert_close(found @ found.T, U @ U.T)
