"""What a gateway tells of its work, for those who run it: counts, log lines and spans.

Spec: docs/spec/gateway/operations.md. The application and the conversations call this; it knows ids, codes,
counts and times, and never content: no text of a message, no token, no path of a request, no text of an
exception.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Final

from blockwire.gateway.operations.figures import Figures
from blockwire.gateway.operations.tracing import RequestSpan, Tracing
from blockwire.ports import Clock, TurnRow
from blockwire.ports.tracing import CURRENT_TRACEPARENT

__all__ = ["GONE_STATUS", "REQUEST_MEMBERS", "TURN_MEMBERS", "Observer", "RequestRecord"]

GONE_STATUS: Final = 499
"""What stands for the status of a request whose peer left before its answer was complete."""

# A code of somebody else's may be any text; this is what one looks like.
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_requests: Final = logging.getLogger("blockwire.access")
_turns: Final = logging.getLogger("blockwire.turns")

REQUEST_MEMBERS: Final[Mapping[str, str]] = {
    "method": "Of HTTP; OTHER for what no route has",
    "route": "Template of the path, such as /v1/conversations/{conversation_id}; unmatched",
    "status": "Of the answer; 499 when the peer left before its end",
    "ms": "From the head of the request to the end of the answer",
    "bytes": "Body of the answer; those of an event stream are not counted",
    "received_bytes": "Body of the request",
    "caller": "Name of the token; local, nobody",
    "code": "Of a refusal",
    "conversation_id": "Of the path, where the answer is no refusal",
    "turn_id": "The same",
    "trace_id": "Of the trace that the request belongs to",
}
TURN_MEMBERS: Final[Mapping[str, str]] = {
    "turn_id": "Which",
    "conversation_id": "Where it belongs",
    "engine": "Configured name",
    "model": "As it was asked for or answered",
    "status": "completed, failed, cancelled, interrupted",
    "code": "Of its error",
    "reason": "Why it did not complete",
    "ms": "From its start to its end",
    "events": "Of its first to its last number",
    "input_tokens": "Of its usage",
    "output_tokens": "Of its usage",
    "trace_id": "Of the trace that the turn belongs to",
}
_TOKENS: Final = {"input_tokens": "input", "output_tokens": "output"}


class RequestRecord:
    """One request, filled in on its way.

    Attributes:
        began_s: Monotonic.
        method: Of HTTP, one of a closed set.
        route: Template of the path.
        status: 0 until it is known.
        caller: Name of the token.
        code: Of a refusal.
        sent_bytes: Of the answer's body.
        received_bytes: Of the request's body.
        path: Parameters of the path.
        span: Of a tracer.
    """

    __slots__ = (
        "began_s", "caller", "code", "method", "path", "received_bytes", "route", "sent_bytes",
        "span", "status",
    )  # fmt: skip

    def __init__(self, method: str, began_s: float) -> None:
        self.began_s = began_s
        self.method = method if method in _METHODS else "OTHER"
        self.route = "unmatched"
        self.status = 0
        self.caller = "nobody"
        self.code: str | None = None
        self.sent_bytes = 0
        self.received_bytes = 0
        self.path: Mapping[str, str] = {}
        self.span: RequestSpan | None = None

    def members(self, ms: float) -> dict[str, str | int | float]:
        """Return what is told of it; see :data:`REQUEST_MEMBERS`."""
        members: dict[str, str | int | float] = {
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": ms,
            "bytes": self.sent_bytes,
            "received_bytes": self.received_bytes,
            "caller": self.caller,
        }
        if self.code is not None:
            members["code"] = self.code
        elif self.status < 400:
            # What a refused request has in its path may be anything, a secret for instance.
            for name in ("conversation_id", "turn_id"):
                if name in self.path:
                    members[name] = self.path[name]
        return members


class Observer:
    """Counts, logs and traces.

    Args:
        clock: Measures.
        tracing: Makes spans.
        logs_requests: Whether each request gets a line.

    Attributes:
        figures: What was counted.
        tracing: As given.
        logs_requests: As given; may change while it runs.
    """

    def __init__(
        self, clock: Clock, *, tracing: Tracing | None = None, logs_requests: bool = True
    ) -> None:
        self.figures = Figures()
        self.tracing = tracing if tracing is not None else Tracing()
        self.logs_requests = logs_requests
        self._now_s = clock.monotonic_s

    # requests -----------------------------------------------------------------------------
    def start_request(self, method: str, traceparent: str | None) -> RequestRecord:
        """Return the record of a request that has just come."""
        record = RequestRecord(method, self._now_s())
        record.span = self.tracing.start_request(traceparent)
        return record

    def end_request(self, record: RequestRecord) -> None:
        """Tell of a request whose answer is complete, or will never be."""
        seconds = self._now_s() - record.began_s
        record.status = record.status or GONE_STATUS
        figures, route = self.figures, record.route
        figures.requests.add((record.method, route, str(record.status)))
        figures.observe_request(route, seconds)
        if record.sent_bytes:
            figures.response_bytes.add((route,), record.sent_bytes)
        if record.received_bytes:
            figures.request_bytes.add((route,), record.received_bytes)
        if record.code is not None:
            figures.refusals.add((record.code,))
        is_logged = self.logs_requests and _requests.isEnabledFor(logging.INFO)
        if is_logged or record.span is not None:
            members = record.members(round(seconds * 1000, 3))
            if record.span is not None:
                record.span.end(members)
            if is_logged:
                _tell(_requests, "request", members)

    # commits ------------------------------------------------------------------------------
    def start_commit(self) -> float:
        """Return when a change was handed to the store; :meth:`end_commit` takes it."""
        self.figures.commits_waiting += 1
        return self._now_s()

    def end_commit(self, began_s: float, event_count: int, size_bytes: int) -> None:
        """Count a change that the store has answered; a failed one brought no events."""
        figures = self.figures
        figures.commits_waiting -= 1
        figures.commit_seconds.observe(self._now_s() - began_s)
        figures.events += event_count
        figures.event_bytes += size_bytes

    def count_store_error(self, code: str) -> None:
        """Count a failure of the store."""
        self.figures.store_errors.add((code,))

    # turns --------------------------------------------------------------------------------
    def end_turn(self, row: TurnRow) -> None:
        """Tell of a turn whose end is committed."""
        began_at = row.started_at if row.started_at is not None else row.created_at
        ms = max((row.completed_at if row.completed_at is not None else began_at) - began_at, 0)
        self.figures.turns.add((row.engine, row.status))
        self.figures.observe_turn(row.engine, ms / 1000)
        usage = row.usage or {}
        tokens = {name: n for name in _TOKENS if type(n := usage.get(name)) is int and n >= 0}
        for name, count in tokens.items():
            self.figures.tokens.add((row.engine, _TOKENS[name]), count)
        if _turns.isEnabledFor(logging.INFO):
            _tell(_turns, "turn", turn_members(row, ms, tokens))
        self.tracing.end_turn(row)

    # upkeep -------------------------------------------------------------------------------
    def count_upkeep(self, job: str, *, seconds: float, items: int = 0, ok: bool = True) -> None:
        """Count one run of a background job of ours."""
        self.figures.upkeep_runs.add((job, "ok" if ok else "failed"))
        self.figures.upkeep_seconds.add((job,), seconds)
        self.figures.upkeep_items.add((job,), items)


def turn_members(row: TurnRow, ms: int, tokens: Mapping[str, int]) -> dict[str, str | int | float]:
    """Return what is told of a turn; see :data:`TURN_MEMBERS`."""
    members: dict[str, str | int | float] = {
        "turn_id": row.id,
        "conversation_id": row.conversation_id,
        "engine": row.engine,
        "status": row.status,
        "ms": ms,
        "events": row.last_seq - row.first_seq + 1,
        **tokens,
    }
    if row.model is not None:
        members["model"] = row.model
    code = (row.error or {}).get("code")
    if isinstance(code, str) and _CODE.match(code):
        members["code"] = code
    if row.reason is not None and _CODE.match(row.reason):
        members["reason"] = row.reason
    return members


def _tell(logger: logging.Logger, event: str, members: dict[str, str | int | float]) -> None:
    traceparent = CURRENT_TRACEPARENT.get()
    if traceparent is not None:
        members["trace_id"] = traceparent.split("-")[1]
    logger.info(event, extra={"members": members})
