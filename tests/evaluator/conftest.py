import pytest
from toy_set import ToySet, make

from sandbox.bubblewrap import Bubblewrap
from tasks.errors import SandboxUnavailable


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> ToySet:
    """Small real bugs, on a machine that can judge them."""
    try:
        Bubblewrap().probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return make(tmp_path_factory.mktemp("toys"))
