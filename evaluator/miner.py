"""Runs tests of releases that are candidates for the starter set, in a sandbox."""

from collections.abc import Mapping
from pathlib import Path

from evaluator.outcome import outcome, phases
from evaluator.runner.frames import read_frames
from evaluator.runner.plan import Plan
from evaluator.runner.runners import RUNNERS, runner_arguments
from sandbox.job import Job, Limits, Sandbox
from tasks.digest import digest
from tasks.environment import Environment
from tasks.mine import RunTests


def sandboxed(sandbox: Sandbox, limits: Limits | None = None) -> RunTests:
    """What `tasks.mine.mine` runs tests with. Raises what `sandbox` raises."""

    def run_tests(tree: Path, environment: Environment, files: tuple[str, ...]) -> Mapping[str, str]:
        prepared = sandbox.prepare(environment, tree, key=_content(tree), version="")
        plan = Plan(runner_arguments(environment), files, RUNNERS[environment.runner])
        job = Job(command=plan.command, stdin=plan.stdin, limits=limits or Limits())
        execution = sandbox.run(prepared, job)
        session = read_frames(execution.frames, plan.key)
        return {test: outcome(reports).value for test, reports in phases(session).items()}

    return run_tests


def _content(tree: Path) -> str:
    """Names what a tree holds."""
    files = (path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink())
    return digest([(str(path.relative_to(tree)), path.read_bytes().hex()) for path in files])
