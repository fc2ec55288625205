"""Pairs, their barriers computed by hand, and choices that do not see what they are measured on."""

import numpy as np
import pytest
import torch

from lmc_helpers.alignment.methods import methods
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.experiments.matches import Descents, Pairs, cross_fitted_gain, descents, match
from lmc_helpers.networks.mlp import MLP


def ends(stack):
    """Networks 0, 2, … and 1, 3, …, as pairs."""
    return stack.ordinary(range(0, len(stack), 2)), stack.ordinary(range(1, len(stack), 2))


def examples(n=40):
    generator = torch.Generator().manual_seed(2)
    return torch.randn(n, 4, generator=generator), torch.randint(3, (n,), generator=generator)


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
    optima = weight_matching(a.params, b.params, a.model.symmetry(), restarts=200).values  # all that there are
    size = [sum((v[k].double() ** 2).sum() for v in end.params.values()) for end in (a, b) for k in range(2)]
    scale = torch.stack([(size[k] * size[2 + k]).sqrt() for k in range(2)])
    outside = (a.params["2.bias"].double() * b.params["2.bias"].double()).sum(dim=1)  # no permutation moves it
    optima = (optima + outside) / scale  # (200, 2)
    assert ((optima[:, None] - found.objective).abs().amin(dim=0) < 1e-9).all()
    assert len(set(found.objective[:, 0].tolist())) > 1  # the starts differ
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


def test_rank_correlations_of_known_orders():
    objective = torch.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]])
    barrier = torch.tensor([[9.0, 1.0], [5.0, 4.0], [4.0, 2.0], [1.0, 3.0]])
    # ranks 1 4 2 3 against 1 2 3 4: 1 − 6 (0 + 4 + 1 + 1) / (4 · 15)
    assert Descents(objective, barrier).rank_correlations() == pytest.approx([-1.0, 0.4])


def middle_losses(a, b, p, x, y):
    moved = b.permuted(p)
    middle = a.model.forward({key: (value + moved.params[key]) / 2 for key, value in a.params.items()}, x)
    return torch.stack([torch.nn.functional.cross_entropy(one, y) for one in middle])


def test_pairs_measure_what_a_matcher_reaches():
    a, b = ends(MLP((4, 6, 6, 3), norm="layer").initial(range(10)))
    (x, y), seen = examples(), examples(30)
    of = Pairs(a, b, methods(restarts=2, steps=2), seen, (x, y), seed=3)
    losses = {name: middle_losses(a, b, of[name].permutations, x, y) for name in ("identity", "weights")}
    ends_of = [middle_losses(end, end, keep(end), x, y) for end in (a, b)]
    barrier = {name: loss - (ends_of[0] + ends_of[1]) / 2 for name, loss in losses.items()}
    assert of["weights"] is of["weights"]
    torch.testing.assert_close(of["weights"].barrier, barrier["weights"].double(), atol=1e-6, rtol=0)
    value, error = of.ratio("weights", "identity")
    assert value == pytest.approx((barrier["weights"].mean() / barrier["identity"].mean()).item(), rel=1e-4)
    assert error > 0 and of.ratio("weights", "weights") == (1.0, 0.0)
    better = int((barrier["weights"] <= barrier["identity"]).sum())
    assert of.wins(["identity", "weights"])["weights"] == better
    repaired = of["weights"].repaired_barrier.mean() / of["weights"].barrier.mean()
    assert of.repaired("weights")[0] == pytest.approx(repaired.item())
    assert of.moved("weights").params["0.gain"].equal(b.permuted(of["weights"].permutations).params["0.gain"])


def keep(stack):
    return {g: torch.arange(m).repeat(len(stack), 1) for g, m in stack.model.symmetry().sizes.items()}
