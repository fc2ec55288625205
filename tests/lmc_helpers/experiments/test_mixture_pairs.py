"""Pairs on Gaussian mixtures: what is shared, and that an ensemble of settings is one setting at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from lmc_helpers.experiments import mixture_pairs
from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
from lmc_helpers.networks.stacked_mlp import Networks

SMALL = {"clusters": 2, "seed": 3, "samples": 60, "epochs": 2}


def test_settings_share_masks_and_noise():
    plain, scaled, zero = train_pairs([Setting(2), Setting(2, sigma=3.0), Setting(2, sigma=0.0)], **SMALL)
    assert torch.equal(plain.x, scaled.x)
    for k in range(4):
        (F, D), (F3, D3), (F0, D0) = (p.after.fixed[k] for p in (plain, scaled, zero))
        assert torch.equal(D, D3)
        assert torch.equal(D, D0)
        assert torch.allclose(3 * F, F3)
        assert (F0 == 0).all()
        assert ((F == 0) == (D == 1)).all()
    assert [int((plain.after.fixed[k][1][0] == 0).sum(dim=1).unique()) for k in range(4)] == [10, 8, 8, 32]


def test_networks_of_a_pair_differ_and_clusters_differ():
    (pairs,) = train_pairs([Setting(2)], **SMALL)
    W = pairs.before.params["0.weight"]
    assert len(W) == 4
    assert len({tuple(w.flatten()[:5].tolist()) for w in W}) == 4
    assert not torch.equal(pairs.x[0], pairs.x[1])
    assert not torch.equal(pairs.after.fixed[0][1][0], pairs.after.fixed[0][1][1])


def test_a_cluster_trains_as_it_does_alone():
    settings = [Setting(2), Setting(8, sigma=0.0)]
    for pairs, one in zip(
        train_pairs(settings, **SMALL), train_pairs(settings, **(SMALL | {"clusters": 1})), strict=True
    ):
        assert torch.equal(pairs.x[:1], one.x)
        for name, value in one.after.params.items():
            assert torch.allclose(value, pairs.after.params[name][:2], atol=2e-5), name


def test_clusters_of_the_published_mixture_share_its_structure():
    (pairs,) = train_pairs([Setting(2, mixture="published")], **SMALL)
    assert torch.equal(pairs.mixtures[0].embedding, pairs.mixtures[1].embedding)
    assert not torch.equal(pairs.x[0], pairs.x[1])
    assert torch.linalg.matrix_rank(pairs.x.flatten(0, 1), rtol=1e-5) == 2


def test_stopped_pairs_go_on_and_epochs_are_kept(tmp_path, monkeypatch):
    settings = [Setting(2), Setting(2, sigma=0.0)]
    budget = SMALL | {"epochs": 3, "keep": (1,)}
    whole = train_pairs(settings, **budget)
    original, count = mixture_pairs.train, iter(range(10))

    def stopped(*args, **keywords):
        if next(count) == 1:
            raise KeyboardInterrupt
        return original(*args, **keywords)

    monkeypatch.setattr(mixture_pairs, "train", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_pairs(settings, checkpoints=tmp_path, **budget)
    assert [file.name for file in tmp_path.iterdir()] == ["0.npz"]
    for one, other in zip(train_pairs(settings, checkpoints=tmp_path, **budget), whole, strict=True):
        for when in ("before", 1, "after"):
            assert all(torch.equal(a, b) for a, b in zip(one.layer(1, 2, when), other.layer(1, 2, when), strict=True))
        assert not torch.equal(one.layer(1, 2, 1)[2], one.layer(1, 2, "after")[2])
    (short,) = train_pairs(settings[:1], **(SMALL | {"epochs": 1}))
    assert torch.equal(short.layer(0)[2], whole[0].layer(0, 0, 1)[2])


def test_accuracies_are_those_of_the_networks():
    (pairs,) = train_pairs([Setting(2)], norm="batch", **SMALL)
    accuracy = pairs.accuracies()
    for end, which in zip(pairs.ends(), (2, 0), strict=True):  # λ = 1 is the first one
        outputs = end.forward(pairs.x)
        right = (outputs.argmax(dim=-1) == pairs.y).double().mean(dim=1)
        assert torch.allclose(accuracy[:, which], right)
    drops = 100 * ((accuracy[:, 0] + accuracy[:, 2]) / 2 - accuracy[:, 1])
    assert torch.allclose(pairs.drops(), drops)


@pytest.mark.parametrize("initial", ["normal", "uniform"])
def test_initial_law(initial):
    (pairs,) = train_pairs([Setting(2, initial=initial)], **SMALL)
    W = pairs.before.params["0.weight"].double()
    assert W.var().item() == pytest.approx(1 / 128 if initial == "normal" else 1 / 384, rel=0.03)


def test_masked_entries_only_decay():
    (pairs,) = train_pairs([Setting(2)], **SMALL)
    D = pairs.after.fixed[1][1].repeat_interleave(2, dim=0)
    before, after = (networks.params["1.weight"][D == 0] for networks in (pairs.before, pairs.after))
    assert torch.allclose(after, before * (1 - 1e-5) ** 2, rtol=1e-5)  # one step an epoch


def test_a_layer_is_that_of_the_first_network_of_its_cluster():
    (pairs,) = train_pairs([Setting(2)], **SMALL)
    first, _ = pairs.ends()
    for g, k in ((0, 0), (1, 2)):
        F, D, W = pairs.layer(g, k)
        assert torch.allclose(F + D * W, first.params[f"{k}.weight"][g])
        _, same, W0 = pairs.layer(g, k, "before")
        assert torch.equal(D, same) and torch.equal(W0, pairs.before.params[f"{k}.weight"][2 * g])
        assert not torch.equal(W, W0)


def test_alignment_undoes_a_planted_permutation():
    (pairs,) = train_pairs([Setting(8)], **SMALL)
    a, _ = pairs.ends()
    draw = torch.Generator().manual_seed(1)
    perms = {k: torch.stack([torch.randperm(64, generator=draw) for _ in range(2)]) for k in range(3)}
    moved = a.permuted(perms)
    both = {name: torch.stack([value, moved.params[name]], dim=1).flatten(0, 1) for name, value in a.params.items()}
    planted = replace(pairs, after=Networks(a.architecture, both))
    assert planted.accuracies().shape == (2, 3)
    one, two = planted.aligned()
    for name, value in one.params.items():
        assert torch.equal(two.params[name], value), name
    assert planted.drops((one, two)).abs().max().item() < 1e-9


def test_ceiling_is_the_share_of_the_largest_densities():
    (pairs,) = train_pairs([Setting(2, separation=1.0)], **SMALL)
    for mixture, x, y, value in zip(pairs.mixtures, pairs.x, pairs.y, pairs.ceiling(), strict=True):
        z = (x.double() @ mixture.embedding).numpy()
        laws = [
            multivariate_normal(Q @ mu, Q @ np.diag(mixture.scales.numpy() ** 2) @ Q.T)
            for Q, mu in zip(mixture.rotations.numpy(), mixture.centres.numpy(), strict=True)
        ]
        best = np.argmax([law.logpdf(z) for law in laws], axis=0)
        assert value.item() == pytest.approx(100 * (best == y.numpy()).mean(), abs=1e-9)


def test_errors():
    with pytest.raises(ValueError, match="initial = 'zero'"):
        Setting(2, initial="zero")
    with pytest.raises(ValueError, match="mixture = 'own' is unknown"):
        Setting(2, mixture="own")
    with pytest.raises(ValueError, match="scales of a published mixture"):
        Setting(2, mixture="published", scales=(1.0, 1.0))
    with pytest.raises(ValueError, match="four numbers"):
        Setting(2, fixed=(1, 2))
    with pytest.raises(ValueError, match="when = 'now'; allowed: before, after"):
        train_pairs([Setting(2)], **SMALL)[0].layer(0, 0, "now")
    with pytest.raises(ValueError, match="0 settings"):
        train_pairs([], **SMALL)
    with pytest.raises(ValueError, match="0 clusters"):
        train_pairs([Setting(2)], **(SMALL | {"clusters": 0}))
