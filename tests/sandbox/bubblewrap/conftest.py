from collections.abc import Callable

import pytest

from sandbox.job import Sandbox


@pytest.fixture(scope="session")
def box(make_box: Callable[[str], Sandbox]) -> Sandbox:
    return make_box("bubblewrap")
