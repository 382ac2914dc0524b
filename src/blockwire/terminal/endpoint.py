"""The terminal's end of a connection: bytes in, what is to be done out, in stream order.

Spec: docs/spec/terminal/operations.md, "Reading the stream". Frames, messages and the session each
have their rules; here they are only put in a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from blockwire.errors import LocalProtocolError
from blockwire.terminal.codec import InvalidMessage, decode_message, encode_message
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.effects import (
    Answer,
    Change,
    Diagnostic,
    Effect,
    PassThrough,
    Reply,
    Stopped,
)
from blockwire.terminal.framing import FrameEvent, FrameIds, Ordinary, Payload, encode_frames
from blockwire.terminal.messages import Operation, ToApplication, WireMessage
from blockwire.terminal.session import Ignored, PreparedOperation, TerminalSession
from blockwire.terminal.vocabulary import OperationErrorCode

Decide: TypeAlias = Callable[[Operation], OperationErrorCode | None]
"""The host's word on an operation that all else allows; None lets it happen."""


class Endpoint:
    """Everything that a terminal does about the bytes of one connection.

    Args:
        session: The state of the connection.
        decide: Is asked before anything changes. The code that it returns is the rejection; if it
            raises, that is ``internal_error``. It may read the session, not change it.
    """

    __slots__ = ("_decide", "_decoder", "_frame_ids", "_is_busy", "_is_stopped", "_received_bytes",
                 "_session", "_type_names")  # fmt: skip

    def __init__(self, session: TerminalSession, *, decide: Decide | None = None) -> None:
        self._session = session
        self._decide = decide
        self._decoder = FrameDecoder()
        self._frame_ids = FrameIds()
        self._type_names = frozenset(session.content_types)
        self._received_bytes = 0
        self._is_stopped = False
        self._is_busy = False

    @property
    def session(self) -> TerminalSession:
        """The state of the connection, to be read."""
        return self._session

    @property
    def retained_bytes(self) -> int:
        """Bytes of unfinished frames and messages."""
        return self._decoder.retained_bytes

    def receive_data(self, data: bytes) -> list[Effect]:
        """Return what is to be done about ``data``, any number of bytes of the application's output.

        Nothing that arrives raises.
        """
        self._refuse_if_busy()
        start = self._received_bytes
        self._received_bytes += len(data)
        if self._is_stopped:
            return [PassThrough(data, start)] if data else []
        effects: list[Effect] = []
        self._is_busy = True
        try:
            for event in self._decoder.receive_data(data):
                if not isinstance(event, Payload):
                    effects.append(_of_no_message(event))
                elif not self._receive_message(event, effects):
                    # What comes behind the message that broke it is nobody's business any more.
                    if rest := data[event.end - start :]:
                        effects.append(PassThrough(rest, event.end))
                    break
        finally:
            self._is_busy = False
        return effects

    def invalidate(self, context_id: str) -> list[Effect]:
        """Take the authority of a Context away, because its Blocks are overwritten on the screen."""
        self._refuse_if_busy()
        return list(_without_answers(self._session.invalidate(context_id)))

    def evict(self, context_id: str, block_id: str) -> list[Effect]:
        """Forget the content of a Block that the host has trimmed."""
        self._refuse_if_busy()
        self._session.evict(context_id, block_id)
        return []

    def end_of_stream(self) -> list[Effect]:
        """The connection is over: every Context closes, and nobody is there to be answered."""
        self._refuse_if_busy()
        effects = self._release()
        if not self._is_stopped:
            effects += _without_answers(self._session.end_of_connection())
            self._is_stopped = True
        return effects

    def fail(self) -> list[Effect]:
        """The host failed after changes had begun: stop for good, and pretend nothing."""
        self._refuse_if_busy()
        effects = self._release()
        if not self._is_stopped:
            effects.append(self._stop())
        return effects

    def _refuse_if_busy(self) -> None:
        if self._is_busy:
            raise LocalProtocolError("endpoint_busy", "called from inside of `decide`")

    def _release(self) -> list[Effect]:
        effects: list[Effect] = []
        if not self._is_stopped:
            effects += map(_of_no_message, self._decoder.end_of_stream())
        return effects

    def _stop(self) -> Stopped:
        self._session.stop()
        self._is_stopped = True
        return Stopped()

    def _receive_message(self, payload: Payload, effects: list[Effect]) -> bool:
        """Add what a message leads to; return whether the session goes on."""
        session = self._session
        try:
            message = decode_message(payload.data, content_types=self._type_names)
        except InvalidMessage as error:
            if error.identity is not None:
                self._answer(session.refuse_invalid(error.identity), payload, effects)
            effects.append(Diagnostic(error.code, error.detail, payload.offset, error.identity))
            return True
        try:
            verdict = session.prepare(message)
            if self._decide is not None and isinstance(verdict, PreparedOperation):
                code = self._decide(verdict.operation)
                if code is not None:
                    self._answer(session.reject(verdict, code), payload, effects)
                    return True
        except Exception as error:  # noqa: BLE001 - the host's code, and nothing has changed yet
            self._answer(session.fail_message(message), payload, effects)
            effects.append(_failure(error, payload))
            return True
        if isinstance(verdict, Ignored):
            effects.append(
                Diagnostic(verdict.reason, f"{_kind(message)} is dropped", payload.offset)
            )
            return True
        try:
            changes = session.commit(verdict)
        except Exception as error:  # noqa: BLE001 - half a change is worse than none: fail-stop
            effects += (_failure(error, payload), self._stop())
            return False
        for change in changes:
            if isinstance(change, Answer):
                self._answer(change.message, payload, effects)
            else:
                effects.append(change)
        return True

    def _answer(
        self, message: ToApplication | None, payload: Payload, effects: list[Effect]
    ) -> None:
        if message is None:
            return
        try:
            data = encode_message(message)
        except LocalProtocolError as error:
            # It repeats ids, and those of an invalid or refused message may be of any length.
            effects.append(Diagnostic("answer_not_sent", error.code, payload.offset))
            return
        effects.append(Reply(message, encode_frames(data, self._frame_ids.next())))


def _of_no_message(event: FrameEvent) -> PassThrough | Diagnostic:
    if isinstance(event, Ordinary):
        return PassThrough(event.data, event.offset)
    assert not isinstance(event, Payload), "a message ends with its frame, not with the stream"
    return Diagnostic(event.code, event.detail, event.offset)


def _without_answers(changes: tuple[Change, ...]) -> list[Effect]:
    return [change for change in changes if not isinstance(change, Answer)]


def _failure(error: Exception, payload: Payload) -> Diagnostic:
    # The sentence of a foreign exception may hold content.
    return Diagnostic("internal_error", type(error).__name__, payload.offset)


def _kind(message: WireMessage) -> str:
    return str(message.__struct_config__.tag)
