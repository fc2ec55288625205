"""The trainings of the pairs."""

from lmc_helpers.experiments.asymmetric_mlps import ends
from lmc_helpers.experiments.matched_pairs import NAMES, WIDE, runs

SIZES = {"width": 8, "pairs": 3, "images": 60, "epochs": 1, "wide": 12, "wide_pairs": 2}
SIZES |= {"small_pairs": 2, "small_epochs": 1}


def test_runs_share_masks_within_pairs_only(monkeypatch, tmp_path):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path))
    found = dict(zip(NAMES, runs(dataset="digits", seed=3, **SIZES), strict=True))
    assert {kind: len(run.mask_seeds) for kind, run in found.items() if run.scheme} == {"σ_F = 0": 3, "σ_F = 1": 3}
    assert len({seed for run in found.values() for seed in run.seeds}) == 4 * 6 + 3 * 4
    F, D = found["σ_F = 1"].fixed()["1.weight"]
    assert F.shape == (3, 8, 8) and not D[0].equal(D[1]) and (D == 0).sum(dim=-1).eq(1).all()  # 8 · 64/512
    assert found["σ_F = 0"].fixed()["0.weight"][0].eq(0).all()
    a, b = ends(found["σ_F = 1"].result())
    same = a.params["3.weight"] == b.params["3.weight"]
    assert same.sum(dim=-1).ge(4).all() and same.float().mean() < 0.6  # half of the last rows are fixed


def test_wide_networks_are_the_same_but_for_width_number_and_seeds():
    found = dict(zip(NAMES, runs(dataset="digits", seed=3, **SIZES), strict=True))
    for name, kind in WIDE.items():
        wide, narrow = found[name], found[kind]
        assert wide.model.sizes == (64, 12, 12, 12, 10) and narrow.model.sizes == (64, 8, 8, 8, 10)
        assert wide.model.norm == narrow.model.norm and len(wide.seeds) == 4
        assert (wide.descent, wide.data, wide.scheme) == (narrow.descent, narrow.data, narrow.scheme)


def test_runs_are_keyed_by_the_seed():
    first, again, other = (runs(dataset="digits", seed=seed, **SIZES) for seed in (3, 3, 4))
    assert [run.digest for run in first] == [run.digest for run in again]
    assert not {run.digest for run in first} & {run.digest for run in other}
