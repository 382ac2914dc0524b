"""Spans of requests and turns, and the trace that ties them to those of others."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from blockwire.content import StreamEvent, TurnEnded
from blockwire.errors import EngineError
from blockwire.gateway.operations.observer import Observer
from blockwire.gateway.operations.otel import OtelTracing
from blockwire.gateway.operations.tracing import read_traceparent
from blockwire.ports import EngineRequest
from blockwire.ports.tracing import CURRENT_TRACEPARENT
from tests.gateway.core.world import ScriptEngine, prose
from tests.gateway.http.surface import Surface, body, json_of, surface

pytestmark = pytest.mark.anyio

CANARY = "canary-8d2e"
TRACE_ID, PARENT_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE_ID}-{PARENT_ID}-01"

TRACEPARENTS: list[tuple[list[str], bool]] = [
    ([], False),
    ([TRACEPARENT], True),
    ([TRACEPARENT, TRACEPARENT], False),
    ([TRACEPARENT.upper()], False),
    ([f"00-{'0' * 32}-{PARENT_ID}-01"], False),
    ([f"00-{TRACE_ID}-{'0' * 16}-01"], False),
    ([f"ff-{TRACE_ID}-{PARENT_ID}-01"], False),
    ([f"cc-{TRACE_ID}-{PARENT_ID}-01"], True),
    ([f"{TRACEPARENT}-more"], False),
    ([f"{TRACEPARENT}\n"], False),
    ([""], False),
]


@pytest.mark.requirement("gateway:operations:trace-malformed")
@pytest.mark.parametrize(("values", "is_read"), TRACEPARENTS)
def test_a_context_that_cannot_be_read_is_dropped(values: list[str], is_read: bool) -> None:
    assert read_traceparent(values) == (values[0] if is_read else None)


async def noting(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
    for event in prose(request.turn_id, "b1", f"{CURRENT_TRACEPARENT.get()}"):
        yield event
    yield TurnEnded(
        request.turn_id, "completed", usage={"input_tokens": 3, "output_tokens": 4, "x": CANARY}
    )


async def ask(s: Surface, *, traceparent: str | None, content: str = CANARY) -> str:
    """Return what the engine said: the trace that it ran in."""
    made = json_of(await s.client.post("/v1/conversations", **body({})))
    path = f"/v1/conversations/{made['id']}/turns"
    request = body({"content": content})
    if traceparent is not None:
        request["headers"]["traceparent"] = traceparent
    turn = json_of(await s.client.post(path, **request))
    ended = json_of(await s.client.get(f"{path}/{turn['id']}?wait=5"))
    return str(ended["message"]["content"][0].get("markdown"))


@pytest.mark.parametrize("traceparent", [None, TRACEPARENT])
async def test_without_a_tracer_a_turn_has_the_trace_of_its_request(
    traceparent: str | None,
) -> None:
    async with surface(engines={"script": ScriptEngine(noting)}) as s:
        assert await ask(s, traceparent=traceparent) == str(traceparent)
        assert await ask(s, traceparent=None) == "None", "and nobody else has it"


async def test_a_turn_that_waited_in_line_has_the_trace_of_its_own_request() -> None:
    other = TRACEPARENT.replace("4bf9", "1111")
    async with surface(engines={"script": ScriptEngine(noting)}) as s:
        made = json_of(await s.client.post("/v1/conversations", **body({})))
        path = f"/v1/conversations/{made['id']}/turns"
        said = []
        turns = []
        for trace in (TRACEPARENT, other, None):
            request = body({"content": "Hi"})
            if trace is not None:
                request["headers"]["traceparent"] = trace
            turns.append(json_of(await s.client.post(path, **request)))
        for turn in turns:
            ended = json_of(await s.client.get(f"{path}/{turn['id']}?wait=5"))
            said.append(ended["message"]["content"][0]["markdown"])

    assert said == [TRACEPARENT, other, "None"]


async def spans_of(traceparent: str | None, script: object) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    async with surface(engines={"script": ScriptEngine(script)}) as s:  # type: ignore[arg-type]
        service = s.world.service
        service.observer.tracing = tracing = OtelTracing(provider)
        assert isinstance(service.observer, Observer)
        await ask(s, traceparent=traceparent)
        await s.client.get(f"/v1/conversations/{CANARY}")
        assert tracing._turns == {}
    tracing.close()
    return list(exporter.get_finished_spans())


@pytest.mark.requirement("gateway:operations:trace-spans")
@pytest.mark.parametrize("traceparent", [None, TRACEPARENT])
async def test_a_request_and_its_turn_are_spans_of_one_trace(traceparent: str | None) -> None:
    spans = {span.name: span for span in await spans_of(traceparent, noting)}

    submit = spans["POST /v1/conversations/{conversation_id}/turns"]
    turn = spans["turn script"]
    assert submit.context is not None
    assert turn.parent is not None
    assert turn.parent.span_id == submit.context.span_id
    assert turn.context is not None
    assert turn.context.trace_id == submit.context.trace_id
    if traceparent is not None:
        assert f"{submit.context.trace_id:032x}" == TRACE_ID
        assert submit.parent is not None
        assert f"{submit.parent.span_id:016x}" == PARENT_ID
    assert dict(submit.attributes or {})["http.response.status_code"] == 202
    told = dict(turn.attributes or {})
    assert told["blockwire.engine"] == "script"
    assert told["blockwire.status"] == "completed"
    assert told["gen_ai.usage.input_tokens"] == 3
    assert told["gen_ai.usage.output_tokens"] == 4
    assert turn.status.status_code is StatusCode.UNSET


async def failing(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
    for event in prose(request.turn_id, "b1", CANARY):
        yield event
    raise EngineError("engine_failed", CANARY)


@pytest.mark.requirement("gateway:operations:trace-spans")
async def test_no_span_holds_content(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    spans = [*await spans_of(None, failing), *await spans_of(TRACEPARENT, noting)]

    assert len(spans) >= 8
    assert CANARY not in "".join(span.to_json() for span in spans)
    failed = next(span for span in spans if span.name == "turn script")
    assert failed.status.status_code is StatusCode.ERROR
    lines = [getattr(r, "members", {}) for r in caplog.records if r.name == "blockwire.turns"]
    assert all(line["trace_id"] for line in lines)


async def test_a_turn_that_waits_for_a_person_ends_its_span_with_the_work_for_it() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = OtelTracing(provider)
    async with surface(engines={"script": ScriptEngine(noting)}) as s:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)
        row = (await s.world.service.store.list_turns(conversation_id, cursor=None, limit=1)).items[
            0
        ]
        with tracing.turn(row):
            pass
        tracing.end_turn(row)

    (span,) = exporter.get_finished_spans()
    assert span.name == "turn script"
    assert "blockwire.status" not in dict(span.attributes or {})
