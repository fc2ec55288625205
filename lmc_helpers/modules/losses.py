"""How losses of batches make up the loss of all data."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from traceback import walk_stack
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import _reduction, functional
from torch.overrides import TorchFunctionMode

from lmc_helpers.modules._data import LABELS, part, run
from lmc_helpers.modules._module import mapped, tensors_of
from lmc_helpers.modules._plain import Reads, memory

__all__ = ["Loss"]

#: torch's own losses, by the functions that compute them.
OWN = {f for f in vars(functional).values() if inspect.isfunction(f) and "reduction" in inspect.signature(f).parameters}
_CLASSES = {functional.cross_entropy, functional.nll_loss, functional.linear_cross_entropy}
_RULES = ("given", "calls", "elements", "examples", "sum")  # in the order in which they are preferred
_SEVERAL = "a mean or a sum over examples, a loss of torch, one loss for each example, or lmc.Loss(mean, weight)"
UNLABELLED = "no target counts in the loss; allowed: data with labels that count"
_ROUNDING = 1e-6  # of sums in double precision, relative; a loss may compute in single precision
_KEPT = 16  # examples of earlier batches, put together with later ones


@dataclass(frozen=True)
class Loss:
    """A loss that is a weighted mean over examples, with the weight of a batch: Σ of weights, number of labels, ….

    The loss of all data is Σ weight · mean / Σ weight over batches. torch's own losses and plain means over examples
    need no weight.

    Examples
    --------
    >>> def mean(outputs, targets):  # 0 is not labelled
    ...     return (outputs - targets)[targets != 0].square().mean()
    >>> loss = Loss(mean, weight=lambda outputs, targets: (targets != 0).sum())
    >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0])).item()
    4.0
    >>> from lmc_helpers.modules.line import line
    >>> a, b = nn.Linear(3, 1), nn.Linear(3, 1)
    >>> line(a, b, loss, (torch.randn(40, 3), torch.randint(2, (40, 1)))).losses.shape
    torch.Size([11])
    """

    mean: Callable[[Any, Any], Any]  # (outputs, targets) → the mean over a batch
    weight: Callable[[Any, Any], Any]  # (outputs, targets) → what the batch weighs, whatever the outputs are

    def __call__(self, outputs: Any, targets: Any) -> Any:
        """The mean over a batch."""
        return self.mean(outputs, targets)


def shapes(value: Any) -> str:
    """The shapes of all tensors, in words."""
    return ", ".join(str(tuple(one.shape)) for one in tensors_of(value)) or type(value).__name__


class _Call(NamedTuple):
    """A loss of torch that ran."""

    result: Tensor
    weight: float | None  # by which its mean is divided; None for a sum
    labels: tuple[int, torch.Size, int] | None  # of class labels the ignored one, the shape of outputs and their number


class _Watch(TorchFunctionMode):
    """Records the losses of torch that run, and refuses what they take without a word."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[_Call] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func not in OWN:
            return func(*args, **kwargs)
        if func is functional.l1_loss:  # which keeps its weight from modes (torch 2.13)
            frames = (frame for frame, _ in walk_stack(sys._getframe()) if frame.f_code is func.__code__)
            kwargs = {**kwargs, "weight": next(frames).f_locals["weight"]}
        bound = inspect.signature(func).bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        if given.get("size_average") is not None or given.get("reduce") is not None:
            given["reduction"] = _reduction.legacy_get_string(
                given["size_average"], given["reduce"], emit_warning=False
            )
            given["size_average"] = given["reduce"] = None
        if func in _CLASSES:
            _check_classes(given)
        else:
            _check_shapes(func.__name__, given.get("input"), given.get("target"))
        result = func(**given)
        classes = func in _CLASSES and not given["target"].is_floating_point()
        labels = (given["ignore_index"], given["input"].shape, given["target"].numel()) if classes else None
        self.calls.append(_Call(result, _weight(func, result, given), labels))
        return result


def _check_classes(given: dict[str, Any]) -> None:
    if "linear_weight" in given:
        return
    input, target = given["input"], given["target"]
    classes = input.shape[1 if input.ndim > 1 else 0]
    if classes == 1:
        raise ValueError(
            f"cross-entropy of one output, shape {tuple(input.shape)}, is 0 for every network; allowed: two classes or "
            "more, or a loss for regression"
        )
    if not target.is_floating_point():
        counted = target[target != given["ignore_index"]]
        if counted.numel() and (counted.min() < 0 or counted.max() >= classes):
            low, high = counted.min().item(), counted.max().item()
            raise ValueError(f"labels are {low} to {high}; allowed: 0 to {classes - 1}")


