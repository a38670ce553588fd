"""Solvers by name, from options a run can record."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluator.solvers.base import Solver
from evaluator.solvers.gold import Gold
from evaluator.solvers.noop import Noop
from evaluator.solvers.replay import Replay
from tasks.errors import InputError
from tasks.printable import printable

FLAGS = {"gpu_hour": "--gpu-price", "per_minute": "--rpm", "timeout_s": "--request-timeout"}
"""Of options that the command line spells in another way."""
NAMES = ("gold", "noop", "replay", "oneshot")


class NoOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReplayOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    predictions: Path
    digest: str = ""


def make(name: str, options: Mapping[str, Any], api_key: str | None = None) -> Solver:
    """The solver `name`. `make(name, solver.options)` makes its equal, given the same key.

    Args:
        options: of `OneShotOptions` or `ReplayOptions`; `gold` and `noop` have none.
        api_key: for `oneshot`; else OPENAI_API_KEY.

    Raises:
        InputError: no such solver, or options it does not understand.
    """
    try:
        if name == "gold":
            NoOptions.model_validate(options)
            return Gold()
        if name == "noop":
            NoOptions.model_validate(options)
            return Noop()
        if name == "replay":
            replay = ReplayOptions.model_validate(options)
            return Replay(replay.predictions, replay.digest)
        if name == "oneshot":
            from evaluator.model import connection  # the client of the model takes a second to import
            from evaluator.solvers.oneshot import OneShot, OneShotOptions

            oneshot = OneShotOptions.model_validate(options)
            return OneShot(oneshot, connection(oneshot.base_url, api_key))
    except ValidationError as error:
        problems = "; ".join(_problem(each) for each in error.errors())
        raise InputError(f"Solver {name}: {problems}", "`assay run --help` explains each flag.") from None
    raise InputError(f"There is no solver {name!r}", f"There are {', '.join(NAMES)}.")


def _problem(problem: Any) -> str:
    """In the words of the command line, where most options come from."""
    field = str(problem["loc"][0])
    flag = FLAGS.get(field, f"--{field.replace('_', '-')}")
    if problem["type"] == "missing":
        return f"{flag} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{flag} says nothing to it"
    return f"{flag} {printable(problem['input'])}: {problem['msg']}"
