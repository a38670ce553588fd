"""Programs that our dependencies install."""

import shutil
import sysconfig
from pathlib import Path

from tasks.errors import BuildError


def find_tool(name: str) -> Path:
    """The program `name` beside our interpreter, or else on `PATH`.

    Raises:
        BuildError: it is in neither place.
    """
    beside = sysconfig.get_path("scripts")
    found = shutil.which(name, path=beside) or shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is not installed", f"pip install {name}")
    return Path(found)