def _check_shapes(name: str, input: Any, target: Any) -> None:
    if not isinstance(input, Tensor) or not isinstance(target, Tensor) or name == "multi_margin_loss":
        return
    if input.shape != target.shape and target.ndim and not input.numel() == target.numel() == 1:
        raise ValueError(
            f"{name} has outputs {tuple(input.shape)} and targets {tuple(target.shape)}; allowed: equal shapes"
        )


def _weight(func: Callable, result: Tensor, given: dict[str, Any]) -> float | None:
    """The divisor of the mean of a loss of torch; None for a sum."""
    reduction, weight = given["reduction"], given.get("weight")
    target: Any = given.get("target")
    if reduction == "sum":
        return None
    if reduction == "none":
        return result.numel()
    if reduction == "batchmean":
        return len(given["input"])
    if func in _CLASSES and target.is_floating_point():  # probabilities
        return target.numel() // target.shape[1 if target.ndim > 1 else 0]
    if func in _CLASSES:
        counted = target != given["ignore_index"]
        return float(counted.sum() if weight is None else weight[target[counted]].double().sum())
    if func in (functional.mse_loss, functional.l1_loss) and weight is not None:
        return float(weight.double().sum())
    with torch.no_grad():
        return func(**given | {"reduction": "none"}).numel()


def _mean(raw: Any, n: int, calls: list[_Call]) -> Tensor:
    """The mean loss of a batch of n examples in float64; raises unless these are real numbers, one or n."""
    if not isinstance(raw, Tensor):
        if isinstance(raw, bool) or not isinstance(raw, (int, float)):
            raise TypeError(f"the loss is {type(raw).__name__}; allowed: a tensor () or (n,)")
        raw = torch.tensor(raw, dtype=torch.float64)
    each = raw.numel() == 1 or raw.shape == (n,) or any(raw is call.result for call in calls)
    if raw.is_complex() or not each:
        raise ValueError(f"the loss has shape {tuple(raw.shape)} and type {raw.dtype}; allowed: () or ({n},), real")
    if torch.is_grad_enabled() and not raw.requires_grad:  # for a descent
        raise ValueError(
            "the loss has no gradient by the weights; allowed: losses and networks that torch differentiates"
        )
    return raw.double().mean()


