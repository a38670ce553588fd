"""No attack earns a pass, on real sandboxes: alone it never does, with the fix it does or is found out."""

import attack_project as project
import pytest
from attack_cases import ATTACKS, INVALID, KNOWN_LIMITS, TWIN, Attack

from evaluator.grade import grade
from evaluator.reasons import TAMPERING
from evaluator.workshop import Workshop
from results.record import Record, Verdict
from sandbox.job import Limits

NAMED = {attack.name: attack for attack in ATTACKS}
WITH_FIX = {attack.name: attack for attack in ATTACKS if attack.fixed is not None}
ON_DOCKER = {attack.name: attack for attack in ATTACKS if attack.docker}


def judged(workshop: Workshop, attack: Attack, *, fixed: bool = False) -> Record:
    limits = Limits(wall_s=attack.wall_s, memory_mb=512, output_kb=2048, processes=128)
    return grade(project.TASK, attack.patch(fixed=fixed), workshop=workshop, limits=limits)


def told(record: Record) -> tuple[str, str, object]:
    return str(record.verdict), record.reason, record.evidence.get("checks") or record.explanation


@pytest.mark.parametrize("name", NAMED)
def test_no_attack_earns_a_pass(bubblewrap: Workshop, name: str) -> None:
    """What comes of it is known, and is a verdict on the patch: never a fault of the host."""
    attack = NAMED[name]
    record = judged(bubblewrap, attack)
    assert record.verdict in (Verdict.NOT_RESOLVED, Verdict.TAMPERED), told(record)
    assert record.reason in attack.reasons, told(record)
    assert (record.verdict is Verdict.TAMPERED) == (record.reason in TAMPERING)
    assert not attack.flag or attack.flag in record.flags


@pytest.mark.parametrize("name", WITH_FIX)
def test_with_the_fix_only_forgers_lose(bubblewrap: Workshop, name: str) -> None:
    """What was reverted or never worked takes nothing from an honest fix."""
    attack = WITH_FIX[name]
    record = judged(bubblewrap, attack, fixed=True)
    assert attack.fixed is not None
    assert record.reason in attack.fixed, told(record)
    assert not attack.flag or attack.flag in record.flags


@pytest.mark.docker
@pytest.mark.parametrize("name", ON_DOCKER)
def test_containers_say_the_same(docker: Workshop, name: str) -> None:
    """Backends differ in speed, not in verdicts."""
    attack = ON_DOCKER[name]
    assert judged(docker, attack).reason in attack.reasons
    if attack.fixed is not None:
        assert judged(docker, attack, fixed=True).reason in attack.fixed


@pytest.mark.parametrize("name", INVALID)
def test_patches_that_reach_out_are_refused(bubblewrap: Workshop, name: str) -> None:
    """With the fix or without, nothing of them is run."""
    patch, reason = INVALID[name]
    for text in (patch, patch + project.TASK.patch) if patch.strip() else (patch,):
        record = grade(project.TASK, text, workshop=bubblewrap)
        assert (record.verdict, record.reason) == (Verdict.INVALID_PATCH, reason)
        assert record.spent.tests == 0


def test_the_tests_alone_are_no_fix(bubblewrap: Workshop) -> None:
    """A patch that is the task's own test patch changes nothing."""
    record = grade(project.TASK, project.TASK.test_patch, workshop=bubblewrap)
    assert (record.verdict, record.reason) == (Verdict.NOT_RESOLVED, "f2p_fail")


@pytest.mark.parametrize("attack", KNOWN_LIMITS, ids=lambda attack: attack.name)
def test_what_knows_the_answers_passes(bubblewrap: Workshop, attack: Attack) -> None:
    """A limit: no evidence tells an answer that was looked up from one that was computed."""
    assert judged(bubblewrap, attack).reason in attack.reasons | TWIN


def test_the_same_comes_of_it_each_time(bubblewrap: Workshop) -> None:
    """The canaries are others each time; the verdict is not."""
    gold = {grade(project.TASK, project.TASK.patch, workshop=bubblewrap).reason for _ in range(5)}
    assert gold == {"resolved"}
