"""What the layers of MLPs on images read: principal subspaces, their coherence, and the runs (Bürgin et al., F.7, G.5).

The networks are those of :mod:`~lmc_helpers.experiments.asymmetric_mlps`, so that equal settings are trained once, and
first networks of the same pairs trained with batch norm (F.7). The inputs of a layer are the images, or the activations
after norm and activation; its subspace U (d, k) is the least principal one with 90 % of their variance, centred as in
the code that the authors have published. Everything follows from their mean and covariance,

    ν = max_l (UUᵀ)_ll in [k/d, 1]                                                                  (eq. (11)).

Where the paper leaves it open: fixed norms (F.7) have the statistics of the images on this page, not running ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from lmc_helpers import expect
from lmc_helpers.data.images import load
from lmc_helpers.error_bars import jackknife
from lmc_helpers.experiments import asymmetric_mlps
from lmc_helpers.experiments.asymmetric_mlps import CORE
from lmc_helpers.identifiability.input_subspace import leverages
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.training.runs import Result, Run

__all__ = [
    "HIDDEN_PLACES",
    "PLACES",
    "Coherences",
    "Experiment",
    "Moments",
    "coherences",
    "layer_moments",
    "principal_basis",
    "runs",
]

EXPLAINED = 0.9  # share of the variance that a subspace holds

#: Where Fig. 21 looks: the inputs of the four maps, and the outputs.
PLACES = ("images", "layer 2", "layer 3", "layer 4", "outputs")
HIDDEN_PLACES = slice(1, 4)


def runs(
    *,
    dataset: str,
    width: int,
    images: int,
    epochs: int,
    stages: Sequence[int],
    pairs: int,
    ridge_networks: int,
    batch: int = 64,
    seed: int = 0,
) -> list[Run]:
    """The training runs: MLP, W-MLPs with σ_F = 0 and 1 and syre-MLP, with layer norm, then with batch norm.

    Parameters
    ----------
    dataset, width, images, epochs, stages, batch, seed
        as for :func:`lmc_helpers.experiments.asymmetric_mlps.runs`; with layer norm the networks are its own. In
        narrower layers than allowed a row has one fixed entry, neighbours share it, and their swap costs 0 if F = 0.
    pairs : int
        pairs of networks with layer norm.
    ridge_networks : int
        networks with batch norm: the first ones of so many pairs; at most ``pairs``.

    Returns
    -------
    list of Run
        eight.

    Examples
    --------
    >>> some = runs(dataset="digits", width=16, images=200, epochs=2, stages=[0], pairs=3, ridge_networks=2, seed=1)
    >>> [len(run.seeds) for run in some], some[5].model.norm, some[5].mask_seeds == some[1].mask_seeds[:2]
    ([6, 6, 6, 6, 2, 2, 2, 2], 'batch', True)
    """
    expect.integer(ridge_networks, "ridge_networks")
    expect.integer(pairs, "pairs")
    expect.integer(width, "width", least=16)
    expect.integer(images, "images", least=1)
    expect.integer(epochs, "epochs", least=0)
    expect.array(stages, "stages", "k", empty=True)
    if not 1 <= ridge_networks <= pairs:
        raise ValueError(f"ridge_networks = {ridge_networks}; allowed: an integer from 1 to pairs = {pairs}")
    every = asymmetric_mlps.runs(
        dataset=dataset,
        width=width,
        images=images,
        epochs=epochs,
        stages=stages,
        pairs=pairs,
        sweep_pairs=pairs,
        sigmas=(),
        shares=(),
        batch=batch,
        seed=seed,
    )
    found = dict(zip(asymmetric_mlps.variants((), ()), every, strict=True))
    layered = [found[name] for name in CORE]
    return [*layered, *(_normed(run, ridge_networks) for run in layered)]


def _normed(run: Run, networks: int) -> Run:
    """The first networks of the first pairs, with batch norm."""
    assert isinstance(run.model, MLP)
    return replace(
        run,
        model=replace(run.model, norm="batch"),
        seeds=run.seeds[: 2 * networks : 2],
        mask_seeds=run.mask_seeds[:networks],
        keep=(),
    )


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean (d,) and covariance (d, d) of what a layer reads, float64."""

    mean: torch.Tensor
    covariance: torch.Tensor

    @cached_property
    def basis(self) -> torch.Tensor:
        """:func:`principal_basis`, found once."""
        return principal_basis(self)


