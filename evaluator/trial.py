"""One run of a task's tests over given changes: laid out, executed, and what it showed."""

from dataclasses import dataclass

from evaluator.apply import Changes
from evaluator.evidence import Evidence, Expectation
from evaluator.runner.frames import read_frames
from evaluator.runner.plan import Plan, place, plant_canaries
from evaluator.runner.runners import RUNNERS
from evaluator.workshop import Setup
from evaluator.workspace import Workspace, lay_out
from sandbox.job import Execution, Job, Limits, Sandbox


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
    files = place(canaries, setup.files) if setup.files else ()  # the whole suite has the canaries in it
    plan = Plan(setup.arguments, files, runner)
    execution = sandbox.run(
        setup.prepared,
        Job(
            command=plan.command,
            files=workspace.files,
            removals=workspace.removals,
            stdin=plan.stdin,
            variables=dict(setup.environment.variables),
            limits=limits,
        ),
    )
    evidence = Evidence(read_frames(execution.frames, plan.key), execution.exit_status, execution.hits)
    expectation = Expectation(
        task.fail_to_pass,
        tuple(name for name in task.pass_to_pass if name not in setup.ignored),
        setup.environment.log_parser,
        canaries.must_pass,
        canaries.must_fail,
        setup.ignored,
    )
    return Trial(workspace, expectation, execution, evidence)
