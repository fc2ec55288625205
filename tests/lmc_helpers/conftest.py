"""One thread of NumPy's linear algebra: on matrices as small as here a second one only waits for the first."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread_of_linear_algebra():
    with threadpool_limits(1):
        yield
