"""Whose fault it is that a run broke down: the host's, if the reference fix breaks down just the same."""

import time

from evaluator.apply import Changes, apply_patch
from evaluator.judge import judge
from evaluator.patch import parse_patch
from evaluator.paths import PatchError
from evaluator.trial import Trial, run_tests
from evaluator.workshop import Setup, TaskFault
from sandbox.job import Limits, Sandbox
from tasks.errors import InfraError

SYMPTOMS = frozenset(("timeout", "memory", "output", "crash", "incomplete"))
"""What a patch can cause as well as the machine. Nothing that a run prints tells them apart."""
FRESH_S = 3600.0
"""How long a control that came to its end speaks for the machine."""


def blame(setup: Setup, trial: Trial, reason: str, sandbox: Sandbox, limits: Limits) -> None:
    """Returns if the broken run was the patch's doing: the reference fix came to its end not long ago.

    It is the control, not the unpatched code, since that may hang or crash by the very bug.

    Raises:
        InfraError: the reference fix ends the same way now.
        TaskFault: the runner does not even begin.
    """
    if reason not in SYMPTOMS or time.monotonic() - setup.control.ended_at < FRESH_S:
        return
    control = run_tests(setup, reference(setup, sandbox), sandbox, limits)
    if not _began(trial) and not _began(control):
        raise TaskFault("environment", control.execution.output.decode(errors="replace").strip()[-200:])
    found = judge(control.expectation, control.evidence).reason
    if found == reason:
        raise InfraError(f"with the reference fix the run breaks down just the same: {reason}")
    if found not in SYMPTOMS:
        setup.control.ended_at = time.monotonic()


def reference(setup: Setup, sandbox: Sandbox) -> Changes:
    """The reference fix; no change where it does not apply.

    Raises:
        InfraError: it had to be tried in a sandbox, which failed.
    """
    try:
        return apply_patch(
            parse_patch(setup.task.patch),
            setup.prepared.tree,
            lambda job: sandbox.run(setup.prepared, job),
        )
    except PatchError:
        return Changes({})


def _began(trial: Trial) -> bool:
    return trial.evidence.session.start is not None or bool(trial.evidence.hits)
