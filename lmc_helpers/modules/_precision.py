"""Modules in double precision, also where their code names another type, as in ``x.float()``."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

LOW = (torch.float16, torch.bfloat16, torch.float32)
_CASTS = (Tensor.float, Tensor.half, Tensor.bfloat16)


class Types(TorchFunctionMode):
    """Sees the precision of the coarsest type below float64 that is made, or reads each as float64 if ``replace``."""

    def __init__(self, replace: bool):
        super().__init__()
        self.replace, self.seen = replace, 0.0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.replace:
            func = Tensor.double if func in _CASTS else func
            args, kwargs = tuple(map(_double, args)), {name: _double(one) for name, one in kwargs.items()}
        out = func(*args, **kwargs)
        if isinstance(out, Tensor) and out.dtype in LOW:
            self.seen = max(self.seen, torch.finfo(out.dtype).eps)
        return out


def _double(one: Any) -> Any:
    return torch.float64 if isinstance(one, torch.dtype) and one in LOW else one


@contextmanager
def types_of(model: nn.Module) -> Iterator[None]:
    """Run a module that was marked by ``reads_double`` with all types read as float64."""
    if not getattr(model, "reads_double", False):
        yield
        return
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with Types(replace=True):
            yield
    finally:
        torch.set_default_dtype(default)
