"""torch's linear algebra by NumPy: the same numbers to rounding, derivatives too, and really other code."""

import pytest
import torch
from torch.func import hessian, vmap

from book.tools.running.numpy_algebra import NumpyAlgebra

A, B = (torch.randn(3, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(s)) for s in (1, 2))
S = A @ A.mT + torch.eye(5, dtype=torch.float64)


def eigen(S):
    values, vectors = torch.linalg.eigh(S)
    return vectors @ torch.diag_embed(values) @ vectors.mT


def singular(A):
    U, s, V = torch.linalg.svd(A)
    return U @ torch.diag_embed(s) @ V


@pytest.mark.parametrize(
    "compute",
    [
        lambda: A[0] @ B[0],
        lambda: A @ B,
        lambda: torch.einsum("kij,kjl->kil", A, B),
        lambda: A[0] @ B[0, 0],
        lambda: B[0, 0] @ B[0, 1],
        lambda: torch.nn.functional.linear(A[0], B[0], A[0, 0]),
        lambda: torch.baddbmm(S, A, B, beta=0.5, alpha=2.0),
        lambda: torch.linalg.solve(S, B),
        lambda: torch.linalg.solve(S, B[:, 0]),
        lambda: torch.linalg.solve(S, B, left=False),
        lambda: torch.linalg.inv(S),
        lambda: torch.linalg.cholesky(S),
        lambda: torch.linalg.eigvalsh(S),
        lambda: torch.linalg.svdvals(A),
        lambda: torch.linalg.qr(A)[0].abs(),
        lambda: eigen(S),
        lambda: singular(A),
    ],
)
def test_the_same_numbers(compute):
    expected = compute()
    with NumpyAlgebra() as mode:
        found = compute()
    assert mode.count >= 1 and found.dtype == torch.float64
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # torch's own
def test_derivatives_go_through_it():
    def loss(W):
        return torch.linalg.solve(S[0] + W @ W.T, torch.tanh(W @ A[0])).square().sum()

    W = B[0].clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss(W), W)
    curved, batched = hessian(loss)(B[0]), vmap(loss)(B)
    with NumpyAlgebra() as mode:
        (found,) = torch.autograd.grad(loss(W), W)
        forward = mode.count
        torch.testing.assert_close(hessian(loss)(B[0]), curved, rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(vmap(loss)(B), batched, rtol=1e-12, atol=1e-12)
    assert forward >= 5  # of the derivative too
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_what_is_not_float64_stays_torch_s_and_errors_too():
    with NumpyAlgebra() as mode:
        assert (A.float() @ B.float()).dtype == torch.float32 and mode.count == 0
        assert (torch.zeros(0, 3, dtype=torch.float64) @ torch.zeros(3, 2, dtype=torch.float64)).shape == (0, 2)
        with pytest.raises(torch.linalg.LinAlgError):
            torch.linalg.solve(torch.zeros(2, 2, dtype=torch.float64), torch.ones(2, dtype=torch.float64))
        with pytest.raises(torch.linalg.LinAlgError):
            torch.linalg.cholesky(-S)
