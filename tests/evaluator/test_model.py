"""The adapter against endpoints that answer as the OpenAI protocol allows, and as it does not."""

import asyncio
import gzip
import time
from decimal import Decimal
from typing import Any

import pytest
from bills import into
from rude_server import USAGE, chat, reply, reset_in_body, rude_server

from evaluator.model import (
    Completion,
    Connection,
    Endpoint,
    Meter,
    Patience,
    PromptRefused,
    Sampling,
    connection,
    transport,
)
from evaluator.prices import Prices
from results.record import Request, Usage
from tasks.errors import EndpointRefused, EndpointUnavailable, InputError

KEY = "sk-secret-0123456789"
HASTY = Patience(attempts=3, first_wait_s=0.01, longest_wait_s=0.02)
STEADY = Sampling(timeout_s=20)
PRICES = Prices("m", price_in=Decimal(1), price_out=Decimal(2))


def ask(
    base_url: str,
    bills: list[Request],
    patience: Patience = HASTY,
    sampling: Sampling = STEADY,
    times: int = 1,
    **limits: Any,
) -> Completion:
    """The answer to the last of `times` questions, asked one after the other."""

    async def run() -> Completion:
        meter = Meter("repo__task-1", 0, PRICES, into(bills))
        async with Endpoint(
            Connection(base_url, KEY), "m", sampling=sampling, patience=patience, **limits
        ) as model:
            for _ in range(times):
                answer = await model.complete([{"role": "user", "content": "hi"}], seed=7, meter=meter)
            return answer

    return asyncio.run(run())


def answered(*replies: Any, **options: Any) -> tuple[Completion, list[Request]]:
    bills: list[Request] = []
    with rude_server(*replies) as rude:
        return ask(rude.base_url, bills, **options), bills


def outcomes(bills: list[Request]) -> list[tuple[str, bool, Decimal | None]]:
    return [(bill.outcome, bill.billable, bill.cost) for bill in bills]


OK = reply(chat("fine"))
OK_COST = Decimal("0.00014")


def test_a_plain_answer_is_read_and_billed() -> None:
    """Text, finish reason, usage and exact cost of an ordinary answer arrive."""
    answer, bills = answered(reply(chat("fine")))
    assert (answer.text, answer.finish_reason, answer.trouble) == ("fine", "stop", "")
    assert answer.usage == Usage(input=100, cached=0, output=20)
    assert outcomes(bills) == [("ok", True, OK_COST)]
    assert (bills[0].instance_id, bills[0].model) == ("repo__task-1", "m")


def test_sampling_options_are_sent_and_absent_ones_are_not() -> None:
    """The request holds what was asked for, and leaves the rest to the endpoint."""
    with rude_server(OK) as rude:
        ask(rude.base_url, [], sampling=Sampling(temperature=0.5, max_tokens=9, extra_body={"top_k": 3}))
    sent = rude.asked[0]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["seed"], sent["top_k"]) == (
        "m",
        0.5,
        9,
        7,
        3,
    )
    assert "top_p" not in sent
    assert rude.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        (chat(None), "empty answer"),
        (chat("  \n"), "empty answer"),
        (chat("half a", finish="length"), "the answer was cut at the token limit"),
        (chat("", finish="content_filter"), "the content filter stopped the answer"),
        (chat(None, refusal="I can\x1b[31mnot"), "the model refused: 'I can\\x1b[31mnot'"),
        (chat(None, tool_calls=[{"function": {"name": "run"}}]), "the model called run instead of answering"),
        (chat(None, tool_calls="nonsense"), "empty answer"),
        (chat({"not": "text"}), "empty answer"),
        (chat(None, finish=None), "empty answer"),
    ],
)
def test_an_answer_without_text_says_why(body: Any, trouble: str) -> None:
    """Null content, a cut, a filter, a refusal or a tool call is an answer, billed, with its reason told."""
    answer, bills = answered(reply(body))
    assert answer.trouble == trouble
    assert outcomes(bills) == [("ok", True, OK_COST)]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_from_the_answer(field: str) -> None:
    """What a model thought is not what it answered, whichever field it comes in."""
    answer, _ = answered(reply(chat("fine", **{field: "hmm"})))
    assert (answer.text, answer.reasoning) == ("fine", "hmm")


