"""Spans of requests and turns, and the trace context of W3C that ties them to those of others.

Spec: docs/spec/gateway/operations.md, "Traces". :class:`Tracing` is what a gateway without a tracer does:
it hands on the context it was given. ``otel`` makes spans of it; nothing here imports that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Final

from blockwire.ports import TurnRow
from blockwire.ports.tracing import CURRENT_TRACEPARENT

__all__ = ["Tracing", "read_traceparent"]

# Level 1: version, trace id, parent id, flags; neither id is all zeros, and ff is no version.
_TRACEPARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}\Z"
)


def read_traceparent(values: list[str]) -> str | None:
    """Return the trace context of a request; None for none, several, or one that is malformed.

    A context that cannot be read is dropped without a word, as its specification demands.
    """
    if len(values) != 1 or not _TRACEPARENT.match(values[0]):
        return None
    return values[0]


class RequestSpan:
    """One request; ended with what became of it."""

    def end(self, members: Mapping[str, str | int | float]) -> None:
        """Take what the journal says of the request, and end."""


class Tracing:
    """Hands on the context that a request brought, and makes no spans.

    Attributes:
        makes_spans: Whether :meth:`close` has something to do.
    """

    makes_spans: ClassVar[bool] = False

    def start_request(self, traceparent: str | None) -> RequestSpan | None:
        """Let the work of this task belong to a request; None where nobody wants its end."""
        CURRENT_TRACEPARENT.set(traceparent)
        return None

    @contextmanager
    def turn(self, row: TurnRow) -> Iterator[None]:
        """Let what runs inside belong to a turn."""
        del row
        yield

    def end_turn(self, row: TurnRow) -> None:
        """End the span of a turn, whose end ``row`` tells."""

    def close(self) -> None:
        """Send what was not sent yet."""
