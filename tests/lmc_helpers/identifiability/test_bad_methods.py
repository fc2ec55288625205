"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import numpy as np
import torch
from bad_arguments import (
    Integer,
    Number,
    Other,
    Row,
    Tensor,
    Text,
    methods_without_a_row,
    normal,
    refused,
    rows,
    runs,
)

from lmc_helpers.identifiability.asymmetric import (
    Asymmetric,
    FiGLU,
    LinearResidual,
    Sparse,
    Syre,
    WAsymmetric,
    WBernoulli,
)

GENERATOR = Other(torch.Generator(), {"a seed": 1, "nothing": None, "NumPy's": np.random.default_rng(1)})
NO_SHAPE = {"none": (), "one axis": (4,), "a zero": (4, 0), "negative": (4, -2), "a fraction": (4, 1.5)}
NO_SHAPE |= {"a string": "42", "a number": 4, "a bool": (4, True), "nothing": None}
SHAPE = Other((4, 2), NO_SHAPE)
CALL = {"shape": SHAPE, "generator": GENERATOR}
FIXED, SIGMA, DIM = Integer(1, least=0, most=2), Number(1.0, least=0), Integer(0, least=0, most=1)
SCHEMES = [WAsymmetric(1, 1.0), WBernoulli(0.5, 1.0), Syre(1.0, 0.5), Sparse(1)]
F, D = normal(4, 2), normal(4, 2, seed=2)

TABLE = [
    *(Row(scheme.draw, CALL) for scheme in [*SCHEMES, LinearResidual()]),
    *(
        Row(scheme, arguments, lambda scheme=scheme, **values: scheme(**values).draw((4, 2), torch.Generator()))
        for scheme, arguments in (
            (WAsymmetric, {"fixed": FIXED, "sigma": SIGMA, "dim": DIM}),
            (WBernoulli, {"p": Number(0.5, least=0, most=1), "sigma": SIGMA}),
            (Syre, {"sigma": SIGMA, "epsilon": Number(0.5, least=0, most=1)}),
            (Sparse, {"fixed": FIXED, "dim": DIM}),
        )
    ),
    Row(FiGLU, {"m": Integer(3, least=1), "seed": Integer(1, least=0, most=2**32 - 1), "name": Text("layer")}),
    Row(FiGLU(3, 1).forward, {"x": Tensor(normal(2, 3), free=(-2,), few=False, empty=False, holes=False)}),
    Row(FiGLU(3, 1).forward, {"x": Other(normal(3), {"no axis": torch.tensor(1.0).double(), "none": normal(0)})}),
    Row(Asymmetric, {"F": Tensor(F), "D": Tensor(D)}),
    Row(Asymmetric, {"F": Other(F, {"single": F.float()})}, lambda F: Asymmetric(F, D)),
    Row(Asymmetric(F, D).forward, {"W": Tensor(normal(4, 2, seed=3), batch=False, holes=False)}),
    Row(Asymmetric(F, D).forward, {"W": Other(F, {"a row": F[0], "a column": F[:, :1], "one": F[:1, :1]})}),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("identifiability", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
