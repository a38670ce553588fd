"""Token counts as providers report them, made disjoint once."""

from typing import Any

from results.record import Usage

_LARGEST = 10**12  # no answer has more tokens; a larger figure is a fault of the endpoint


def read_usage(reported: Any) -> Usage | None:
    """The `usage` object of a chat completion, or None when it cannot be trusted to bill from.

    `prompt_tokens` contains the cached ones, and `completion_tokens` the reasoning ones. Some providers
    report reasoning beside the completion instead; the total gives them away. A missing detail counts as
    zero; a part that is not a count (negative, text, more than its whole) makes the whole usage unknown.
    """
    if not isinstance(reported, dict):
        return None
    prompt = _count(reported.get("prompt_tokens"))
    completion = _count(reported.get("completion_tokens"))
    cached = _count(_detail(reported, "prompt_tokens_details", "cached_tokens"))
    reasoning = _count(_detail(reported, "completion_tokens_details", "reasoning_tokens"))
    if prompt is None or completion is None or cached is None or reasoning is None:
        return None
    if reasoning and reported.get("total_tokens") == prompt + completion + reasoning:
        completion += reasoning
    if cached > prompt or reasoning > completion:
        return None
    return Usage(input=prompt - cached, cached=cached, output=completion, reasoning=reasoning)


def _detail(reported: dict[str, Any], group: str, name: str) -> Any:
    details = reported.get(group)
    if details is None:
        return 0
    value = details.get(name) if isinstance(details, dict) else "not an object"
    return 0 if value is None else value


def _count(value: Any) -> int | None:
    counts = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    return value if counts else None
