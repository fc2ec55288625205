"""Devices that hold numbers."""

from __future__ import annotations

import torch

from lmc_helpers.expect.refusal import refuse, short

DEVICES = ("cpu", "cuda", "mps", "xpu")  # what holds numbers


def device(value: object, name: str) -> None:
    """None, or a device that holds numbers, by torch's name or as a torch.device.

    Examples
    --------
    >>> device("abacus", "device")
    Traceback (most recent call last):
        ...
    ValueError: device = 'abacus'; allowed: None, 'cpu', 'cuda', 'mps', 'xpu'
    """
    known = isinstance(value, torch.device) and value.type in DEVICES
    known = known or (isinstance(value, str) and value.partition(":")[0] in DEVICES)
    if value is not None and not known:
        refuse(name, f"= {short(value)}", f"None, {', '.join(map(repr, DEVICES))}")


def place(value: object, name: str) -> None:
    """Where tensors of floating point may go: a type, a device by torch's name or as a torch.device, or a tensor.

    Examples
    --------
    >>> place(torch.float64, "where")
    >>> place(torch.long, "where")
    Traceback (most recent call last):
        ...
    ValueError: where = torch.int64; allowed: a floating-point dtype of torch, a device, or a tensor of such
    """
    kind = value.dtype if isinstance(value, torch.Tensor) else value
    known = kind.is_floating_point if isinstance(kind, torch.dtype) else isinstance(kind, (torch.device, str))
    if not known:
        refuse(name, f"= {short(value)}", "a floating-point dtype of torch, a device, or a tensor of such")
    if isinstance(value, torch.Tensor):
        on_device(value, name)
    elif not isinstance(value, torch.dtype):
        device(value, name)


def on_device(value: torch.Tensor, name: str) -> None:
    """Refuse a tensor on a device that holds no numbers, as torch's meta."""
    if value.device.type not in DEVICES:
        refuse(name, f"lies on device {value.device}", "a device that holds numbers: " + ", ".join(DEVICES))
