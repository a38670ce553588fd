"""The part of the OpenAI protocol the demo model speaks."""

import json
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from evaluator.demo.answers import Answer

NOTICE = "assay demo model: answers from the reference fixes, wrong on purpose at a fixed rate"

_CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class Asked:
    """The parts of a chat completion request that matter here."""

    model: str
    messages: tuple[str, ...]
    seed: int


def read(body: bytes) -> Asked | None:
    """The request, or None when it is none."""
    try:
        content = json.loads(body)
        messages = tuple(message["content"] for message in content["messages"])
        model, seed = content["model"], content.get("seed") or 0
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    right = (
        isinstance(model, str) and isinstance(seed, int) and all(isinstance(each, str) for each in messages)
    )
    return Asked(model, messages, seed) if right and messages else None


def completion(asked: Asked, given: Answer) -> dict[str, Any]:
    """The response body, with usage counted at four characters a token."""
    prompt, output = sum(map(_tokens, asked.messages)), _tokens(given.text) + given.reasoning_tokens
    name = sha256("\0".join((asked.model, str(asked.seed), *asked.messages)).encode(errors="replace"))
    return {
        "id": f"demo-{name.hexdigest()[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "system_fingerprint": NOTICE,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": given.text},
                "finish_reason": given.finish_reason,
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {
                "cached_tokens": _tokens(asked.messages[0]) if len(asked.messages) > 1 else 0
            },
            "completion_tokens_details": {"reasoning_tokens": given.reasoning_tokens},
        },
    }


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)


def error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}
