"""What networks see: flips and crops by hand, normalisation, and batches that depend on (seed, epoch) alone."""

import pytest
import torch
from torch.nn.functional import pad

from lmc_helpers.training.examples import Examples, Views, draw_views, epoch_order

SEEDS = [3, 8, 3]


def images(n=11, C=3, H=6, W=5):
    x = torch.randint(1, 256, (n, C, H, W), generator=torch.Generator().manual_seed(1), dtype=torch.uint8)
    return x, torch.arange(n) % 4


def by_hand(image, flipped, moved):
    """Pad with 4 zeros, cut the window out, after the flip."""
    image = image.flip(-1) if flipped else image
    top, left = 4 + int(moved[0]), 4 + int(moved[1])
    return pad(image, (4, 4, 4, 4))[:, top : top + image.shape[1], left : left + image.shape[2]]


def test_every_move_by_hand():
    x, _ = images(n=1, C=1, H=2, W=3)
    moves = torch.cartesian_prod(torch.arange(-4, 5), torch.arange(-4, 5))
    for flipped in (False, True):
        views = Views(torch.full((1, 81), flipped), moves[None])
        found = views.of(x.expand(1, 81, 1, 2, 3))
        assert all(found[0, j].equal(by_hand(x[0], flipped, moves[j])) for j in range(81))


def test_what_is_not_asked_for_is_not_done():
    x, _ = images()
    views = draw_views([1], 11, 0, augment=("flip",))
    assert not views.moved.any() and views.flipped.any()
    views = draw_views([1], 11, 0, augment=("crop",))
    assert not views.flipped.any() and views.moved.any()
    assert Views(views.flipped, 0 * views.moved).of(x[None])[0].equal(x)
    both, one = draw_views([1], 50, 0, ("crop", "flip")), draw_views([1], 50, 0, ("flip",))
    assert both.flipped.equal(one.flipped)


def test_views_are_uniform_and_belong_to_a_seed_and_an_epoch():
    n = 20_000
    views = draw_views(SEEDS, n, 5, ("crop", "flip"))
    assert views.flipped[0].equal(views.flipped[2]) and views.moved[0].equal(views.moved[2])
    counts = torch.bincount(((views.moved[1] + 4) * torch.tensor([9, 1])).sum(1), minlength=81)
    assert ((counts - n / 81).square() / (n / 81)).sum() < 80 + 5 * (2 * 80) ** 0.5  # χ² with 80 degrees of freedom
    assert abs(views.flipped[1].double().mean() - 0.5) < 5 / (2 * n**0.5)
    for other in (draw_views([4], n, 5, ("crop", "flip")), draw_views([3], n, 6, ("crop", "flip"))):
        assert not other.flipped[0].equal(views.flipped[0]) and not other.moved[0].equal(views.moved[0])


def test_an_order_is_a_permutation_that_changes_with_seed_and_epoch():
    order = epoch_order([1, 2, 1], 50, 0)
    assert order.shape == (3, 50) and order.sort(dim=1).values.equal(torch.arange(50).expand(3, -1))
    assert order[0].equal(order[2]) and not order[0].equal(order[1])
    assert not order.equal(epoch_order([1, 2, 1], 50, 1))


@pytest.mark.parametrize("batch", [1, 4, 11, 20])
def test_batches_are_the_order_of_the_epoch(batch):
    x, y = images()
    values = x.double()
    examples = Examples(values, y, (90,), 4, dtype=torch.float64)
    found = list(examples.batches(SEEDS, epoch=3, batch=batch))
    order = epoch_order(SEEDS, 11, 3)
    assert [labels.shape[1] for _, labels in found] == [min(batch, 11 - i) for i in range(0, 11, batch)]
    assert torch.cat([labels for _, labels in found], dim=1).equal(y[order])
    assert torch.cat([inputs for inputs, _ in found], dim=1).equal(values.flatten(1)[order])


@pytest.mark.parametrize("augment", [(), ("crop", "flip")])
def test_an_epoch_goes_on_where_it_was_left(augment):
    x, y = images()
    examples = Examples(x, y, (3, 6, 5), 4, normal=([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]))
    whole = list(examples.batches(SEEDS, 1, 3, augment))
    for first in range(5):
        rest = list(examples.batches(SEEDS, 1, 3, augment, first=first))
        assert len(rest) == len(whole) - first
        for (a, b), (c, d) in zip(whole[first:], rest, strict=True):
            assert a.equal(c) and b.equal(d)
