"""What chapter *gaussian mixture* computes, against independent oracles."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from oracles.costs import swap
from oracles.networks import perceptron, perturbed
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from torch import nn

import lmc_helpers.identifiability.gaussian_mixture as gm
from lmc_helpers._chapters.gaussian_mixture import ESTIMATES, layer_estimates, norm_as_affine, ridge_matrix
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack


def test_samples_lie_in_the_subspace_are_balanced_and_follow_their_seeds():
    mixture = gm.draw_mixture(3, d=20, classes=4, seed=5)
    x, y = mixture.sample(103, seed=7)
    P = mixture.embedding
    assert torch.allclose(x, x @ P @ P.mT, atol=1e-12)
    assert sorted(y.bincount().tolist()) == [25, 26, 26, 26]
    assert y[:25].unique().numel() > 1  # in random order
    one, same, other = (gm.draw_mixture(2, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.embedding, same.embedding)
    assert not torch.equal(one.embedding, other.embedding)
    a, b, c = (one.sample(50, seed=seed)[0] for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_class_moments_match_the_definition():
    mixture = gm.draw_mixture(3, d=4, classes=2, separation=2.0, scales=[0.5, 1.0, 3.0], seed=11)
    n = 200_000
    x, y = mixture.sample(n, seed=13)
    for c in range(2):
        own = x[y == c].numpy()
        A = (mixture.embedding @ mixture.rotations[c]).numpy()
        assert np.allclose(own.mean(axis=0), A @ mixture.centres[c].numpy(), atol=5 * 3 / np.sqrt(n / 2))
        assert np.allclose(np.cov(own.T), A @ np.diag([0.25, 1.0, 9.0]) @ A.T, atol=0.2)


def test_turned_centres_have_the_law_of_the_centres():
    # Q_c μ_c and μ_c: equal mean squares and no correlation with the first column of Q_c
    rows = [gm.draw_mixture(2, d=2, classes=5, separation=1.0, seed=seed) for seed in range(800)]
    turned = torch.cat([torch.einsum("ckl,cl->ck", m.rotations, m.centres) for m in rows])  # (4000, 2)
    first = torch.cat([m.rotations[:, :, 0] for m in rows])
    assert abs(turned.square().mean().item() - 1) < 0.08
    assert abs((turned * first).sum(dim=1).mean().item()) < 0.08


@pytest.mark.parametrize(("k", "d"), [(1, 1), (2, 128), (8, 30)])
def test_published_structure_gives_the_samples_of_the_published_code(k, d):
    generator = torch.Generator()
    generator.manual_seed(789)
    means = torch.randn(5, k, generator=generator) * 0.3
    turns, _ = torch.linalg.qr(torch.randn(5, k, k, generator=generator))
    labels = torch.arange(5).repeat(4)
    unit = torch.randn(20, k, generator=torch.Generator().manual_seed(1))
    noise = torch.einsum("nd,cDd->cnD", unit * torch.randn(1, k, generator=generator), turns)
    z = means[labels] + noise[labels, torch.arange(20)]
    P, _ = torch.linalg.qr(torch.randn(d, k, generator=generator))
    ours = gm.published_mixture(k, d=d)
    latent = ours.centres[labels] + ours.scales * unit.double()
    mine = torch.einsum("nij,nj->ni", ours.rotations[labels], latent) @ ours.embedding.mT
    assert torch.allclose(mine, (z @ P.T).double(), atol=1e-5)


SMALL = {"clusters": 2, "seed": 3, "samples": 60, "epochs": 2}


@pytest.fixture(scope="module")
def pairs():
    return gm.train_pairs([gm.Setting(3)], **SMALL, precision="float64")[0]


def test_settings_share_masks_and_noise():
    plain, scaled, zero = gm.train_pairs([gm.Setting(2), gm.Setting(2, sigma=3.0), gm.Setting(2, sigma=0.0)], **SMALL)
    assert torch.equal(plain.x, scaled.x)
    for k in range(4):
        (F, D), (F3, D3), (F0, D0) = (p.after.fixed[f"{k}.weight"] for p in (plain, scaled, zero))
        assert torch.equal(D, D3)
        assert torch.equal(D, D0)
        assert torch.allclose(3 * F, F3)
        assert (F0 == 0).all()
        assert ((F == 0) == (D == 1)).all()
    assert [int((plain.after.fixed[f"{k}.weight"][1][0] == 0).sum(dim=1).unique()) for k in range(4)] == [10, 8, 8, 32]


def test_a_cluster_trains_as_it_does_alone():
    settings = [gm.Setting(2), gm.Setting(8, sigma=0.0)]
    both = (gm.train_pairs(settings, **(SMALL | {"clusters": clusters})) for clusters in (2, 1))
    for pairs, one in zip(*both, strict=True):
        assert torch.equal(pairs.x[:1], one.x)
        for name, value in one.after.params.items():
            assert torch.allclose(value, pairs.after.params[name][:2], atol=2e-5), name


def test_clusters_of_the_published_mixture_share_its_structure():
    (pairs,) = gm.train_pairs([gm.Setting(2, mixture="published")], **SMALL)
    assert torch.equal(pairs.mixtures[0].embedding, pairs.mixtures[1].embedding)
    assert not torch.equal(pairs.x[0], pairs.x[1])
    assert torch.linalg.matrix_rank(pairs.x.flatten(0, 1), rtol=1e-5) == 2


def test_stopped_pairs_go_on_and_epochs_are_kept(tmp_path, monkeypatch):
    settings = [gm.Setting(2), gm.Setting(2, sigma=0.0)]
    budget = SMALL | {"epochs": 3, "keep": (1,)}
    whole = gm.train_pairs(settings, **budget)
    original, count = gm.fit, iter(range(10))

    def stopped(*args, **keywords):
        if next(count) == 1:
            raise KeyboardInterrupt
        return original(*args, **keywords)

    monkeypatch.setattr(gm, "fit", stopped)
    with pytest.raises(KeyboardInterrupt):
        gm.train_pairs(settings, checkpoints=tmp_path, **budget)
    assert [file.name for file in tmp_path.iterdir()] == ["0.npz"]
    for one, other in zip(gm.train_pairs(settings, checkpoints=tmp_path, **budget), whole, strict=True):
        for when in ("before", 1, "after"):
            assert all(torch.equal(a, b) for a, b in zip(one.layer(1, 2, when), other.layer(1, 2, when), strict=True))
        assert not torch.equal(one.layer(1, 2, 1)[2], one.layer(1, 2, "after")[2])
    (short,) = gm.train_pairs(settings[:1], **(SMALL | {"epochs": 1}))
    assert torch.equal(short.layer(0)[2], whole[0].layer(0, 0, 1)[2])


def test_accuracies_are_those_of_the_networks():
    (pairs,) = gm.train_pairs([gm.Setting(2)], norm="running", **SMALL)
    accuracy = pairs.accuracies()
    for end, which in zip(pairs.ends(), (2, 0), strict=True):  # λ = 1 is the first one
        outputs = end.forward(pairs.x)
        right = (outputs.argmax(dim=-1) == pairs.y).double().mean(dim=1)
        assert torch.allclose(accuracy[:, which], right)
    drops = 100 * ((accuracy[:, 0] + accuracy[:, 2]) / 2 - accuracy[:, 1])
    assert torch.allclose(pairs.drops(), drops)


@pytest.mark.parametrize("initial", ["normal", "uniform"])
def test_initial_law(initial):
    (pairs,) = gm.train_pairs([gm.Setting(2, initial=initial)], **SMALL)
    W = pairs.before.params["0.weight"].double()
    assert W.var().item() == pytest.approx(1 / 128 if initial == "normal" else 1 / 384, rel=0.03)


def test_a_layer_is_that_of_the_first_network_of_its_cluster(pairs):
    first, _ = pairs.ends()
    for g, k in ((0, 0), (1, 2)):
        F, D, W = pairs.layer(g, k)
        assert torch.allclose(F + D * W, first.params[f"{k}.weight"][g])
        _, same, W0 = pairs.layer(g, k, "before")
        assert torch.equal(D, same) and torch.equal(W0, pairs.before.params[f"{k}.weight"][2 * g])
        assert not torch.equal(W, W0)
    D = pairs.after.fixed["1.weight"][1].repeat_interleave(2, dim=0)
    before, after = (networks.params["1.weight"][D == 0] for networks in (pairs.before, pairs.after))
    assert torch.allclose(after, before * (1 - 1e-5) ** 2, rtol=1e-5)  # one step an epoch


def test_alignment_undoes_a_planted_permutation():
    (pairs,) = gm.train_pairs([gm.Setting(8)], **SMALL)
    a, _ = pairs.ends()
    draw = torch.Generator().manual_seed(1)
    perms = {str(k): torch.stack([torch.randperm(64, generator=draw) for _ in range(2)]) for k in range(3)}
    moved = a.permuted(perms)
    both = {name: torch.stack([value, moved.params[name]], dim=1).flatten(0, 1) for name, value in a.params.items()}
    planted = replace(pairs, after=Stack(a.model, both))
    assert planted.accuracies().shape == (2, 3)
    one, two = planted.aligned()
    for name, value in one.params.items():
        assert torch.equal(two.params[name], value), name
    assert planted.drops((one, two)).abs().max().item() < 1e-9


def test_ceiling_is_the_share_of_the_largest_densities():
    (pairs,) = gm.train_pairs([gm.Setting(2, separation=1.0)], **SMALL)
    for mixture, x, y, value in zip(pairs.mixtures, pairs.x, pairs.y, pairs.ceiling(), strict=True):
        z = (x.double() @ mixture.embedding).numpy()
        laws = [
            multivariate_normal(Q @ mu, Q @ np.diag(mixture.scales.numpy() ** 2) @ Q.T)
            for Q, mu in zip(mixture.rotations.numpy(), mixture.centres.numpy(), strict=True)
        ]
        best = np.argmax([law.logpdf(z) for law in laws], axis=0)
        assert value.item() == pytest.approx(100 * (best == y.numpy()).mean(), abs=1e-9)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_neuron_pairs_are_all_of_them(m):
    i, j = gm.neuron_pairs(m)
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(a, b) for a in range(m) for b in range(a + 1, m)]


@pytest.mark.parametrize("centred", [True, False])
def test_basis_spans_the_principal_directions_of_numpy(pairs, centred):
    x = pairs.x[1].double().numpy()
    moment = np.cov(x.T, bias=True) if centred else x.T @ x / len(x)
    values, vectors = np.linalg.eigh(moment)
    share = np.cumsum(values[::-1]) / values.sum()
    k = int(np.argmax(share >= 0.9)) + 1
    U = gm.first_layer_basis(pairs, 1, centred).numpy()
    assert U.shape == (128, k)
    V = vectors[:, ::-1][:, :k]
    np.testing.assert_allclose(U @ U.T, V @ V.T, atol=1e-8)


def test_shifts_of_centres_and_trained_parts(pairs):
    delta2, rho2 = gm.centre_shifts(pairs, "after")
    i, j = gm.neuron_pairs(64)
    for g, place in ((0, 3), (1, 1000)):
        F, D, W = (part.numpy() for part in pairs.layer(g))
        U = gm.first_layer_basis(pairs, g).numpy()
        a, b = int(i[place]), int(j[place])
        swapped = np.arange(64)
        swapped[[a, b]] = b, a
        size = np.linalg.norm((F[swapped] - F) @ U) ** 2
        assert delta2[g, place].item() == pytest.approx(size)
        moved = np.linalg.norm((D * W)[[a, b]] @ U) ** 2
        assert rho2[g, place].item() == pytest.approx(moved / size)


def test_estimates_against_torch_modules_and_direct_minimisation():
    (pairs,) = gm.train_pairs([gm.Setting(2)], **SMALL, precision="float64", norm="running")
    neurons = torch.tensor([[0, 1], [5, 2]])
    found = layer_estimates(pairs, neurons, inputs=40, layers=2)
    assert set(found) == {(k, name) for k in range(2) for name in ESTIMATES}
    g, k, (i, j) = 1, 1, neurons[1].tolist()
    # the first network of the cluster as torch.nn modules
    params = pairs.after.params
    norms = []
    for layer in range(2):
        norm = nn.BatchNorm1d(64).double().eval()
        norm.weight.data, norm.bias.data = params[f"{layer}.gain"][2 * g], params[f"{layer}.shift"][2 * g]
        norm.running_mean, norm.running_var = (params[f"{layer}.{what}"][2 * g] for what in ("mean", "variance"))
        norms.append(norm)
    F0, D0, W0 = pairs.layer(g, 0)
    X = nn.functional.gelu(norms[0](pairs.x[g] @ (F0 + D0 * W0).T + params["0.bias"][2 * g])).detach()
    F, D, W = pairs.layer(g, k)
    # the subspace's estimate
    values, vectors = np.linalg.eigh(np.cov(X.numpy().T, bias=True))
    size = int(np.argmax(np.cumsum(values[::-1]) / values.sum() >= 0.9)) + 1
    exact = swap(F.numpy(), D.numpy(), W.numpy(), vectors[:, ::-1][:, :size], i, j)
    assert found[k, "subspace"][g, 1].item() == pytest.approx(exact, rel=1e-6)
    # the relaxed costs with the norms fixed
    bias, inputs = params[f"{k}.bias"][2 * g], X[:40]
    place = torch.arange(64)

    def output(w, neuron):
        rows = torch.where((place == neuron)[:, None], F + D * w, F + D * W)
        return nn.functional.gelu(norms[k](inputs @ rows.T + bias))[:, neuron]

    def cost(one, other):
        target = output(W[other], other).detach()

        def objective(w):
            w = torch.tensor(w, requires_grad=True)
            value = (output(w, one) - target).square().mean() / 0.01 + w.square().sum()
            value.backward()
            return value.item(), w.grad.numpy()

        starts = (W[one].numpy(), W[other].numpy(), 0 * W[one].numpy())
        return min(minimize(objective, w, jac=True, method="BFGS").fun for w in starts)

    expected = cost(i, j) + cost(j, i) - cost(i, i) - cost(j, j)
    assert found[k, "ridge, norms fixed"][g, 1].item() == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_norm_as_affine_is_that_of_torch():
    stack = perturbed(MLP((3, 7, 5, 2), norm="running"))
    h = torch.randn(3, 6, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(3))  # W x
    alpha, gamma = norm_as_affine(stack, 0)
    for i in range(3):
        net, _ = perceptron(stack, i)
        torch.testing.assert_close(alpha[i] * h[i] + gamma[i], net.eval()[1](h[i] + net[0].bias).detach())


def test_low_partners_by_counting():
    draw = torch.Generator().manual_seed(5)
    costs = torch.randn(3, 10, generator=draw).exp() ** 3
    i, j = gm.neuron_pairs(5)
    for median in (None, torch.tensor([0.1, 1.0, 10.0])):
        found = gm.low_partners(costs, median, m=5)
        for g in range(3):
            middle = costs[g].median() if median is None else median[g]
            count = [
                sum(bool(c < 0.1 * middle) for c, a, b in zip(costs[g], i, j, strict=True) if n in (a, b))
                for n in range(5)
            ]
            assert found[g].item() == pytest.approx(np.mean(count))


def test_what_orders_by_least_norm_weights(pairs):
    found = gm.what_orders(pairs, "after")
    i, j = (index.numpy() for index in gm.neuron_pairs(64))
    g = 1
    tables, shifts = {}, {}
    for when in ("before", "after"):
        F, D, W = (part.numpy() for part in pairs.layer(g, 0, when))
        U = gm.first_layer_basis(pairs, g).numpy()
        tables[when] = np.array([swap(F, D, W, U, a, b) for a, b in zip(i[:300], j[:300], strict=True)])
        # the centre term is the cost if nothing is trained
        shifts[when] = np.array([swap(F, D, 0 * W, U, a, b) for a, b in zip(i[:300], j[:300], strict=True)])
    costs, before = (gm.first_layer_costs(pairs, when)[g].numpy() for when in ("after", "before"))
    assert costs[:300] == pytest.approx(tables["after"], rel=1e-7, abs=1e-9) and costs.shape == (2016,)
    assert before[:300] == pytest.approx(tables["before"], rel=1e-7, abs=1e-9)
    delta2, rho2 = (part[g].numpy() for part in gm.centre_shifts(pairs, "after"))

    def rank_correlation(a, b):
        return np.corrcoef(a.argsort().argsort(), b.argsort().argsort())[0, 1]

    assert found["centres"][g].item() == pytest.approx(rank_correlation(costs, delta2))
    assert found["before"][g].item() == pytest.approx(rank_correlation(costs, before))
    assert found["ratio"][g].item() == pytest.approx((rho2 <= 1).mean())
    share = (shifts["after"] > abs(tables["after"] - shifts["after"])).mean()
    assert found["dominated"][g].item() == pytest.approx(share, abs=0.1)  # 300 of 2016 pairs
    assert torch.equal(gm.what_orders(pairs, "before")["before"], torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("norms", [True, False])
def test_a_ridge_matrix_holds_the_costs_of_its_pairs(norms):
    (pairs,) = gm.train_pairs([gm.Setting(2)], **SMALL, precision="float64", norm="running")
    found = ridge_matrix(pairs, 1, neurons=4, inputs=40, norms=norms)
    i, j = gm.neuron_pairs(4)
    name = ESTIMATES[2] if norms else ESTIMATES[1]
    single = layer_estimates(pairs, torch.stack([i, j], dim=1), inputs=40, layers=1)[0, name][1]
    assert torch.allclose(found[i, j], single, rtol=1e-4, atol=1e-6)
    assert torch.equal(found, found.mT) and not found.diagonal().any()