def test_content_in_parts_is_joined() -> None:
    """Content given as a list of parts reads as its text; a lone surrogate does no harm."""
    answer, _ = answered(reply(chat([{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b\ud800"}])))
    assert answer.text == "ab?"


@pytest.mark.parametrize(
    ("usage", "parts"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 60}}, Usage(40, 60, 20)),
        ({"completion_tokens_details": {"reasoning_tokens": 15}}, Usage(100, 0, 20, 15)),
        ({"completion_tokens_details": {"reasoning_tokens": 50}, "total_tokens": 170}, Usage(100, 0, 70, 50)),
        (
            {"prompt_tokens_details": None, "completion_tokens_details": {"reasoning_tokens": None}},
            Usage(100, 0, 20),
        ),
        ({"completion_tokens": 0}, Usage(100, 0, 0)),
    ],
)
def test_usage_is_made_disjoint(usage: dict[str, Any], parts: Usage) -> None:
    """Cached tokens leave the input, reasoning stays in the output, and nothing is counted twice."""
    answer, _ = answered(reply(chat(usage=USAGE | usage)))
    assert answer.usage == parts


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "lots",
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": -1},
        {"prompt_tokens": "100"},
        {"prompt_tokens": 1.5},
        {"prompt_tokens": True},
        {"prompt_tokens": 10**30},
        {"prompt_tokens_details": {"cached_tokens": 101}},
        {"prompt_tokens_details": [1]},
        {"completion_tokens_details": {"reasoning_tokens": 21}},
    ],
)
def test_usage_that_cannot_be_trusted_is_unknown(usage: Any) -> None:
    """Missing or nonsensical counts make the cost unknown, never zero, and the answer still counts."""
    told = (USAGE | usage) if usage and isinstance(usage, dict) else usage
    answer, bills = answered(reply(chat("fine", usage=told)))
    assert (answer.text, answer.usage) == ("fine", None)
    assert outcomes(bills) == [("no usage reported", True, None)]


@pytest.mark.parametrize(
    ("bad", "bill"),
    [
        (reply(b"<html>bad gateway</html>", 502, "text/html"), ("HTTP 502", True, None)),
        (reply({"error": {"message": "busy"}}, 429), ("HTTP 429", False, None)),
        (reply({"error": "busy"}, 503), ("HTTP 503", True, None)),
        (reply(b"", 408), ("HTTP 408", True, None)),
        (reply(b"[]", 409), ("HTTP 409", False, None)),
        (reply(b"{not json", 200), ("HTTP 200 without JSON", True, None)),
        (reply(b"[" * 100_000, 200), ("HTTP 200 without JSON", True, None)),
        (reply(b"<html>login</html>", 200, "text/html"), ("HTTP 200 without JSON", True, None)),
        (reply([1], 200), ("HTTP 200 without a JSON object", True, None)),
        (reply({"choices": [], "usage": USAGE}), ("HTTP 200 without a choice", True, OK_COST)),
        (reply({"choices": None}), ("HTTP 200 without a choice", True, None)),
        (
            reply({"error": {"message": "upstream"}, "choices": []}),
            ("HTTP 200 with an error in it", True, None),
        ),
        (reset_in_body, ("connection broken", True, None)),
        (reply(b"\x1f\x8bnot gzip", 200, Content_Encoding="gzip"), ("connection broken", True, None)),
    ],
)
def test_a_transient_fault_is_billed_and_retried(bad: Any, bill: tuple[str, bool, Decimal | None]) -> None:
    """Each try has a bill of its own: unknown where work may have been done, none where it was refused."""
    answer, bills = answered(bad, OK)
    assert answer.text == "fine"
    assert outcomes(bills) == [bill, ("ok", True, OK_COST)]


