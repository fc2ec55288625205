"""The interchangeable units of any module, by a trace, and modules with their units in another order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from lmc_helpers._typing import checked, short
from lmc_helpers._wrappers import bare
from lmc_helpers.modules._data import in_double, run
from lmc_helpers.modules._ends import _equal, norms
from lmc_helpers.modules._kinds import kinds_of
from lmc_helpers.modules._module import (
    called,
    check_unscripted,
    copied,
    filled,
    fitting,
    mapped,
    outputs_of,
    step_by_step,
    tensors,
    tensors_of,
    untouched,
)
from lmc_helpers.modules._plain import Call, Leaving, Other, SecondRoad, memory, plain, remembered, unsaved
from lmc_helpers.modules._trace import BY_HAND, Refused, trace, varies
from lmc_helpers.networks.permutations import (
    Check,
    Kinds,
    Symmetry,
    acted,
    by_matrices,
    change,
    cycles,
    permute,
    random_permutations,
    verify_outputs,
)
from lmc_helpers.seeds import torch_generator

__all__ = ["permuted", "symmetry", "verify"]

DRAWS = 2  # other inputs for each call that is given
MORE = 8  # further ones, of many examples, while a parameter is not read
MANY = 64  # examples of these
CALLS = 100  # about as many at most
SMALL = 1 << 16  # entries of inputs with an axis of another length, beside twice those that are given


@checked
def symmetry(
    model: nn.Module,
    x: Any,
    also: Sequence = (),
    outputs: Callable | None = None,
    kinds: bool | Literal["signs"] = False,
) -> Symmetry:
    """The groups of interchangeable units of a module, found by following its axes through its forward pass.

    A group is called after the module or parameter that makes its units. The units inside each head of an attention,
    group of a convolution, expert, or entry of a stack are groups of their own, ``"q_proj[0]"``, ...; where heads,
    groups or experts may be exchanged, too, ``within`` lists these.

    The groups are proven by a rule for each operation, and then tested, since a rule may be wrong: all groups are
    permuted at random at once, twice. This runs a copy in double precision, where a change of 10⁻⁸ of the outputs
    shows, with 10 % of noise on parameters, since those of a fresh network may be 0 or alike. It takes some ten forward
    passes, or twenty where its code reads shapes, and beside the module four times its memory in single precision:
    1.6 GB for 100 million parameters. A small batch of inputs is enough.

    One input does not tell what others do. Two more are drawn, of the kind of each tensor in ``x``, also inside an
    object of a class of yours: numbers of the same spread, integers of the same range, masks with as many entries;
    passes that run other operations are followed, too. So are passes in which a number that the module reads from
    inputs, as by ``int``, is another, also beyond numbers that its code compares with: it fixes the axes that it cuts.
    Inputs that the module does not run with another value, and methods such as ``numpy`` by which it reads numbers that
    nothing follows, are named in a warning. Where code of the module's reads shapes, axes of inputs are cut and
    lengthened, too, also beyond numbers up to 100 that it compares with, if it runs with them; shapes are else those of
    ``x`` and ``also``. Numbers that the module draws, as by ``randn_like``, are fixed place by place.

    Weights are the effective ones: where ``torch.nn.utils.prune``, a spectral or weight norm or another parametrisation
    computes a weight, the groups are those of the function, and name the weight. Statistics of units in buffers, as of
    a batch norm, move with the units if they are in the ``state_dict``. A buffer that varies along two axes or more, as
    a mask of weights or the fixed part of an asymmetric weight, belongs to the architecture: its units are not
    interchangeable.

    Parameters
    ----------
    model
        A module, which is not changed; it is traced in evaluation mode.
    x
        Its input, or a tuple of arguments.
    also
        More inputs, that run parts of the module which ``x`` does not: with an optional condition, for instance.
    outputs
        What counts of the outputs, such as ``lambda out: out["logits"]``: all of them if it is left out. States of an
        encoder or embeddings that are given beside predictions fix the order of their units; caches for the next call
        (objects of a class called …Cache) do not count.
    kinds
        Whether to say in ``kinds`` what the units of each group allow besides another order
        (:class:`~lmc_helpers.networks.permutations.Kinds`): signs, as before a tanh or of an LSTM's candidate, positive
        factors before a ReLU, shifts, rotations of a stream with norms, all of GL(m) in a bottleneck or inside a head.
        Each is proven as permutations are, for all units of all groups at once. It takes three to thirty times as
        long, and memory for derivatives. Signs may be missed that very many axes of one operation must change together.
        ``"signs"``: those alone, as :func:`~lmc_helpers.modules.match.match` takes them, of groups that share no
        entries of an axis with others; two to five times as long.

    Returns
    -------
    Symmetry
        No axis of inputs or outputs is in a group. Not every symmetry is found: units that are copies of each other,
        for example, are not looked for. An operation that no rule describes fixes the units that
        it takes; ``left`` names it and the axes, and ``print`` shows both.

    Raises
    ------
    ValueError
        If the outputs change with every group; write the groups by hand then and ask :func:`verify`.
        If no input reads a parameter that units may move in, as of an expert that no token chose.

    Examples
    --------
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    >>> found = symmetry(net, torch.ones(2, 4))
    >>> found.sizes, found.groups["0"][2].name
    ({'0': 8}, '2.weight')
    """
    return _Probe(model, x, also, outputs).traced(kinds)


@checked
def permuted(
    model: nn.Module,
    symmetry: Symmetry,
    permutations: Mapping[str, Any],
    signs: Mapping[str, Tensor] | None = None,
    maps: Mapping[str, Tensor] | None = None,
) -> nn.Module:
    """A copy of a module, in evaluation mode, with units in another order: unit i is unit p_i of before.

    The copy holds its effective weights: hooks of pruning and parametrisations are gone.

    A permutation p is (m,), or (1, m) as :func:`~lmc_helpers.networks.permutations.random_permutations` draws it. Of
    units inside units of another group, those of the outer group are moved first, in whatever order both are given.
    Signs (r, m) of a group are ±1 for each vector in ``symmetry.kinds[group].signs`` and each unit in the new order.
    Last, the units of groups with rotations are multiplied by an orthogonal matrix (m, m), of those with
    ``symmetry.kinds[group].linear`` by an invertible one.

    Examples
    --------
    >>> net, x = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.ones(1, 4)
    >>> other = permuted(net, symmetry(net, x), {"0": torch.tensor([2, 0, 1])})
    >>> torch.equal(other[0].weight, net[0].weight[[2, 0, 1]]), torch.allclose(other(x), net(x), atol=1e-6)
    (True, True)
    """
    values = {name: value[None] for name, value in tensors(plain(model)).items()}
    p = {group: torch.as_tensor(p).reshape(1, -1) for group, p in permutations.items()}
    moved = permute(values, symmetry, p, {group: one[None] for group, one in (signs or {}).items()})
    for g, M in (maps or {}).items():
        kinds, m = symmetry.kinds.get(g, Kinds()), symmetry.sizes.get(g, 0)
        fits = M.shape == (m, m) and M.is_floating_point() and (kinds.linear or kinds.rotations)
        if not fits or not (kinds.linear or change([M @ M.mT], [torch.eye(m).to(M)]) < 1e-4):
            allowed = f"an {'invertible' if kinds.linear else 'orthogonal'} matrix {(m, m)} of a group with such kinds"
            raise ValueError(f"the matrix {short(M)} of group {g!r}; allowed: {allowed}")
    matrices = dict(maps or {})
    moved = acted(moved, symmetry, matrices, by_matrices(matrices, exponents(symmetry)))
    return filled(model, {name: value[0] for name, value in moved.items()})


def exponents(symmetry: Symmetry) -> dict[str, tuple[int, ...]]:
    """Group → 1 or −1 for each place, of the groups whose units may be multiplied by matrices."""
    places = {g: (1,) * len(found) for g, found in symmetry.groups.items()}
    return {g: kinds.linear or places[g] for g, kinds in symmetry.kinds.items() if kinds.rotations}


@checked
def verify(
    model: nn.Module, x: Any, symmetry: Symmetry | None = None, left_out: bool = True, outputs: Callable | None = None
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
    probe = _Probe(model, x, (), outputs)
    found = probe.traced() if symmetry is None else symmetry
    permute(probe.values, found, cycles(found, torch_generator(0, "check of a trace")))  # raises if axes do not fit
    return verify_outputs(probe.outputs, probe.values, found, torch_generator(0, "check of a trace"), left_out)


def outputs_in_double(model: nn.Module, x: Any) -> Callable[[Mapping[str, Tensor]], Tensor]:
    """All outputs of a module in double precision, one after the other, by other values of some parameters."""
    work, x = in_double(model, x)

    def outputs(values: Mapping[str, Tensor]) -> Tensor:
        with torch.no_grad():
            found = [one.flatten() for one in tensors_of(called(work, x, values)) if one.is_floating_point()]
        return torch.cat(found)

    return outputs


class _Probe:
    """A copy of a module, with noise on its parameters, and inputs: in double precision if the module runs in it."""

    def __init__(self, model: nn.Module, x: Any, also: Sequence = (), chosen: Callable | None = None):
        check_unscripted(model)
        self.given, self.generator = model, torch_generator(0, "inputs for the check of a trace")
        self.counts = chosen
        self.chosen: Callable[[Any], Any] = chosen or (lambda out: out)
        for double in (True, False):
            try:
                self.model = copied(model).double() if double else copied(model)
                _add_noise(self.model)
                own = {name for name, _ in self.model.named_buffers()}  # they may change in a call
                self.values = {n: (v.clone() if n in own else v)[None] for n, v in tensors(self.model).items()}
                self.calls: list[Any] = []
                self.passes: list[Call] = []  # all of them
                self.followed: list[Call] = []  # the first of each sequence of operations
                self.expected: list[Tensor] = []
                self.read: set[str] = set()
                self.leaving: set[str] = set()  # methods by which numbers that depend on inputs leave torch
                self.lengths: dict[tuple, set[float]] = {}  # as of Leaving
                self.resized: list[tuple[Any, list[Tensor]]] = []  # calls with other lengths, and their outputs
                for each in (x, *also):
                    self.add(fitting(self.model, each))
                break
            except (RuntimeError, TypeError, LookupError, AttributeError) as error:
                if not double:  # else a type is written in its code, or the device has no double precision
                    with untouched():
                        for each in (x, *also):
                            run(self.model, fitting(self.model, each))  # which tells an error of torch in one sentence
                    if chosen is None:
                        raise
                    allowed = "a function of the module's outputs"
                    raise ValueError(f"outputs = {chosen} fails ({error!r:.200}); allowed: {allowed}") from error
        given = list(self.calls)
        self.draw(given)
        self.resize(given)
        self.force()

    def add(self, x: Any, always: bool = True, follow: bool = True) -> None:
        """One more call; it is followed if it runs other operations, or reads other parameters, than those before."""
        call = self.call(x)
        with Leaving(call) as leaving:
            outputs = self.run(call, self.values)
        self.leaving |= leaving.by
        self.lengths |= leaving.lengths
        foreign = [name for name in call.read if name.startswith(" ")]
        if foreign:
            raise SecondRoad(min(foreign)[1:])
        if not all(one.isfinite().any() for one in outputs if one.numel()) and self.calls:
            raise ArithmeticError("no finite outputs")
        if not follow:
            self.resized.append((x, outputs))
        elif self.follow(call) or always:
            self.calls.append(x)
            self.expected += outputs
        self.read |= call.read

    def call(self, x: Any, which: Collection[int] = (), other: Other = (None, 0)) -> Call:
        """A call that tells what it reads of the copy and of the module that was given."""
        slots = tensors(self.model) | {f" {name}": one for name, one in tensors(bare(self.given)).items()}
        names = {memory(one): name for name, one in slots.items() if one.numel()}
        self.passes.append(Call(x, list(tensors_of(x)), names, which, other))
        return self.passes[-1]

    def follow(self, call: Call) -> bool:
        """Follow a call if it is the first with its operations."""
        if new := all(call.path != one.path for one in self.followed):
            self.followed.append(call)
        return new

    def force(self) -> None:
        """Follow calls in which numbers that the module reads are others, as far as it runs with them.

        These are all numbers that one place of its code reads, or if there are many such, the rest.
        """
        tried: set[tuple[int, frozenset[int], Other]] = set()
        for call in self.followed:  # which grows
            sites, rest = [*call.sites.values()][: MORE - 1], [*call.sites.values()][MORE - 1 :]
            sites += [([k for which, _ in rest for k in which], set().union(*(others for _, others in rest)))]
            for which, others in sites:
                whole = frozenset([*call.which, *which])
                for other in sorted(others, key=str):
                    if len(tried) >= CALLS or (key := (id(call.x), whole, other)) in tried:
                        continue
                    tried.add(key)
                    forced = self.call(call.x, whole, other)
                    try:
                        self.run(forced, self.values)
                    except (SecondRoad, TimeoutError):
                        raise
                    except Exception:  # of a module with numbers that it does not take
                        forced.broken = True
                    self.follow(forced)

    def draw(self, given: Sequence) -> None:
        """More calls, with other inputs; the inputs that the module does not run with are named in a warning."""
        kept = set()
        for x in given:
            every = set(range(len(list(tensors_of(x)))))
            good = every if self.tried(x, every) else {k for k in every if self.tried(x, {k})}
            kept |= {f"{k} of shape {tuple(one.shape)}" for k, one in enumerate(tensors_of(x)) if k not in good}
            single = [int(one) for one in tensors_of(x) if one.numel() == 1 and not one.is_floating_point()]
            for k in range(1, max([DRAWS, *(n + 1 for n in single if n <= MORE)])):
                self.tried(x, good, counts=k)
        names = {name for name, _ in self.model.named_parameters()}
        for x in MORE * [*given]:
            if not names <= self.read:
                self.tried(x, set(range(len(list(tensors_of(x))))), MANY)
        said = [f"without other values of input tensors {', '.join(sorted(kept))}"] if kept else []
        by = ", ".join(sorted(self.leaving))
        said += [f"with numbers that the module reads by {by} as drawn inputs give them"] if by else []
        if said:
            warnings.warn(f"groups are checked {' and '.join(said)}", stacklevel=6)

    def resize(self, given: Sequence) -> None:
        """More calls, with axes of other lengths, where the module takes them and code of a caller's reads shapes.

        They are not followed: groups that change their outputs are left alone.
        """
        compared = {int(c) for found in self.lengths.values() for c in found if c > 0}
        for x in given if self.lengths else ():
            entries = sum(one.numel() for one in tensors_of(x))
            for d, n in sorted({each for one in tensors_of(x) for each in enumerate(one.shape)}):
                short = (e for e in (d, -1) if n and self.runs(partial(_resized, e, n, n // 2 or 2), x, follow=False))
                if (e := next(short, None)) is not None:
                    for m in sorted({n + 1, *compared} - {n}, key=lambda m: abs(m - n))[:MORE]:
                        if entries * m <= max(2 * n * entries, n * SMALL):
                            self.runs(partial(_resized, e, n, m), x, follow=False)

    def tried(self, x: Any, which: set[int], examples: int = 0, counts: int = 0) -> bool:
        """True if the module runs with some tensors of a call drawn anew, and about so many examples."""
        number = {id(one): k for k, one in enumerate(tensors_of(x))}
        sizes = {len(one) if one.ndim else 0 for one in tensors_of(x)}
        times = -(-examples // max(sizes)) if len(sizes) == 1 and max(sizes) else 1

        def other(one: Any) -> Any:
            if not isinstance(one, Tensor) or number[id(one)] not in which:
                return one
            return _drawn(one.repeat(times, *[1] * (one.ndim - 1)) if times > 1 else one, self.generator, counts)

        return self.runs(other, x, always=not examples)

    def runs(self, other: Callable[[Any], Any], x: Any, always: bool = True, follow: bool = True) -> bool:
        """True if the module runs with other tensors of a call."""
        try:
            self.add(mapped(other, x), always, follow)
        except (SecondRoad, TimeoutError):
            raise
        except Exception:  # whatever a module does with what it does not take
            return False
        return True

    def run(self, x: Any, values: Mapping[str, Tensor]) -> list[Tensor]:
        """Outputs with values (1, …) of parameters and buffers, from the same random numbers at every call."""
        slots = dict([*self.model.named_parameters(), *self.model.named_buffers()])
        own, back = {name: slot.data for name, slot in slots.items()}, remembered(self.model)
        buffers = {name for name, _ in self.model.named_buffers()}
        try:
            for name in own.keys() & values.keys():
                slots[name].data = values[name][0].clone() if name in buffers else values[name][0]
            with untouched(seed=0), step_by_step():
                return outputs_of(self.chosen(called(self.model, x)))
        finally:
            back()
            for name, slot in slots.items():
                slot.data = own[name]

    def outputs(self, values: Mapping[str, Tensor]) -> list[Tensor]:
        """Outputs of all calls."""
        return [one for x in self.calls for one in self.run(x, values)]

    def traced(self, kinds: bool | Literal["signs"] = False) -> Symmetry:
        """The groups, refused unless the outputs stay when all units are permuted."""
        with untouched(seed=0):
            found = trace(self.model, self.followed, self.chosen, self.passes)
        groups, precision = replace(found.symmetry, outputs=self.counts), found.precision
        self.check_unread(groups)
        rounding = precision**0.5
        if not self.stay(groups, rounding):
            if not change(self.outputs(self.values), self.expected) <= rounding:
                raise Refused(f"the module gives other outputs at every call; {BY_HAND}")
            alone = {g for g in groups.sizes if self.stay(_only(groups, {g}), rounding)}
            groups = _only(groups, alone)
            if not (alone or self.resized) or not self.stay(groups, rounding):
                raise Refused(f"the module's outputs change when the units found by the trace are permuted; {BY_HAND}")
            found = replace(found, symmetry=groups, atoms={g: found.atoms[g] for g in alone})
        return replace(groups, kinds=kinds_of(self, found, kinds == "signs")) if kinds else groups

    def stay(self, groups: Symmetry, rounding: float) -> bool:
        """True if the outputs stay when all units move, and when some do.

        Two of two units that must move alike do so in the first.
        """
        generator = torch_generator(0, "check of a trace")
        orders = (cycles(groups, generator), random_permutations(groups, 1, generator))

        def changes(perms: Mapping[str, Tensor], more: Sequence) -> Iterator[float]:
            moved = permute(self.values, groups, perms)  # one copy at a time
            yield change(self.outputs(moved), self.expected)
            yield from (change(self.run(x, moved), out) for x, out in more)

        each = zip(orders, (self.resized, ()), strict=True)
        return all(one <= rounding for perms, more in each for one in changes(perms, more))

    def check_unread(self, groups: Symmetry) -> None:
        """Raise if units that move may be on an axis of a parameter that no pass read."""
        sizes = {m for m in groups.sizes.values() if m > 1}
        unread = [
            name
            for name, value in self.model.named_parameters()
            if name not in self.read and (not sizes or any(n > 1 and n % m == 0 for n in value.shape for m in sizes))
        ]
        if unread:
            names = ", ".join(map(repr, unread[:3])) + (f" and {len(unread) - 3} more" if len(unread) > 3 else "")
            raise Refused(
                f"no pass reads {names}, where units that move may be counted; allowed: inputs that read them in "
                "symmetry(model, x, also=[...]), a module without them, or groups written by hand"
            )


def _only(groups: Symmetry, kept: set[str], why: str = "the outputs, which change with their order") -> Symmetry:
    """Some of the groups; the others are left alone."""
    lost = (f"{place.name}[{place.axis}]" for g, places in groups.groups.items() if g not in kept for place in places)
    return replace(
        groups,
        groups={g: places for g, places in groups.groups.items() if g in kept},
        sizes={g: m for g, m in groups.sizes.items() if g in kept},
        within={g: of for g, of in groups.within.items() if {g, of[0]} <= kept},
        left=groups.left | {why: tuple(dict.fromkeys(lost))},
        kinds={g: kinds for g, kinds in groups.kinds.items() if g in kept},
    )


def of_architecture(groups: Symmetry, models: Sequence[nn.Module]) -> Symmetry:
    """The groups but those of buffers that are equal in all modules and no statistics: centres, frequencies, masks."""
    ends, own = [dict(one.named_buffers()) for one in models], norms(models[0])
    for g, places in groups.groups.items():
        for name, d, *_ in places:
            equal = name in ends[0] and all(_equal(ends[0][name], end.get(name)) for end in ends)
            if equal and varies(ends[0][name], d) and name.rpartition(".")[0] not in own:
                groups = _only(groups, set(groups.groups) - {g}, f"the buffer {name!r}, which is equal in all modules")
                break
    return groups


def _resized(d: int, n: int, m: int, value: Tensor) -> Tensor:
    """The first m entries along axis d, or along all for d = −1, if there are n there; begun again where m > n."""
    for e in [e for e, k in enumerate(value.shape) if k == n and d in (e, -1)]:
        value = value.index_select(e, (torch.arange(m) % n).to(value.device))
    return value


def _drawn(value: Tensor, generator: torch.Generator, counts: int) -> Tensor:
    """Another value of an input: masks with as many entries, integers of the same range and order, numbers alike.

    Unless ``counts`` is 0, masks have one entry more or less; a single integer takes all values one after the other.
    """

    def uniform(*shape: int) -> Tensor:
        return torch.rand(shape, generator=generator).to(value.device)

    if not value.numel() or value.layout is not torch.strided:
        return value
    rows = value.reshape(-1, value.shape[-1]) if value.ndim else value.reshape(1, 1)
    whole = not value.is_floating_point() and not value.is_complex()
    if bool(((value == 0) | (value == 1)).all()) and (whole or rows.min() != rows.max()):
        if rows.shape[1] == 1:
            return (1 - value.to(torch.uint8)).to(value.dtype)
        if rows.min() == rows.max():  # all or none: another half of all but the first
            rows = torch.where(uniform(*rows.shape) < 0.5, rows, 1 - rows.to(torch.uint8)).to(value.dtype)
            rows[:, 0] = value.reshape(rows.shape)[:, 0]
            return rows.view(value.shape)
        rows = rows.gather(1, uniform(*rows.shape).argsort(1))
        if counts:
            rows[:, -1] = 1 - rows[:, -1].to(torch.uint8)
        return rows.view(value.shape)
    if whole:
        low, high = int(rows.min()), int(rows.max())
        low = low if low < high else min(0, low)
        new = (low + uniform(*rows.shape).double() * (high + 1 - low)).floor().to(value.dtype)
        if low < 0:  # such as labels, -100 of which do not count
            new = rows.flatten()[(uniform(*rows.shape) * rows.numel()).long()]
        if rows.numel() == 1 or bool((new == rows).all()):
            new = low + (rows - low + 1 + counts) % (high + 1 - low)
        if rows.shape[1] > 1:
            up, down = (bool((sign * rows.diff(dim=1) >= 0).all()) for sign in (1, -1))
            new = new.sort(dim=1, descending=down)[0] if up or down else new
        return new.view(value.shape)
    finite = value[value.isfinite()]
    if not finite.numel():
        return value
    size = (finite - finite.mean()).abs().square().mean().sqrt().clamp_min(0.1)
    if not value.is_complex() and finite.min() >= 0:  # pixels, distances, probabilities
        new = (value + uniform(*value.shape) * size * 2) % finite.max().clamp_min(0.1)
    else:
        draws = torch.randn(value.numel() + 2, generator=generator, dtype=torch.float32).to(value.device)
        noise, shift, scale = draws[:-2].view(value.shape), draws[-2], 10 ** draws[-1].clamp(-1, 1)
        new = scale * (finite.mean() + size * (shift + noise))
    return torch.where(value.isfinite(), new.to(value), value)


def _add_noise(model: nn.Module) -> None:
    """Add noise of 10 % to parameters and to statistics of units: none is 0 and no two units are alike.

    Equal rows of a buffer stay equal.
    """
    generator = torch_generator(0, "noise for the check of a trace")
    buffers, made = dict(model.named_buffers()), unsaved(model)
    with torch.no_grad():
        for value in [*model.parameters(), *(one for name, one in buffers.items() if name not in made)]:
            long = [d for d, n in enumerate(value.shape) if n > 1]
            axes = [d for d in long if varies(value, d)] or long
            statistics = isinstance(value, nn.Parameter) or len(axes) < 2
            if not value.is_floating_point() or not value.ndim or not statistics:
                continue
            shape = [n if d in axes or isinstance(value, nn.Parameter) else 1 for d, n in enumerate(value.shape)]
            noise = torch.randn(shape, generator=generator, dtype=torch.float32).to(value.device)
            if (value > 0).all():  # a variance
                value.mul_(noise.div_(10).exp_())
            else:
                size = (torch.linalg.vector_norm(value) / max(1, value.numel()) ** 0.5).clamp_min(0.1)
                value.add_(noise.mul_(size / 10))
