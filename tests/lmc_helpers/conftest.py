"""A reader's files; one thread of linear algebra: on matrices as small as here a second only waits for the first."""

import pytest
from oracles.readers import nets
from threadpoolctl import threadpool_limits

__all__ = ["nets"]


@pytest.fixture(autouse=True, scope="session")
def one_thread_of_linear_algebra():
    with threadpool_limits(1):
        yield
