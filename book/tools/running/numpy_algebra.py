"""A second opinion on torch's float64 linear algebra: the same operations by NumPy, whose BLAS is another library.

``enter`` changes the process that calls it, for good: a chapter's kernel, in a setting of ``book/settings.yml``.
torch's wheels use MKL, NumPy's OpenBLAS, so that products, factorisations and eigenvalues then come from other code,
with other orders of summation, and derivatives through them too, because autograd ends in the same operations.
Eigenvectors may have other signs. float32 and sparse tensors, and what a factorisation returns for its derivative only,
stay torch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


def _eigh(A, UPLO="L", compute_v=True):
    if not compute_v:
        return np.linalg.eigvalsh(A, UPLO=UPLO), None
    return np.linalg.eigh(A, UPLO=UPLO)


def _svd(A, full_matrices=False, compute_uv=True, *, driver=None):
    if not compute_uv:
        return None, np.linalg.svd(A, compute_uv=False), None
    return np.linalg.svd(A, full_matrices=full_matrices)


def _cholesky(A, *, upper=False, check_errors=False):
    return (np.linalg.cholesky(A, upper=upper), None)


def _qr(A, mode="reduced"):
    return np.linalg.qr(A, mode=mode) if mode != "r" else (None, np.linalg.qr(A, mode="r"))


def _solve(A, B, *, left=True, check_errors=False):
    vector = B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]
    columns = B[..., None] if vector else B
    if left:
        solved = np.linalg.solve(A, columns)
    else:
        solved = np.swapaxes(np.linalg.solve(np.swapaxes(A, -1, -2), np.swapaxes(columns, -1, -2)), -1, -2)
    return (solved[..., 0] if vector else solved, None, None, None)


#: Operation → the same by NumPy; None in what it returns stands for what stays torch's.
OPERATIONS: dict[Any, Callable] = {
    aten.mm.default: np.matmul,
    aten.bmm.default: np.matmul,
    aten.mv.default: np.matmul,
    aten.dot.default: np.dot,
    aten.addmm.default: lambda C, A, B, *, beta=1, alpha=1: beta * C + alpha * (A @ B),
    aten.addmv.default: lambda c, A, b, *, beta=1, alpha=1: beta * c + alpha * (A @ b),
    aten.baddbmm.default: lambda C, A, B, *, beta=1, alpha=1: beta * C + alpha * (A @ B),
    aten._linalg_eigh.default: _eigh,
    aten._linalg_svd.default: _svd,
    aten.linalg_cholesky_ex.default: _cholesky,
    aten.linalg_qr.default: _qr,
    aten._linalg_solve_ex.default: _solve,
    aten.linalg_inv_ex.default: lambda A, *, check_errors=False: (np.linalg.inv(A), None),
}
FAILS_IN_TORCH = np.linalg.LinAlgError  # where NumPy refuses, torch says what it says


def _plain(argument: object) -> bool:
    """Whether it is a tensor that NumPy can take, with something in it."""
    if not isinstance(argument, torch.Tensor):
        return False
    dense = argument.layout == torch.strided and argument.device.type == "cpu"
    return dense and argument.dtype == torch.float64 and argument.numel() > 0


class NumpyAlgebra(TorchDispatchMode):
    """Within it, :data:`OPERATIONS` on float64 tensors of the CPU are NumPy's; ``count`` says how many were."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        if function not in OPERATIONS or not all(map(_plain, tensors)):
            return function(*args, **kwargs)
        arrays = [a.detach().resolve_conj().resolve_neg().numpy() if isinstance(a, torch.Tensor) else a for a in args]
        try:
            found = OPERATIONS[function](*arrays, **kwargs)
        except FAILS_IN_TORCH:
            return function(*args, **kwargs)
        self.count += 1
        if not isinstance(found, tuple):
            return torch.from_numpy(np.array(found))
        if any(one is None for one in found):
            return tuple(
                theirs if ours is None else torch.from_numpy(np.array(ours))
                for ours, theirs in zip(found, function(*args, **kwargs), strict=True)
            )
        return tuple(torch.from_numpy(np.array(one)) for one in found)


def enter() -> NumpyAlgebra:
    """Compute by NumPy from now on, in this process."""
    mode = NumpyAlgebra()
    mode.__enter__()
    return mode
