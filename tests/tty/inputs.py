"""Reading in tests: whole, byte by byte, and amid other things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blockwire.tty import Focus, InputEvent, InputParser, Key, Pasted
from blockwire.tty.paste import PASTE_BEGIN, PASTE_END

AMID = (b"x\xc3\xa9\x1b[A", b"\x1b[Z\r")


def read(*pieces: bytes) -> list[InputEvent]:
    """Return the events of ``pieces``, with what was held in the end."""
    parser = InputParser()
    events = [event for piece in pieces for event in parser.receive_data(piece)]
    return joined(events + parser.flush())


def joined(events: Iterable[InputEvent]) -> list[InputEvent]:
    """Return ``events`` with each paste in one piece."""
    found: list[InputEvent] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, Pasted) and isinstance(last, Pasted) and not last.is_last:
            found[-1] = Pasted(last.data + event.data, event.is_last)
        else:
            found.append(event)
    return found


def assert_reads(data: bytes, *expected: InputEvent) -> None:
    assert read(data) == list(expected)
    assert read(*single(data)) == list(expected)
    before, after = AMID
    assert read(before, data, after) == [*read(before), *expected, *read(after)]
    assert read(*single(before + data + after)) == [*read(before), *expected, *read(after)]


def single(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]


def names(events: Sequence[InputEvent]) -> list[str]:
    """Return the names of keys, and what else there was as it is printed."""
    return [event.name if isinstance(event, Key) else repr(event) for event in events]


def bytes_of(events: Iterable[InputEvent]) -> bytes:
    """Return what was read, made of the events again."""
    data, is_pasting = b"", False
    for event in events:
        match event:
            case Pasted():
                data += (b"" if is_pasting else PASTE_BEGIN) + event.data
                is_pasting = not event.is_last
                data += b"" if is_pasting else PASTE_END
            case Focus():
                data += b"\x1b[I" if event.is_in else b"\x1b[O"
            case _:
                data += event.raw
    return data
