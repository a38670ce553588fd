import attack_project as project
import pytest

from evaluator.workshop import Workshop
from sandbox.bubblewrap import Bubblewrap
from sandbox.docker import Docker
from sandbox.job import Sandbox
from tasks.errors import SandboxUnavailable


def opened(sandbox: Sandbox, factory: pytest.TempPathFactory) -> Workshop:
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return Workshop(sandbox, project.write(factory.mktemp("calc")))


@pytest.fixture(scope="session")
def bubblewrap(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return opened(Bubblewrap(), tmp_path_factory)


@pytest.fixture(scope="session")
def docker(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return opened(Docker(base_image="host"), tmp_path_factory)
