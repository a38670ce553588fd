"""What causes are worth: a table that has to cover every cause, and to agree with what the rest does."""

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.policy import POLICY, UNKNOWN, Policy, Retry, Rule, reward
from evaluator.reasons import EXPLANATIONS, TAMPERING
from results.record import Verdict


def test_only_a_fixed_bug_is_rewarded() -> None:
    """One, for one verdict; everything else is nothing, or not known."""
    assert [rule.verdict for rule in POLICY if rule.reward] == [Verdict.RESOLVED]
    assert reward(Verdict.RESOLVED, "resolved") == 1.0
    assert reward(Verdict.TAMPERED, "canary_passed") == 0.0
    assert reward(Verdict.NOT_RESOLVED, "timeout") == 0.0


@pytest.mark.parametrize("verdict", Verdict)
def test_faults_that_say_nothing_of_the_patch_are_no_number(verdict: Verdict) -> None:
    """No reward is exactly where there is no score: what a patch can cause is never left out."""
    rules = [rule for rule in POLICY if rule.verdict is verdict]
    assert rules
    assert {rule.scored for rule in rules} == {verdict.scored}
    assert {rule.reward is not None for rule in rules} == {verdict.scored}


def test_every_known_failure_has_its_row() -> None:
    """Each code belongs to a row by its name, or to a verdict all of whose causes share one."""
    named = {reason for rule in POLICY for reason in rule.reasons}
    shared = {"resolved", *TAMPERING, *(code for code in EXPLANATIONS if code.startswith("twin_"))}
    refused = {"empty", "unparsable", "encoding", "too_large", "submodule", "path_conflict", "apply"}
    refused |= {code for code in EXPLANATIONS if code.startswith("illegal_")}
    ours = {"build", "source", "quarantined", "environment", "test_patch"}
    assert named | shared | refused | ours >= EXPLANATIONS.keys()


def test_an_unknown_cause_is_graded_again_and_not_rewarded() -> None:
    """Whatever the verdict: a number nobody can explain is none."""
    assert POLICY.rule(Verdict.NOT_RESOLVED, "martians") is UNKNOWN
    assert reward(Verdict.NOT_RESOLVED, "martians") is None
    assert UNKNOWN.retry is not Retry.NO


def test_another_policy_gives_other_rewards() -> None:
    """It is data: a team that wants forgeries punished says so, under a version of its own."""
    harsh = tuple(
        replace(rule, reward=-1.0) if rule.verdict is Verdict.TAMPERED else rule for rule in POLICY.rules
    )
    assert reward(Verdict.TAMPERED, "exit_forged", Policy("harsh-1", harsh)) == -1.0


def row(rule: Rule) -> str:
    reasons = ", ".join(f"`{reason}`" for reason in rule.reasons) or "all others"
    verdict = f"`{rule.verdict}`" if rule.verdict else "any"
    worth = "none" if rule.reward is None else f"{rule.reward:g}"
    scored = "yes" if rule.scored else "no"
    return f"| {rule.cause} | {verdict} | {reasons} | {rule.retry} | {scored} | {worth} |"


def test_the_page_on_trust_shows_this_policy() -> None:
    """Row for row, so that whoever trains on the rewards reads what is in force."""
    page = (Path(__file__).parents[2] / "docs" / "trust.md").read_text("utf-8")
    table = page.partition("| cause |")[2].partition("\n\n")[0].splitlines()[2:]
    assert table == [row(rule) for rule in POLICY]
    assert f"policy {POLICY.version})" in page
