"""What a task's tests need to run: a specification, realised elsewhere."""

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict

from tasks.digest import digest

RunnerName = Literal["pytest", "django", "sympy"]


class Environment(BaseModel):
    """A Python environment, or the name of an image that already holds one. Frozen; named by its digest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    python: str = ""
    """Version, `3.9` or `3.9.20`; the closest patch release at hand serves."""
    packages: tuple[str, ...] = ()
    """pip requirements, pinned, installed without their dependencies when `frozen`, else with them."""
    frozen: bool = True
    system_packages: tuple[str, ...] = ()
    """Debian packages the tests need (image realisation; a directory tree uses the host's)."""
    pre_install: tuple[str, ...] = ()
    """Shell lines run in the repository before it is installed."""
    install: str = "python -m pip install -e ."
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables of the install and of the tests."""
    test_command: str = "pytest -rA"
    runner: RunnerName = "pytest"
    log_parser: str = "pytest"
    """Spelling of the dataset's test ids: `nodeid` (pytest's own, exactly), or a name of the official parsers
    without `parse_log_`."""
    image: str | None = None
    """A published image to use instead of building one."""

    @cached_property
    def digest(self) -> str:
        return digest(self.model_dump())
