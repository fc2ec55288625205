"""Pairs of asymmetric MLPs on images, their lines and what matches their units (Bürgin et al., section 6, F.1, G.1).

A pair is two networks with one F and D for each layer and with initial weights and orders of examples of their own.
Pairs have masks of their own, so that they are independent. Pair p of every variant has the same seeds: W-MLPs
that differ in σ_F alone are compared on equal masks and equal first weights.

Readings where the paper leaves it open, all from the code that the authors have published: batches of 64; 90 % of the
training images; W of asymmetric layers starts at N(0, 1/inputs), that of ordinary ones by the law of torch; syre has
ε = 0 in Table 1, so D = 1; FiGLU has entries N(0, 1) and stands behind the layer norm. At another width or other images
a row has the same share of fixed entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.alignment.activation_matching import match_moments, recorded_moments
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import jackknife
from lmc_helpers.identifiability.asymmetric import Scheme, Syre, WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Result, Run

__all__ = ["FIXED", "Experiment", "Found", "Variant", "ends", "fixed_entries", "measure", "runs", "variants"]

PIXELS = {"digits": 64, "mnist": 784}
HIDDEN = 3  # hidden layers, all of one width
PRINTED = (784, 512, 512, 512, 10)
FIXED = (64, 64, 64, 256)  # entries of a row, App. F.1
SPLIT = "train90"


@dataclass(frozen=True)
class Variant:
    """An architecture of section 6.

    Parameters
    ----------
    kind : str
        ``"mlp"``, ``"w"``, ``"syre"`` or ``"sigma"``.
    sigma : float
        σ_F of all layers; of no account for ``"mlp"`` and ``"sigma"``.
    share : float, optional
        fixed entries of each row of all maps, as a share; those of App. F.1 if not given.
    """

    kind: str
    sigma: float = 0.0
    share: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("mlp", "w", "syre", "sigma"):
            raise ValueError(f"kind = {self.kind!r} is unknown; allowed: mlp, w, syre, sigma")

    def model(self, pixels: int, width: int) -> MLP:
        """The architecture of one network."""
        expect.integer(pixels, "pixels", least=1)
        expect.integer(width, "width", least=1)
        sizes = (pixels, *[width] * HIDDEN, 10)
        law = "normal" if self.kind in ("w", "syre") else "torch"
        return MLP(sizes, "figlu" if self.kind == "sigma" else "gelu", "layer", init=law)

    def schemes(self, pixels: int, width: int) -> dict[str, Scheme]:
        """Name of a map → what draws its F and D.

        Examples
        --------
        >>> [scheme.fixed for scheme in Variant("w", 1.0).schemes(784, 512).values()]
        [64, 64, 64, 256]
        >>> Variant("sigma").schemes(784, 64)["0.gate"]  # all of its entries are fixed
        WAsymmetric(fixed=64, sigma=1.0, dim=0)
        """
        maps = self.model(pixels, width).maps()
        if self.kind == "w":
            counts = fixed_entries(pixels, width, self.share)
            return {name: WAsymmetric(fixed, self.sigma) for name, fixed in zip(maps, counts, strict=True)}
        if self.kind == "syre":
            return dict.fromkeys(maps, Syre(self.sigma, 0.0))
        return {name: WAsymmetric(width, 1.0) for name in maps if name.endswith("gate")}


def fixed_entries(pixels: int, width: int, share: float | None = None) -> tuple[int, ...]:
    """Fixed entries in a row of each of the four maps.

    Parameters
    ----------
    pixels, width : int
        inputs, and units of a hidden layer.
    share : float, optional
        of every row; if not given, a row has the share that it has in App. F.1, and at least one entry.

    Returns
    -------
    tuple of int
        four of them.

    Examples
    --------
    >>> fixed_entries(784, 512), fixed_entries(784, 64), fixed_entries(784, 64, 0.5)
    ((64, 64, 64, 256), (64, 8, 8, 32), (392, 32, 32, 32))
    """
    expect.integer(pixels, "pixels", least=1)
    expect.integer(width, "width", least=1)
    expect.number(0 if share is None else share, "share", least=0, most=1)
    inputs = (pixels, *[width] * HIDDEN)
    if share is not None:
        return tuple(round(share * d) for d in inputs)
    printed = zip(FIXED, PRINTED, inputs, strict=False)
    return tuple(max(1, round(fixed * d / before)) for fixed, before, d in printed)


def variants(sigmas: Sequence[float], shares: Sequence[float]) -> dict[str, Variant]:
    """The architectures by name: those of Figs. 4 and 7, then the sweeps over σ_F and over shares of fixed entries.

    Parameters
    ----------
    sigmas : sequence of float
        σ_F of W-MLPs beside 0 and 1.
    shares : sequence of float
        of fixed entries in every row, for σ_F = 0 and 1.

    Returns
    -------
    dict
        name → variant.

    Examples
    --------
    >>> list(variants([5.0], [0.5]))
    ['MLP', 'W 0', 'W 1', 'syre 1', 'sigma', 'W 5', 'share 0.5, 0', 'share 0.5, 1']
    """
    expect.array(sigmas, "sigmas", "k", empty=True)
    expect.array(shares, "shares", "k", empty=True)
    named = {"MLP": Variant("mlp"), "W 0": Variant("w", 0.0), "W 1": Variant("w", 1.0)}
    named |= {"syre 1": Variant("syre", 1.0), "sigma": Variant("sigma")}
    named |= {f"W {sigma:g}": Variant("w", float(sigma)) for sigma in sigmas}
    named |= {f"share {share:g}, {sigma:g}": Variant("w", float(sigma), share) for sigma in (0, 1) for share in shares}
    return named


CORE = ("MLP", "W 0", "W 1", "syre 1")  # Fig. 4, with all pairs and stages of training


def runs(
    *,
    dataset: str,
    width: int,
    images: int,
    epochs: int,
    stages: Sequence[int],
    pairs: int,
    sweep_pairs: int,
    sigmas: Sequence[float],
    shares: Sequence[float],
    batch: int = 64,
    seed: int = 0,
) -> list[Run]:
    """The training runs, one for each of :func:`variants`, by the recipe of App. F.1.

    Parameters
    ----------
    dataset : str
        ``"mnist"`` or ``"digits"``, which also stands in for MNIST where it cannot be had.
    width : int
        of the three hidden layers; 512 in the paper.
    images : int
        training images, at most those that there are.
    epochs, batch : int
        of AdamW, 100 in the paper; batches of 64 are a reading.
    stages : sequence of int
        epochs before the last one after which networks of Fig. 4 are kept; 0 is the beginning.
    pairs, sweep_pairs : int
        pairs of networks of Fig. 4, and of each other variant.
    sigmas, shares : sequence of float
        as for :func:`variants`.
    seed : int
        of all.

    Returns
    -------
    list of Run
        in the order of :func:`variants`.

    Examples
    --------
    >>> some = runs(dataset="digits", width=16, images=200, epochs=2, stages=[0], pairs=3, sweep_pairs=2,
    ...             sigmas=[5.0], shares=[0.5], seed=1)
    >>> some[2].title
    '6 × MLP(64-16-16-16-10, activation=gelu, norm=layer, init=normal) with WAsymmetric(fixed=2, sigma=1.0), \
WAsymmetric(fixed=5, sigma=1.0), WAsymmetric(fixed=8, sigma=1.0) on digits (train90, 200 images), 2 epochs of adamw \
at 0.001'
    """
    expect.integer(width, "width", least=1)
    expect.integer(images, "images", least=1)
    expect.integer(pairs, "pairs", least=1)
    expect.integer(sweep_pairs, "sweep_pairs", least=0)
    expect.integer(epochs, "epochs", least=0)
    expect.array(stages, "stages", "k", empty=True)
    name, _ = choose(tuple(dict.fromkeys((dataset, "digits"))))
    drawn = numpy_generator(seed, "networks of asymmetric MLPs").integers(0, 2**32, 2 * max(pairs, sweep_pairs))
    masks = numpy_generator(seed, "masks of asymmetric MLPs").integers(0, 2**32, max(pairs, sweep_pairs))
    data = DataSpec(name, SPLIT, min(images, DataSpec(name, SPLIT).size), seed)
    descent = Descent(epochs, batch, "adamw", 1e-3, weight_decay=1e-2)
    found = []
    for key, variant in variants(sigmas, shares).items():
        P = pairs if key in CORE else sweep_pairs
        found.append(
            Run(
                variant.model(PIXELS[name], width),
                descent,
                data,
                tuple(drawn[: 2 * P].tolist()),
                variant.schemes(PIXELS[name], width),
                tuple(masks[:P].tolist()),
                tuple(epoch for epoch in stages if epoch < epochs) if key in CORE else (),
            )
        )
    return found


def ends(result: Result, epoch: int | None = None) -> tuple[Stack, Stack]:
    """First and second networks of the pairs as ordinary ones, with F + D ⊙ W in the place of W.

    Parameters
    ----------
    result : Result
        of a run; networks 2p and 2p + 1 are pair p.
    epoch : int, optional
        one that was kept; the end if not given.

    Returns
    -------
    (Stack, Stack)
        P each. A pair of which a network has diverged is left out.
    """
    if not isinstance(result, Result):
        raise ValueError(f"result is {type(result).__name__}; allowed: Result")
    expect.one_of(epoch, "epoch", (None,) if epoch is None else result.kept)  # type: ignore[arg-type]
    stack = result.stack if epoch is None else result.kept[epoch]
    at = {network: place for place, network in enumerate(result.survivors)}
    whole = [k for k in at if k % 2 == 0 and k + 1 in at]
    if not whole:
        raise ValueError(f"networks {list(at)} are left; allowed: a pair 2p and 2p + 1 at least")
    return stack.ordinary([at[k] for k in whole]), stack.ordinary([at[k + 1] for k in whole])


@dataclass(frozen=True, eq=False)
class Found:
    """What :func:`measure` finds for P pairs of networks with L hidden layers.

    Parameters
    ----------
    optimal, identity, random, spread : torch.Tensor
        (P, L): L(P*), L(I), and mean and standard deviation of L(P) over all m! permutations.
    stays : torch.Tensor
        (P, L): share of the units that P* leaves in their place.
    accuracy : dict of torch.Tensor
        way of matching → accuracies (P, places); ``"none"``, ``"correlation"``, ``"published"``, ``"absolute"``.
    """

    optimal: torch.Tensor
    identity: torch.Tensor
    random: torch.Tensor
    spread: torch.Tensor
    stays: torch.Tensor
    accuracy: dict[str, torch.Tensor]

    def way(self) -> tuple[torch.Tensor, torch.Tensor]:
        """L(I) − L_r and L(P*) − L_r, (P, L) each; their ratio is how far on the way the identity is."""
        return self.identity - self.random, self.optimal - self.random

    def drop(self, matched: str = "none") -> torch.Tensor:
        """Accuracy of the ends less that of the middle, (P,), in points."""
        expect.one_of(matched, "matched", self.accuracy)
        line = self.accuracy[matched]
        return 100 * ((line[:, 0] + line[:, -1]) / 2 - line[:, line.shape[1] // 2])


def measure(
    a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, lambdas: Sequence[float] = (), published: bool = False
) -> Found:
    """Objectives of P pairs, and accuracies on the lines between them, as they are and matched.

    Parameters
    ----------
    a, b : Stack
        P ordinary networks each.
    x, y : torch.Tensor
        images and labels, on which units are matched and accuracies are taken.
    lambdas : sequence of float
        an odd number of places, evenly from 0 to 1; none if there are no lines to follow.
    published : bool
        whether to match by the largest 1 − ``|ρ|`` as well, as the published script does, and by the smallest.

    Returns
    -------
    Found
        all of it.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> a = MLP((2, 5, 3)).initial([1, 2])
    >>> x, y = torch.randn(40, 2, generator=torch.Generator().manual_seed(1)), torch.zeros(40, dtype=torch.long)
    >>> found = measure(a, a, x, y, (0, 0.5, 1))
    >>> found.stays.flatten().tolist(), found.drop("correlation").tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """
    if not isinstance(a, Stack):
        raise ValueError(f"a is {type(a).__name__}; allowed: Stack")
    if not isinstance(b, Stack):
        raise ValueError(f"b is {type(b).__name__}; allowed: Stack")
    expect.one_of(published, "published", (True, False))
    expect.array(lambdas, "lambdas", "L", empty=True)
    if len(lambdas) and len(lambdas) % 2 == 0:
        raise ValueError(f"lambdas holds {len(lambdas)} places; allowed: an odd number of them, or none")
    moments = recorded_moments(a, b, x)
    best = match_moments(moments)
    law = best.random()
    groups = list(best.permutations)

    def stacked(of_group: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.stack([of_group[g] for g in groups], dim=-1)  # (P, L)

    ways = {"none": None, "correlation": best.permutations} if len(lambdas) else {}
    if published and ways:
        ways |= {name: match_moments(moments, name).permutations for name in ("published", "absolute")}
    accuracy = {}
    for name, p in ways.items():
        line = along_segments(a, b if p is None else b.permuted(p), x, y, lambdas).accuracy
        assert line is not None
        accuracy[name] = line
    in_place = {
        g: (p == torch.arange(p.shape[-1], device=p.device)).double().mean(dim=-1) for g, p in best.permutations.items()
    }
    return Found(
        stacked(best.objective()),
        stacked(best.identity()),
        stacked({g: mean for g, (mean, _) in law.items()}),
        stacked({g: spread for g, (_, spread) in law.items()}),
        stacked(in_place),
        accuracy,
    )


class Experiment:
    """The variants of section 6, each trained and measured when it is first asked for.

    Parameters
    ----------
    places : int
        intervals of the lines between networks of Fig. 4, even; other variants have ends and middle.
    **settings
        of :func:`runs`.

    Attributes
    ----------
    runs : dict of Run
        by the names of :func:`variants`.
    x, y : torch.Tensor
        the training images (n, pixels) and their labels (n,).

    Examples
    --------
    >>> some = Experiment(2, dataset="digits", width=16, images=200, epochs=2, stages=[0], pairs=3, sweep_pairs=2,
    ...                   sigmas=[5.0], shares=[0.5], seed=1)
    >>> some.x.shape, some.runs["W 5"].seeds == some.runs["W 0"].seeds[:4]
    (torch.Size([200, 64]), True)
    """

    def __init__(self, places: int, **settings) -> None:
        if type(places) is not int or places < 2 or places % 2:
            raise ValueError(f"places = {places!r}; allowed: an even integer >= 2")
        names = variants(settings["sigmas"], settings["shares"])
        self.runs = dict(zip(names, runs(**settings), strict=True))
        self.lambdas = [k / places for k in range(places + 1)]
        data = self.runs["MLP"].data
        images = load(data.name, data.split, data.n, data.seed)
        self.x, self.y = images.inputs(flat=True), images.y
        self._results: dict[str, Result] = {}
        self._found: dict[tuple[str, int | None], Found] = {}

    def result(self, name: str) -> Result:
        """The trained networks of a variant."""
        expect.one_of(name, "name", self.runs)
        if name not in self._results:
            self._results[name] = self.runs[name].result()
        return self._results[name]

    def found(self, name: str, epoch: int | None = None) -> Found:
        """What :func:`measure` finds, at the end, or without lines after an epoch that was kept."""
        expect.one_of(name, "name", self.runs)
        expect.integer(0 if epoch is None else epoch, "epoch", least=0)
        if (name, epoch) not in self._found:
            lambdas = () if epoch is not None else self.lambdas if name in CORE else (0.0, 0.5, 1.0)
            a, b = ends(self.result(name), epoch)
            self._found[name, epoch] = measure(a, b, self.x, self.y, lambdas, published=epoch is None)
        return self._found[name, epoch]

    def way(self, name: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """(L(I) − L_r)/(L(P*) − L_r), averaged over layers or of one, and its widened standard error over pairs."""
        expect.integer(0 if layer is None else layer, "layer", least=0, most=HIDDEN - 1)
        layers = slice(None) if layer is None else slice(layer, layer + 1)
        ahead, whole = (part[:, layers] for part in self.found(name, epoch).way())
        return jackknife(lambda u, v: u / v, ahead, whole)

    def lead(self, name: str, other: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """:meth:`way` of one variant less that of another, on the pairs that both have."""
        expect.one_of(other, "other", self.runs)
        expect.integer(0 if layer is None else layer, "layer", least=0, most=HIDDEN - 1)
        layers = slice(None) if layer is None else slice(layer, layer + 1)
        parts = [part[:, layers] for one in (name, other) for part in self.found(one, epoch).way()]
        P = min(map(len, parts))
        return jackknife(lambda u, v, w, z: u / v - w / z, *(part[:P] for part in parts))
