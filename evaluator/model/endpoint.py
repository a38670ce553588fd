"""One model endpoint: its limits, our patience with it, and the bill of every request."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Self

import httpx2
import openai
from aiolimiter import AsyncLimiter
from openai import AsyncOpenAI

from evaluator.model import faults
from evaluator.model.completion import Completion, read_completion
from evaluator.model.connection import Connection
from evaluator.model.meter import Meter
from evaluator.model.retry import Patience, retrying
from evaluator.model.transport import BoundedClient
from tasks.errors import EndpointRefused, EndpointUnavailable
from tasks.printable import printable

Message = dict[str, str]


@dataclass(frozen=True)
class Sampling:
    """What is asked besides the prompt; None leaves it to the endpoint. `timeout_s` bounds one request."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 600.0
    extra_body: dict[str, Any] = field(default_factory=dict)


class Endpoint:
    """Answers questions with one model. For one event loop; `close` when done.

    At most `concurrency` requests are under way at once; `per_minute` of them start, evenly spread.
    """

    def __init__(
        self,
        connection: Connection,
        model: str,
        *,
        sampling: Sampling = Sampling(),
        patience: Patience | None = None,
        concurrency: int = 8,
        per_minute: float | None = None,
    ) -> None:
        self.connection, self.model, self.sampling = connection, model, sampling
        self.patience = patience or Patience()
        self._slots = asyncio.Semaphore(concurrency)
        self._pace: AbstractAsyncContextManager[None] = (
            AsyncLimiter(1, 60 / per_minute) if per_minute else nullcontext()
        )
        self._proven = self._reached = False
        self._client = AsyncOpenAI(
            base_url=connection.base_url,
            api_key=connection.api_key,
            timeout=httpx2.Timeout(sampling.timeout_s, connect=min(30.0, sampling.timeout_s)),
            max_retries=0,  # each try is billed, so each try is ours
            http_client=BoundedClient(
                follow_redirects=False,  # prompt and key go where the user said, nowhere else
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=concurrency),
            ),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.close()

    async def complete(self, messages: list[Message], *, seed: int | None, meter: Meter) -> Completion:
        """Asks, and asks again while that can help; `meter` has recorded every try when this ends.

        Raises:
            PromptRefused: this prompt cannot be answered; others can.
            EndpointRefused: no request of this run can succeed.
            EndpointUnavailable: still failing when patience was over.
        """
        try:
            return await retrying(self.patience, lambda: self._reached)(self._try, messages, seed, meter)
        except faults.Refused as fault:
            raise EndpointRefused(
                self._line("refused the request", fault),
                "Check --base-url, --model, OPENAI_API_KEY and the sampling options. "
                "What was answered so far is kept.",
            ) from None
        except faults.Transient as fault:
            raise EndpointUnavailable(
                self._line("kept failing", fault), "Resume the run when the endpoint answers again."
            ) from None

    async def _try(self, messages: list[Message], seed: int | None, meter: Meter) -> Completion:
        async with self._slots, self._pace:
            pending = meter.start()
            try:
                completion = read_completion(await self._send(messages, seed))
            except faults.Fault as fault:
                self._reached |= fault.outcome not in faults.UNREACHED
                pending.end(fault.outcome, fault.usage, fault.billable)
                raise
            except asyncio.CancelledError:
                pending.end("interrupted")
                raise
            pending.end("ok" if completion.usage else "no usage reported", completion.usage)
            self._proven = self._reached = True
            return completion

    async def _send(self, messages: list[Message], seed: int | None) -> bytes:
        """The body of a 2xx answer; every other ending is a Fault."""
        wanted = {
            "temperature": self.sampling.temperature,
            "top_p": self.sampling.top_p,
            "max_tokens": self.sampling.max_tokens,
            "seed": seed,
        }
        body = {name: value for name, value in wanted.items() if value is not None} | self.sampling.extra_body
        try:
            # The client's own time-out bounds each read, so a trickle would never end.
            async with asyncio.timeout(self.sampling.timeout_s):
                answer = await self._client.chat.completions.with_raw_response.create(
                    model=self.model,
                    messages=messages,  # type: ignore[arg-type]
                    extra_body=body,
                )
        except TimeoutError:
            raise faults.Transient("time-out") from None
        except openai.APIStatusError as error:
            raise faults.of_status(error, self._proven) from None
        except openai.APIConnectionError as error:
            raise faults.of_connection(error) from None
        return answer.http_response.content

    def _line(self, what: str, fault: faults.Fault) -> str:
        """One printable line; an endpoint may echo the key it was sent, or worse."""
        line = f"{self.connection.base_url} {what} for model {self.model!r} ({fault.outcome})"
        said = fault.detail.replace(self.connection.api_key, "***")
        return f"{line}: {printable(said, 300)}" if said else line
