"""Gaussian mixtures in a subspace: moments against samples and densities against scipy."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from lmc_helpers.data.gaussian_mixture import GaussianMixture, draw_mixture, published_mixture
from lmc_helpers.general_linear import haar


@pytest.mark.parametrize(("k", "d", "classes"), [(1, 1, 1), (2, 5, 3), (8, 128, 5), (6, 6, 2)])
def test_structure(k, d, classes):
    mixture = draw_mixture(k, d=d, classes=classes, seed=3)
    eye = torch.eye(k, dtype=torch.float64)
    assert torch.allclose(mixture.embedding.mT @ mixture.embedding, eye, atol=1e-12)
    assert torch.allclose(mixture.rotations @ mixture.rotations.mT, eye.expand(classes, k, k), atol=1e-12)
    assert mixture.centres.shape == (classes, k)
    assert mixture.scales.shape == (k,)


def test_samples_lie_in_the_subspace_and_are_balanced():
    mixture = draw_mixture(3, d=20, classes=4, seed=5)
    x, y = mixture.sample(103, seed=7)
    P = mixture.embedding
    assert torch.allclose(x, x @ P @ P.mT, atol=1e-12)
    assert sorted(y.bincount().tolist()) == [25, 26, 26, 26]
    assert y[:25].unique().numel() > 1  # in random order


def test_class_moments_match_the_definition():
    mixture = draw_mixture(3, d=4, classes=2, separation=2.0, scales=[0.5, 1.0, 3.0], seed=11)
    n = 200_000
    x, y = mixture.sample(n, seed=13)
    for c in range(2):
        own = x[y == c].numpy()
        A = (mixture.embedding @ mixture.rotations[c]).numpy()
        assert np.allclose(own.mean(axis=0), A @ mixture.centres[c].numpy(), atol=5 * 3 / np.sqrt(n / 2))
        assert np.allclose(np.cov(own.T), A @ np.diag([0.25, 1.0, 9.0]) @ A.T, atol=0.2)


def test_classifier_is_that_of_the_densities():
    mixture = draw_mixture(2, d=2, classes=4, separation=1.0, seed=23)
    x, _ = mixture.sample(500, seed=29)
    densities = []
    for c in range(4):
        A = (mixture.embedding @ mixture.rotations[c]).numpy()
        law = multivariate_normal(A @ mixture.centres[c].numpy(), A @ np.diag(mixture.scales.numpy() ** 2) @ A.T)
        densities.append(law.logpdf(x.numpy()))
    assert (mixture.classify(x).numpy() == np.argmax(densities, axis=0)).all()


def test_turned_centres_have_the_law_of_the_centres():
    # Q_c μ_c and μ_c: equal mean squares and no correlation with the first column of Q_c
    rows = [draw_mixture(2, d=2, classes=5, separation=1.0, seed=seed) for seed in range(800)]
    turned = torch.cat([torch.einsum("ckl,cl->ck", m.rotations, m.centres) for m in rows])  # (4000, 2)
    first = torch.cat([m.rotations[:, :, 0] for m in rows])
    assert abs(turned.square().mean().item() - 1) < 0.08
    assert abs((turned * first).sum(dim=1).mean().item()) < 0.08


def test_haar_has_no_preferred_sign():
    Q = haar((4000, 2, 2), torch.Generator().manual_seed(1))
    assert Q.mean(dim=0).abs().max() < 0.05
    assert abs((torch.linalg.det(Q) > 0).double().mean().item() - 0.5) < 0.05


def test_seeds():
    one, same, other = (draw_mixture(2, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.embedding, same.embedding)
    assert not torch.equal(one.embedding, other.embedding)
    a, b, c = (one.sample(50, seed=seed)[0] for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k = 0"),
        ({"k": 129}, "k = 129"),
        ({"classes": 0}, "classes = 0"),
        ({"separation": -1.0}, "separation = -1"),
        ({"separation": float("nan")}, "separation = nan"),
        ({"scales": [1.0]}, "scales"),
        ({"scales": [1.0, float("inf")]}, "scales"),
    ],
)
def test_errors(change, message):
    with pytest.raises(ValueError, match=message):
        draw_mixture(**({"k": 2, "seed": 1} | change))


def test_errors_of_methods():
    mixture = draw_mixture(2, classes=5, seed=1)
    with pytest.raises(ValueError, match="n = 4"):
        mixture.sample(4, seed=1)
    flat = GaussianMixture(mixture.centres, mixture.rotations, torch.tensor([1.0, 0.0]).double(), mixture.embedding)
    with pytest.raises(ValueError, match="a scale is 0"):
        flat.classify(torch.zeros(1, 128).double())


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
    ours = published_mixture(k, d=d)
    latent = ours.centres[labels] + ours.scales * unit.double()
    mine = torch.einsum("nij,nj->ni", ours.rotations[labels], latent) @ ours.embedding.mT
    assert torch.allclose(mine, (z @ P.T).double(), atol=1e-5)


def test_published_structure_with_more_dimensions_than_coordinates_is_refused():
    with pytest.raises(ValueError, match="k = 3, d = 2"):
        published_mixture(3, d=2)
