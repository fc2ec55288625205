"""What a page says of networks that diverged, from results of real runs."""

import pytest

from lmc_helpers.data.images import load
from lmc_helpers.figures import left_out
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.fit import fit
from lmc_helpers.training.recipes import Descent


def trained(seeds, huge=()):
    """Fitted networks; the first weights of some are so large that their loss leaves all bounds."""
    stack = MLP((64, 3, 10)).initial(seeds)
    for k in huge:
        stack.params["1.weight"][k] *= 1e30
    images = load("digits", n=40)
    return fit(stack, Descent(1, 20), images.inputs(flat=True), images.y, seeds)


def test_those_that_diverged_are_named_and_counted():
    some = trained([11, 12, 13], huge=[1])
    assert some.diverged == (12,)
    said = "1 of 4 networks diverged and are left out with their partners (seeds 12)."
    assert left_out([some, trained([5])]) == said
    many = left_out([some] * 9)
    assert many.startswith("9 of 27 networks diverged") and many.endswith("12, 12, …).")
    assert left_out(iter([trained([1, 2, 3]), trained([4])])) == "None of the 4 networks diverged."
    with pytest.raises(ValueError, match="0 results without a network"):
        left_out([])
