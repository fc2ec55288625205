"""The runs of a file of tests go to a folder of their own; a browser."""

import pytest
from browser import browser, watched

__all__ = ["browser", "watched"]


@pytest.fixture(scope="module", autouse=True)
def runs_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield
