"""The interface of an architecture (:class:`Model`), and N networks of one architecture (:class:`Stack`).

An architecture is data: a frozen dataclass whose :meth:`Model.module` is one network as a module of torch. It computes
the outputs of N networks at once from tensors name → (N, …), by ``torch.vmap``, and knows which linear maps an
asymmetric scheme may act on, and which axes of its parameters a permutation of hidden units moves together.

A weight of an asymmetric network acts as F + D ⊙ W (Bürgin et al., eq. (2)). F and D belong to the :class:`Stack`, not
to the architecture: a model computes with the effective weight and never sees the two parts.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.utils._pytree import tree_map

from lmc_helpers._typing import Integers, Seed, Tensors, checked, many, short
from lmc_helpers.networks.layers import Initial, draw_by_law
from lmc_helpers.networks.permutations import Axis, Permutations, Symmetry, permute
from lmc_helpers.seeds import torch_generator

__all__ = ["Fixed", "Model", "Record", "Scheme", "Stack"]

#: Group of permutable units → their activations (N, samples, m).
Record = dict[str, Tensor]

if TYPE_CHECKING:
    Fixed = Mapping[str, tuple[Tensor, Tensor]]
else:
    #: Name of a weight → (F, D), each (G, …) with G a divisor of the number of networks.
    Fixed = many(
        tuple[Float[Tensor, "..."], Float[Tensor, "..."]], "pairs of tensors (F, D) by the names of weights", dict
    )


@runtime_checkable
class Scheme(Protocol):
    """Sampler of F and D, eq. (2), for example one of :mod:`lmc_helpers.identifiability.asymmetric`."""

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """F and D of that shape, float64."""


class Model(ABC):
    """An architecture as data; its subclasses are frozen dataclasses."""

    init: Initial

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, for example (784,) or (3, 32, 32)."""

    @property
    @abstractmethod
    def classes(self) -> int:
        """Number of outputs."""

    @abstractmethod
    def module(self) -> nn.Module:
        """One network as a module of torch; its own initial values are not used."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of every tensor of one network, in order; all are trained but :meth:`statistics`.

        They are those of :meth:`module`, less the parts of names that begin with an underscore; norms have gains and
        shifts, and running means and variances.
        """
        return {name: shape for name, (_, shape) in _as_module(self)[1].items()}

    def statistics(self) -> frozenset[str]:
        """Names of the tensors that follow the examples and are not trained: running means and variances."""
        return frozenset(name for name in self.shapes() if name.endswith((".mean", ".variance")))

    def maps(self) -> tuple[str, ...]:
        """Names of the weights of linear maps, which an asymmetric scheme may act on: eq. (2) of Bürgin et al."""
        return tuple(name for name in self.shapes() if name.endswith(".weight"))

    @abstractmethod
    def widest(self) -> int:
        """Numbers in the largest activation of one network for one input, which bound the memory of a batch."""

    def draw(self, generator: torch.Generator) -> Tensors:
        """Initial values of one network, name → tensor of its shape, float64: here by the law ``init``."""
        return draw_by_law(self.shapes(), self.init, generator)

    def units(self) -> dict[str, tuple[str, ...]]:
        """Group of :meth:`symmetry` → the parts of :meth:`module` that make its units, or layer norms that read."""
        return {group: (group,) for group in self.symmetry().groups}

    def _own(self, params: Tensors) -> Tensors:
        """The tensors of one network as those of its module."""
        return {name: params[ours].reshape(shape) for ours, (name, shape) in _as_module(self)[1].items()}

    def _outputs(self, params: Tensors, x: Tensor, record: Record | None = None, training: bool = False) -> Tensor:
        """Outputs (N, B, classes) of inputs (N or 1, B, …), unchecked; training moves running statistics in place."""
        net, units = _as_module(self)[0].train(training), {} if record is None else self.units()

        def one(params: Tensors, x: Tensor) -> tuple[Tensor, Record]:
            seen: Record = {}
            with ExitStack() as hooks:
                for name in {name for names in units.values() for name in names}:
                    hook = partial(_keep, seen, name)
                    hooks.enter_context(net.get_submodule(name).register_forward_hook(hook))
                outputs = functional_call(net, self._own(params), x)
            return outputs, {group: torch.cat([seen[part] for part in parts]) for group, parts in units.items()}

        if len(next(iter(params.values()))) == 1:
            outputs, seen = tree_map(lambda z: z[None], one({name: value[0] for name, value in params.items()}, x[0]))
        elif len(x) == 1:
            outputs, seen = vmap(one, (0, None))(params, x[0])
        else:
            outputs, seen = vmap(one)(params, x)
        if record is not None:
            record |= seen
        return outputs

    def symmetry(self) -> Symmetry:
        """The groups of hidden units that may be permuted, with all axes that move with them.

        Here of a chain of layers: a group ``"k"`` for the units that map k makes and that the next map reads.
        """
        shapes, groups = self.shapes(), {}
        for made, read in pairwise(name for name in shapes if name.endswith(".weight")):
            group = made.rpartition(".")[0]
            rows = [Axis(name, 0) for name in shapes if name.rpartition(".")[0] == group]
            columns = [Axis(name, 1) for name in (read, f"{group}.gate") if name in shapes]
            groups[group] = (*rows, *columns)
        return Symmetry(groups, {group: shapes[axes[0].name][0] for group, axes in groups.items()})

    @checked
    def forward(
        self, params: Tensors, x: Float[Tensor, "*shape"], record: Record | None = None
    ) -> Float[Tensor, "N B classes"]:
        """Outputs of N networks.

        ``params``: name → (N, …). ``x``: inputs (B, …) of all networks, or (N, B, …). ``record``: receives group →
        activations (N, samples, m) of the permutable units of each group of :meth:`symmetry`.
        """
        N, some = self._networks(params), next(iter(params.values()))
        _check_same(x, some)
        return self._outputs(params, self._batched(x, N), record)

    @checked
    def initial(self, seeds: Integers, dtype: torch.dtype = torch.float32, fixed: Fixed | None = None) -> Stack:
        """N networks on the CPU, each drawn with its seed in float64 and rounded.

        ``fixed``: name of a weight → (F, D), as in :class:`Stack`.
        """
        drawn = [self.draw(torch_generator(seed, "initial weights")) for seed in seeds]
        if not drawn:
            raise ValueError("0 networks; allowed: at least 1")
        params = {name: torch.stack([one[name] for one in drawn]).to(dtype) for name in self.shapes()}
        return Stack(self, params, {name: (F.to(dtype), D.to(dtype)) for name, (F, D) in (fixed or {}).items()})

    def map_shape(self, name: str) -> tuple[int, ...]:
        """Shape (outputs, inputs, kernel …) of a map in :meth:`module`, in which a scheme sees it."""
        return _as_module(self)[1][name][1]

    @checked
    def fixed_parts(self, schemes: Mapping[str, Scheme], seed: Seed) -> dict[str, tuple[Tensor, Tensor]]:
        """F and D of some maps, name → two tensors (1, …), shared by all networks of a stack, float64.

        The numbers are keyed by (seed, name of the weight) alone, as in
        :func:`~lmc_helpers.identifiability.asymmetric.asymmetrise`.
        """
        unknown = sorted(set(schemes) - set(self.maps()))
        if unknown:
            raise ValueError(f"weights {', '.join(unknown)} are unknown; allowed: {', '.join(self.maps())}")
        found = {}
        for name, scheme in schemes.items():
            F, D = scheme.draw(self.map_shape(name), torch_generator(seed, f"asymmetric {name}"))
            shape = (1, *self.shapes()[name])
            found[name] = F.reshape(shape), D.reshape(shape)
        return found

    def parameters(self) -> int:
        """Number of parameters of one network, running statistics included."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def _networks(self, params: Tensors) -> int:
        """N of the parameters name → (N, …) of N networks, or an error."""
        N = len(next(iter(params.values()))) if params else 0
        found = {name: tuple(value.shape) for name, value in params.items()}
        expected = {name: (N, *shape) for name, shape in self.shapes().items()}
        if not N or found != expected:
            wrong = sorted(name for name in found | expected if found.get(name) != expected.get(name))
            shapes = {name: found.get(name) for name in wrong}
            raise ValueError(f"parameters {shapes}; allowed: (N, …) of {self.shapes()} with N >= 1")
        return N

    def _batched(self, x: Tensor, N: int) -> Tensor:
        """Inputs with a leading axis of the networks: of length N, or 1 for inputs that all networks share."""
        some = x[None] if x.ndim == 1 + len(self.input_shape) else x
        if some.ndim != 2 + len(self.input_shape) or some.shape[2:] != self.input_shape or len(some) not in (1, N):
            raise ValueError(
                f"inputs have shape {tuple(x.shape)}; allowed: (B, {', '.join(map(str, self.input_shape))}) for all "
                f"networks, or with the {N} networks as a leading axis"
            )
        return some


@checked
@dataclass(frozen=True, eq=False)
class Stack:
    """N networks of one architecture.

    ``params``: name → (N, …), names and shapes those of :meth:`Model.shapes`. ``fixed``: name of a weight of
    :meth:`Model.maps` → (F, D), each (G, …) with G a divisor of N: networks 0 … N/G − 1 share the first one, and so on.
    Such a weight W acts as F + D ⊙ W.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> F, D = torch.full((1, 5, 2), 0.5), torch.zeros(1, 5, 2)
    >>> stack = MLP((2, 5, 3)).initial([1, 2], fixed={"0.weight": (F, D)})
    >>> stack.ordinary().params["0.weight"].unique().item()
    0.5
    """

    model: Model
    params: Tensors
    fixed: Fixed = field(default_factory=dict)

    def __post_init__(self) -> None:
        N, shapes = self.model._networks(self.params), self.model.shapes()
        for name, pair in self.fixed.items():
            fits = name in self.model.maps() and pair[0].shape == pair[1].shape
            if not fits or N % (len(pair[0]) or N + 1) or tuple(pair[0].shape[1:]) != shapes[name]:
                raise ValueError(
                    f"F and D of {name!r} have shapes {[tuple(part.shape) for part in pair]}; allowed: (G, …) of the "
                    f"weights {', '.join(self.model.maps())}, with G a divisor of {N}"
                )

    def __len__(self) -> int:
        return len(next(iter(self.params.values())))

    @checked
    def to(self, where: Tensor | torch.device | torch.dtype | str) -> Stack:
        """The same networks with another type, on another device, or with both of a tensor."""
        try:
            floating = torch.empty(0).to(where).is_floating_point()
        except RuntimeError:
            floating = False
        if not floating:
            raise ValueError(f"where = {short(where)}; allowed: a floating dtype, a device that is there, a tensor")
        params = {name: value.to(where) for name, value in self.params.items()}
        return Stack(self.model, params, {name: (F.to(where), D.to(where)) for name, (F, D) in self.fixed.items()})

    def effective(self) -> Tensors:
        """Effective parameters, name → (N, …): F + D ⊙ W for weights with fixed parts, W otherwise."""
        return self.params | {name: _effective(self.params[name], F, D) for name, (F, D) in self.fixed.items()}

    @checked
    def forward(self, x: Float[Tensor, "*shape"], record: Record | None = None) -> Float[Tensor, "N B classes"]:
        """Outputs, as :meth:`Model.forward`."""
        return self.model.forward(self.effective(), x, record)

    @checked
    def ordinary(self, which: Int64[Tensor, " P"] | Integers | None = None) -> Stack:
        """Some of the networks, or all, as ordinary ones: F + D ⊙ W in place of W."""
        params = self.effective()
        if which is None:
            return Stack(self.model, params)
        index = torch.as_tensor(which, dtype=torch.long, device=next(iter(params.values())).device)
        if not len(index) or not ((index >= 0) & (index < len(self))).all():
            raise ValueError(f"which = {index.tolist()}; allowed: one or more of 0 to {len(self) - 1}")
        return Stack(self.model, {name: value[index] for name, value in params.items()})

    @checked
    def permuted(self, permutations: Permutations) -> Stack:
        """The same functions with hidden units in another order, as :func:`~lmc_helpers.networks.permutations.permute`.

        ``permutations``: group of :meth:`Model.symmetry` → p (N, m).
        """
        if self.fixed:
            raise ValueError(f"weights {', '.join(self.fixed)} have fixed parts; allowed: ordinary networks")
        return Stack(self.model, permute(self.params, self.model.symmetry(), permutations))

    def modules(self) -> list[nn.Module]:
        """Each network as a module of torch of its own, with weights F + D ⊙ W, in evaluation mode.

        Examples
        --------
        >>> from lmc_helpers.networks.mlp import MLP
        >>> stack, x = MLP((2, 5, 3)).initial([1, 2]), torch.ones(4, 2)
        >>> bool(torch.allclose(stack.modules()[1](x), stack.forward(x)[1], atol=1e-6))
        True
        """
        params, made = self.effective(), []
        for i in range(len(self)):
            own = self.model._own({name: value[i].clone() for name, value in params.items()})
            net = copy.deepcopy(_as_module(self.model)[0]).eval()
            steps = {name: torch.tensor(0) for name in net.state_dict() if name not in own}  # of running statistics
            net.load_state_dict(own | steps, assign=True)
            made.append(net)
        return made

    @classmethod
    def from_modules(cls, model: Model, nets: Sequence[nn.Module]) -> Stack:
        """The networks of :meth:`modules`."""
        names, states = _as_module(model)[1], [net.state_dict() for net in nets]
        stacked = {ours: torch.stack([state[name] for state in states]) for ours, (name, _) in names.items()}
        return cls(model, {name: stacked[name].view(-1, *shape) for name, shape in model.shapes().items()})

    def state(self) -> Tensors:
        """All tensors under flat names, for a file: ``params/…``, ``F/…`` and ``D/…``."""
        flat = {f"params/{name}": value for name, value in self.params.items()}
        for name, (F, D) in self.fixed.items():
            flat |= {f"F/{name}": F, f"D/{name}": D}
        return flat

    @classmethod
    def from_state(cls, model: Model, state: Tensors) -> Stack:
        """The networks of :meth:`state`."""
        parts: dict[str, Tensors] = {"params": {}, "F": {}, "D": {}}
        for key, value in state.items():
            kind, _, name = key.partition("/")
            if kind not in parts or not name:
                raise ValueError(f"tensor {key!r} is unknown; allowed: params/…, F/… and D/…")
            parts[kind][name] = value
        if set(parts["F"]) != set(parts["D"]):
            raise ValueError(f"F of {sorted(parts['F'])} and D of {sorted(parts['D'])}; allowed: both of each weight")
        ordered = {name: parts["params"][name] for name in model.shapes() if name in parts["params"]}
        return cls(model, ordered | parts["params"], {name: (F, parts["D"][name]) for name, F in parts["F"].items()})


_NORMS = (nn.modules.batchnorm._NormBase, nn.GroupNorm, nn.LayerNorm)
_OF_NORMS = {"weight": "gain", "bias": "shift", "running_mean": "mean", "running_var": "variance"}


@cache
def _as_module(model: Model) -> tuple[nn.Module, dict[str, tuple[str, tuple[int, ...]]]]:
    """The module of an architecture without numbers; its name and shape of each tensor by ours, in order."""
    with torch.device("meta"):
        net, names = model.module(), {}
    for name, value in net.state_dict().items():
        *path, kind = name.split(".")
        if value.is_floating_point():
            of_norm = isinstance(net.get_submodule(".".join(path)), _NORMS)
            ours = [*(part for part in path if part[0] != "_"), _OF_NORMS[kind] if of_norm else kind]
            names[".".join(ours)] = name, tuple(value.shape)
    return net, names


def _keep(seen: Record, name: str, part: nn.Module, inputs: tuple[Tensor], made: Tensor) -> None:
    """Keep the units of a part of a module, (samples, m); pixels, tokens and pairs of tokens are samples."""
    z = (inputs[0] if isinstance(part, nn.LayerNorm) else made).detach()
    seen[name] = (z.movedim(1, -1) if z.ndim == 4 else z).flatten(0, -2)


def _check_same(x: Tensor, parameter: Tensor) -> None:
    """Raise unless inputs have the dtype and the device of the networks."""
    if (x.dtype, x.device) != (parameter.dtype, parameter.device):
        raise TypeError(
            f"x is {x.dtype} on {x.device}, the networks are {parameter.dtype} on {parameter.device}; allowed: the same"
        )


def _effective(W: Tensor, F: Tensor, D: Tensor) -> Tensor:
    """F + D ⊙ W for stacked W (N, …), eq. (2) of Bürgin et al.; F and D (G, …) are shared by N/G networks each."""
    if len(F) in (1, len(W)):
        return torch.addcmul(F, D, W)
    return torch.addcmul(F[:, None], D[:, None], W.unflatten(0, (len(F), -1))).flatten(0, 1)
