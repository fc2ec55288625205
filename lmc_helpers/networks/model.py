"""What every architecture can do (:class:`Model`), and N networks of one architecture (:class:`Stack`).

An architecture is data: a frozen dataclass that names the trained tensors of one network, draws them, and computes the
outputs of N networks at once from tensors name → (N, …), every product a batched one. It knows which linear maps an
asymmetric scheme may act on, and which axes of its parameters a permutation of hidden units moves together.

A weight of an asymmetric network acts as F + D ⊙ W (Bürgin et al., eq. (2)). F and D belong to the :class:`Stack`, not
to the architecture: a model computes with the effective weight and never sees the two parts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from lmc_helpers import expect
from lmc_helpers.networks.permutations import Permutations, Symmetry, permute
from lmc_helpers.seeds import torch_generator

__all__ = ["Fixed", "Model", "Record", "Stack", "Tensors", "effective"]

Tensors = dict[str, torch.Tensor]

#: Name of a weight → (F, D), each (G, …) with G a divisor of the number of networks.
Fixed = Mapping[str, tuple[torch.Tensor, torch.Tensor]]

#: Group of permutable units → their activations (N, samples, m).
Record = dict[str, torch.Tensor]


class Scheme(Protocol):
    """What draws F and D of eq. (2), for example one of :mod:`lmc_helpers.identifiability.asymmetric`."""

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """F and D of that shape, float64."""


class Model(ABC):
    """An architecture as data; its subclasses are frozen dataclasses.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> model = MLP((2, 5, 3))
    >>> model.input_shape, model.classes, model.maps()
    ((2,), 3, ('0.weight', '1.weight'))
    """

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, for example (784,) or (3, 32, 32)."""

    @property
    @abstractmethod
    def classes(self) -> int:
        """Number of outputs."""

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of every tensor of one network, in order; all are trained but :meth:`statistics`."""

    def statistics(self) -> frozenset[str]:
        """Names of the tensors that follow the examples and are not trained: running means and variances."""
        return frozenset()

    @abstractmethod
    def maps(self) -> tuple[str, ...]:
        """Names of the weights of linear maps, which an asymmetric scheme may act on: eq. (2) of Bürgin et al."""

    @abstractmethod
    def widest(self) -> int:
        """Numbers in the largest activation of one network for one input; what bounds the memory of a batch."""

    @abstractmethod
    def draw(self, generator: torch.Generator) -> Tensors:
        """Initial values of one network, name → tensor of its shape, float64."""

    @abstractmethod
    def forward(self, params: Tensors, x: torch.Tensor, record: Record | None = None) -> torch.Tensor:
        """Outputs of N networks.

        Parameters
        ----------
        params : dict of torch.Tensor
            name → (N, …).
        x : torch.Tensor
            inputs (B, …) of all networks, or (N, B, …).
        record : dict, optional
            receives group → activations (N, samples, m) of the permutable units of each group of :meth:`symmetry`.

        Returns
        -------
        torch.Tensor
            (N, B, classes).
        """

    def training_outputs(self, params: Tensors, x: torch.Tensor) -> torch.Tensor:
        """Outputs as :meth:`forward` gives them, of a network in training: its running statistics, if any, are moved.

        Examples
        --------
        >>> from lmc_helpers.networks.mlp import MLP
        >>> model, x = MLP((1, 1, 1), norm="running"), torch.tensor([[0.0], [1.0]])
        >>> params = model.initial([1]).params
        >>> outputs = model.training_outputs(params, x)
        >>> bool(params["0.mean"] != 0), bool(torch.allclose(outputs, model.forward(params, x)))
        (True, False)
        """
        return self.forward(params, x)

    @abstractmethod
    def symmetry(self) -> Symmetry:
        """The groups of hidden units that may be permuted, with all axes that move with them."""

    def initial(self, seeds: Sequence[int], dtype: torch.dtype = torch.float32, fixed: Fixed | None = None) -> Stack:
        """N networks, each drawn with its seed.

        Parameters
        ----------
        seeds : sequence of int
            one a network, in [0, 2³²).
        dtype : torch.dtype
            of the parameters; they are drawn in float64 and rounded.
        fixed : dict, optional
            name of a weight → (F, D), as in :class:`Stack`.

        Returns
        -------
        Stack
            N of them, on the CPU.

        Examples
        --------
        >>> from lmc_helpers.networks.mlp import MLP
        >>> stack = MLP((2, 5, 3)).initial([1, 2])
        >>> len(stack), stack.forward(torch.ones(4, 2)).shape
        (2, torch.Size([2, 4, 3]))
        """
        expect.array(seeds, "seeds", "N", empty=True)
        expect.floating(dtype, "dtype")
        expect.fixed_parts(fixed, "fixed")
        drawn = [self.draw(torch_generator(seed, "initial weights")) for seed in seeds]
        if not drawn:
            raise ValueError("0 networks; allowed: at least 1")
        params = {name: torch.stack([one[name] for one in drawn]).to(dtype) for name in self.shapes()}
        return Stack(self, params, {name: (F.to(dtype), D.to(dtype)) for name, (F, D) in (fixed or {}).items()})

    def map_shape(self, name: str) -> tuple[int, ...]:
        """Shape (outputs, inputs, kernel …) in which a scheme sees a map, the same numbers in the same order.

        It is the weight's own shape where the outputs are its first axis and the inputs its second.
        """
        expect.parameter(name, "name", self)
        return self.shapes()[name]

    def fixed_parts(self, schemes: Mapping[str, Scheme], seed: int) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
        """F and D of some maps, shared by all networks of a stack.

        The numbers are keyed by (seed, name of the weight) alone, as in
        :func:`~lmc_helpers.identifiability.asymmetric.asymmetrise`.

        Parameters
        ----------
        schemes : dict
            name of a weight of :meth:`maps` → scheme, an object whose ``draw(shape, generator)`` gives F and D.
        seed : int
            in [0, 2³²).

        Returns
        -------
        dict
            name → (F, D), each (1, …), float64.

        Examples
        --------
        >>> from lmc_helpers.identifiability.asymmetric import WAsymmetric
        >>> from lmc_helpers.networks.mlp import MLP
        >>> model = MLP((4, 5, 3))
        >>> fixed = model.fixed_parts({"0.weight": WAsymmetric(fixed=2, sigma=1.0)}, seed=1)
        >>> (fixed["0.weight"][1] == 0).sum(dim=-1).tolist()
        [[2, 2, 2, 2, 2]]
        """
        expect.schemes(schemes, "schemes")
        expect.integer(seed, "seed", least=0, most=2**32 - 1)
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
        """How many numbers one network has, running statistics included.

        Examples
        --------
        >>> from lmc_helpers.networks.mlp import MLP
        >>> MLP((2, 5, 3)).parameters()
        33
        """
        return sum(math.prod(shape) for shape in self.shapes().values())

    def batched(self, params: Tensors, x: torch.Tensor) -> torch.Tensor:
        """Inputs with a leading axis of the networks, of length N, or of length 1 for inputs that all networks share.

        Parameters
        ----------
        params : dict of torch.Tensor
            name → (N, …).
        x : torch.Tensor
            (B, …) or (N, B, …).

        Returns
        -------
        torch.Tensor
            (1, B, …) or (N, B, …).
        """
        expect.parameters(params, "params", self, x)
        N = len(next(iter(params.values())))
        some = x[None] if x.ndim == 1 + len(self.input_shape) else x
        if some.ndim != 2 + len(self.input_shape) or some.shape[2:] != self.input_shape or len(some) not in (1, N):
            raise ValueError(
                f"inputs have shape {tuple(x.shape)}; allowed: (B, {', '.join(map(str, self.input_shape))}) for all "
                f"networks, or with the {N} networks as a leading axis"
            )
        return some


@dataclass(frozen=True, eq=False)
class Stack:
    """N networks of one architecture.

    Parameters
    ----------
    model : Model
        their architecture.
    params : dict of torch.Tensor
        name → (N, …), names and shapes those of :meth:`Model.shapes`.
    fixed : dict
        name of a weight of :meth:`Model.maps` → (F, D), each (G, …) with G a divisor of N: networks 0 … N/G − 1 share
        the first one, and so on. Such a weight W acts as F + D ⊙ W.

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
        N = len(next(iter(self.params.values()))) if self.params else 0
        found = {name: tuple(value.shape) for name, value in self.params.items()}
        expected = {name: (N, *shape) for name, shape in self.model.shapes().items()}
        if not N or found != expected:
            wrong = sorted(name for name in found | expected if found.get(name) != expected.get(name))
            shapes = {name: found.get(name) for name in wrong}
            raise ValueError(f"parameters {shapes}; allowed: (N, …) of {self.model.shapes()} with N >= 1")
        for name, pair in self.fixed.items():
            fits = name in self.model.maps() and pair[0].shape == pair[1].shape
            if not fits or N % (len(pair[0]) or N + 1) or tuple(pair[0].shape[1:]) != expected[name][1:]:
                raise ValueError(
                    f"F and D of {name!r} have shapes {[tuple(part.shape) for part in pair]}; allowed: (G, …) of the "
                    f"weights {', '.join(self.model.maps())}, with G a divisor of {N}"
                )

    def __len__(self) -> int:
        return len(next(iter(self.params.values())))

    def to(self, where: torch.Tensor | torch.device | torch.dtype | str) -> Stack:
        """The same networks with another type, on another device, or with both of a tensor."""
        expect.place(where, "where")
        params = {name: value.to(where) for name, value in self.params.items()}
        return Stack(self.model, params, {name: (F.to(where), D.to(where)) for name, (F, D) in self.fixed.items()})

    def effective(self) -> Tensors:
        """What the networks compute with, name → (N, …): F + D ⊙ W where a weight has fixed parts, else the tensor."""
        return self.params | {name: effective(self.params[name], F, D) for name, (F, D) in self.fixed.items()}

    def forward(self, x: torch.Tensor, record: Record | None = None) -> torch.Tensor:
        """Outputs (N, B, classes), as :meth:`Model.forward`, which also says what it refuses."""
        return self.model.forward(self.effective(), x, record)

    def ordinary(self, which: torch.Tensor | Sequence[int] | None = None) -> Stack:
        """Some of the networks, or all, as ordinary ones: F + D ⊙ W in the place of W.

        Parameters
        ----------
        which : torch.Tensor or sequence of int, optional
            (P,) indices of networks.

        Returns
        -------
        Stack
            P of them, without fixed parts.

        Examples
        --------
        >>> from lmc_helpers.networks.mlp import MLP
        >>> len(MLP((1, 2, 2)).initial([1, 2]).ordinary([1, 1, 0]))
        3
        """
        params = self.effective()
        if which is None:
            return Stack(self.model, params)
        expect.indices(which, "which", len(self))
        index = torch.as_tensor(which, device=next(iter(params.values())).device)
        return Stack(self.model, {name: value[index] for name, value in params.items()})

    def permuted(self, permutations: Permutations) -> Stack:
        """The same functions with hidden units in another order, as :func:`~lmc_helpers.networks.permutations.permute`.

        Parameters
        ----------
        permutations : dict of torch.Tensor
            group of :meth:`Model.symmetry` → p (N, m).

        Returns
        -------
        Stack
            N ordinary networks.

        Examples
        --------
        >>> from lmc_helpers.networks.mlp import MLP
        >>> stack, x = MLP((1, 3, 2)).initial([1]), torch.ones(1, 1)
        >>> other = stack.permuted({"0": torch.tensor([[2, 0, 1]])})
        >>> bool(torch.allclose(stack.forward(x), other.forward(x)))
        True
        """
        if self.fixed:
            raise ValueError(f"weights {', '.join(self.fixed)} have fixed parts; allowed: ordinary networks")
        return Stack(self.model, permute(self.params, self.model.symmetry(), permutations))

    def state(self) -> Tensors:
        """All tensors under flat names, for a file: ``params/…``, ``F/…`` and ``D/…``."""
        flat = {f"params/{name}": value for name, value in self.params.items()}
        for name, (F, D) in self.fixed.items():
            flat |= {f"F/{name}": F, f"D/{name}": D}
        return flat

    @classmethod
    def from_state(cls, model: Model, state: Tensors) -> Stack:
        """The networks of :meth:`state`.

        Examples
        --------
        >>> from lmc_helpers.networks.mlp import MLP
        >>> model = MLP((1, 2, 2))
        >>> stack = model.initial([1])
        >>> Stack.from_state(model, stack.state()).params["0.bias"].equal(stack.params["0.bias"])
        True
        """
        if not isinstance(model, Model):
            raise ValueError(f"model is {type(model).__name__}; allowed: Model")
        if not isinstance(state, dict):
            raise ValueError(f"state is {type(state).__name__}; allowed: a dict of tensors")
        expect.tensors(state, "state")
        parts: dict[str, Tensors] = {"params": {}, "F": {}, "D": {}}
        for key, value in state.items():
            expect.text(key, "name of a tensor")
            kind, _, name = key.partition("/")
            if kind not in parts or not name:
                raise ValueError(f"tensor {key!r} is unknown; allowed: params/…, F/… and D/…")
            parts[kind][name] = value
        if set(parts["F"]) != set(parts["D"]):
            raise ValueError(f"F of {sorted(parts['F'])} and D of {sorted(parts['D'])}; allowed: both of each weight")
        ordered = {name: parts["params"][name] for name in model.shapes() if name in parts["params"]}
        return cls(model, ordered | parts["params"], {name: (F, parts["D"][name]) for name, F in parts["F"].items()})


def effective(W: torch.Tensor, F: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """F + D ⊙ W for stacked W, eq. (2) of Bürgin et al.

    Parameters
    ----------
    W : torch.Tensor
        (N, …).
    F, D : torch.Tensor
        (G, …), shared by N/G networks each.

    Returns
    -------
    torch.Tensor
        (N, …).

    Examples
    --------
    >>> W, F, D = torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[[10.0]]]), torch.tensor([[[3.0]]])
    >>> effective(W, F, D).flatten().tolist()
    [13.0, 16.0]
    """
    if len(F) in (1, len(W)):
        return torch.addcmul(F, D, W)
    return torch.addcmul(F[:, None], D[:, None], W.unflatten(0, (len(F), -1))).flatten(0, 1)
