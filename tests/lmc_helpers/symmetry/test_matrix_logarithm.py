"""Real logarithms against exponentials, and Culver's condition on constructed matrices."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch

from lmc_helpers.symmetry.matrix_logarithm import real_logarithm, two_exponentials


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def similar(blocks, seed=0):
    """A matrix with the given diagonal blocks in another basis."""
    D = torch.from_numpy(scipy.linalg.block_diag(*blocks)).double()
    S = normal(len(D), len(D), seed=seed)
    return S @ D @ S.inverse()


def rotation(r, angle):
    return r * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


@pytest.mark.parametrize("h", [1, 2, 5])
def test_logarithm_of_an_exponential(h):
    M = normal(4, h, h, seed=h)
    M = 2 * M / torch.linalg.matrix_norm(M, 2)[:, None, None]  # spectrum within (−π, π) i
    torch.testing.assert_close(real_logarithm(torch.linalg.matrix_exp(M)), M, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("blocks", "negative"),
    [
        ([[2.0], [0.5], rotation(1.5, 3.0)], False),
        ([[-1.0], [-2.0], [3.0]], True),
        ([rotation(0.3, 0.1), [-0.7]], True),
        ([[4.0]], False),
        ([[-4.0]], True),
    ],
)
def test_simple_spectra(blocks, negative):
    g = similar(blocks, seed=3)
    if negative:
        with pytest.raises(ValueError, match=r"simple negative eigenvalue -"):
            real_logarithm(g)
    else:
        torch.testing.assert_close(torch.linalg.matrix_exp(real_logarithm(g)), g, rtol=1e-9, atol=1e-9)


def test_minus_the_identity_is_left_undecided_and_has_two_factors():
    g = -torch.eye(2, dtype=torch.float64)
    with pytest.raises(ValueError, match="multiple negative eigenvalue -1"):
        real_logarithm(g)
    A, B = two_exponentials(g)
    torch.testing.assert_close(torch.linalg.matrix_exp(A) @ torch.linalg.matrix_exp(B), g)


@pytest.mark.parametrize("h", [1, 2, 3, 6, 9])
def test_two_exponentials_are_skew_symmetric_and_multiply_to_g(h):
    g = normal(60, h, h, seed=h)
    g = g[torch.linalg.det(g) > 0]
    A, B = two_exponentials(g)
    torch.testing.assert_close(A, -A.mT, rtol=0, atol=1e-12)
    torch.testing.assert_close(B, B.mT, rtol=0, atol=1e-10)
    torch.testing.assert_close(torch.linalg.matrix_exp(A) @ torch.linalg.matrix_exp(B), g, rtol=1e-9, atol=1e-10)
    U, P = scipy.linalg.polar(g[0].numpy())
    torch.testing.assert_close(torch.linalg.matrix_exp(A[0]), torch.from_numpy(U), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(torch.linalg.matrix_exp(B[0]), torch.from_numpy(P), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: real_logarithm(torch.zeros(2, 2).double()), "singular to rounding"),
        (lambda: real_logarithm(torch.full((2, 2), math.nan).double()), "allowed: finite numbers"),
        (lambda: two_exponentials(torch.diag(torch.tensor([1.0, -2.0]).double())), "det g = -2; allowed: det g > 0"),
        (lambda: two_exponentials(torch.ones(2, 2).double()), "singular to rounding"),
    ],
)
def test_what_has_no_logarithm_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_badly_conditioned_logarithm_is_refused_or_right():
    shear = torch.tensor([[1.0, 1e9], [0.0, 1.0 + 1e-3]], dtype=torch.float64)
    try:
        M = real_logarithm(shear)
    except ValueError as error:
        assert "allowed" in str(error)
    else:
        assert (torch.linalg.matrix_exp(M) - shear).norm() <= 1e-8 * shear.norm()
