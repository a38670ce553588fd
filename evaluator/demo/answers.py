"""What the demo model answers: the reference fix, or one of four ways to fail, drawn from a seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluator.demo.spoil import break_header, spoil
from tasks.task import Task

Kind = Literal["good", "wrong", "malformed", "empty", "truncated", "unknown"]

MODELS = {"assay-demo": 60, "assay-demo-30": 30, "assay-demo-60": 60, "assay-demo-90": 90}
"""Names, and how many of a hundred answers are the reference fix."""

_FAILURES: dict[Kind, int] = {"wrong": 60, "malformed": 15, "empty": 10, "truncated": 15}
"""The ways of failing and their weights."""


@dataclass(frozen=True)
class Answer:
    kind: Kind
    text: str
    finish_reason: str = "stop"
    reasoning_tokens: int = 0


def find(tasks: Sequence[Task], prompt: str) -> Task | None:
    """The task whose problem statement stands in `prompt`, the longest where several do."""
    asked = [task for task in tasks if (stated := task.problem_statement.strip()) and stated in prompt]
    return max(asked, key=lambda task: len(task.problem_statement), default=None)


def answer(task: Task | None, model: str, seed: int, request_seed: int) -> Answer:
    """Equal arguments give equal answers; another seed of either kind draws anew."""
    if task is None:
        return Answer("unknown", f"I am {model}, a demonstration, and this is none of the bugs I was given.")
    draw = random.Random(f"{seed}/{model}/{task.instance_id}/{request_seed}")  # noqa: S311 - it must repeat
    kind: Kind = "good"
    if draw.uniform(0, 100) >= MODELS[model]:
        kind = draw.choices(list(_FAILURES), weights=list(_FAILURES.values()))[0]
    thought = draw.randrange(50, 500)
    if kind == "empty":
        return Answer(kind, "", reasoning_tokens=thought)
    patch = task.patch.removesuffix("\n")
    if kind == "wrong":
        patch = spoil(task.patch).removesuffix("\n")
    elif kind == "malformed":
        patch = break_header(patch)
    opening = (
        f"I am {model}, a demonstration: this answer is made from the reference fix of {task.instance_id}, "
        f"and is {kind} on purpose.\n\n```diff\n"
    )
    if kind == "truncated":
        return Answer(kind, opening + patch[: len(patch) * 6 // 10], "length", thought)
    return Answer(kind, f"{opening}{patch}\n```\n", reasoning_tokens=thought)