def test_json_under_a_wrong_content_type_is_read() -> None:
    """A good answer labelled as text is still the answer."""
    answer, _ = answered(reply(chat("fine"), kind="text/plain"))
    assert answer.text == "fine"


@pytest.mark.parametrize("slow", ["hang", "trickle"])
def test_a_slow_answer_times_out_at_unknown_cost(slow: str) -> None:
    """Neither silence nor a trickle outlasts the time-out, and what it cost is unknown."""
    bills: list[Request] = []
    with rude_server(slow) as rude, pytest.raises(EndpointUnavailable, match="time-out"):
        ask(rude.base_url, bills, Patience(attempts=2, first_wait_s=0.01), Sampling(timeout_s=0.3))
    assert outcomes(bills) == [("time-out", True, None)] * 2


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that unpacks beyond the bound is dropped, however small it was on the wire."""
    monkeypatch.setattr(transport, "LARGEST_BODY", 100_000)
    bomb = gzip.compress(b" " * 10_000_000)
    bills: list[Request] = []
    with (
        rude_server(reply(bomb, Content_Encoding="gzip")) as rude,
        pytest.raises(EndpointUnavailable, match="larger than"),
    ):
        ask(rude.base_url, bills)
    assert outcomes(bills) == [("connection broken", True, None)] * 3


def test_an_endpoint_nobody_serves_costs_nothing() -> None:
    """A refused connection was never a request: no cost, and one line that names the address."""
    with rude_server(OK) as rude:
        gone = rude.base_url
    bills: list[Request] = []
    with pytest.raises(EndpointUnavailable, match=gone):
        ask(gone, bills)
    assert outcomes(bills) == [("no connection", False, None)] * 3


@pytest.mark.parametrize("wanted", ["1", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_retry_after_is_honoured_and_bounded(wanted: str) -> None:
    """The endpoint's wish lengthens the wait, in either spelling, up to our longest wait."""
    patience = Patience(attempts=3, first_wait_s=0.01, longest_wait_s=0.4)
    answer, bills = answered(reply({}, 429, Retry_After=wanted), OK, patience=patience)
    assert answer.text == "fine"
    assert (bills[1].started_at - bills[0].started_at).total_seconds() >= 0.39


def test_a_nonsensical_retry_after_is_ignored() -> None:
    """A header that is no time changes nothing."""
    answer, _ = answered(reply({}, 503, Retry_After="soon\t-5"), OK)
    assert answer.text == "fine"


def test_total_patience_ends_before_attempts_do() -> None:
    """No wait begins that would end after the total bound."""
    bills: list[Request] = []
    with rude_server(reply({}, 503)) as rude, pytest.raises(EndpointUnavailable, match=r"HTTP 503"):
        ask(rude.base_url, bills, Patience(attempts=1000, first_wait_s=30, total_s=10))
    assert len(bills) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}\x1b[2J\nand more"}}),
        (402, {"error": {"message": "no credit"}}),
        (403, {"error": {"message": "not yours"}}),
        (404, {"error": {"message": "The model `m` does not exist"}}),
        (400, {"error": {"message": "invalid model ID"}}),
        (422, {"detail": "unknown field"}),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
    ],
)
def test_a_refusal_of_the_run_stops_at_once(status: int, body: Any) -> None:
    """Wrong key, model, credit or parameters: one try, one printable line with the address, not the key."""
    bills: list[Request] = []
    with rude_server(reply(body, status)) as rude, pytest.raises(EndpointRefused) as caught:
        ask(rude.base_url, bills)
    assert outcomes(bills) == [(f"HTTP {status}", False, None)]
    line = caught.value.message
    assert rude.base_url in line and "'m'" in line and line.isprintable()
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """Prompt and key go to the address given; the line says where the endpoint would have us go."""
    with rude_server(OK) as other:
        with (
            rude_server(reply({}, status, Location=other.base_url)) as rude,
            pytest.raises(EndpointRefused, match=other.base_url),
        ):
            ask(rude.base_url, [])
        assert other.asked == []


