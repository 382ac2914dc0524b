"""Outside producers: NDJSON lines into the log of a turn, each exactly once.

Spec: docs/spec/gateway/producers.md.

One chunk of the upload is one commit and one acknowledgement, so a fast producer is not slowed to
one transaction a line. ``producer_seq`` is stored in the same transaction as the events, which is
why a broken upload resumes exactly. Uploads of one turn take turns chunk by chunk: an upload whose
connection hangs does not shut out the one that replaces it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Final, NamedTuple

import msgspec

from blockwire.content import (
    BlockDelta,
    ConversationSnapshot,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    UnknownEvent,
    convert_record,
    decode_delta_line,
    decode_event,
    redact_event,
)
from blockwire.content.vocabulary import GATEWAY_EVENTS
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.operations.traces import untraced
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.turns.conversation import Conversation, LiveTurn
from blockwire.gateway.turns.drafts import Batch
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, decode_json
from blockwire.ports import IdFactory, TurnRow

__all__ = [
    "Taken",
    "Upload",
    "check_epoch",
    "line_decoder",
    "repeat_after_end",
    "split_lines",
    "turn_terminal",
]

_SEQ: Final = "producer_seq"


def turn_terminal() -> RemoteProtocolError:
    """Return the refusal of an event after the end."""
    return RemoteProtocolError("turn_terminal", "the turn is over and never changes")


def check_epoch(row: TurnRow, epoch: int | None) -> None:
    """Refuse a producer that was replaced.

    Raises:
        RemoteProtocolError: ``epoch_fenced``.
    """
    if epoch is not None and epoch != row.epoch:
        raise RemoteProtocolError("epoch_fenced", "the turn belongs to a producer of another epoch")


async def split_lines(
    chunks: AsyncIterator[bytes], *, line_bytes_max: int, lines_max: int
) -> AsyncGenerator[list[bytes], None]:
    """Yield the lines that each chunk completes, ``lines_max`` at a time.

    The last line needs no line end.

    Blank lines are left out. Retains at most ``line_bytes_max`` bytes of an unfinished line.

    Raises:
        RemoteProtocolError: ``limit_exceeded`` for a longer line; what came before it was yielded.
    """
    rest: list[bytes] = []
    rest_bytes = 0
    async for chunk in chunks:
        lines = chunk.split(b"\n")
        if len(lines) > 1:
            lines[0] = b"".join([*rest, lines[0]])
            rest, rest_bytes = [], 0
        tail = lines.pop()
        rest.append(tail)
        rest_bytes += len(tail)
        whole = [line for line in lines if line and not line.isspace()]
        fitting = _fitting(whole, line_bytes_max)
        for start in range(0, len(fitting), lines_max):
            yield fitting[start : start + lines_max]
        if len(fitting) < len(whole) or rest_bytes > line_bytes_max:
            raise RemoteProtocolError("limit_exceeded", f"a line has over {line_bytes_max} bytes")
    last = b"".join(rest)
    if last.strip():
        yield [last]


def _fitting(lines: list[bytes], line_bytes_max: int) -> list[bytes]:
    if max(map(len, lines), default=0) <= line_bytes_max:
        return lines
    for index, line in enumerate(lines):
        if len(line) > line_bytes_max:
            return lines[:index]
    return lines


def line_decoder(*, convert: bool) -> Callable[[bytes], Json]:
    """Return what reads one line: strictly, or with its keys converted (``?keys=convert``)."""
    return convert_record if convert else decode_json


class Taken(NamedTuple):
    """What became of some lines.

    Attributes:
        acknowledgement: ``{producer_seq, seq}``; None when none of the lines was accepted or known.
        refusal: Of the first bad line, if there is one; the lines before it are committed.
    """

    acknowledgement: dict[str, Json] | None
    refusal: RemoteProtocolError | None


def _acknowledgement(row: TurnRow) -> dict[str, Json]:
    return {"producer_seq": row.producer_seq, "seq": row.last_seq}


def repeat_after_end(row: TurnRow, lines: list[bytes], decode: Callable[[bytes], Json]) -> Taken:
    """Return the answer to ``lines`` when the turn is over: it ends the same way as before.

    A producer whose last acknowledgement was lost repeats its last lines; those it may.

    Raises:
        RemoteProtocolError: What is wrong with a line.
    """
    numbers = [_take_producer_seq(decode(line)) for line in lines]
    if all(number is not None and number <= row.producer_seq for number in numbers):
        return Taken(_acknowledgement(row), None)
    return Taken(None, turn_terminal())


class Upload:
    """Commits the lines of one upload, a list at a time.

    Args:
        conversation: Pinned by the caller.
        live: The turn; not over yet.
        epoch: Fencing token that the producer sent; None for whichever is in force.
        ids: Makes ids of closing blocks.
        settings: Bounds.
        redact: Returns a diagnostic without credentials.
        decode: Reads one line.
    """

    def __init__(  # noqa: PLR0913 - what one upload needs
        self,
        conversation: Conversation,
        live: LiveTurn,
        *,
        epoch: int | None,
        ids: IdFactory,
        settings: GatewaySettings,
        redact: Callable[[str], str],
        decode: Callable[[bytes], Json],
    ) -> None:
        self._conversation = conversation
        self._live = live
        self._epoch = epoch
        self._ids = ids
        self._settings = settings
        self._redact = redact
        self._decode = decode

    async def commit(self, lines: list[bytes]) -> Taken:
        """Commit ``lines`` up to the first that is refused.

        Raises:
            RemoteProtocolError: ``epoch_fenced``, ``conversation_not_found``; what is wrong with a
                line after the end.
            StoreError: Nothing of the lines was committed.
        """
        conversation, live = self._conversation, self._live
        async with conversation.changing():
            check_epoch(live.row, self._epoch)
            if live.ended.is_set():
                return repeat_after_end(live.row, lines, self._decode)
            batch = conversation.batch()
            producer_seq, taken, refusal = self._take(batch, lines)
            if batch.drafts or producer_seq != live.row.producer_seq:
                await conversation.commit_turn(batch, live, producer_seq=producer_seq)
        return Taken(_acknowledgement(live.row) if taken else None, refusal)

    def _take(
        self, batch: Batch, lines: list[bytes]
    ) -> tuple[int, int, RemoteProtocolError | None]:
        """Add lines to ``batch``; return the last number, how many were taken, the refusal."""
        live = self._live
        producer_seq = live.row.producer_seq
        # Lines are longer than what is kept of them, so while this has room the turn has it too.
        room_bytes = self._settings.turn_bytes_max - live.size_bytes - sum(map(len, lines))
        is_easy = room_bytes >= 0
        taken = 0
        last: BlockDelta | None = None
        try:
            for line in lines:
                plain = decode_delta_line(line, last)
                if plain is None or plain[0].turn_id != live.row.id:
                    producer_seq = self._take_other(batch, line, producer_seq)
                elif plain[1] > producer_seq:
                    last, number = plain
                    if not is_easy or number != producer_seq + 1 or batch.ended:
                        self._check_line(batch, len(line), number, producer_seq)
                    batch.add_delta(last)
                    producer_seq = number
                taken += 1
        except RemoteProtocolError as refusal:
            # Its way here would lead, through our callers, back to itself.
            return producer_seq, taken, untraced(refusal)
        return producer_seq, taken, None

    def _take_other(self, batch: Batch, line: bytes, producer_seq: int) -> int:
        """Add a line that is not plainly a delta; return the last number."""
        value = self._decode(line)
        number = _take_producer_seq(value)
        if number is not None and number <= producer_seq:
            return producer_seq
        self._check_line(batch, len(line), number, producer_seq)
        self._add(batch, value, self._live.row.id)
        return producer_seq if number is None else number

    def _check_line(
        self, batch: Batch, line_bytes: int, number: int | None, producer_seq: int
    ) -> None:
        if number is not None and number > producer_seq + 1:
            raise RemoteProtocolError(
                "producer_gap", f"expected producer_seq {producer_seq + 1}", pointer="/producer_seq"
            )
        if batch.ended:
            raise turn_terminal()
        if self._live.size_bytes + batch.size_bytes + line_bytes > self._settings.turn_bytes_max:
            raise RemoteProtocolError("limit_exceeded", "the answer is larger than a turn may be")

    def _add(self, batch: Batch, value: Json, turn_id: str) -> None:
        event = decode_event(value)
        if type(event) is BlockDelta and event.turn_id == turn_id:
            batch.add(event)
            return
        if getattr(event, "turn_id", turn_id) != turn_id:
            raise RemoteProtocolError(
                "turn_mismatch", "the event names another turn", pointer="/turn_id"
            )
        if isinstance(event, TurnStarted):
            return
        if isinstance(event, TurnEnded):
            # "interrupted" is what a restart does to a turn; no producer can know of it.
            if event.reason == "interrupted":
                event = msgspec.structs.replace(event, reason=None)
            batch.add_end(event, self._ids.new_id("block"))
            return
        _check_allowed(event)
        batch.add(redact_event(event, self._redact))


def _take_producer_seq(value: Json) -> int | None:
    """Remove and return the number that a producer gave its line."""
    if not isinstance(value, dict) or _SEQ not in value:
        return None
    number = value.pop(_SEQ)
    if type(number) is not int or not 1 <= number <= SAFE_INTEGER_MAX:
        raise RemoteProtocolError(
            "invalid_member", "an integer from 1 to 2^53-1", pointer="/producer_seq"
        )
    return number


def _check_allowed(event: StreamEvent) -> None:
    is_told_by_gateway = isinstance(event, UnknownEvent) and event.type in GATEWAY_EVENTS
    if is_told_by_gateway or isinstance(event, MessageCreated | ConversationSnapshot):
        raise RemoteProtocolError("event_not_allowed", "only the gateway says so", pointer="/type")
