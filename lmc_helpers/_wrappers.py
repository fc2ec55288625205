"""Wrappers that torch puts around a module."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.optim.swa_utils import AveragedModel


def bare(model: nn.Module) -> nn.Module:
    """The module inside wrappers of torch.compile, of data parallelism and of averages."""
    inner: Any = model
    wrappers = (nn.DataParallel, nn.parallel.DistributedDataParallel, AveragedModel)
    while isinstance(inner, wrappers) or hasattr(inner, "_orig_mod"):
        inner = inner._orig_mod if hasattr(inner, "_orig_mod") else inner.module
    return inner
