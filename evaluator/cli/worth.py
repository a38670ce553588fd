"""What verdicts are worth under the policy, in words and in JSON."""

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaluator.policy import POLICY, Policy, reward
from results.record import RecordRow


def worth(record: RecordRow) -> dict[str, Any]:
    """The reward of a record and the version of the policy that gives it."""
    return {"reward": reward(record.verdict, record.reason), "policy": POLICY.version}


def rules(policy: Policy = POLICY) -> dict[str, Any]:
    """The policy as JSON has it."""
    return {"version": policy.version, "rules": [asdict(rule) for rule in policy]}


def policy_table(policy: Policy = POLICY) -> RenderableType:
    """Its rows, one cause each."""
    headers = ("cause", "verdict", "reasons", "retried", "scored", "reward")
    table = Table(*headers, box=None, pad_edge=False, header_style="dim")
    table.columns[-1].justify = "right"
    for rule in policy:
        table.add_row(
            rule.cause,
            rule.verdict.value if rule.verdict else "any",
            ", ".join(rule.reasons) or "all others",
            rule.retry.value,
            "yes" if rule.scored else "no",
            "none" if rule.reward is None else f"{rule.reward:g}",
        )
    return Group(Text(), Text(f"what a verdict is worth, policy {policy.version}", "bold"), table)
