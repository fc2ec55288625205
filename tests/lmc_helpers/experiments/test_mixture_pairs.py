"""Pairs on Gaussian mixtures: what is shared, and that an ensemble of settings is one setting at a time."""

import pytest
import torch

from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs

SMALL = {"clusters": 2, "seed": 3, "samples": 60, "epochs": 2}


def test_settings_share_masks_and_noise():
    plain, scaled, zero = train_pairs([Setting(2), Setting(2, sigma=3.0), Setting(2, sigma=0.0)], **SMALL)
    assert torch.equal(plain.x, scaled.x)
    for k in range(4):
        (F, D), (F3, D3), (F0, D0) = (p.fixed[k] for p in (plain, scaled, zero))
        assert torch.equal(D, D3)
        assert torch.equal(D, D0)
        assert torch.allclose(3 * F, F3)
        assert (F0 == 0).all()
        assert ((F == 0) == (D == 1)).all()
    assert [int((plain.fixed[k][1][0] == 0).sum(dim=1).unique()) for k in range(4)] == [10, 8, 8, 32]


def test_networks_of_a_pair_differ_and_clusters_differ():
    (pairs,) = train_pairs([Setting(2)], **SMALL)
    W = pairs.initial["0.weight"]
    assert len(W) == 4
    assert len({tuple(w.flatten()[:5].tolist()) for w in W}) == 4
    assert not torch.equal(pairs.x[0], pairs.x[1])
    assert not torch.equal(pairs.fixed[0][1][0], pairs.fixed[0][1][1])


def test_a_setting_trains_as_it_does_alone():
    settings = [Setting(2), Setting(8, sigma=0.0)]
    together = train_pairs(settings, **SMALL)
    for setting, pairs in zip(settings, together, strict=True):
        (alone,) = train_pairs([setting], **SMALL)
        assert torch.equal(pairs.x, alone.x)
        for name, value in alone.trained.params.items():
            assert torch.allclose(value, pairs.trained.params[name], atol=2e-5), name


def test_accuracies_are_those_of_the_networks():
    (pairs,) = train_pairs([Setting(2)], norm="batch", **SMALL)
    accuracy = pairs.accuracies()
    for end, which in zip(pairs.ends(), (0, 2), strict=True):
        outputs = pairs.architecture.forward(*end, pairs.x)
        right = (outputs.argmax(dim=-1) == pairs.y).double().mean(dim=1)
        assert torch.allclose(accuracy[:, which], right)
    drops = 100 * ((accuracy[:, 0] + accuracy[:, 2]) / 2 - accuracy[:, 1])
    assert torch.allclose(pairs.drops(), drops)


@pytest.mark.parametrize("initial", ["normal", "uniform"])
def test_initial_law(initial):
    (pairs,) = train_pairs([Setting(2, initial=initial)], **SMALL)
    W = pairs.initial["0.weight"].double()
    assert W.var().item() == pytest.approx(1 / 128 if initial == "normal" else 1 / 384, rel=0.03)


def test_masked_entries_only_decay():
    (pairs,) = train_pairs([Setting(2)], **SMALL)
    D = pairs.fixed[1][1].repeat_interleave(2, dim=0)
    before, after = pairs.initial["1.weight"][D == 0], pairs.trained.params["1.weight"][D == 0]
    assert torch.allclose(after, before * (1 - 1e-5) ** 2, rtol=1e-5)  # one step an epoch


def test_errors():
    with pytest.raises(ValueError, match="initial = 'zero'"):
        Setting(2, initial="zero")
    with pytest.raises(ValueError, match="four numbers"):
        Setting(2, fixed=(1, 2))
    with pytest.raises(ValueError, match="0 settings"):
        train_pairs([], **SMALL)
    with pytest.raises(ValueError, match="0 clusters"):
        train_pairs([Setting(2)], **(SMALL | {"clusters": 0}))
