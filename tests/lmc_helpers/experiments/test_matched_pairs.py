"""Pairs, their barriers computed by hand, and choices that do not see what they are measured on."""

import numpy as np
import pytest
import torch

from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.experiments.matched_pairs import KINDS, cross_fitted_gain, descents, ends, match, runs
from lmc_helpers.networks.mlp import MLP

SIZES = {"width": 8, "pairs": 3, "images": 60, "epochs": 1, "small_pairs": 2, "small_epochs": 1}


def examples(n=40):
    generator = torch.Generator().manual_seed(2)
    return torch.randn(n, 4, generator=generator), torch.randint(3, (n,), generator=generator)


def test_runs_share_masks_within_pairs_only(monkeypatch, tmp_path):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path))
    found = dict(zip([*KINDS, "small"], runs(dataset="digits", seed=3, **SIZES), strict=True))
    assert {kind: len(run.mask_seeds) for kind, run in found.items() if run.scheme} == {"σ_F = 0": 3, "σ_F = 1": 3}
    assert len({seed for run in found.values() for seed in run.seeds}) == 4 * 6 + 4
    F, D = found["σ_F = 1"].fixed()["1.weight"]
    assert F.shape == (3, 8, 8) and not D[0].equal(D[1]) and (D == 0).sum(dim=-1).eq(1).all()  # 8 · 64/512
    assert found["σ_F = 0"].fixed()["0.weight"][0].eq(0).all()
    a, b = ends(found["σ_F = 1"].result().stack)
    same = a.params["3.weight"] == b.params["3.weight"]
    assert same.sum(dim=-1).ge(4).all() and same.float().mean() < 0.6  # half of the last rows are fixed


def test_runs_are_keyed_by_the_seed():
    first, again, other = (runs(dataset="digits", seed=seed, **SIZES) for seed in (3, 3, 4))
    assert [run.digest for run in first] == [run.digest for run in again]
    assert not {run.digest for run in first} & {run.digest for run in other}


def test_pairs_stand_side_by_side():
    stack = MLP((4, 5, 3)).initial([1, 2, 3, 4])
    a, b = ends(stack)
    assert a.params["0.weight"].equal(stack.params["0.weight"][::2])
    assert b.params["0.weight"].equal(stack.params["0.weight"][1::2])
    with pytest.raises(ValueError, match="3 networks; allowed: an even number"):
        ends(MLP((4, 5, 3)).initial([1, 2, 3]))


def test_a_match_against_networks_by_hand():
    a, b = ends(MLP((4, 5, 5, 3)).initial([1, 2, 3, 4]))
    x, y = examples()
    p = {"0": torch.tensor([[4, 3, 2, 1, 0]] * 2), "1": torch.tensor([[1, 0, 2, 3, 4]] * 2)}
    found = match(a, b, lambda: p, x, (x, y))
    for k in range(2):
        W = [[end.params[f"{layer}.weight"][k] for layer in range(3)] for end in (a, b)]
        c = [[end.params[f"{layer}.bias"][k] for layer in range(3)] for end in (a, b)]
        first, second = p["0"][k], p["1"][k]
        W[1] = [W[1][0][first], W[1][1][second][:, first], W[1][2][:, second]]
        c[1] = [c[1][0][first], c[1][1][second], c[1][2]]
        middle = [[(u + v) / 2 for u, v in zip(*both, strict=True)] for both in (W, c)]
        losses, rights = [], []
        for weights, biases in ((W[0], c[0]), (W[1], c[1]), middle):
            z = torch.relu(x @ weights[0].T + biases[0])
            z = torch.relu(z @ weights[1].T + biases[1]) @ weights[2].T + biases[2]
            losses.append(torch.nn.functional.cross_entropy(z, y).item())
            rights.append((z.argmax(dim=1) == y).float().mean().item())
        assert found.barrier[k].item() == pytest.approx(losses[2] - (losses[0] + losses[1]) / 2, abs=1e-6)
        assert found.drop[k].item() == pytest.approx(100 * ((rights[0] + rights[1]) / 2 - rights[2]), abs=1e-4)
    assert found.seconds > 0 and not found.repaired_barrier.equal(found.barrier)


def test_descents_end_at_local_optima():
    a, b = ends(MLP((4, 6, 6, 3)).initial([1, 2, 3, 4]))
    found = descents(a, b, 4, examples(), seed=5)
    most = weight_matching(a.params, b.params, a.model.symmetry(), restarts=50).values.amax(dim=0)
    size = [sum((v[k].double() ** 2).sum() for v in end.params.values()) for end in (a, b) for k in range(2)]
    scale = torch.stack([(size[k] * size[2 + k]).sqrt() for k in range(2)])
    outside = (a.params["2.bias"].double() * b.params["2.bias"].double()).sum(dim=1)  # no permutation moves it
    assert (found.objective <= (most + outside) / scale + 1e-9).all()
    assert found.objective.shape == (4, 2) and found.barrier.isfinite().all()


def test_the_choice_does_not_see_its_measurement():
    """Of many equal methods the luckiest lies below the reference; cross-fitted it does not."""
    rng = np.random.default_rng(0)
    values = {str(k): torch.tensor(rng.standard_normal(400)) for k in range(50)}
    values["identity"] = torch.zeros(400, dtype=torch.float64)
    naive = -min(float(one.mean()) for name, one in values.items() if name != "identity")
    gain = cross_fitted_gain(values)
    assert naive > 0.08 and abs(gain.mean()) < 4.5 / 20
    better = values | {"best": torch.full((400,), -1.0)}
    assert cross_fitted_gain(better).tolist() == [1.0] * 400


@pytest.mark.parametrize("values", [{"identity": [1.0, 2.0]}, {"a": [1.0, 2.0], "b": [1.0, 2.0]}])
def test_a_gain_needs_a_reference_and_another(values):
    with pytest.raises(ValueError, match="reference = 'identity'"):
        cross_fitted_gain({name: torch.tensor(one) for name, one in values.items()})