def _moments(Z: torch.Tensor) -> Moments:
    Z = Z.double()
    mean = Z.mean(dim=0)
    Z = Z - mean
    return Moments(mean, Z.mT @ Z / len(Z))


def layer_moments(stack: Stack, n: int, x: torch.Tensor, images: Moments | None = None) -> list[Moments]:
    """Moments at the :data:`PLACES` of one network, on all inputs at once.

    Parameters
    ----------
    stack : Stack
        networks.
    n : int
        which one.
    x : torch.Tensor
        inputs (B, d).
    images : Moments, optional
        those of ``x``, if they are known.

    Returns
    -------
    list of Moments
        of the inputs of each map, and of the outputs.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> x = torch.randn(30, 2, generator=torch.Generator().manual_seed(1))
    >>> [len(at.mean) for at in layer_moments(MLP((2, 5, 3)).initial([1]), 0, x)]
    [2, 5, 3]
    """
    if not isinstance(stack, Stack):
        raise ValueError(f"stack is {type(stack).__name__}; allowed: Stack")
    expect.integer(n, "n", least=0, most=len(stack) - 1)
    expect.tensor(x, "x", "B d")
    if images is not None and not isinstance(images, Moments):
        raise ValueError(f"images is {type(images).__name__}; allowed: None, or Moments")
    record: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        outputs = stack.ordinary([n]).forward(x.to(next(iter(stack.params.values()))), record)
    return [images or _moments(x), *(_moments(hidden[0]) for hidden in record.values()), _moments(outputs[0])]


def principal_basis(moments: Moments) -> torch.Tensor:
    """Basis U (d, k) of the least principal subspace with 90 % of the variance.

    Examples
    --------
    >>> C = torch.tensor([[9.5, 0.0], [0.0, 0.5]], dtype=torch.float64)
    >>> principal_basis(Moments(torch.zeros(2), C)).abs().tolist()
    [[1.0], [0.0]]
    """
    if not isinstance(moments, Moments):
        raise ValueError(f"moments is {type(moments).__name__}; allowed: Moments")
    expect.tensor(moments.covariance, "moments.covariance", "d d")
    values, vectors = torch.linalg.eigh(moments.covariance)
    energy = values.clamp(min=0).flip(0).cumsum(dim=0)
    k = int((energy < energy[-1] * (EXPLAINED - 1e-12)).sum()) + 1
    return vectors.flip(1)[:, :k].contiguous()


@dataclass(frozen=True, eq=False)
class Coherences:
    """Coherence ν and dimension k of the subspaces at the P :data:`PLACES` of N networks.

    Parameters
    ----------
    nu, k : torch.Tensor
        (N, P), float64.
    d : torch.Tensor
        (P,) what a place has of coordinates.
    """

    nu: torch.Tensor
    k: torch.Tensor
    d: torch.Tensor

    @property
    def excess(self) -> torch.Tensor:
        """(ν − k/d)/(1 − k/d), (N, P): 0 if all coordinates see equally much, 1 if the subspace holds an axis."""
        least = self.k / self.d
        return torch.where(self.k < self.d, (self.nu - least) / (1 - least), 0)

    @property
    def relative(self) -> torch.Tensor:
        """ν d/k, (N, P), the coherence of Candès & Recht (2009), in [1, d/k]."""
        return self.nu * self.d / self.k


