"""The application's end of a connection: values in, bytes and news out; no I/O, no clock.

Spec: docs/spec/terminal/application.md. A driver writes what :meth:`Application.data_to_send`
returns, gives what it reads to :meth:`Application.receive_input`, and calls
:meth:`Application.tick` at :attr:`Application.next_tick_at_s`. That is all there is to a driver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from blockwire.errors import LocalProtocolError
from blockwire.terminal.blocks import ContextHandle
from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.codec import InvalidMessage, decode_message
from blockwire.terminal.detection import ANSWER_S, NoQueryReason
from blockwire.terminal.fallback import Fallback
from blockwire.terminal.messages import (
    EMPTY,
    CapabilityQuery,
    CapabilityResponse,
    ContextClose,
    ContextCloseResponse,
    ContextOpen,
    ContextOpenResponse,
    Failed,
    ProtocolError,
    Supported,
    Unsupported,
    WireMessage,
)
from blockwire.terminal.news import (
    ContextEnded,
    ContextReady,
    ContextRefused,
    Input,
    LossCode,
    Negotiated,
    NegotiationReason,
    News,
)
from blockwire.terminal.outgoing import Outgoing
from blockwire.terminal.terminalinput import (
    DA1_REQUEST,
    DeviceAnswer,
    InputPart,
    InputSeparator,
    Typed,
)
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import PLAIN

__all__ = [
    "CONTEXT_ID_CHARS_MAX",
    "REQUEST_S",
    "WAITING_BYTES_MAX",
    "Application",
    "ApplicationLimits",
]

REQUEST_S: Final = 10.0
"""How long a terminal may take to open or close a Context: it may have much to do before."""

WAITING_BYTES_MAX: Final = 8_388_608
"""How much may wait to be written before a program is refused more."""

CONTEXT_ID_CHARS_MAX: Final = 1_024
"""Of an id that a terminal chooses; it stands in every message that we send."""

Stage: TypeAlias = Literal["fresh", "asking", "blocks", "fallback", "ended"]


class ApplicationLimits(Struct, frozen=True, kw_only=True):
    """How patient an application is, and how much it keeps.

    Attributes:
        answer_s: How long an answer to the query is waited for.
        request_s: How long one to a request about a Context is.
        waiting_bytes_max: How much may wait to be written before a program is refused more.
    """

    answer_s: float = ANSWER_S
    request_s: float = REQUEST_S
    waiting_bytes_max: int = WAITING_BYTES_MAX


class _Asked(Struct, eq=False):
    """A request that waits for its answer."""

    request: CapabilityQuery | ContextOpen | ContextClose
    context: ContextHandle | None
    until_s: float | None
    """None until it is written."""


class Application:
    """One program on one terminal.

    Args:
        process_id: Begins every request id: at least 96 random bits that no other program on the
            connection has, so that nobody takes our answers for theirs.
        limits: How patient it is, and how much it keeps.
        fallback: Shows the Blocks if the terminal does not; without one, no Context opens then.
        on_change: Called when something waits to be written that did not before.
    """

    def __init__(
        self,
        *,
        process_id: str,
        limits: ApplicationLimits = ApplicationLimits(),  # noqa: B008 - frozen
        fallback: Fallback | None = None,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.outgoing = Outgoing()
        self.limits = limits
        self.content_types: frozenset[str] = frozenset()
        self.changed = on_change
        self._own_fallback = fallback
        self._process_id = process_id
        self._separator = InputSeparator()
        self._stage: Stage = "fresh"
        self._request_count = 0
        self._query_id = ""
        self._asked: dict[str, _Asked] = {}
        self._abandoned: set[str] = set()
        self._contexts: dict[str, ContextHandle] = {}
        self._local_contexts: list[ContextHandle] = []
        self._listens_until_s = 0.0
        self._news: list[News] = []

    # what it is ---------------------------------------------------------------------------
    @property
    def stage(self) -> Stage:
        """How far it has come."""
        return self._stage

    @property
    def fallback(self) -> Fallback | None:
        """What shows the Blocks, if the terminal does not."""
        return self._own_fallback if self._stage == "fallback" else None

    @property
    def waiting_bytes_max(self) -> int:
        """How much may wait to be written."""
        return self.limits.waiting_bytes_max

    @property
    def waiting_bytes(self) -> int:
        """About how many bytes :meth:`data_to_send` would return."""
        return self.outgoing.waiting_bytes

    @property
    def retained_bytes(self) -> int:
        """How many bytes of input are kept until more arrive."""
        return self._separator.retained_bytes

    @property
    def is_reply_expected(self) -> bool:
        """Whether something is still to come in that must not reach another reader."""
        return bool(self._asked or self._separator.expected_count)

    @property
    def next_tick_at_s(self) -> float | None:
        """When :meth:`tick` has something to do; None if at no time."""
        times_s = [it.until_s for it in self._asked.values() if it.until_s is not None]
        if (flush_at_s := self._separator.next_flush_at_s) is not None:
            times_s.append(flush_at_s)
        elif self._separator.is_waiting:
            times_s.append(self._listens_until_s)
        return min(times_s, default=None)

    # what the program does ----------------------------------------------------------------
    def negotiate(self) -> None:
        """Ask whether the terminal shows Blocks: a query and a request that all terminals answer.

        Both are in the next write, with nothing between them.
        """
        self._begin()
        self._stage = "asking"
        self._query_id = self._next_id()
        self._ask(CapabilityQuery(version=PROTOCOL_VERSION, request_id=self._query_id, body=EMPTY))
        self.outgoing.add_bytes(DA1_REQUEST)
        self._separator.expect_answer()
        self.changed()

    def skip(self, reason: NoQueryReason) -> list[News]:
        """Do not ask; the fallback shows the Blocks."""
        self._begin()
        self._decide(reason)
        return self._take_news()

    def open_context(self) -> ContextHandle:
        """Return a Context that is about to be opened: wait for its ``ContextReady``.

        In the fallback it is open at once.

        Raises:
            LocalProtocolError: ``not_negotiated``, or ``unsupported`` without a fallback.
        """
        context = ContextHandle(self)
        if self._stage == "blocks":
            request_id = self._next_id()
            self._ask(
                ContextOpen(version=PROTOCOL_VERSION, request_id=request_id, body=EMPTY), context
            )
            self.changed()
        elif self.fallback is not None:
            context.ready("")
            self._local_contexts.append(context)
        elif self._stage == "fallback":
            raise LocalProtocolError("unsupported", "the terminal shows no Blocks, nor do we")
        else:
            raise LocalProtocolError("not_negotiated", f"the connection is {self._stage}")
        return context

    def close_context(self, context: ContextHandle) -> None:
        """Ask for the end of a Context: :meth:`ContextHandle.close` calls it."""
        if self.fallback is None:
            self._close(context.context_id, context)
        else:
            self._end_locally(context)
            self.changed()

    def write(self, data: bytes) -> None:
        """Write ordinary output, in its place among the operations.

        Raises:
            LocalProtocolError: ``too_much_waiting`` (retryable).
        """
        waiting_bytes = self.outgoing.waiting_bytes
        if waiting_bytes and waiting_bytes + len(data) > self.limits.waiting_bytes_max:
            raise LocalProtocolError(
                "too_much_waiting", f"{waiting_bytes} bytes wait to be written", retryable=True
            )
        self.outgoing.add_bytes(data)
        self.changed()

    # what the driver does -----------------------------------------------------------------
    def data_to_send(self, now_s: float) -> bytes:
        """Return all that waits, for one write; empty if nothing does."""
        data = self.outgoing.take()
        if data:
            for asked in self._asked.values():
                if asked.until_s is None:
                    is_query = isinstance(asked.request, CapabilityQuery)
                    asked.until_s = now_s + (
                        self.limits.answer_s if is_query else self.limits.request_s
                    )
            if self._stage in {"asking", "blocks"}:
                # An operation may be answered, too; nobody knows which one will be.
                self._listens_until_s = now_s + self.limits.answer_s
        return data

    def receive_input(self, data: bytes, now_s: float) -> list[News]:
        """Return what ``data``, which was read from the terminal, means; in order."""
        self._sort(self._separator.receive_data(data, now_s))
        return self._take_news()

    def tick(self, now_s: float) -> list[News]:
        """Return what time alone has brought about."""
        overdue = [
            it for it in self._asked.values() if it.until_s is not None and now_s >= it.until_s
        ]
        for asked in overdue:
            self._give_up(asked, "no_answer")
        self._sort(self._separator.flush(now_s, is_reply_outstanding=now_s < self._listens_until_s))
        return self._take_news()

    def end_of_input(self) -> list[News]:
        """Return what the end of the connection means: no Context outlives it."""
        self._sort(self._separator.end_of_stream())
        for asked in [*self._asked.values()]:
            self._give_up(asked, "end_of_input")
        for context in self._contexts.values():
            self._news.append(context.lost("end_of_input"))
        self._contexts.clear()
        if self._stage == "blocks":
            self._stage = "ended"
        return self._take_news()

    def output_lost(self) -> None:
        """Heal every Block: bytes that :meth:`data_to_send` returned were not written."""
        for context in self._contexts.values():
            context.heal()
        self.changed()

    def finish_fallback(self) -> list[News]:
        """Show what the fallback has held back, since the program ends; nothing without it."""
        for context in [*self._local_contexts]:
            self._end_locally(context)
        return self._take_news()

    # negotiation --------------------------------------------------------------------------
    def _begin(self) -> None:
        if self._stage != "fresh":
            raise LocalProtocolError("already_negotiated", "a connection negotiates once")

    def _decide(self, reason: NegotiationReason, optional: tuple[str, ...] = ()) -> None:
        is_supported = reason == "supported"
        self._stage = "blocks" if is_supported else "fallback"
        known = frozenset(CONTENT_TYPES)
        self.content_types = known & {PLAIN, *optional} if is_supported else known
        self._news.append(Negotiated(is_supported, optional, reason))

    def _answered(self, response: CapabilityResponse) -> None:
        asked = self._correlated(response.request_id, CapabilityQuery)
        if asked is None:
            return
        del self._asked[response.request_id]
        match response.body:
            case Supported(optional_content_types=optional):
                self._decide("supported", optional)
            case Unsupported():
                self._decide("unsupported")
            case _:
                self._decide("refused")

    def _device_answered(self) -> None:
        # A terminal answers in order: what knows the query has answered it before this.
        if self._stage == "asking":
            del self._asked[self._query_id]
            self._decide("device_answered")

    # requests -----------------------------------------------------------------------------
    def _next_id(self) -> str:
        self._request_count += 1
        return f"{self._process_id}.{self._request_count}"

    def _ask(
        self,
        request: CapabilityQuery | ContextOpen | ContextClose,
        context: ContextHandle | None = None,
    ) -> None:
        self._asked[request.request_id] = _Asked(request, context, None)
        self.outgoing.add_request(request)

    def _correlated(
        self, request_id: str, kind: type[CapabilityQuery | ContextOpen | ContextClose]
    ) -> _Asked | None:
        asked = self._asked.get(request_id)
        return asked if asked is not None and isinstance(asked.request, kind) else None

    def _give_up(self, asked: _Asked, code: Literal["no_answer", "end_of_input"]) -> None:
        del self._asked[asked.request.request_id]
        match asked.request:
            case CapabilityQuery():
                self._decide(code)
            case ContextOpen(request_id=request_id):
                self._abandoned.add(request_id)
                self._refuse(asked, code)
            case _ as close:
                if (context := self._contexts.pop(close.context_id, None)) is not None:
                    self._news.append(context.lost(code))

    def _refuse(self, asked: _Asked, code: LossCode) -> None:
        assert asked.context is not None, "who opens has a Context"
        asked.context.refused()
        self._news.append(ContextRefused(asked.context, code))

    def _opened(self, response: ContextOpenResponse) -> None:
        asked = self._correlated(response.request_id, ContextOpen)
        context_id = response.context_id
        if asked is None:
            if response.request_id in self._abandoned and isinstance(context_id, str):
                # Nobody waits for it any more, and it counts against the terminal's limits.
                self._abandoned.remove(response.request_id)
                self._close(context_id, None)
            return
        del self._asked[response.request_id]
        if isinstance(response.body, Failed):
            self._refuse(asked, response.body.error.code)
            return
        assert isinstance(context_id, str), "an opened Context has an id: the codec says so"
        assert asked.context is not None, "who opens has a Context"
        if len(context_id) > CONTEXT_ID_CHARS_MAX or context_id in self._contexts:
            self._refuse(asked, "invalid_message")
            return
        self._contexts[context_id] = asked.context
        asked.context.ready(context_id)
        self._news.append(ContextReady(asked.context))

    def _close(self, context_id: str, context: ContextHandle | None) -> None:
        request_id = self._next_id()
        request = ContextClose(
            version=PROTOCOL_VERSION, request_id=request_id, context_id=context_id, body=EMPTY
        )
        self._ask(request, context)
        self.changed()

    def _closed(self, response: ContextCloseResponse) -> None:
        asked = self._correlated(response.request_id, ContextClose)
        context_id = response.context_id
        if asked is None or asked.request != ContextClose(
            version=response.version,
            request_id=response.request_id,
            context_id=context_id,
            body=EMPTY,
        ):
            return
        del self._asked[response.request_id]
        context = self._contexts.pop(context_id, None)
        if context is None:
            return
        if isinstance(response.body, Failed):
            self._news.append(context.lost(response.body.error.code))
        else:
            context.ended()
            self._news.append(ContextEnded(context))

    def _rejected(self, error: ProtocolError) -> None:
        context = self._contexts.get(error.context_id)
        if context is None:
            return
        self._news += context.rejected(error.operation_id, error.body.code)
        if context.state == "lost":
            del self._contexts[error.context_id]

    def _end_locally(self, context: ContextHandle) -> None:
        assert self.fallback is not None, "only a fallback has Contexts of its own"
        for block in context.unsealed():
            self.outgoing.add_bytes(self.fallback.seal(block))
        context.ended()
        self._local_contexts.remove(context)
        self._news.append(ContextEnded(context))

    # input --------------------------------------------------------------------------------
    def _sort(self, parts: list[InputPart]) -> None:
        for part in parts:
            match part:
                case Typed(data=data):
                    self._news.append(Input(data))
                case DeviceAnswer():
                    self._device_answered()
                case _ as payload:
                    self._read_message(payload.data)

    def _read_message(self, data: bytes) -> None:
        try:
            message: WireMessage = decode_message(data)
        except InvalidMessage:
            # Whoever sent it, nobody types it.
            return
        match message:
            case CapabilityResponse():
                self._answered(message)
            case ContextOpenResponse():
                self._opened(message)
            case ContextCloseResponse():
                self._closed(message)
            case ProtocolError():
                self._rejected(message)
            case _:
                # For a terminal: an echo, or a loop somewhere.
                return

    def _take_news(self) -> list[News]:
        news, self._news = self._news, []
        return news
