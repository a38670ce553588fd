"""What a model is told. Task text and files are data put into our templates, never templates themselves."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evaluator.context import Context
from evaluator.model.endpoint import Message
from tasks.task import Task


@cache
def _templates() -> Environment:
    return Environment(  # noqa: S701 - the output is a prompt, not a page
        loader=FileSystemLoader(Path(__file__).parent / "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def ask(task: Task, context: Context) -> tuple[Message, ...]:
    """The messages of one question: how to answer, then the issue with the files of `context`."""
    facts = {"repo": task.repo, "statement": task.problem_statement, "files": context.files}
    return tuple(
        {"role": role, "content": _templates().get_template(f"oneshot_{role}.j2").render(facts)}
        for role in ("system", "user")
    )
