"""Tensors: their axes, dtypes and devices, and that their numbers are finite."""

from __future__ import annotations

import torch

from lmc_helpers.expect.devices import on_device
from lmc_helpers.expect.refusal import refuse, short
from lmc_helpers.expect.shapes import shape


def tensor(
    value: object,
    name: str,
    axes: str = "...",
    dtype: torch.dtype | None = None,
    finite: bool = True,
    held: bool = True,
) -> None:
    """A tensor of finite floating-point numbers with the given axes, none of those that have a name empty.

    ``axes`` is words, ``"m d"``, ``"... m d"`` with any number of axes in front, or ``"..."``; two equal words at the
    end are axes of one length. ``dtype`` is the only one allowed, or None for all floating-point ones; without
    ``finite`` the numbers are not looked at; without ``held`` there need be none, as on torch's meta, where operations
    are counted.

    Examples
    --------
    >>> tensor(torch.ones(3, 2), "W", "... m d")
    >>> tensor(torch.tensor([[1.0, float("nan")]]), "W", "... m d")
    Traceback (most recent call last):
        ...
    ValueError: W holds nan; allowed: finite numbers
    >>> tensor(torch.ones(3), "W", "... m d")
    Traceback (most recent call last):
        ...
    ValueError: W has shape (3,); allowed: (..., m, d), no axis empty
    """
    kinds = "floating point" if dtype is None else str(dtype)
    if not isinstance(value, torch.Tensor):
        refuse(name, f"= {short(value)}", f"a tensor of {kinds}")
        return
    if not value.is_floating_point() or (dtype is not None and value.dtype != dtype):
        refuse(name, f"has dtype {value.dtype}", kinds)
    shape(value.shape, name, axes)
    if held:
        on_device(value, name)
    if finite and held and value.numel():
        _finite(value, name)


def _finite(value: torch.Tensor, name: str) -> None:
    """One pass: the least and the largest number, which are NaN if one of them is."""
    if not torch.isfinite(torch.stack(value.detach().aminmax())).all():
        refuse(name, f"holds {value[~torch.isfinite(value)][0].item()}", "finite numbers")


def tensors(values: object, name: str = "") -> None:
    """Tensors that hold numbers, whatever they are: a dict of them by their names, or a list of them.

    Examples
    --------
    >>> tensors([torch.ones(1), "b"], "weights")
    Traceback (most recent call last):
        ...
    ValueError: weights[1] = 'b'; allowed: a tensor
    """
    if not isinstance(values, (dict, list, tuple)):
        refuse(name, f"= {short(values)}", "a list of tensors")
        return
    named = values if isinstance(values, dict) else {f"{name}[{k}]": value for k, value in enumerate(values)}
    for each, value in named.items():
        if not isinstance(value, torch.Tensor):
            refuse(each, f"= {short(value)}", "a tensor")
        else:
            on_device(value, each)


def same(values: dict[str, torch.Tensor], *, shape: bool = True) -> None:
    """Tensors of one dtype on one device, and of one shape.

    Examples
    --------
    >>> same({"a": torch.ones(2), "b": torch.ones(2).double()})
    Traceback (most recent call last):
        ...
    ValueError: a has dtype torch.float32 and b torch.float64; allowed: the same
    """
    (first, one), *others = values.items()
    for name, other in others:
        for what, left, right in (
            ("shape", tuple(one.shape), tuple(other.shape)),
            ("dtype", one.dtype, other.dtype),
            ("device", one.device, other.device),
        ):
            if left != right and (shape or what != "shape"):
                refuse(first, f"has {what} {left} and {name} {right}", "the same")


def permutation(value: object, name: str) -> None:
    """A tensor of indices, torch.long, with an axis that is not empty.

    Examples
    --------
    >>> permutation(torch.tensor([1.0, 0.0]), "p")
    Traceback (most recent call last):
        ...
    ValueError: p has shape (2,) and dtype torch.float32; allowed: (..., m) and torch.long
    """
    if not isinstance(value, torch.Tensor):
        refuse(name, f"= {short(value)}", "a tensor of torch.long")
    elif value.dtype != torch.long:
        refuse(name, f"has shape {tuple(value.shape)} and dtype {value.dtype}", "(..., m) and torch.long")
    elif value.ndim < 1 or not value.shape[-1]:
        refuse(name, f"has shape {tuple(value.shape)}", "(..., m), m >= 1")
    else:
        on_device(value, name)
