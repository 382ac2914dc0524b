"""Spans for OpenTelemetry: one a request and one a turn, without content.

Spec: docs/spec/gateway/operations.md, "Traces". Imported only where somebody wants spans and
``blockwire[otel]`` is installed. The context travels as a ``traceparent`` (``ports.tracing``), so that
turns which wait in line, and programs, find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from blockwire import __version__
from blockwire.gateway.operations.tracing import RequestSpan, Tracing
from blockwire.ports import TurnRow
from blockwire.ports.tracing import CURRENT_TRACEPARENT

__all__ = ["OtelTracing"]

_PROPAGATOR: Final = TraceContextTextMapPropagator()

# Member of the log line -> attribute, as the semantic conventions name it where they do.
_REQUEST_ATTRIBUTES: Final[Mapping[str, str]] = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "bytes": "http.response.body.size",
    "received_bytes": "http.request.body.size",
    "code": "error.type",
    "caller": "blockwire.caller",
    "conversation_id": "blockwire.conversation_id",
    "turn_id": "blockwire.turn_id",
}
_USAGE_ATTRIBUTES: Final[Mapping[str, str]] = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
}


class _OtelRequestSpan(RequestSpan):
    def __init__(self, span: Span) -> None:
        self._span = span

    def end(self, members: Mapping[str, str | int | float]) -> None:
        span = self._span
        span.update_name(f"{members['method']} {members['route']}")
        for name, attribute in _REQUEST_ATTRIBUTES.items():
            if name in members:
                span.set_attribute(attribute, members[name])
        if int(members["status"]) >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end()


class OtelTracing(Tracing):
    """Makes spans.

    Args:
        provider: Where they go; shut down by :meth:`close`.
    """

    makes_spans: ClassVar[bool] = True

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("blockwire", __version__)
        # No more than turns run at once.
        self._turns: dict[str, Span] = {}

    def start_request(self, traceparent: str | None) -> RequestSpan:
        """Begin the span of a request, which the work of this task then belongs to."""
        span = self._tracer.start_span(
            "request", context=_context(traceparent), kind=SpanKind.SERVER
        )
        CURRENT_TRACEPARENT.set(_traceparent(span))
        return _OtelRequestSpan(span)

    @contextmanager
    def turn(self, row: TurnRow) -> Iterator[None]:
        """Begin the span of a turn; it ends with the turn, or with the work for it."""
        span = self._tracer.start_span(
            f"turn {row.engine}",
            context=_context(CURRENT_TRACEPARENT.get()),
            attributes={
                "blockwire.turn_id": row.id,
                "blockwire.conversation_id": row.conversation_id,
                "blockwire.engine": row.engine,
                **({"gen_ai.request.model": row.model} if row.model is not None else {}),
            },
        )
        self._turns[row.id] = span
        CURRENT_TRACEPARENT.set(_traceparent(span))
        try:
            yield
        finally:
            if self._turns.pop(row.id, None) is not None:
                span.end()

    def end_turn(self, row: TurnRow) -> None:
        """End the span of a turn, whose end ``row`` tells."""
        span = self._turns.pop(row.id, None)
        if span is None:
            return
        span.set_attribute("blockwire.status", row.status)
        for name, attribute in _USAGE_ATTRIBUTES.items():
            count = (row.usage or {}).get(name)
            if type(count) is int:
                span.set_attribute(attribute, count)
        if row.status == "failed":
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def close(self) -> None:
        """Send what was not sent yet; may block for as long as the exporter's timeout."""
        self._provider.shutdown()


def _context(traceparent: str | None) -> Context:
    if traceparent is None:
        # Not that of whatever else runs in this task.
        return Context()
    return _PROPAGATOR.extract({"traceparent": traceparent}, Context())


def _traceparent(span: Span) -> str:
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier, trace.set_span_in_context(span, Context()))
    return carrier["traceparent"]
