"""Random numbers of a seed."""

import numpy as np
import torch


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def labelled(n, *shape, classes, seed=0):
    """Inputs (n, …) and their labels (n,)."""
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(n, *shape, dtype=torch.float64, generator=draw), torch.randint(classes, (n,), generator=draw)


def basis(d, k, seed=0):
    """An orthonormal basis (d, k)."""
    return torch.tensor(np.linalg.qr(np.random.default_rng([seed, d, k]).standard_normal((d, k)))[0])


def f64(*rows):
    return torch.tensor(rows, dtype=torch.float64)
