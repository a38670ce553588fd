"""One run of a task's tests over given changes: laid out, executed, and what it showed."""

from dataclasses import dataclass
from hashlib import sha256

from evaluator.apply import Changes
from evaluator.evidence import Evidence, Expectation
from evaluator.runner.frames import read_frames
from evaluator.runner.plan import Plan, plant_canaries
from evaluator.runner.runners import RUNNERS
from evaluator.workshop import Setup
from evaluator.workspace import Workspace, lay_out, trusted_sources
from sandbox.job import Execution, Job, Limits, Sandbox

RUNNER_PACKAGES = ("_pytest", "src/_pytest")


@dataclass(frozen=True)
class Trial:
    workspace: Workspace
    expectation: Expectation
    execution: Execution
    evidence: Evidence


def run_tests(setup: Setup, changes: Changes, sandbox: Sandbox, limits: Limits) -> Trial:
    """Runs the task's test files in a fresh sandbox, with new canaries.

    Raises:
        InfraError: the host failed the run.
    """
    task = setup.task
    runner = RUNNERS[setup.environment.runner]
    canaries = plant_canaries(setup.files or setup.trusted.files, runner)
    workspace = lay_out(changes, setup.trusted, canaries, setup.prepared.tree)
    files = canaries.around(setup.files) if setup.files else ()  # the whole suite has the canaries in it
    plan = Plan(setup.arguments, files, runner)
    sources = trusted_sources(plan.files, workspace, setup.prepared.tree)
    execution = sandbox.run(
        setup.prepared,
        Job(
            command=plan.command,
            files=workspace.files,
            removals=workspace.removals,
            stdin=plan.stdin,
            collect=tuple(sources),
            variables=dict(setup.environment.variables),
            limits=limits,
        ),
    )
    found = {path: sha256(content).hexdigest() for path, content in execution.collected.items()}
    evidence = Evidence(
        read_frames(execution.frames, plan.key),
        execution.exit_status,
        execution.hits,
        tuple(path for path, digest in found.items() if digest != sources[path]),
    )
    expectation = Expectation(
        task.fail_to_pass,
        tuple(name for name in task.pass_to_pass if name not in setup.ignored),
        setup.environment.log_parser,
        canaries.must_pass,
        canaries.must_fail,
        setup.ignored,
        sources,
        workspace.patched,
        any((setup.prepared.tree / package).is_dir() for package in RUNNER_PACKAGES),
    )
    return Trial(workspace, expectation, execution, evidence)
