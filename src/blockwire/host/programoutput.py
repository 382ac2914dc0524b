"""The output of a program, before its emulator sees it.

Spec: docs/spec/host/emulation.md, "What is taken out". Emulators disagree about escape sequences that
are cut, damaged or endless, and act on some that are none of the program's business. So one reader of
ours stands in front: what it lets through is text and well-formed sequences, and control strings
become events. What is neither is passed at the speed of a regular expression.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, assert_never

from blockwire.host.programoutput_events import (
    Bell,
    ClipboardWritten,
    Notified,
    ProgramEvent,
    ProgramReply,
    Progress,
    PromptMark,
    SavedLinesErased,
    Text,
    Title,
    WorkingDirectory,
)
from blockwire.host.programoutput_strings import (
    CLIPBOARD_BYTES_MAX,
    TITLE_CHARS_MAX,
    TerminalColours,
    content_bytes_max,
    read_osc,
)

__all__ = [
    "CLIPBOARD_BYTES_MAX",
    "SEQUENCE_BYTES_MAX",
    "TITLE_CHARS_MAX",
    "Bell",
    "ClipboardWritten",
    "Notified",
    "ProgramEvent",
    "ProgramOutput",
    "ProgramReply",
    "Progress",
    "PromptMark",
    "SavedLinesErased",
    "TerminalColours",
    "Text",
    "Title",
    "WorkingDirectory",
]

SEQUENCE_BYTES_MAX: Final = 256
"""Of an escape sequence that is no control string; a longer one is dropped."""

_State: TypeAlias = Literal["ground", "sequence", "string", "string-escape"]

# Everything that nothing is to be done about. Not among it: BEL; DEL, which some show; C1 controls as UTF-8, which some
# emulators obey; what begins a string; and ED (J), SM and RM (h, l), save for their usual forms.
_PASSED: Final = re.compile(
    rb"(?:[^\x07\x1b\x7f\xc2]++|\xc2[\xa0-\xbf]"
    rb"|\x1b\[[ -?]{0,200}+[@-IK-gi-km-~]"
    rb"|\x1b\[[0-2]?J"
    rb"|\x1b\[\?[124-9][0-9]{0,3}+(?<!\?40)(?<!\?69)[hl]"
    rb"|\x1b[ -/]{0,8}+[0-OQ-WYZ\\`a-~])*+"
)
# What a string goes on to: its end, or what aborts it.
_STRING_STOP: Final = re.compile(rb"[\x07\x18\x1a\x1b]")
_STRING_KINDS: Final = frozenset(b"]PX^_")
_SAVED_LINES: Final = re.compile(rb"\x1b\[\??0*3(?:;[0-9;]*)?J")
# DECCOLM, and the mode that allows it, would change the width of the screen. With left and right
# margins (69), rows would not leave as a whole.
_UNOFFERED_MODES: Final = frozenset({b"3", b"40", b"69"})
_MODES: Final = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")

_BEL: Final = 0x07
_ABORTS: Final = frozenset({0x18, 0x1A})
_ESC: Final = 0x1B
_DEL: Final = 0x7F
_C1_LEAD: Final = 0xC2
_REPLACEMENT: Final = "\ufffd".encode()


class ProgramOutput:
    """Cuts the output of a program into what its emulator shows and what is meant for the host.

    Args:
        colours: What the program is told about colours when it asks; what is not known is not
            answered.
    """

    __slots__ = ("_content", "_events", "_has_lead", "_is_cut", "_passed", "_sequence", "_state",
                 "_string_kind", "colours")  # fmt: skip

    def __init__(self, colours: TerminalColours | None = None) -> None:
        self.colours = colours or TerminalColours()
        self._state: _State = "ground"
        # An escape sequence so far; one byte beyond the bound says that it is too long.
        self._sequence = bytearray()
        self._string_kind = 0
        self._content = bytearray()
        self._is_cut = False
        # Whether the last byte may begin a C1 control.
        self._has_lead = False
        self._passed: list[bytes] = []
        self._events: list[ProgramEvent] = []

    @property
    def retained_bytes(self) -> int:
        """Bytes that are kept until more arrive."""
        return len(self._sequence) + len(self._content) + self._has_lead

    def receive_data(self, data: bytes) -> list[ProgramEvent]:
        """Return what ``data`` completes, in order; nothing that arrives raises.

        Neighbouring pieces of text are one event.
        """
        if self._has_lead:
            data = b"\xc2" + data
            self._has_lead = False
        position = 0
        while position < len(data):
            match self._state:
                case "ground":
                    position = self._scan_ground(data, position)
                case "sequence":
                    position = self._scan_sequence(data, position)
                case "string":
                    position = self._scan_string(data, position)
                case "string-escape":
                    position = self._leave_string_escape(data, position)
                case _:
                    assert_never(self._state)
        self._flush()
        events = self._events
        self._events = []
        return events

    def _flush(self) -> None:
        if self._passed:
            self._events.append(Text(b"".join(self._passed)))
            self._passed.clear()

    def _emit(self, event: ProgramEvent) -> None:
        if isinstance(event, Text):
            self._passed.append(event.data)
        else:
            self._flush()
            self._events.append(event)

    def _scan_ground(self, data: bytes, start: int) -> int:
        match = _PASSED.match(data, start)
        assert match is not None, "the pattern matches nothing too"
        end = match.end()
        if end > start:
            self._passed.append(data[start:end])
        if end == len(data):
            return end
        byte = data[end]
        if byte == _C1_LEAD:
            return self._scan_lead(data, end)
        if byte == _ESC:
            self._begin_sequence()
        elif byte == _BEL:
            self._emit(Bell())
        return end + 1

    def _scan_lead(self, data: bytes, position: int) -> int:
        """Decide about the first byte of a C1 control, or of nothing."""
        following = data[position + 1 : position + 2]
        if not following:
            self._has_lead = True
        elif 0x80 <= following[0] < 0xA0:
            return position + 2
        else:
            # Not by itself: what is taken out behind it must not make it a C1 control after all.
            self._passed.append(_REPLACEMENT)
        return position + 1

    def _begin_sequence(self) -> None:
        self._state = "sequence"
        self._sequence[:] = b"\x1b"

    def _scan_sequence(self, data: bytes, start: int) -> int:
        """Go on with an escape sequence, byte by byte; return where something else begins."""
        sequence = self._sequence
        for position in range(start, len(data)):
            byte = data[position]
            if byte == _ESC:
                self._begin_sequence()
            elif byte < 0x20:
                if byte in _ABORTS:
                    return self._leave_sequence(position + 1)
                # A control inside of a sequence acts before it.
                self._emit(Bell() if byte == _BEL else Text(data[position : position + 1]))
            elif byte > _DEL:
                return self._leave_sequence(position)
            elif byte != _DEL and self._ends_sequence(byte):
                sequence.append(byte)
                return self._end_sequence(position + 1)
            elif byte != _DEL and len(sequence) <= SEQUENCE_BYTES_MAX:
                sequence.append(byte)
        return len(data)

    def _ends_sequence(self, byte: int) -> bool:
        """Whether ``byte``, a printable one, is the last of the sequence."""
        if len(self._sequence) == 1:
            return byte >= 0x30 and byte != 0x5B
        return byte >= (0x40 if self._sequence[1] == 0x5B else 0x30)

    def _leave_sequence(self, position: int) -> int:
        self._state = "ground"
        self._sequence.clear()
        return position

    def _end_sequence(self, position: int) -> int:
        sequence = bytes(self._sequence)
        self._leave_sequence(position)
        if len(sequence) == 2 and sequence[1] in _STRING_KINDS:
            self._state = "string"
            self._string_kind = sequence[1]
        elif len(sequence) > SEQUENCE_BYTES_MAX:
            pass
        elif _SAVED_LINES.fullmatch(sequence):
            self._emit(SavedLinesErased())
        elif match := _MODES.fullmatch(sequence):
            modes = [it for it in match[1].split(b";") if it.lstrip(b"0") not in _UNOFFERED_MODES]
            if modes:
                self._passed.append(b"\x1b[?%b%b" % (b";".join(modes), match[2]))
        else:
            self._passed.append(sequence)
        return position

    def _scan_string(self, data: bytes, start: int) -> int:
        match = _STRING_STOP.search(data, start)
        end = match.start() if match else len(data)
        if self._string_kind == ord("]"):
            self._keep(data, start, end)
        if match is None:
            return end
        byte = data[end]
        if byte == _ESC:
            self._state = "string-escape"
        elif byte in _ABORTS:
            self._leave_string()
        elif self._string_kind == ord("]"):
            self._end_string(b"\x07")
        return end + 1

    def _keep(self, data: bytes, start: int, end: int) -> None:
        content = self._content
        # The number decides how much is kept.
        if len(content) < 4:
            head = min(end, start + 4 - len(content))
            content += data[start:head]
            start = head
        room = content_bytes_max(content) - len(content)
        content += data[start : min(end, start + room)]
        self._is_cut = self._is_cut or end - start > room

    def _leave_string_escape(self, data: bytes, position: int) -> int:
        if data[position] == 0x5C:
            self._end_string(b"\x1b\\")
            return position + 1
        # It was cut off: what it says is not known. The ESC begins something else.
        self._leave_string()
        self._begin_sequence()
        return position

    def _end_string(self, terminator: bytes) -> None:
        if self._string_kind == ord("]"):
            content = bytes(self._content)
            for event in read_osc(content, terminator, self.colours, is_cut=self._is_cut):
                self._emit(event)
        self._leave_string()

    def _leave_string(self) -> None:
        self._state = "ground"
        self._content.clear()
        self._is_cut = False
