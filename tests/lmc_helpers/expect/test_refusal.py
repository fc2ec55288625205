"""The room as a whole: checks give nothing, need nothing of the package, and say what they found in a few words."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
import torch

from lmc_helpers import expect
from lmc_helpers.expect.refusal import short

FILES = sorted(Path(inspect.getfile(expect)).parent.glob("*.py"))


@pytest.mark.parametrize(
    ("value", "said"),
    [(torch.ones(2, 3), "a tensor of shape (2, 3)"), (np.ones(4), "an array of shape (4,)"), ("W", "'W'")],
)
def test_a_value_in_a_few_words(value, said):
    assert short(value) == said


def test_a_long_value_is_cut():
    assert short(list(range(99))) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16..."


def test_no_other_room_is_imported():
    """The digests of what is computed leave this one out: it may bring in no other."""
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        taken = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not any(node.level for node in taken), path  # from the package's full name, so that it is seen below
        modules = {node.module for node in taken}
        modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        ours = {module for module in modules if module.startswith("lmc_helpers")}
        assert all(module.startswith("lmc_helpers.expect.") for module in ours), path


def test_every_check_returns_nothing():
    for name in expect.__all__:
        (node,) = ast.parse(inspect.getsource(getattr(expect, name))).body
        assert isinstance(node.returns, ast.Constant) and node.returns.value is None, name
        assert not [r for r in ast.walk(node) if isinstance(r, ast.Return) and r.value is not None], name
