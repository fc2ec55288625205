"""All permutations of two hidden layers against networks that are permuted one by one."""

import itertools

import pytest
import torch

from lmc_helpers.alignment.weight_matching import agreement, weight_matching
from lmc_helpers.experiments.every_permutation import every_permutation
from lmc_helpers.matching import all_permutations
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack


def pairs(m=3, P=2, dtype=torch.float64):
    model = MLP((4, m, m, 3))
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(17, 4, dtype=dtype, generator=generator)
    y = torch.randint(3, (17,), generator=generator)
    return model.initial(range(P), dtype), model.initial(range(50, 50 + P), dtype), x, y


def test_objectives_and_losses_one_by_one():
    a, b, x, y = pairs()
    found = every_permutation(a, b, x, y)
    for (i, p), (j, q) in itertools.product(enumerate(itertools.permutations(range(3))), repeat=2):
        moved = b.permuted({"0": torch.tensor([p, p]), "1": torch.tensor([q, q])})
        middle = Stack(a.model, {name: (value + moved.params[name]) / 2 for name, value in a.params.items()})
        output = middle.forward(x)
        loss = torch.stack([torch.nn.functional.cross_entropy(one, y) for one in output])
        torch.testing.assert_close(found.loss[:, i, j], loss)
        permutable = {name: value for name, value in moved.params.items() if name != "2.bias"}
        torch.testing.assert_close(found.objective[:, i, j], agreement(a.params, permutable))


def test_ranks_of_the_best_and_the_worst():
    a, b, x, y = pairs()
    found = every_permutation(a, b, x, y)
    assert found.rank(found.best())[0].tolist() == [0, 0]
    every, place = all_permutations(3), found.loss.flatten(1).argmin(dim=1)
    assert found.rank({"0": every[place // 6], "1": every[place % 6]})[1].tolist() == [0, 0]
    assert all(found.lowest()[g].equal(every[at]) for g, at in (("0", place // 6), ("1", place % 6)))
    place = found.loss.flatten(1).argmax(dim=1)
    assert found.rank({"0": every[place // 6], "1": every[place % 6]})[1].min() > 30  # dead neurons make ties


def test_descents_do_not_pass_the_optimum():
    a, b, x, y = pairs(m=4)
    found = every_permutation(a, b, x, y)
    values = weight_matching(a.params, b.params, a.model.symmetry(), restarts=30).values
    best = found.objective.flatten(1).amax(dim=1)
    assert (values <= best + 1e-9).all()
    torch.testing.assert_close(values.amax(dim=0), best)  # 30 descents, 576 permutations


@pytest.mark.parametrize(
    "model",
    [MLP((4, 3, 3)), MLP((4, 3, 2, 3)), MLP((4, 3, 3, 3), "tanh"), MLP((4, 3, 3, 3), norm="layer")],
)
def test_other_architectures_are_refused(model):
    nets = model.initial([1])
    with pytest.raises(ValueError, match="allowed: P pairs of MLPs"):
        every_permutation(nets, nets, torch.ones(2, 4), torch.zeros(2, dtype=torch.long))


def test_wide_layers_are_refused():
    nets = MLP((4, 6, 6, 3)).initial([1])
    with pytest.raises(ValueError, match="6 neurons in a layer; allowed: at most 5"):
        every_permutation(nets, nets, torch.ones(2, 4), torch.zeros(2, dtype=torch.long))


def test_of_semi_definite_matrices_one_permutation_is_enough():
    """The step of the chapter's proof that matching is hard: max ⟨A, Q B Pᵀ⟩ over P and Q is reached at P = Q."""
    R, S = torch.randn(2, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    A, B = R @ R.T, S @ S.T
    every = all_permutations(4)
    value = torch.einsum("ij,qipj->qp", A, B[every][:, :, every])
    torch.testing.assert_close(value.max(), value.diagonal().max())
    shifted = torch.einsum("ij,qipj->qp", A - 20 * torch.eye(4), B[every][:, :, every])  # not semi-definite
    assert shifted.max() > shifted.diagonal().max() + 1


@pytest.mark.parametrize("edges", ["01 12 23 34 40 02", "01 12 23 34 02 13", "01 02 03 04 12 34"])
def test_the_optimum_tells_whether_a_graph_has_a_hamiltonian_cycle(edges):
    """The reduction of the chapter's proof that matching is hard, on graphs with 5 vertices."""
    m, every = 5, all_permutations(5)
    graph, cycle = torch.zeros(2, m, m, dtype=torch.float64)
    for i, j in edges.split():
        graph[int(i), int(j)] = graph[int(j), int(i)] = 1
    for i in range(m):
        cycle[i, i - 1] = cycle[i - 1, i] = 1
    hamiltonian = any(all(graph[p[i], p[i - 1]] for i in range(m)) for p in itertools.permutations(range(m)))
    A, B = (one + m * torch.eye(m, dtype=torch.float64) for one in (graph, cycle))
    value = torch.einsum("ij,qipj->qp", A, B[every][:, :, every]).max().item()
    assert (value == 2 * m + m**3) == hamiltonian == edges.endswith("40 02")