class Combined:
    """The rule by which losses of batches, seen one after another, make up the loss of all data.

    A rule gives each batch a weight, Σ value · weight being additive. It is torch's own where the loss is. A loss of
    the caller's is computed on halves of a batch, and on a half put together with the examples before it, which leaves
    the rules that hold for the first and for the last network.
    """

    def __init__(self, loss: Callable, modules: Iterable[nn.Module] = ()):
        self.loss = loss
        self.reads = Reads({})
        self.reads.names = {memory(value): name for one in modules for name, value in one.named_parameters()}
        inner = loss.func if isinstance(loss, partial) else loss
        self.torchs = any(inner is own for own in OWN) or type(inner).__module__ == "torch.nn.modules.loss"
        self.rules = list(_RULES)
        self.weights: list[dict[str, float]] = []  # of each batch, by rules
        self.sizes: list[int] = []
        self.labels: set[tuple[int, torch.Size]] = set()  # the ignored label, the shape of outputs for one example
        self.counts = True  # it is known which labels count
        self.proven = False
        self.inside: list[_Call] = []  # losses of torch in the network's last forward pass
        self.before: dict[int, tuple[Any, int]] = {}  # network → the last examples of the batches before
        self.why = ""
        self.broadcast = False  # outputs and targets may have been broadcast against each other

    def outputs(self, model: nn.Module, x: Any) -> Any:
        """Outputs for a batch; a network that is given labels computes its loss itself."""
        with _Watch() if isinstance(x, Mapping) and not LABELS.isdisjoint(x) else nullcontext() as watch:
            outputs = run(model, x)
        self.inside = watch.calls if watch is not None else []
        return outputs

    def value(self, outputs: Any, y: Any, n: int, k: int = 0, at: int | None = None, test: Any = None) -> Tensor:
        """The mean loss of a batch, the ``at``-th of network k; one of ``test`` is also tested on its parts.

        ``test`` is (model, x), with which outputs are computed where they cannot be cut.
        """
        if self.torchs and k:
            return self.plain(outputs, y, n)
        with self.reads:
            raw, calls = self._computed(outputs, y)
        if self.reads.read:
            raise ValueError(
                f"the loss reads {min(self.reads.read)!r} of a given module, which another has on the way; allowed: a "
                "loss of outputs and targets, and a module that gives its penalty as one of its outputs"
            )
        value, found = _mean(raw, n, calls), self._weights(raw, calls, outputs, y, n)
        if not (self.torchs or self.weights):
            raw, calls = self._computed(outputs, y)
            again = _mean(raw, n, calls)
            if not torch.isclose(value, again, rtol=_ROUNDING, atol=0, equal_nan=True):
                raise ValueError("the loss is another at every call; allowed: functions of outputs and targets")
        at = len(self.weights) if at is None else at
        if at == len(self.weights):
            self.weights.append(found)
            self.sizes.append(n)
            self.labels |= {(call.labels[0], call.labels[1][1:]) for call in calls if call.labels is not None}
            self.counts = self.counts and (self.torchs or self._all_count(outputs, y))
        for rule, before in self.weights[at].items():
            weight = found.get(rule, math.nan)
            if not math.isclose(weight, before, rel_tol=_ROUNDING):
                self._drop(rule, f"the weight of a batch in the loss is {before:g} or {weight:g}, depending on outputs")
        if not self.torchs and test is not None:
            self._test(outputs, y, n, k, at, *test)
        if not self._left() and (len(self.weights) > 1 or self.broadcast):
            raise ValueError(f"{self.why}; allowed: {_SEVERAL}, or all data in one batch [(x, y)]")
        return value

    def _computed(self, outputs: Any, y: Any) -> tuple[Any, list[_Call]]:
        """The value of the loss for a batch, and the losses of torch that ran; errors of torch in one sentence."""
        given = [(one, one._version) for one in tensors_of((outputs, y)) if not one.is_inference()]
        with _Watch() as watch:
            try:
                raw = self.loss(outputs, y)
                if any(one._version != version for one, version in given):
                    raise ValueError("the loss writes into outputs or targets; allowed: one that leaves them unchanged")
                return raw, self.inside + watch.calls
            except (RuntimeError, TypeError, IndexError, AttributeError, KeyError, ValueError) as error:
                if "; allowed: " in str(error):
                    raise
                why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
                of = f"outputs {shapes(outputs)} and targets {shapes(y)}"
                raise ValueError(f"the loss fails with {of} ({why}); allowed: a loss that takes them") from error

    def _left(self) -> list[str]:
        """The rules that hold in all batches."""
        return [rule for rule in self.rules if all(rule in each for each in self.weights)]

    def _drop(self, rule: str, why: str) -> None:
        if rule in self.rules:
            self.rules.remove(rule)
            self.why = why

    def _weights(self, raw: Any, calls: list[_Call], outputs: Any, y: Any, n: int) -> dict[str, float]:
        """Rule → weight of a batch."""
        if isinstance(self.loss, Loss):
            given = float(self.loss.weight(outputs, y))
            if not 0 <= given < math.inf:
                raise ValueError(f"the weight of a batch is {given}; allowed: 0 or more, finite")
            return {"given": given}
        found: dict[str, float] = {}
        mean = _mean(raw, n, calls)
        own = {call.weight if not call.result.ndim or _is_mean(mean, call.result) else None for call in calls}
        if len(own) == 1 and (weight := own.pop()) is not None:
            found["calls"] = weight
        if self.torchs:
            return found or {"sum": n}
        if isinstance(raw, Tensor) and raw.ndim:
            found["elements"] = raw.numel()
        several = isinstance(raw, Tensor) and raw.numel() > 1
        return {"elements": found["elements"]} if several else found | {"examples": n, "sum": n}

    # ---------- a loss of the caller's on parts of batches

    def _terms(self, tree: Any, n: int, model: Any) -> dict[str, tuple[float, float]]:
        """Rule → (value · weight, weight) of a part."""

        def terms(tree: Any) -> dict[str, tuple[float, float]]:
            first, y = tree
            raw, calls = self._computed(first if model is None else self.outputs(model, first), y)
            value = _mean(raw, n, calls).item()
            weights = self._weights(raw, calls, first, y, n)
            return {r: (value * (1 if r == "sum" else w) if w else 0.0, w) for r, w in weights.items()}

        with suppress(ValueError, TypeError):  # some weights may be in single precision
            return terms(
                mapped(lambda one: one.double() if one.is_floating_point() else one, tree) if model is None else tree
            )
        return terms(tree)

    def _test(self, outputs: Any, y: Any, n: int, k: int, at: int, model: Any, x: Any) -> None:
        """Drop the rules that do not hold for the parts of a batch, or for parts of this and the one before."""
        tree, net = ((outputs, y), None) if _is_cut((outputs, y), n) else ((x, y), model)
        if not _is_cut(tree, n):
            return
        tree = mapped(torch.Tensor.detach, tree)
        half = -(-n // 2)
        first = (part(tree, 0, half), half)
        if half < n:
            self._compare((tree, n), first, (part(tree, half, n), n - half), net)
        before, whole = self.before.get(k), None
        if at:
            whole = None if before is None else joined(before[0], first[0])
            if before is None or whole is None:
                self._drop("examples", "batches of different shapes may weigh differently in the loss")
            else:
                self._compare((whole, before[1] + half), before, first, net)
        if whole is None or before is None or n > _KEPT:
            self.before[k] = (part(tree, max(0, n - _KEPT), n), min(n, _KEPT))
        else:
            whole, m = joined(before[0], tree), before[1] + n
            self.before[k] = (part(whole, max(0, m - _KEPT), m), min(m, _KEPT))

    def _compare(self, whole: Any, one: Any, two: Any, model: Any) -> None:
        """Drop the rules by which two parts do not make up the whole."""
        try:
            terms = [self._terms(tree, n, model) for tree, n in (whole, one, two)]
        except (ValueError, TypeError, RuntimeError) as error:
            self.rules, self.why = [], f"the loss of a part of a batch fails ({error})".replace("; allowed: ", ", not ")
            return
        self.proven = True
        outputs, y = whole[0]
        self.broadcast = isinstance(outputs, Tensor) and isinstance(y, Tensor) and outputs.shape != y.shape
        self.broadcast = self.broadcast and outputs.numel() == y.numel()
        for rule in [rule for rule in self.rules if all(rule in each for each in terms[1:])]:
            a, b, c = (each.get(rule, (math.nan, math.nan)) for each in terms)
            pairs = zip(a, b, c, strict=True)
            if not all(abs(u - v - w) <= _ROUNDING * max(abs(u), abs(v) + abs(w)) < math.inf for u, v, w in pairs):
                self._drop(
                    rule,
                    f"the loss of {whole[1]} examples does not follow from the losses of its parts, with outputs "
                    f"{shapes(outputs)} and targets {shapes(y)}",
                )

    # ---------- accuracy

    def _axis(self, outputs: Any, y: Any) -> int | None:
        """The axis of classes in outputs; None unless y are class labels."""
        if not isinstance(outputs, Tensor) or not isinstance(y, Tensor) or not outputs.is_floating_point():
            return None
        if y.is_floating_point() or y.dtype == torch.bool or outputs.ndim != y.ndim + 1 or not y.ndim:
            return None
        first, last = outputs.shape[:1] + outputs.shape[2:] == y.shape, outputs.shape[:-1] == y.shape
        if first and last and y.ndim > 1:  # as many classes as steps
            first = any(shape == outputs.shape[1:] for _, shape in self.labels)
            last = bool(self.labels) and not first
        axis = 1 if first else -1
        return axis if (first or last) and outputs.shape[axis] > 1 else None

    def _counted(self, y: Tensor) -> Tensor:
        """The labels that are not ignored."""
        counted = torch.ones_like(y, dtype=torch.bool)
        for label in {label for label, _ in self.labels}:
            counted &= y.long() != label
        return counted

    def _all_count(self, outputs: Any, y: Any) -> bool:
        """True if a loss of the caller's wants the output of each label that is not ignored larger than the others."""
        axis = self._axis(outputs, y)
        if axis is None:
            return False
        classes, counted = outputs.shape[axis], self._counted(y)
        label = y.long().where(counted, 0).clamp(0, classes - 1).unsqueeze(axis)
        for kind in (torch.float64, outputs.dtype):  # some weights may be in single precision
            with suppress(ValueError, RuntimeError, TypeError, AttributeError), torch.enable_grad():
                given = torch.full_like(outputs, 1 / classes, dtype=kind).requires_grad_()
                (slope,) = torch.autograd.grad(self._computed(given, y)[0].sum(), given)
                others = slope.scatter(axis, label, math.inf).amin(dim=axis)
                return bool(((slope.gather(axis, label).squeeze(axis) < others) | ~counted).all())
        return False

    def right(self, outputs: Any, y: Any) -> Tensor | None:
        """Numbers of correct predictions and of labels that count, (2,); None unless y are class labels."""
        axis = self._axis(outputs, y) if self.counts else None
        if axis is None:
            return None
        counted, y = self._counted(y), y.long()
        if len({label for label, _ in self.labels}) > 1 or ((y < 0) | (y >= outputs.shape[axis]))[counted].any():
            return None
        return torch.stack([((outputs.argmax(dim=axis) == y) & counted).sum(), counted.sum()]).double().cpu()

    # ---------- the result

    def rule(self) -> str:
        """The rule that holds in all batches."""
        if not self.torchs and len(self.weights) > 1 and not self.proven:
            self.rules, self.why = (
                [],
                "outputs and targets cannot be cut into examples, on which the loss would be tested",
            )
        left = self._left()
        if len(self.weights) == 1:  # it is the loss
            left = left or list(self.weights[0])
        if not left:
            raise ValueError(f"{self.why or 'the loss changes its form'}; allowed: {_SEVERAL}, or one batch [(x, y)]")
        return left[0]

    def shares(self) -> list[float]:
        """By which the mean losses of the batches add up to the loss of all data."""
        weights = [each[self.rule()] for each in self.weights]
        if not sum(weights):
            raise ValueError(UNLABELLED)
        return [1.0 if self.rule() == "sum" else weight / sum(weights) for weight in weights]

    def plain(self, outputs: Any, y: Any, n: int) -> Tensor:
        """The mean loss of a batch, of whose kind others were seen."""
        raw = self.loss(outputs, y)
        return _mean(raw, n, [_Call(raw, None, None)])

    def weighed(self, outputs: Any, y: Any, n: int) -> tuple[Tensor, float]:
        """Mean loss and weight of a batch that was not seen: the loss of all data is their weighted mean."""
        raw, calls = self._computed(outputs, y)
        rule, value = self.rule(), _mean(raw, n, calls)
        return value * (sum(self.sizes) / n if rule == "sum" else 1), self._weights(raw, calls, outputs, y, n)[rule]

    def put_together(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Losses (B, …) and weights (B,), without batches of weight 0; the loss of all data is the weighted mean."""
        rule = self.rule()
        weights = torch.tensor([each[rule] for each in self.weights], dtype=torch.float64)
        sizes = torch.tensor(self.sizes, dtype=torch.float64)
        if rule == "sum":
            values = values * (sizes.sum() / sizes).view(-1, *[1] * (values.ndim - 1)).to(values)
        if not (weights > 0).any():
            raise ValueError(UNLABELLED)
        return values[weights > 0], weights[weights > 0]


def _is_mean(value: Tensor, each: Tensor) -> bool:
    """True if a loss is the mean of losses that torch gives one by one, or one of them is not finite."""
    return math.isclose(value.item(), mean := each.double().mean().item(), rel_tol=_ROUNDING) or not math.isfinite(mean)


def _is_cut(tree: tuple[Any, Any], n: int) -> bool:
    """True if outputs or inputs, and targets, have n examples on their first axis."""
    found = list(tensors_of(tree))
    return all(one.shape[:1] == (n,) for one in found) and next(tensors_of(tree[0]), None) is not None


def joined(one: Any, two: Any) -> Any:
    """The examples of two parts, one after the other; None if their shapes differ."""
    others = iter(list(tensors_of(two)))
    try:
        return mapped(lambda u: torch.cat([u, next(others)]), one)
    except (RuntimeError, StopIteration):
        return None
