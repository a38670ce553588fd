"""A model asked once: the issue and some files in, a patch out."""

import asyncio
import time
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evaluator.answer import extract
from evaluator.billing import Biller
from evaluator.context import Kind, choose
from evaluator.model import Completion, Connection, Endpoint, Meter, PromptRefused, Sampling
from evaluator.model.endpoint import Message
from evaluator.prices import Prices
from evaluator.prompt import ask
from evaluator.solvers.base import Solver
from results.record import Attempt
from tasks.task import Task


class OneShotOptions(BaseModel):
    """All that shapes a request but the key. Sample k is asked with seed `seed` + k, if there is a seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1)
    base_url: str | None = None
    context: Kind = "bm25"
    """`oracle` shows the files the reference fix touches: an advantage no user has, named in every report."""
    context_tokens: int = Field(16_000, ge=0)
    temperature: float | None = Field(None, ge=0)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1)
    seed: int | None = 0
    timeout_s: float = Field(600.0, gt=0)
    extra_body: dict[str, Any] = {}
    """Further fields of the request, as the endpoint knows them (`{"max_completion_tokens": 8192}`)."""
    concurrency: int = Field(8, ge=1)
    per_minute: float | None = Field(None, gt=0)
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    price_cached: Decimal | None = None
    gpu_hour: Decimal | None = None
    gpus: int | None = None


class OneShot(Solver):
    name = "oneshot"

    def __init__(self, options: OneShotOptions, connection: Connection) -> None:
        self._options = options.model_copy(update={"base_url": connection.base_url})
        self.prices = Prices(
            model=options.model,
            base_url=connection.base_url,
            price_in=options.price_in,
            price_out=options.price_out,
            price_cached=options.price_cached,
            gpu_hour=options.gpu_hour,
            gpus=options.gpus,
        )
        self._endpoint = Endpoint(
            connection,
            options.model,
            sampling=Sampling(
                options.temperature,
                options.top_p,
                options.max_tokens,
                options.timeout_s,
                options.extra_body,
            ),
            concurrency=options.concurrency,
            per_minute=options.per_minute,
        )
        self._messages = lru_cache(maxsize=64)(self._build_messages)
        self._building = asyncio.Lock()

    @property
    def options(self) -> dict[str, Any]:
        return self._options.model_dump(mode="json", exclude_none=True)

    async def solve(self, task: Task, sample: int, tree: Path, biller: Biller) -> Attempt:
        began = time.monotonic()
        async with self._building:  # ranking holds the interpreter anyway, and samples share its result
            messages = await asyncio.to_thread(self._messages, task, tree)
        seed = None if self._options.seed is None else self._options.seed + sample
        meter = Meter(task.instance_id, sample, self.prices, biller)
        try:
            completion = await self._endpoint.complete(list(messages), seed=seed, meter=meter)
        except PromptRefused as fault:
            return Attempt(task.instance_id, sample, "", fault.detail, time.monotonic() - began, messages)
        found = await asyncio.to_thread(extract, completion.text, tree, cut=completion.cut)
        note = "" if found.patch else completion.trouble or found.note
        transcript = (*messages, _reply(completion))
        return Attempt(task.instance_id, sample, found.patch, note, time.monotonic() - began, transcript)

    async def close(self) -> None:
        await self._endpoint.close()

    def _build_messages(self, task: Task, tree: Path) -> tuple[Message, ...]:
        context = choose(task, tree, self._options.context, self._options.context_tokens)
        return ask(task, context)


def _reply(completion: Completion) -> dict[str, Any]:
    """The answer as a message, with what the provider added and left out where it added nothing."""
    extra = {
        "reasoning": completion.reasoning,
        "refusal": completion.refusal,
        "tool_call": completion.tool_call,
        "finish_reason": completion.finish_reason,
        "system_fingerprint": completion.fingerprint,
    }
    reply = {"role": "assistant", "content": completion.text}
    return reply | {name: value for name, value in extra.items() if value}
