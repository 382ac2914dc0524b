"""The application's end of a connection: values in, bytes and news out; no I/O, no clock.

Spec: docs/spec/terminal/application.md. A driver writes what :meth:`Application.data_to_send`
returns, gives what it reads to :meth:`Application.receive_input`, and calls
:meth:`Application.tick` at :attr:`Application.next_tick_at_s`. That is all there is to a driver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from blockwire.errors import LocalProtocolError
from blockwire.terminal.applicationlimits import ApplicationLimits
from blockwire.terminal.blocks import ContextHandle
from blockwire.terminal.codec import InvalidMessage, decode_message
from blockwire.terminal.detection import NoQueryReason
from blockwire.terminal.fallback import Fallback
from blockwire.terminal.messages import (
    CapabilityQuery,
    CapabilityResponse,
    ContextCloseResponse,
    ContextOpenResponse,
    ProtocolError,
    Supported,
    Unsupported,
    WireMessage,
)
from blockwire.terminal.news import (
    ContextEnded,
    Input,
    Negotiated,
    NegotiationReason,
    News,
)
from blockwire.terminal.outgoing import Outgoing
from blockwire.terminal.questions import Asked, Questions
from blockwire.terminal.roster import ContextRoster
from blockwire.terminal.terminalinput import (
    DA1_REQUEST,
    DeviceAnswer,
    InputPart,
    InputSeparator,
    Typed,
)
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import PLAIN

__all__ = ["Application"]

Stage: TypeAlias = Literal["fresh", "asking", "blocks", "fallback", "ended"]


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
        self._separator = InputSeparator()
        self._stage: Stage = "fresh"
        self._questions = Questions(process_id, self.outgoing)
        self._roster = ContextRoster(self._questions)
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
        return bool(self._questions or self._separator.expected_count)

    @property
    def next_tick_at_s(self) -> float | None:
        """When :meth:`tick` has something to do; None if at no time."""
        due_at_s = self._questions.next_due_at_s
        times_s = [] if due_at_s is None else [due_at_s]
        if (flush_at_s := self._separator.next_flush_at_s) is not None:
            times_s.append(flush_at_s)
        elif self._separator.is_waiting:
            times_s.append(self.reply_until_s)
        return min(times_s, default=None)

    @property
    def reply_until_s(self) -> float:
        """Until when an answer to what was written may come; on the clock of ``now_s``."""
        # An operation may be answered, too, and nobody knows which one will be.
        return max(self._listens_until_s, self._questions.last_due_at_s or 0.0)

    # what the program does ----------------------------------------------------------------
    def negotiate(self) -> None:
        """Ask whether the terminal shows Blocks: a query and a request that all terminals answer.

        Both are in the next write, with nothing between them.
        """
        self._begin()
        self._stage = "asking"
        self._questions.ask_support()
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
            self._questions.ask_open(context)
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
            self._questions.ask_close(context.context_id)
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
            self._questions.note_taken(now_s, self.limits)
            self._listen(now_s)
        return data

    def note_writing(self, now_s: float) -> None:
        """Count the time for answers from now: what :meth:`data_to_send` returned takes long.

        For a driver to call as often as a part of it, or its end, is written after the first try.
        """
        self._questions.note_writing(now_s, self.limits)
        self._listen(now_s)

    def receive_input(self, data: bytes, now_s: float) -> list[News]:
        """Return what ``data``, which was read from the terminal, means; in order."""
        self._sort(self._separator.receive_data(data, now_s))
        return self._take_news()

    def tick(self, now_s: float) -> list[News]:
        """Return what time alone has brought about."""
        for asked in self._questions.take_overdue(now_s):
            self._give_up(asked, "no_answer")
        self._sort(self._separator.flush(now_s, is_reply_outstanding=now_s < self.reply_until_s))
        return self._take_news()

    def end_of_input(self) -> list[News]:
        """Return what the end of the connection means: no Context outlives it."""
        self._sort(self._separator.end_of_stream())
        for asked in self._questions.take_all():
            self._give_up(asked, "end_of_input")
        self._news += self._roster.end()
        if self._stage == "blocks":
            self._stage = "ended"
        return self._take_news()

    def output_lost(self) -> None:
        """Heal every Block: bytes that :meth:`data_to_send` returned were not written."""
        self._roster.heal()
        self.changed()

    def finish_fallback(self) -> list[News]:
        """Show what the fallback has held back, since the program ends; nothing without it."""
        for context in [*self._local_contexts]:
            self._end_locally(context)
        self.changed()
        return self._take_news()

    # negotiation --------------------------------------------------------------------------
    def _begin(self) -> None:
        if self._stage != "fresh":
            raise LocalProtocolError("already_negotiated", "a connection negotiates once")

    def _listen(self, now_s: float) -> None:
        if self._stage in {"asking", "blocks"}:
            self._listens_until_s = now_s + self.limits.answer_s

    def _decide(self, reason: NegotiationReason, optional: tuple[str, ...] = ()) -> None:
        is_supported = reason == "supported"
        self._stage = "blocks" if is_supported else "fallback"
        known = frozenset(CONTENT_TYPES)
        self.content_types = known & {PLAIN, *optional} if is_supported else known
        self._news.append(Negotiated(is_supported, optional, reason))

    def _answered(self, response: CapabilityResponse) -> None:
        if self._questions.take(response.request_id, CapabilityQuery) is None:
            return
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
            # The query: nothing else is asked before it is decided.
            self._questions.take_all()
            self._decide("device_answered")

    def _give_up(self, asked: Asked, code: Literal["no_answer", "end_of_input"]) -> None:
        if isinstance(asked.request, CapabilityQuery):
            self._decide(code)
        else:
            self._news += self._roster.give_up(asked, code)

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
                self._news += self._roster.opened(message)
                # What came too late is to be closed.
                self.changed()
            case ContextCloseResponse():
                self._news += self._roster.closed(message)
            case ProtocolError():
                self._news += self._roster.rejected(message)
            case _:
                # For a terminal: an echo, or a loop somewhere.
                return

    def _take_news(self) -> list[News]:
        news, self._news = self._news, []
        return news
