"""Descent in the span against descent in each dimension on its own."""

import pytest
import torch

from lmc_helpers.teacher_student.gradient_descent import gradient_descent, initial_weights
from lmc_helpers.teacher_student.many_dimensions import descend_in_span
from lmc_helpers.teacher_student.population import population_hessian
from lmc_helpers.teacher_student.population import population_loss as loss


@pytest.mark.parametrize(("m", "M", "dims"), [(5, 3, (3, 4, 9, 30)), (2, 1, (1, 7)), (4, 4, (4, 20))])
def test_it_is_the_descent_in_each_dimension(m, M, dims):
    starts = [initial_weights(m, d, 3, seed=2) for d in dims]
    ends = descend_in_span(starts, M, relative_rate=0.6, steps=400, tol=0.0)
    even = torch.eye(M, dtype=torch.float64)
    for d, start, end in zip(dims, starts, ends, strict=True):
        axes = torch.nn.functional.pad(even, (0, d - M))
        sharpest = torch.linalg.eigvalsh(population_hessian(axes, M))[-1].item() * m / M  # of m rows, evenly spread
        alone = gradient_descent(start, M, 0.6 * 2 / sharpest, 400, tol=0.0).W
        torch.testing.assert_close(end, alone, rtol=1e-8, atol=1e-9)
        assert (loss(end, M) < loss(start, M)).all()


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match="allowed"):
        descend_in_span([torch.ones(1, 3, 4), torch.ones(1, 2, 4)], 2, 0.5, 10, 1e-8)
    with pytest.raises(ValueError, match="allowed"):
        descend_in_span([torch.ones(1, 3, 2)], 3, 0.5, 10, 1e-8)
