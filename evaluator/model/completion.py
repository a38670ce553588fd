"""The body of an HTTP 200 answer, read without trusting it."""

import json
from dataclasses import dataclass
from typing import Any

from evaluator.model.faults import Transient
from evaluator.model.usage import read_usage
from results.record import Usage
from tasks.printable import printable


@dataclass(frozen=True)
class Completion:
    """What a model answered. `usage` is None when the endpoint reported none that can be billed from."""

    text: str
    finish_reason: str
    usage: Usage | None
    reasoning: str = ""
    refusal: str = ""
    tool_call: str = ""
    """Name of a tool the model wanted to call instead of answering."""
    fingerprint: str = ""
    """What the endpoint says it runs (`system_fingerprint`)."""

    @property
    def cut(self) -> bool:
        """The answer ends where the endpoint stopped it, not where the model did."""
        return self.finish_reason in ("length", "content_filter")

    @property
    def trouble(self) -> str:
        """Why there is no whole answer, in a few words; empty when there is one."""
        if self.refusal:
            return f"the model refused: {printable(self.refusal, 200)}"
        if self.finish_reason == "content_filter":
            return "the content filter stopped the answer"
        if self.cut:
            return "the answer was cut at the token limit"
        if self.text.strip():
            return ""
        return (
            f"the model called {printable(self.tool_call)} instead of answering"
            if self.tool_call
            else "empty answer"
        )


def read_completion(body: bytes) -> Completion:
    """The first choice of a chat completion.

    Raises:
        Transient: the body is no chat completion; `usage` of the fault holds what was billed all the same.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Transient("HTTP 200 without JSON") from None
    if not isinstance(answer, dict):
        raise Transient("HTTP 200 without a JSON object")
    usage = read_usage(answer.get("usage"))
    if answer.get("error"):
        raise Transient("HTTP 200 with an error in it", usage=usage)
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Transient("HTTP 200 without a choice", usage=usage)
    return Completion(
        text=_text(message.get("content")),
        finish_reason=_text(choice.get("finish_reason")),
        usage=usage,
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        refusal=_text(message.get("refusal")),
        tool_call=_tool(message.get("tool_calls")),
        fingerprint=_text(answer.get("system_fingerprint"))[:200],
    )


def _text(value: Any) -> str:
    """Text, or the text parts of a list; lone surrogates, which JSON can smuggle in, are replaced."""
    if isinstance(value, list):
        parts = (part.get("text") for part in value if isinstance(part, dict))
        value = "".join(part for part in parts if isinstance(part, str))
    return value.encode(errors="replace").decode() if isinstance(value, str) else ""


def _tool(calls: Any) -> str:
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, dict) else None
    return (_text(function.get("name")) or "a tool")[:80] if isinstance(function, dict) else ""
