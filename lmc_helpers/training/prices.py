"""The cost of training N networks, estimated beforehand.

A step costs

    seconds = OVERHEAD + N (flops B / FLOPS + bytes B / BANDWIDTH + parameters · PARAMETER + masked · MASKED),

where flops and bytes (of activations that wait for the gradient) of one example are counted, not guessed: the model is
run forwards and backwards on tensors without content. The constants were measured on one core of an AMD EPYC with
AVX-512, in float32; stacks of perceptrons, small convolutional and residual networks and a small transformer cost the
estimate or up to a factor of 1.7 less. Another machine may differ by a factor of 2 or 3.

On a GPU a step of a small network costs its launches and nothing else. The two constants were fitted to one H200, where
perceptrons, ResNet20, a transformer and CNNs up to the papers' sizes cost the estimate up to a factor of 3.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch

from lmc_helpers._typing import Natural, Positive, checked
from lmc_helpers.networks.model import Model
from lmc_helpers.training.recipes import Descent

__all__ = ["Price", "price"]

OVERHEAD = 2.0e-3  # seconds a step
FLOPS = 7.0e10  # floating-point operations a second, a multiplication and an addition are two
BANDWIDTH = 2.0e9  # bytes of activations a second, forwards and backwards, norms and activations included
PARAMETER = 1.0e-9  # seconds for each trained number, in the optimiser's step
MASKED = 2.0e-9  # seconds for each entry of F + D ⊙ W, forwards and backwards

GPU_OVERHEAD = 8.0e-3  # seconds a step
GPU_SPEEDUP = 750  # of the terms that grow with the networks
BASE_MIB = 500  # of Python with torch


@dataclass(frozen=True)
class Price:
    """Cost of a run: hours of one CPU core, or of a GPU, and memory in MiB."""

    cpu_hours: float
    gpu_hours: float
    memory_mib: int


@dataclass(frozen=True)
class _Example:
    flops: int
    bytes: int


@checked
def price(
    model: Model, descent: Descent, examples: Positive, networks: Positive, kept: Natural = 0, masked: Natural = 0
) -> Price:
    """The cost of training N networks on some examples.

    ``kept``: number of epochs whose networks are kept. ``masked``: number of weights of one network that have fixed
    parts.
    """
    one, parameters = _count(model), networks * model.parameters()
    steps = descent.epochs * math.ceil(examples / descent.batch)
    work = descent.epochs * examples * networks * (one.flops / FLOPS + one.bytes / BANDWIDTH)
    work += steps * (parameters * PARAMETER + networks * masked * MASKED)
    moments = {"sgd": int(descent.momentum > 0), "adam": 2, "adamw": 2}[descent.optimiser]
    numbers = parameters * (2 * (2 + moments) + 2 + kept * 2)  # a checkpoint copies all but the gradients
    numbers += 4 * networks * masked  # F, D, and two of the size of W
    data = examples * math.prod(model.input_shape) * 2 + networks * examples * 8 * (3 if descent.augment else 1)
    memory = 4 * numbers + data + networks * min(descent.batch, examples) * one.bytes * 1.5
    return Price(
        cpu_hours=(steps * OVERHEAD + work) / 3600,
        gpu_hours=(steps * GPU_OVERHEAD + work / GPU_SPEEDUP) / 3600,
        memory_mib=BASE_MIB + math.ceil(memory / 2**20),
    )


@functools.cache
def _count(model: Model) -> _Example:
    """Operations and bytes of one more example, forwards and backwards; constant terms cancel."""
    (few_flops, few_bytes), (more_flops, more_bytes) = _totals(model, 2), _totals(model, 3)
    return _Example(more_flops - few_flops, more_bytes - few_bytes)


def _totals(model: Model, batch: int) -> tuple[int, int]:
    from torch.utils.flop_counter import FlopCounterMode

    saved = 0

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal saved
        saved += tensor.numel() * tensor.element_size()
        return tensor

    params = {name: torch.empty(1, *shape, device="meta").requires_grad_() for name, shape in model.shapes().items()}
    x = torch.empty(1, batch, *model.input_shape, device="meta")
    with FlopCounterMode(display=False) as counter, torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        model._outputs(params, x).sum().backward()
    return counter.get_total_flops(), saved
