"""Providers over HTTP, played by a server on this machine that may do anything."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from blockwire.content import BlockDelta, StreamEvent
from blockwire.engines import TurnLimits
from blockwire.engines.http import HttpEngine, HttpSettings
from tests.engines.attached import PNG, Files, attachment
from tests.engines.tools import (
    CountingIds,
    ManualTime,
    collect,
    fold,
    guarded,
    last_error,
    request,
    text_of,
    user,
)
from tests.support.provider_server import CUT, Reply, provider_server

pytestmark = pytest.mark.anyio

DONE = b"data: [DONE]\n\n"


def said(text: str) -> bytes:
    return f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{text}"}}}}]}}\n\n'.encode()


def chat(
    base_url: str, time: ManualTime, redact: Callable[[str], str] = str, **settings: Any
) -> HttpEngine:
    values: dict[str, Any] = {
        "api": "openai-chat",
        "provider": "local",
        "base_url": base_url,
        "headers": {"authorization": "Bearer key-1"},
        "model": "m",
        "options": {},
        **settings,
    }
    return HttpEngine(
        HttpSettings(**values),
        ids=CountingIds(),
        clock=time,
        redact=redact,
        jitter=lambda: 1.0,
        sleep=time.sleep,
    )


async def answer(
    *replies: Reply, time: ManualTime | None = None, **settings: Any
) -> tuple[list[StreamEvent], Any, ManualTime]:
    """The events of one turn, the server, and the time that was spent waiting."""
    time = time or ManualTime()
    async with provider_server(*replies) as server:
        runner = chat(server.base_url, time, **settings)
        try:
            seen = await collect(guarded(runner.run(request(messages=[user("Hi")]))))
        finally:
            await runner.aclose()
    return seen, server, time


GOOD = Reply(steps=[said("Hello"), said(" world"), DONE])


async def test_an_answer_becomes_a_message() -> None:
    seen, server, _ = await answer(GOOD)

    assert fold(seen)["status"] == "completed"
    assert text_of(seen) == "Hello world"
    (asked,) = server.requests
    assert (asked.method, asked.path) == ("POST", "/chat/completions")
    assert asked.headers["authorization"] == "Bearer key-1"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["content-type"] == "application/json"
    assert asked.json["model"] == "m"
    assert asked.json["stream"] is True
    assert asked.json["messages"] == [{"role": "user", "content": "Hi"}]


async def test_the_first_word_is_there_before_the_second_is_sent() -> None:
    go_on = anyio.Event()
    async with provider_server(Reply(steps=[said("one"), go_on, said("two"), DONE])) as server:
        runner = chat(server.base_url, ManualTime())
        texts = []
        with anyio.fail_after(15):
            async for event in runner.run(request()):
                if isinstance(event, BlockDelta):
                    texts.append(event.text)
                    go_on.set()
        await runner.aclose()

    assert texts == ["one", "two"]


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
async def test_bytes_may_be_cut_anywhere(framing: Any) -> None:
    body = said("Grüße") + DONE
    pieces = [body[i : i + 1] for i in range(len(body))]

    seen, _, _ = await answer(Reply(steps=pieces, framing=framing))

    assert text_of(seen) == "Grüße"


async def test_a_compressed_answer_is_read_although_nobody_asked_for_one() -> None:
    body = gzip.compress(said("Hello") + DONE)

    seen, _, _ = await answer(Reply(steps=[body], headers={"content-encoding": "gzip"}))

    assert text_of(seen) == "Hello"


async def test_connections_are_used_again() -> None:
    async with provider_server(GOOD) as server:
        runner = chat(server.base_url, ManualTime())
        for _ in range(3):
            assert text_of(await collect(guarded(runner.run(request())))) == "Hello world"
        await runner.aclose()

    assert server.connections == 1


# Failures --------------------------------------------------------------------------------------


def refused(status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> Reply:
    return Reply(
        status=status,
        steps=[body] if body else [],
        headers=headers or {},
        framing="length",
        content_type="application/json",
    )


REFUSED: list[tuple[int, bytes, str, bool]] = [
    (400, b'{"error": {"message": "no such parameter"}}', "provider_rejected_request", False),
    (401, b'{"error": {"message": "bad key"}}', "provider_auth_failed", False),
    (402, b"", "provider_quota_exceeded", False),
    (403, b"not json", "provider_auth_failed", False),
    (404, b'{"error": "model not found"}', "provider_not_found", False),
    (413, b"", "request_too_large", False),
    (422, b'{"detail": "no"}', "provider_rejected_request", False),
    (429, b'{"error": {"message": "slow", "code": "rate_limit_exceeded"}}', "provider_rate_limited", True),
    (429, b'{"error": {"message": "pay", "code": "insufficient_quota"}}', "provider_quota_exceeded", False),
    (500, b"", "provider_unavailable", True),
    (501, b"", "provider_unavailable", False),
    (503, b"<html>", "provider_unavailable", True),
    (529, b'{"error": {"type": "overloaded_error", "message": "Overloaded"}}', "provider_overloaded", True),
]  # fmt: skip


@pytest.mark.requirement("engines:http:retry")
@pytest.mark.parametrize(("status", "body", "code", "retryable"), REFUSED)
async def test_a_refusal_has_a_code_and_is_repeated_only_where_that_may_help(
    status: int, body: bytes, code: str, retryable: bool
) -> None:
    seen, server, _ = await answer(refused(status, body))

    error = last_error(seen)
    assert (error["code"], error["retryable"]) == (code, retryable)
    assert str(status) in error["message"]
    assert len(server.requests) == (3 if retryable else 1)


@pytest.mark.requirement("engines:http:redacted")
async def test_what_a_provider_says_is_redacted_and_cut() -> None:
    body = b'{"error": {"message": "key-1 is wrong ' + b"x" * 5000 + b'"}}'

    seen, _, _ = await answer(refused(401, body), redact=lambda text: text.replace("key-1", "*"))

    message = last_error(seen)["message"]
    assert "* is wrong" in message
    assert "key-1" not in message
    assert len(message) < 1000


async def test_an_error_without_an_end_is_not_read_for_ever() -> None:
    endless = Reply(status=400, steps=[b"x" * 70_000, anyio.Event()])

    seen, _, _ = await answer(endless)

    assert last_error(seen)["code"] == "provider_rejected_request"


@pytest.mark.requirement("engines:http:redirect")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_never_followed(status: int) -> None:
    async with provider_server(GOOD) as other:
        seen, server, _ = await answer(refused(status, headers={"location": other.base_url}))

    assert last_error(seen)["code"] == "provider_redirected"
    assert len(server.requests) == 1
    assert other.requests == []


async def test_a_web_page_is_no_answer() -> None:
    seen, _, _ = await answer(Reply(steps=[b"<html>Log in</html>"], content_type="text/html"))

    assert last_error(seen)["code"] == "provider_protocol_error"


@pytest.mark.parametrize("status", [429, 500])
async def test_a_second_try_may_work(status: int) -> None:
    seen, server, time = await answer(refused(status), GOOD)

    assert text_of(seen) == "Hello world"
    assert len(server.requests) == 2
    assert server.requests[0].body == server.requests[1].body
    assert time.slept == [0.5]


async def test_waits_grow_and_end() -> None:
    _, server, time = await answer(refused(500), tries_max=6)

    assert len(server.requests) == 6
    assert time.slept == [0.5, 1, 2, 4, 8]


RETRY_AFTER: list[tuple[dict[str, str], list[float], float | None]] = [
    ({"retry-after": "3"}, [3, 3], 3),
    ({"retry-after": "0.25"}, [0.5, 1], 0.25),
    ({"retry-after-ms": "1500", "retry-after": "9"}, [1.5, 1.5], 1.5),
    ({"retry-after": "Thu, 01 Jan 1970 00:17:00 GMT"}, [20, 1], 0),
    ({"retry-after": "Thu, 01 Jan 1970 00:17:00"}, [20, 1], 0),
    ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, [0.5, 1], 0),
    ({"retry-after": "120"}, [], 120),
    ({"retry-after": "soon"}, [0.5, 1], None),
    ({"retry-after": "-1"}, [0.5, 1], None),
    ({"retry-after": "9" * 400}, [0.5, 1], None),
]


@pytest.mark.requirement("engines:http:retry")
@pytest.mark.parametrize(("headers", "slept", "told"), RETRY_AFTER)
async def test_a_provider_that_says_when_to_come_back_is_heard(
    headers: dict[str, str], slept: list[float], told: float | None
) -> None:
    seen, _, time = await answer(refused(429, headers=headers))

    assert time.slept == pytest.approx(slept)
    assert last_error(seen).get("retry_after_s") == told


OVERLOADED = b'data: {"error": {"message": "overloaded", "code": "overloaded_error"}}\n\n'


async def test_an_error_inside_the_stream_before_anything_is_seen_is_tried_again() -> None:
    seen, server, _ = await answer(Reply(steps=[OVERLOADED]), GOOD)

    assert text_of(seen) == "Hello world"
    assert len(server.requests) == 2


@pytest.mark.requirement("engines:http:no-late-retry")
async def test_an_error_after_the_first_visible_block_is_never_tried_again() -> None:
    seen, server, _ = await answer(Reply(steps=[said("Hel"), OVERLOADED]), GOOD)

    assert text_of(seen) == "Hel"
    error = last_error(seen)
    assert (error["code"], error["retryable"]) == ("provider_overloaded", True)
    assert len(server.requests) == 1


@pytest.mark.requirement("engines:http:cut", "engines:http:no-late-retry")
@pytest.mark.parametrize("ending", [[], [CUT]], ids=["clean", "reset"])
async def test_an_answer_that_is_cut_keeps_its_text(ending: list[Any]) -> None:
    reply = Reply(steps=[said("Hel"), *ending], framing="close")

    seen, server, _ = await answer(reply, GOOD)

    assert text_of(seen) == "Hel"
    error = last_error(seen)
    assert (error["code"], error["retryable"]) == ("stream_truncated", True)
    assert len(server.requests) == 1


async def test_a_chunked_body_that_is_cut_keeps_its_text() -> None:
    seen, _, _ = await answer(Reply(steps=[said("Hel"), CUT]))

    assert text_of(seen) == "Hel"
    assert last_error(seen)["code"] == "stream_truncated"


@pytest.mark.parametrize(
    "steps", [[CUT], [], [b": hello\n\n", CUT]], ids=["reset", "empty", "late"]
)
async def test_a_connection_that_is_lost_before_the_answer_is_tried_again(steps: list[Any]) -> None:
    seen, server, _ = await answer(Reply(steps=steps), GOOD)

    assert text_of(seen) == "Hello world"
    assert len(server.requests) == 2


async def test_a_provider_that_is_not_there_is_unreachable() -> None:
    async with provider_server() as server:
        base_url = server.base_url
    time = ManualTime()
    runner = chat(base_url, time)

    error = last_error(await collect(guarded(runner.run(request()))))

    assert (error["code"], error["retryable"]) == ("provider_unreachable", True)
    assert len(time.slept) == 2
    await runner.aclose()


@pytest.mark.parametrize("steps", [[], [said("Hel")]], ids=["before", "after"])
async def test_a_provider_that_stalls_is_idle_and_not_asked_again(steps: list[Any]) -> None:
    reply = Reply(steps=[*steps, anyio.Event()])

    seen, server, _ = await answer(reply, idle_timeout_s=0.05)

    error = last_error(seen)
    assert (error["code"], error["retryable"]) == ("engine_idle", True)
    assert len(server.requests) == 1


GARBAGE = [b"\x00\xff\xfe garbage\n\n", b"data: {not json}\n\n", b"HTTP/1.1 500 nested\r\n\r\n"]


@pytest.mark.parametrize("body", GARBAGE)
async def test_garbage_ends_as_a_failure(body: bytes) -> None:
    seen, _, _ = await answer(Reply(steps=[body]))

    assert fold(seen)["status"] == "failed"


async def test_wrong_compression_is_named() -> None:
    seen, _, _ = await answer(Reply(steps=[b"no gzip"], headers={"content-encoding": "gzip"}))

    assert last_error(seen)["code"] == "provider_protocol_error"


async def test_too_many_turns_at_once_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockwire.engines.http.POOL_CONNECTIONS_MAX", 1)
    async with provider_server(Reply(steps=[said("Hel"), anyio.Event()])) as server:
        runner = chat(server.base_url, ManualTime(), idle_timeout_s=0.2, tries_max=1)
        first = runner.run(request())
        with anyio.fail_after(15):
            await anext(first)
            seen = await collect(guarded(runner.run(request())))
            await first.aclose()
        await runner.aclose()

    assert last_error(seen)["code"] == "provider_unavailable"


async def test_cancelling_closes_the_connection() -> None:
    async with provider_server(Reply(steps=[said("Hel"), said("lo"), anyio.Event()])) as server:
        runner = chat(server.base_url, ManualTime())
        events = guarded(runner.run(request()), limits=TurnLimits())
        with anyio.fail_after(15):
            await anext(events)
            await events.aclose()
            await runner.aclose()

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"key_hint": "Set KEY."}, "provider_auth_failed"),
        ({"model": None}, "engine_unavailable"),
        ({"options": {"temprature": 1}}, "invalid_option"),
        ({"api": "gemini", "model": "../files"}, "invalid_option"),
        ({"api": "gemini", "model": "m?key=x"}, "invalid_option"),
    ],
)
async def test_what_is_not_configured_is_said_without_asking(
    settings: dict[str, Any], code: str
) -> None:
    seen, server, _ = await answer(GOOD, **settings)

    assert last_error(seen)["code"] == code
    assert server.requests == []


async def test_an_address_that_is_none_is_said() -> None:
    runner = chat("http://exa\x7fmple", ManualTime())

    assert last_error(await collect(guarded(runner.run(request()))))["code"] == "engine_unavailable"
    await runner.aclose()


async def test_a_turns_options_go_before_the_configured_ones() -> None:
    async with provider_server(GOOD) as server:
        runner = chat(server.base_url, ManualTime(), options={"temperature": 0.1, "top_p": 0.5})
        await collect(runner.run(request(options={"temperature": 0.9}, model="other")))
        await runner.aclose()

    assert server.requests[0].json["temperature"] == 0.9
    assert server.requests[0].json["top_p"] == 0.5
    assert server.requests[0].json["model"] == "other"


# The other APIs ----------------------------------------------------------------------------------

ANTHROPIC = b"""event: message_start
data: {"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 1}}}

event: content_block_start
data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 0}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}

