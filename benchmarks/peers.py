"""Weight matching of pairs of modules by this package, by rebasin and by a plain loop over SciPy, as a table.

``python benchmarks/peers.py PATH.csv`` takes minutes, ``--tiny`` tries it, ``--large`` takes a GPT of 124M parameters
and ResNet50 instead, in processes of their own for their peak memory. rebasin is installed as CI does, see
``tests/lmc_helpers/alignment/test_rebasin.py``. Networks are at initial weights of fixed seeds. Gains are
⟨a, π b⟩ − ⟨a, b⟩ over parameters, seconds are medians of runs in turn. Lines are those that a user types after the
imports: for rebasin its published usage, for git-re-basin (samuela/git-re-basin, src/weight_matching.py) its
specification of the architecture, which another architecture needs anew.
"""

import argparse
import copy
import csv
import json
import resource
import signal
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from modules import GPT, ResNet, ViT, mlp, vgg16
from scipy.optimize import linear_sum_assignment
from torch import nn

import lmc_helpers as lmc
from lmc_helpers.networks.permutations import restricted
from lmc_helpers.seeds import torch_generator

sys.path.append(str(Path(__file__).parents[1] / "build" / "others"))
PATIENCE = 60  # seconds for one run of a peer


def networks(tiny, large):
    """Name → how it is made, its inputs, and the lines of git-re-basin's specification, where it has one."""
    t = 8 if tiny else 1
    image, words = torch.randn(2, 3, 32, 32), torch.arange(16).view(2, 8)
    if large:
        gpt = (lambda: GPT(64, 4, 2, 256)) if tiny else (lambda: GPT(768, 12, 12, 50257))
        return {
            "GPT, 124M parameters": (gpt, words, None),
            "ResNet50": (lambda: ResNet((3, 4, 6, 3), 64 // t, 4), image, None),
        }
    return {
        "MLP 784-512-512-512-10": (lambda: mlp(512 // t), torch.randn(2, 784), 11),
        "VGG16, half width, flattened maps": (lambda: vgg16(32 // t), torch.randn(2, 3, 64, 64), 18),
        "ResNet20": (lambda: ResNet((3, 3, 3), 16 // (t // 4 or 1), 1), image, 32),
        "ResNet50, quarter width": (lambda: ResNet((3, 4, 6, 3), 16 // (t // 2 or 1), 4), image, None),
        "ViT, 4 layers": (lambda: ViT(128 // t, 4, 4), image, None),
        "GPT, 4 layers": (lambda: GPT(128 // t, 4, 4, 256), words, None),
    }


def made(make):
    """Two networks of fixed seeds."""
    ends = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        ends.append(make().eval())
    return ends


def inner(a, b, names=None):
    """⟨a, b⟩ over parameters, or over some, float64."""
    pairs = zip(a.named_parameters(), b.parameters(), strict=True)
    return sum((p.double() * q.double()).sum().item() for (name, p), q in pairs if names is None or name in names)


def loop(a, b, symmetry, seed=0):
    """Git Re-Basin's Algorithm 1 with NumPy and SciPy on groups that are found: the permutations of one descent."""
    a, b = ({name: p.detach().double().numpy() for name, p in end.named_parameters()} for end in (a, b))
    places, groups = {}, list(symmetry.groups)
    for group, axes in symmetry.groups.items():
        for name, axis, offset, outer, n in axes:
            entries = offset + np.arange(outer * symmetry.sizes[group] * n).reshape(outer, -1, n)
            places.setdefault(name, []).append((axis, group, entries))
    p, progress = {group: np.arange(m) for group, m in symmetry.sizes.items()}, True

    def moved(name, left_out):
        value = b[name]
        for at in places[name]:
            if at is not left_out:
                order = np.arange(value.shape[at[0]])
                order[at[2].ravel()] = at[2][:, p[at[1]]].ravel()
                value = np.take(value, order, axis=at[0])
        return value

    def units(value, axis, entries):
        return np.moveaxis(np.moveaxis(value, axis, 0)[entries], 1, 0).reshape(entries.shape[1], -1)

    generator = torch_generator(seed, "weight matching, restart 0")
    while progress:
        progress = False
        for k in torch.randperm(len(groups), generator=generator).tolist():
            own, C = p[groups[k]], 0
            for name, at in ((name, at) for name, of in places.items() for at in of if at[1] == groups[k]):
                C = C + units(a[name], at[0], at[2]) @ units(moved(name, at), at[0], at[2]).T
            i, found = linear_sum_assignment(C, maximize=True)
            if C[i, found].sum() > C[i, own].sum() + 1e-12:
                p[groups[k]], progress = found, True
    return {group: torch.from_numpy(one) for group, one in p.items()}


def rebased(a, b, x):
    """rebasin's descent: the copy of b, and how many groups it has."""
    from rebasin import PermutationCoordinateDescent

    b = copy.deepcopy(b)
    torch.manual_seed(0)
    descent = PermutationCoordinateDescent(a, b, x)
    descent.rebasin()
    return b, len(descent.pinit.model_graph.permutation_to_info)


def timed(function, *arguments):
    """What a function returns, or the error it ends in, and its seconds; a peer's patience is limited."""

    def stop(*_):
        raise TimeoutError(f"stopped after {PATIENCE} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE if function in (loop, rebased) else 0)
    start = time.perf_counter()
    try:
        result = function(*arguments)
    except Exception as error:  # a peer's refusal is what the table shows
        if function not in (loop, rebased):
            raise
        result = error
    finally:
        signal.alarm(0)
    return result, time.perf_counter() - start


def rows(name, make, x, spec):
    """The rows of a pair, one a program."""
    a, b = made(make)
    count, before = sum(p.numel() for p in a.parameters()), inner(a, b)
    groups, trace = timed(lmc.symmetry, a, x)
    groups = restricted(groups, dict(a.named_parameters()))
    rebasin = f"rebasin {version('rebasin')}"
    peers = {rebasin: (rebased, (a, b, x))}
    if not groups.within:
        peers["loop over SciPy"] = (loop, (a, b, groups))
    seconds, results = {peer: [] for peer in ("this package", *peers)}, {}
    for _ in range(5 if count < 2**20 else 3):  # in turn
        seconds["this package"].append(timed(lambda: lmc.match(a, b, restarts=1, symmetry=groups))[1])
        for peer, (function, arguments) in peers.items():
            if not any(one > PATIENCE / 6 for one in seconds[peer]):  # once is enough
                results[peer], s = timed(function, *arguments)
                seconds[peer].append(s)
    names = {place.name for of in groups.groups.values() for place in of}
    values = lmc.match(a, b, restarts=10, symmetry=groups, details=True)[1].values - inner(a, b, names)
    network, of = f"{name}, {count / 1e6:.2g} M", len(groups.groups)
    note = f"at most {shown(values[1:].max().item())} by 9 more descents; {trace:.2g} s more to find the groups"
    yield network, "this package", of, values[0].item(), statistics.median(seconds["this package"]), 1, note
    for peer, result in results.items():
        s, note, lines = statistics.median(seconds[peer]), refusal(result), "" if peer != rebasin else 2
        if note:
            yield network, peer, "", "", s, lines, note
        elif peer == rebasin:
            with torch.no_grad():
                off = (result[0](x) - b(x)).abs().max() / b(x).abs().max()
            note = "" if off < 1e-3 else f"outputs change by {off:.0%}"
            yield network, peer, result[1], inner(a, result[0]) - before, s, lines, note
        else:
            gain = inner(a, lmc.permuted(b, groups, result)) - before
            yield network, peer, of, gain, s, lines, "with the groups of this package, from the identity"
    if spec:
        yield network, "git-re-basin", "", "", "", spec, "its specification of the network; not run"


def refusal(result):
    return f"{type(result).__name__}: {str(result).splitlines()[0][:80]}" if isinstance(result, Exception) else ""


def large_row(name, make, x):
    """A row of a large pair: seconds, and GiB at the peak beyond those of the two models."""
    a, b = made(make)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    groups, trace = timed(lmc.symmetry, a, x)
    traced = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    matched, match = timed(lambda: lmc.match(a, b, x, restarts=1, symmetry=groups))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    network, gain = f"{name}, {sum(p.numel() for p in a.parameters()) / 1e6:.4g} M", inner(a, matched) - inner(a, b)
    note = f"{trace:.2g} s more to find the groups; {(peak - held) / 2**20:.2g} GiB beyond the two models"
    note += f", {(traced - held) / 2**20:.2g} of them to find the groups"
    return network, "this package", len(groups.groups), gain, match, 1, note


def shown(x):
    return x if not isinstance(x, float) else f"{x:.0f}" if x >= 1000 else f"{x:.4g}"


COLUMNS = ("network, parameters", "program", "groups", "gain", "seconds", "lines", "remarks")

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    for flag in ("--large", "--tiny"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--only", help="print the row of one large network as JSON")
    given = parser.parse_args()
    torch.set_num_threads(min(2, torch.get_num_threads()))
    table = networks(given.tiny, given.large)
    lmc.symmetry(nn.Linear(2, 2), torch.ones(1, 2))  # imports
    if given.only:
        print(json.dumps(large_row(given.only, *table[given.only][:2])))
        sys.exit()
    with given.path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, of in table.items():
            if given.large:
                command = [sys.executable, *sys.argv, "--only", name]
                found = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)]
            else:
                found = rows(name, *of)
            for row in found:
                writer.writerow([shown(x) for x in row])
                print(*row, flush=True)
            file.flush()
