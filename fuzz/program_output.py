"""What programs write: taken apart at any cut, and shown by both emulators."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Final

from blockwire.host.emulator import EmulatorName, LiveRow, best_emulator
from blockwire.host.programoutput import ProgramEvent, ProgramOutput, TerminalColours, Text
from blockwire.host.programoutput_strings import CLIPBOARD_STRING_BYTES_MAX
from blockwire.text import width
from fuzz.chances import damaged, pieces, text

__all__ = ["emulators", "program_output"]

PARTS_MAX: Final = 20
_STRINGS: Final = (
    b"0;title", b"2;", b"7;file://h/a b", b"8;;https://a.example/", b"8;;", b"9;4;1;50", b"9;hello", b"52;c;aGk=",
    b"52;c;?", b"133;D;0", b"777;notify;a;b", b"10;?", b"11;?;?", b"4;17;?", b"104", b"1337;x", b"",
)  # fmt: skip
_FINALS: Final = b"@ABCDEFGHIJKLMPSTXZ`abcdefghlmnpqrstu"
_ESCAPES: Final = (
    b"\x1b7", b"\x1b8", b"\x1bM", b"\x1bD", b"\x1bE", b"\x1bc", b"\x1b(0", b"\x1b(B", b"\x1b#8", b"\x1bH", b"\x1b=",
    b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?47h", b"\x1b[?47l", b"\x1b[?7l", b"\x1b[?7h", b"\x1b[?6h", b"\x1b[?6l",
    b"\x1b[!p", b"\x1b[2 q", b"\x1b[?3h", b"\x1b[3J", b"\x1b[?2027l", b"\x07", b"\x18", b"\r\n", b"\n\n\n", b"\t",
)  # fmt: skip


def _part(chance: random.Random) -> bytes:
    match chance.randrange(6):
        case 0:
            end = chance.choice((b"\x07", b"\x1b\\", b"\x18", b""))
            return chance.choice((b"\x1b]", b"\x1bP", b"\x1b_")) + chance.choice(_STRINGS) + end
        case 1:
            numbers = b";".join(
                b"%d" % chance.choice((0, 1, 2, 3, 5, 38, 48, 99, 100_000))
                for _ in range(chance.randint(0, 4))
            )
            marker = chance.choice((b"", b"", b"", b"?", b">"))
            return b"\x1b[" + marker + numbers + bytes((chance.choice(_FINALS),))
        case 2:
            return chance.choice(_ESCAPES)
        case 3:
            return chance.randbytes(chance.randint(0, 6))
        case _:
            return text(chance, 24).encode("utf-8", "replace")


def _stream(chance: random.Random) -> bytes:
    stream = b"".join(_part(chance) for _ in range(chance.randint(1, PARTS_MAX)))
    return damaged(chance, stream) if chance.random() < 0.3 else stream


def _joined(events: list[ProgramEvent]) -> list[ProgramEvent]:
    joined: list[ProgramEvent] = []
    for event in events:
        if isinstance(event, Text) and joined and isinstance(last := joined[-1], Text):
            joined[-1] = Text(last.data + event.data)
        else:
            joined.append(event)
    return joined


def program_output(chance: random.Random) -> None:
    """Output gives the same events at any cut, in bounded memory, and its text is well formed."""
    stream = _stream(chance)
    colours = TerminalColours("#112233", "#445566")
    expected = _joined(ProgramOutput(colours).receive_data(stream))
    cut = ProgramOutput(colours)
    found: list[ProgramEvent] = []
    for piece in pieces(chance, stream):
        found += cut.receive_data(piece)
        assert cut.retained_bytes <= CLIPBOARD_STRING_BYTES_MAX, f"too much kept: {stream!r}"
    assert _joined(found) == expected, f"cut otherwise: {stream!r}"
    left = b"".join(event.data for event in expected if isinstance(event, Text)) + b"x"
    assert ProgramOutput().receive_data(left) == [Text(left)], f"not well formed: {stream!r}"


def emulators(chance: random.Random) -> None:
    """No program makes an emulator fail, show a row that is too wide, or lose its place."""
    name: EmulatorName = chance.choice(("ghostty", "pyte"))
    emulator = best_emulator(chance.randint(1, 30), chance.randint(1, 8), name=name)
    output = ProgramOutput()
    for piece in pieces(chance, _stream(chance)):
        # With and without what stands before it.
        for event in output.receive_data(piece) if chance.random() < 0.7 else [Text(piece)]:
            if isinstance(event, Text):
                emulator.feed(event.data)
        match chance.randrange(8):
            case 0:
                emulator.resize(chance.randint(1, 30), chance.randint(1, 8))
            case 1:
                emulator.take_top(chance.randint(0, 9))
            case 2:
                emulator.end_row()
            case _:
                pass
    rows = emulator.live_rows()
    column, row, *_ = emulator.cursor
    assert len(rows) == emulator.rows, "rows are missing"
    assert column in range(emulator.columns), "the cursor is beside the screen"
    assert row in range(emulator.rows_in_use()), "the cursor is below the rows in use"
    for live in rows:
        _assert_fits(live, emulator.columns)


def _assert_fits(row: LiveRow, columns: int) -> None:
    cells = sum(width(span.text) for span in row.spans)
    assert cells <= columns, f"too wide: {row!r}"
    assert cells == width("".join(span.text for span in row.spans)), f"spans join: {row!r}"
    assert all(one.look != other.look for one, other in pairwise(row.spans)), f"alike: {row!r}"