event: message_stop
data: {"type": "message_stop"}

"""
RESPONSES = b"""event: response.output_item.added
data: {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "i"}}

event: response.output_text.delta
data: {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "Hello"}

event: response.completed
data: {"type": "response.completed", "response": {"status": "completed", "output": [{"type": "message", "id": "i", "content": [{"type": "output_text", "text": "Hello"}]}]}}

"""
GEMINI = b"""data: {"candidates": [{"content": {"parts": [{"text": "Hello"}], "role": "model"}, "finishReason": "STOP"}]}

"""
OLLAMA = b"""{"message": {"role": "assistant", "content": "Hello"}, "done": false}
{"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}
"""


@pytest.mark.parametrize(
    ("api", "body", "path"),
    [
        ("anthropic", ANTHROPIC, "/v1/messages"),
        ("openai-responses", RESPONSES, "/responses"),
        ("gemini", GEMINI, "/models/m:streamGenerateContent?alt=sse"),
        ("ollama-chat", OLLAMA, "/api/chat"),
    ],
)
async def test_every_api_is_asked_in_its_own_way(api: Any, body: bytes, path: str) -> None:
    seen, server, _ = await answer(Reply(steps=[body]), api=api)

    assert fold(seen)["status"] == "completed"
    assert text_of(seen) == "Hello"
    assert server.requests[0].path == path


# Pictures ----------------------------------------------------------------------------------------


@pytest.mark.requirement("engines:images:sent")
async def test_a_picture_goes_to_the_model() -> None:
    block = attachment("att_a", path="/etc/passwd")
    question = {**user("x"), "content": [block]}
    async with provider_server(GOOD) as server:
        for sends_images, files in ((True, Files({"att_a": PNG})), (False, None), (True, None)):
            runner = chat(server.base_url, ManualTime(), sends_images=sends_images)
            await collect(runner.run(request(messages=[question], files=files)))
            await runner.aclose()

    first, *others = (asked.json["messages"][0]["content"] for asked in server.requests)
    assert first[0]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert others == ["[attachment: att_a.png (image/png)]"] * 2
