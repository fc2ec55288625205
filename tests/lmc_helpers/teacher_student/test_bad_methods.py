"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import numpy as np
from bad_arguments import Number, Other, Row, methods_without_a_row, refused, rows, runs

from lmc_helpers.teacher_student.matchings import BEST, Comparison

FOUND = Comparison({BEST: np.array([1.0, 2.0]), "other": np.array([1.0, 3.0])}, {})
NAME = Other("other", {"unknown": "nonsense", "empty": "", "a number": 7, "nothing": None, "a list": ["other"]})

TABLE = [
    Row(FOUND.misses, {"name": NAME, "slack": Number(1e-9, least=0)}),
    Row(FOUND.factor, {"name": NAME}),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("teacher_student", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
