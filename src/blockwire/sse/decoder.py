"""Event-stream bytes to events, at any cut, in linear time and bounded memory.

Spec: WHATWG HTML, "Server-sent events", "Parsing an event stream" and "Interpreting an event
stream".

Lines are cut from bytes and decoded whole. That is the same as decoding the stream first: a line
end is ASCII, so it never is part of a character, and an unfinished character before it becomes
U+FFFD either way. It also means that no character is ever cut by a read.
"""

from typing import Final, TypeAlias

import msgspec

from blockwire.errors import LocalProtocolError

# Bytes of the lines of one event that a decoder retains. The standard has no bound; this one lets
# every tool output through that our gateway takes (docs/spec/gateway/stream.md).
EVENT_BYTES_MAX: Final = 16 * 1024 * 1024

# Digits of a reconnection time; a longer one is ignored. Thousands of years in milliseconds have
# fewer, and Python refuses to convert thousands of digits.
RETRY_DIGITS_MAX: Final = 32

_BOM: Final = b"\xef\xbb\xbf"
_CR: Final = 0x0D
_LF: Final = 0x0A
_COLON: Final = 0x3A


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """One event.

    Attributes:
        type: ``message`` unless the stream named another.
        data: The data lines joined by LF.
        last_event_id: The id in force at this event, from itself or an earlier one; may be empty.
    """

    type: str
    data: str
    last_event_id: str


class SseEventTooLarge(msgspec.Struct, frozen=True, gc=False):
    """Stands for one event whose data was not kept because it was larger than the bound.

    Attributes:
        type: As of :class:`SseEvent`.
        last_event_id: As of :class:`SseEvent`: whoever reconnects with it does not get the same
            event again.
    """

    type: str
    last_event_id: str


SseItem: TypeAlias = SseEvent | SseEventTooLarge


