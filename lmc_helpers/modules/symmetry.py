"""The interchangeable units of any module, by a trace, and modules with their units in another order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lmc_helpers._typing import checked
from lmc_helpers.modules._module import bare, called, copied, filled, fitting, tensors, tensors_of, untouched
from lmc_helpers.modules._trace import BY_HAND, Refused, trace, varies
from lmc_helpers.networks.permutations import Check, Symmetry, change, cycles, permute, verify_outputs
from lmc_helpers.seeds import torch_generator

__all__ = ["permuted", "symmetry", "verify"]


@checked
def symmetry(model: nn.Module, x: Any, outputs: Callable | None = None) -> Symmetry:
    """The groups of interchangeable units of a module, found by following its axes through one forward pass.

    A group is called after the module or parameter that makes its units. Where heads of an attention, or groups of a
    convolution, may be exchanged, the units inside each are groups of their own, ``"q_proj[0]"``, ..., which
    ``within`` lists.

    The groups are proven by a rule for each operation, and then tested, since a rule may be wrong: all groups are
    permuted at random at once. This runs a copy in double precision, where a change of 10⁻⁸ of the outputs shows, with
    10 % of noise on parameters, since those of a fresh network may be 0 or alike. It takes three forward passes, and
    beside the module four times its memory in single precision: 1.6 GB for 100 million parameters. A small batch of
    inputs is enough.

    Statistics of units in buffers, as of a batch norm, move with the units. A buffer that varies along two axes or
    more, as a mask of weights or the fixed part of an asymmetric weight, belongs to the architecture: its units are
    not interchangeable.

    Parameters
    ----------
    model
        A module, which is not changed; it is traced in evaluation mode.
    x
        Its input, or a tuple of arguments.
    outputs
        What counts of the outputs, such as ``lambda out: out["logits"]``: all of them if it is left out. States of an
        encoder or embeddings that are given beside predictions fix the order of their units.

    Returns
    -------
    Symmetry
        No axis of inputs or outputs is in a group. Not every symmetry is found: units that are copies of each other, or
        the rotations of a linear layer, are not looked for. An operation that no rule describes fixes the units that
        it takes; ``left`` names it and the axes, and ``print`` shows both.

    Raises
    ------
    ValueError
        If the outputs change; write the groups by hand then and ask :func:`verify`.

    Examples
    --------
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    >>> found = symmetry(net, torch.ones(2, 4))
    >>> found.sizes, found.groups["0"][2].name
    ({'0': 8}, '2.weight')
    """
    return _Probe(model, x, outputs).traced()


@checked
def permuted(model: nn.Module, symmetry: Symmetry, permutations: Mapping[str, Any]) -> nn.Module:
    """A copy of a module, in evaluation mode, with units in another order: unit i is unit p_i of before.

    A permutation p is (m,), or (1, m) as :func:`~lmc_helpers.networks.permutations.random_permutations` draws it. Of
    units inside units of another group, those of the outer group are moved first, in whatever order both are given.

    Examples
    --------
    >>> net, x = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.ones(1, 4)
    >>> other = permuted(net, symmetry(net, x), {"0": torch.tensor([2, 0, 1])})
    >>> torch.equal(other[0].weight, net[0].weight[[2, 0, 1]]), torch.allclose(other(x), net(x), atol=1e-6)
    (True, True)
    """
    values = {name: value[None] for name, value in tensors(bare(model)).items()}
    moved = permute(values, symmetry, {group: torch.as_tensor(p).reshape(1, -1) for group, p in permutations.items()})
    return filled(model, {name: value[0] for name, value in moved.items()})


@checked
def verify(
    model: nn.Module,
    x: Any,
    symmetry: Symmetry | None = None,
    left_out: bool = True,
    outputs: Callable | None = None,
) -> Check:
    """Check groups of interchangeable units, found or written by hand, by running the module with its units permuted.

    It runs a copy in double precision with 10 % of noise added to parameters, once for each group, once for all at
    once, and once for each axis of a group that is left out: if the outputs stay, the list has an axis too many.

    Parameters
    ----------
    model, x
        A module, which is not changed, and its input, or a tuple of arguments.
    symmetry
        The groups; those of :func:`symmetry` if it is left out.
    left_out
        Whether axes are left out one at a time, which takes most of the time for a large module.
    outputs
        What counts of the outputs, as in :func:`symmetry`.

    Examples
    --------
    >>> from lmc_helpers.networks.permutations import Axis
    >>> net, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), torch.ones(1, 4)
    >>> verify(net, x).holds()
    True
    >>> verify(net, x, Symmetry({"0": (Axis("0.weight", 0), Axis("0.bias", 0))}, {"0": 3})).holds()  # no "2.weight"
    False
    """
    probe = _Probe(model, x, outputs)
    found = probe.traced() if symmetry is None else symmetry
    permute(probe.values, found, cycles(found, torch_generator(0, "check of a trace")))  # raises if axes do not fit
    return verify_outputs(probe.outputs, probe.values, found, torch_generator(0, "check of a trace"), left_out)


class _Probe:
    """A copy of a module, with noise on its parameters, and inputs: in double precision if the module runs in it."""

    def __init__(self, model: nn.Module, x: Any, chosen: Callable | None = None):
        self.chosen = chosen or (lambda out: out)
        for double in (True, False):
            try:
                self.model = copied(model).double() if double else copied(model)
                self.x = fitting(self.model, x)
                _add_noise(self.model)
                own = dict(self.model.named_buffers())  # they may change in a call
                self.values = {n: (v.clone() if n in own else v)[None] for n, v in tensors(self.model).items()}
                self.expected = self.outputs(self.values)
                return
            except (RuntimeError, TypeError):  # a type is written in its code, or the device has no double precision
                if not double:
                    raise

    def outputs(self, values: Mapping[str, Tensor]) -> list[Tensor]:
        """Outputs with values (1, …) of parameters and buffers, from the same random numbers at every call."""
        with untouched(seed=0):
            out = called(self.model, self.x, {name: value[0] for name, value in values.items()})
            return list(tensors_of(self.chosen(out)))

    def traced(self) -> Symmetry:
        """The groups, refused unless the outputs stay when all units are permuted."""
        with untouched(seed=0):
            groups, precision = trace(self.model, self.x, self.chosen)
        perms, rounding = cycles(groups, torch_generator(0, "check of a trace")), precision**0.5
        moved = self.outputs(permute(self.values, groups, perms))
        if not change(moved, self.expected) <= rounding:
            if not change(self.outputs(self.values), self.expected) <= rounding:
                raise Refused(f"the module gives other outputs at every call; {BY_HAND}")
            raise Refused(f"the module's outputs change when the units found by the trace are permuted; {BY_HAND}")
        return groups


def _add_noise(model: nn.Module) -> None:
    """Add noise of 10 % to parameters and to statistics of units: none is 0 and no two units are alike."""
    generator = torch_generator(0, "noise for the check of a trace")
    with torch.no_grad():
        for value in [*model.parameters(), *model.buffers()]:
            statistics = isinstance(value, nn.Parameter) or sum(varies(value, d) for d in range(value.ndim)) < 2
            if not value.is_floating_point() or not value.ndim or not statistics:
                continue
            noise = torch.randn(value.shape, generator=generator, dtype=torch.float32).to(value.device)
            if (value > 0).all():  # a variance
                value.mul_(noise.div_(10).exp_())
            else:
                size = (torch.linalg.vector_norm(value) / max(1, value.numel()) ** 0.5).clamp_min(0.1)
                value.add_(noise.mul_(size / 10))