def coherences(stack: Stack, x: torch.Tensor, images: Moments | None = None) -> Coherences:
    """Coherences of all networks.

    Parameters
    ----------
    stack : Stack
        N networks.
    x : torch.Tensor
        inputs (B, d) on which all of them are looked at.
    images : Moments, optional
        those of ``x``, if they are known.

    Returns
    -------
    Coherences
        of N.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> x = torch.randn(30, 2, generator=torch.Generator().manual_seed(1))
    >>> found = coherences(MLP((2, 5, 3)).initial([1, 2]), x)
    >>> found.nu.shape, found.d.tolist(), bool((found.relative >= 1).all())
    (torch.Size([2, 3]), [2, 5, 3], True)
    """
    if not isinstance(stack, Stack):
        raise ValueError(f"stack is {type(stack).__name__}; allowed: Stack")
    expect.tensor(x, "x", "B d")
    if images is not None and not isinstance(images, Moments):
        raise ValueError(f"images is {type(images).__name__}; allowed: None, or Moments")
    nu, k, d = [], [], []
    at_images = images or _moments(x)
    for n in range(len(stack)):
        bases = [at.basis for at in layer_moments(stack, n, x, at_images)]
        nu.append([leverages(U).max().item() for U in bases])
        k.append([U.shape[1] for U in bases])
        d = [len(U) for U in bases]
    return Coherences(torch.tensor(nu, dtype=torch.float64), torch.tensor(k, dtype=torch.float64), torch.tensor(d))


class Experiment:
    """The networks of Figs. 12, 16 to 19 and 21, trained and looked at when they are first asked for.

    Parameters
    ----------
    looked : int
        images of the subspaces: the first so many of the training images.
    **settings
        of :func:`runs`.

    Attributes
    ----------
    runs : dict of Run
        ``"MLP"``, ``"W 0"``, ``"W 1"``, ``"syre 1"``, and the same names with ``", batch norm"``.
    x : torch.Tensor
        those images (n, pixels).

    Examples
    --------
    >>> some = Experiment(100, dataset="digits", width=16, images=200, epochs=2, stages=[0], pairs=3, ridge_networks=2)
    >>> some.x.shape, list(some.runs)[4]
    (torch.Size([100, 64]), 'MLP, batch norm')
    """

    def __init__(self, looked: int, **settings) -> None:
        names = [*CORE, *(f"{name}, batch norm" for name in CORE)]
        self.runs = dict(zip(names, runs(**settings), strict=True))
        data = self.runs["MLP"].data
        self.x = load(data.name, data.split, data.n, data.seed).inputs(flat=True)[:looked]
        self.images = _moments(self.x)
        self._results: dict[str, Result] = {}
        self._coherences: dict[tuple[str, int | None], Coherences] = {}

    def result(self, name: str) -> Result:
        """The trained networks of a run."""
        expect.one_of(name, "name", self.runs)
        if name not in self._results:
            found = self.runs[name].result()
            if found.diverged:
                raise ValueError(f"networks of seeds {found.diverged} of {name!r} diverged; allowed: none")
            self._results[name] = found
        return self._results[name]

    def coherences(self, name: str, epoch: int | None = None) -> Coherences:
        """Those of all networks of a run, at the end or after an epoch that was kept."""
        expect.one_of(name, "name", self.runs)
        expect.integer(0 if epoch is None else epoch, "epoch", least=0)
        if (name, epoch) not in self._coherences:
            result = self.result(name)
            expect.one_of(epoch, "epoch", (None,) if epoch is None else result.kept)
            stack = result.stack if epoch is None else result.kept[epoch]
            self._coherences[name, epoch] = coherences(stack, self.x, self.images)
        return self._coherences[name, epoch]

    def by_pair(self, name: str, epoch: int | None = None, quantity: str = "nu") -> torch.Tensor:
        """Means of ``nu``, ``k``, ``excess`` or ``relative`` over the two networks of a pair, (pairs, places)."""
        expect.one_of(quantity, "quantity", ("nu", "k", "excess", "relative"))
        values = getattr(self.coherences(name, epoch), quantity)
        return values.unflatten(0, (-1, 2)).mean(dim=1)

    def hidden(self, name: str, epoch: int | None = None, quantity: str = "nu") -> torch.Tensor:
        """:meth:`by_pair` in the mean over the hidden places, (pairs,)."""
        return self.by_pair(name, epoch, quantity)[:, HIDDEN_PLACES].mean(dim=1)

    def higher(self, name: str, epoch: int | None = None, quantity: str = "nu") -> tuple[float, float]:
        """:meth:`hidden` of one run over the larger of MLP and W-MLP with σ_F = 0, and its widened standard error."""
        values = [self.hidden(key, epoch, quantity) for key in (name, "MLP", "W 0")]
        return jackknife(lambda u, v, w: u / max(v, w), *values)