class SseDecoder:
    """Turns the bytes of one event stream into events.

    One decoder reads one response; the next connection takes a new one, to which the caller hands
    the :attr:`last_event_id` of the old one.
    """

    __slots__ = (
        "_after_cr",
        "_at_start",
        "_comment_count",
        "_data",
        "_ended",
        "_event_bytes",
        "_event_bytes_max",
        "_has_data",
        "_id",
        "_last_event_id",
        "_line",
        "_line_is_skipped",
        "_retry_ms",
        "_too_large",
        "_type",
    )

    def __init__(self, *, last_event_id: str = "", event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        self._event_bytes_max = event_bytes_max
        self._last_event_id = last_event_id
        self._retry_ms: int | None = None
        self._comment_count = 0
        self._at_start = True
        self._after_cr = False
        self._ended = False
        # The line that has not ended yet; while skipped, nothing of it is kept.
        self._line = bytearray()
        self._line_is_skipped = False
        # The event that has not ended yet. The id outlives it.
        self._id = last_event_id
        self._type = ""
        self._data = bytearray()
        self._has_data = False
        self._event_bytes = 0
        self._too_large = False

    @property
    def last_event_id(self) -> str:
        """The id in force after the last blank line: where a new connection goes on."""
        return self._last_event_id

    @property
    def retry_ms(self) -> int | None:
        """The reconnection time that the stream asked for last, in milliseconds, unclamped."""
        return self._retry_ms

    @property
    def comment_count(self) -> int:
        """How many comment lines have ended so far: heartbeats, mostly."""
        return self._comment_count

    @property
    def retained_bytes(self) -> int:
        """Bytes kept of the unfinished event and line; at most ``event_bytes_max`` plus one."""
        return len(self._line) + self._event_bytes

    def receive_data(self, data: bytes) -> list[SseItem]:
        """Consume ``data`` and return the events that it completed, in order.

        An event is returned as soon as the first byte of the line end of its blank line is there.
        An event of more than ``event_bytes_max`` bytes of lines (without comments) is not kept;
        where it ends, an :class:`SseEventTooLarge` takes its place and reading goes on after it.

        Raises:
            LocalProtocolError: ``stream_ended`` after :meth:`receive_eof`.
        """
        if self._ended:
            raise LocalProtocolError("stream_ended", "data after the end of the stream")
        if self._at_start:
            data = self._without_bom(data)
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == _LF:
                data = data[1:]
        if not data:
            return []

        # For bytes, this cuts at LF, CR and CRLF only.
        lines = data.splitlines()
        last_byte = data[-1]
        self._after_cr = last_byte == _CR
        unfinished = b"" if last_byte in {_CR, _LF} else lines.pop()

        items: list[SseItem] = []
        for line in self._joined(lines):
            if line:
                self._take_line(line)
            else:
                self._end_event(items)
        if unfinished:
            self._keep_unfinished(unfinished)
        return items

    def receive_eof(self) -> list[SseItem]:
        """End the stream; an unfinished event is discarded, and so is its id.

        Only an event already known to be too large is returned, and its id counts: it would be too
        large next time, too. Calling this again returns nothing.
        """
        items: list[SseItem] = []
        if self._too_large:
            self._end_event(items)
        self._ended = True
        self._line.clear()
        self._drop_data()
        return items

    def _without_bom(self, data: bytes) -> bytes:
        """Return what follows the mark at the start of the stream; nothing while it may yet come."""
        head = bytes(self._line) + data
        self._line.clear()
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._line += head
            return b""
        self._at_start = False
        return head.removeprefix(_BOM)

    def _joined(self, lines: list[bytes]) -> list[bytes]:
        """Return the ended lines, the first one completed by what was kept of it."""
        if not lines:
            return lines
        if self._line_is_skipped:
            self._line_is_skipped = False
            return lines[1:]
        if self._line:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        return lines

    def _keep_unfinished(self, piece: bytes) -> None:
        if self._line_is_skipped:
            return
        line_bytes = len(self._line) + len(piece)
        if self._event_bytes + line_bytes > self._event_bytes_max:
            is_comment = (self._line or piece)[0] == _COLON
            if not is_comment:
                self._give_up_event()
            if is_comment or line_bytes > self._event_bytes_max:
                self._comment_count += is_comment
                self._line.clear()
                self._line_is_skipped = True
                return
        self._line += piece

    def _take_line(self, line: bytes) -> None:
        if line[0] == _COLON:
            self._comment_count += 1
            return
        if self._event_bytes + len(line) > self._event_bytes_max:
            self._give_up_event()
            if len(line) > self._event_bytes_max:
                return
        name, _, value = line.partition(b":")
        self._take_field(name, value.removeprefix(b" "), len(line))

    def _take_field(self, name: bytes, value: bytes, line_bytes: int) -> None:
        if name == b"data":
            if not self._too_large:
                self._data += value
                self._data += b"\n"
                self._has_data = True
                self._event_bytes += line_bytes
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
            self._event_bytes += line_bytes
        elif name == b"id" and b"\x00" not in value:
            self._id = value.decode("utf-8", "replace")
            self._event_bytes += line_bytes
        elif name == b"retry" and value.isdigit() and len(value) <= RETRY_DIGITS_MAX:
            self._retry_ms = int(value)

    def _end_event(self, items: list[SseItem]) -> None:
        self._last_event_id = self._id
        if self._too_large:
            items.append(SseEventTooLarge(self._type or "message", self._id))
            self._too_large = False
        elif self._has_data:
            # Every data line added an LF; the last one is not part of the data.
            del self._data[-1]
            data = self._data.decode("utf-8", "replace")
            items.append(SseEvent(self._type or "message", data, self._id))
        self._type = ""
        self._drop_data()

    def _give_up_event(self) -> None:
        """Keep nothing more of the event but its type and id, which may still come."""
        self._too_large = True
        self._drop_data()

    def _drop_data(self) -> None:
        self._data.clear()
        self._has_data = False
        self._event_bytes = 0