@pytest.mark.parametrize(
    ("status", "error", "why"),
    [
        (400, {"code": "context_length_exceeded", "message": "too many"}, "longer than the model's context"),
        (
            400,
            {"message": "This model's maximum context length is 4096 tokens"},
            "longer than the model's context",
        ),
        (413, {"message": "payload"}, "longer than the model's context"),
        (400, {"code": "content_filter", "message": "no"}, "filter refused"),
    ],
)
def test_a_refusal_of_the_prompt_does_not_stop_the_run(status: int, error: Any, why: str) -> None:
    """A prompt too long or against the rules ends its own attempt only, at no cost."""
    bills: list[Request] = []
    with rude_server(reply({"error": error}, status)) as rude, pytest.raises(PromptRefused) as caught:
        ask(rude.base_url, bills)
    assert why in caught.value.detail
    assert outcomes(bills) == [(f"HTTP {status}", False, None)]


def test_a_bad_request_after_good_ones_is_about_its_prompt() -> None:
    """An endpoint that has answered this run is set up rightly, so a later 400 stops no run."""
    with (
        rude_server(OK, reply({"error": {"message": "odd characters"}}, 400)) as rude,
        pytest.raises(PromptRefused),
    ):
        ask(rude.base_url, [], times=2)


def test_an_interrupted_request_is_billed() -> None:
    """Cancelling a question under way leaves a bill of unknown cost behind."""
    bills: list[Request] = []

    async def run(base_url: str, asked: list[Any]) -> None:
        async with Endpoint(Connection(base_url, KEY), "m") as model:
            meter = Meter("t", 0, PRICES, into(bills))
            task = asyncio.create_task(
                model.complete([{"role": "user", "content": "hi"}], seed=None, meter=meter)
            )
            while not asked:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with rude_server("hang") as rude:
        asyncio.run(run(rude.base_url, rude.asked))
    assert outcomes(bills) == [("interrupted", True, None)]


def many(base_url: str, count: int, **limits: Any) -> list[Request]:
    bills: list[Request] = []

    async def run() -> None:
        async with Endpoint(Connection(base_url, KEY), "m", **limits) as model:
            meter = Meter("t", 0, PRICES, into(bills))
            questions = (
                model.complete([{"role": "user", "content": "hi"}], seed=k, meter=meter) for k in range(count)
            )
            await asyncio.gather(*questions)

    asyncio.run(run())
    return bills


def test_no_more_requests_than_allowed_are_under_way() -> None:
    """The concurrency limit holds as the server sees it."""
    with rude_server(OK) as rude:
        assert len(many(rude.base_url, 12, concurrency=2)) == 12
    assert 1 <= rude.most_under_way <= 2


def test_requests_are_spread_over_the_minute() -> None:
    """Under a limit of 600 a minute, four requests take at least three tenths of a second."""
    with rude_server(OK) as rude:
        began = time.monotonic()
        many(rude.base_url, 4, concurrency=4, per_minute=600)
        assert time.monotonic() - began >= 0.29


def test_connection_comes_from_arguments_then_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said on the command line wins over the environment; a key is not required."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://from-environment/v1/")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert connection().base_url == "http://from-environment/v1"
    assert connection().api_key
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    given = connection("https://given/v1")
    assert (given.base_url, given.api_key) == ("https://given/v1", KEY)
    assert KEY not in repr(given)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "http://user:pw@host/v1",
        "http://[::1",
        "http://host:99999/v1",
    ],
)
def test_an_unusable_address_is_the_users_mistake(url: str) -> None:
    """An address that is none, or holds a password, is refused before anything is asked."""
    with pytest.raises(InputError):
        connection(url)


def test_no_endpoint_at_all_is_the_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without address and key nothing is assumed."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="endpoint"):
        connection()
