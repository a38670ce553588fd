"""What a user may ask of a run. Everything that changes a number ends up in the run's configuration."""

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from sandbox.job import Limits

CORES = os.cpu_count() or 1
CONCURRENCY = 8
"""Requests at once."""
REPO_URL = "https://github.com/{owner}/{name}.git"


class Options(BaseModel):
    """One run, as asked for. `solver_options` holds what that solver needs besides the task; no secrets."""

    model_config = ConfigDict(frozen=True)

    dataset: str = "starter"
    split: str = "test"
    instances: tuple[str, ...] = ()
    pattern: str | None = None
    limit: int | None = None
    skip_invalid: bool = False
    samples: int = 1
    solver: str = "oneshot"
    solver_options: dict[str, Any] = {}
    sandbox: Literal["auto", "bubblewrap", "docker"] = "auto"
    backend_options: dict[str, Any] = {}
    environments: Literal["auto", "built", "published"] = "auto"
    repo_url: str = REPO_URL
    limits: Limits = Limits()
    slots: int = CORES
    output: Path = Path("assay-results")
    name: str = ""
