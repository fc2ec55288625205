"""Wrappers that torch puts around a module."""

from __future__ import annotations

from typing import Any

from torch import nn


def bare(model: nn.Module) -> nn.Module:
    """The module inside wrappers of torch.compile and of data parallelism."""
    inner: Any = model
    while isinstance(inner, (nn.DataParallel, nn.parallel.DistributedDataParallel)) or hasattr(inner, "_orig_mod"):
        inner = inner._orig_mod if hasattr(inner, "_orig_mod") else inner.module
    return inner
