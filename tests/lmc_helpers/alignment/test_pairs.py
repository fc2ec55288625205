"""Objectives of pairs against all permutations, and of permuted copies."""

from itertools import permutations

import numpy as np
import pytest
import torch

from lmc_helpers.alignment.pairs import measure
from lmc_helpers.networks.mlp import MLP


def test_objectives_are_those_of_all_permutations():
    model = MLP((3, 4, 5, 2), "gelu", "layer")
    a, b = model.initial([1, 2]), model.initial([3, 4])
    x = torch.randn(60, 3, generator=torch.Generator().manual_seed(1))
    found = measure(a, b, x, torch.zeros(60, dtype=torch.long))
    for p in range(2):
        records = [{}, {}]
        for stack, record in zip((a, b), records, strict=True):
            stack.forward(x, record)
        for layer, m in enumerate((4, 5)):
            za, zb = (record[str(layer)][p].double().numpy().T for record in records)
            S = np.corrcoef(za, zb)[:m, m:]
            every = np.array([S[range(m), order].mean() for order in permutations(range(m))])  # the identity first
            assert found.identity[p, layer].item() == pytest.approx(every[0], abs=1e-6)
            assert found.optimal[p, layer].item() == pytest.approx(every.max(), abs=1e-6)
            assert found.random[p, layer].item() == pytest.approx(every.mean(), abs=1e-6)
            assert found.spread[p, layer].item() == pytest.approx(every.std(), abs=1e-6)
            best = list(permutations(range(m)))[every.argmax()]
            assert found.stays[p, layer].item() == pytest.approx(np.mean(np.array(best) == np.arange(m)))
    assert found.accuracy == {}


def test_a_permuted_copy_is_found():
    a = MLP((3, 6, 2), "gelu", "layer").initial([1, 2])
    order = torch.tensor([[1, 2, 3, 4, 5, 0]]).expand(2, -1)
    x = torch.randn(60, 3, generator=torch.Generator().manual_seed(1))
    y = a.forward(x)[0].argmax(dim=-1)
    found = measure(a, a.permuted({"0": order}), x, y, (0, 0.5, 1), published=True)
    assert found.optimal.min() > 1 - 1e-6 and found.stays.max() == 0
    assert set(found.accuracy) == {"none", "correlation", "published", "absolute"}
    assert found.drop("correlation").abs().max() < 1e-9 and found.drop("absolute").abs().max() < 1e-9
