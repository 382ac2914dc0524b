"""What a terminal sends, and what the program in it is sent: hostile, cut and flushed anywhere."""

from __future__ import annotations

import random
from typing import Final

from blockwire.errors import LocalProtocolError
from blockwire.tty import (
    Focus,
    InputEvent,
    InputParser,
    Key,
    Mouse,
    Pasted,
    PasteEncoder,
    Reply,
    describe_key,
    encode_key,
    encode_mouse,
    read_binding,
)
from blockwire.tty.input import STRING_BYTES_MAX
from blockwire.tty.paste import PASTE_BEGIN, PASTE_END
from fuzz.chances import damaged, pieces, text

__all__ = ["bindings", "terminal_input"]

PARTS_MAX: Final = 12
_PARTS: Final = (
    b"\x1b", b"\x1b[", b"\x1bO", b"\x1b]", b"\x1bP", b"\x1b_", b"\x1b\\", b"\x07", b"\x03", b"\r", b"\t",
    b"\x1b[A", b"\x1b[1;5A", b"\x1b[1;5:3A", b"\x1b[3~", b"\x1b[3$", b"\x1b[a", b"\x1bOa", b"\x1bOp",
    b"\x1b[[A", b"\x1b[Z", b"\x1b[1;2R", b"\x1b[9;2R", b"\x1b[97:65;2;65u", b"\x1b[0;;20320:22909u",
    b"\x1b[57399u", b"\x1b[57441u", b"\x1b[27;5;13~", b"\x1b[I", b"\x1b[O", b"\x1b[<0;3;4M",
    b"\x1b[<35;300;4m", b"\x1b[M !!", b"\x1b[M", b"\x1b[34;300;2M", b"\x1b[?62;22c", b"\x1b[?2026;1$y",
    b"\x1b]11;rgb:0/0/0\x07", b"\x1bP>|x\x1b\\", PASTE_BEGIN, PASTE_END, b"\xc3\xa9", b"\xc2\x9b",
    b"\x9b201~", b"1" * 300, b";", b":", b"$", b"^", b"@", b"\x1b\x1b",
)  # fmt: skip


def terminal_input(chance: random.Random) -> None:
    """Cuts do not matter, no byte is lost or doubled, and nothing that acts gets to the program."""
    parts = [
        chance.choice(_PARTS) if chance.random() < 0.8 else text(chance, 6).encode()
        for _ in range(chance.randint(1, PARTS_MAX))
    ]
    if chance.random() < 0.02:
        parts.insert(
            chance.randint(0, len(parts)), b"x" * (STRING_BYTES_MAX + chance.randint(-9, 9))
        )
    data = b"".join(parts)
    if chance.random() < 0.5:
        data = damaged(chance, data, _PARTS)
    expected = _read(InputParser(), [data])
    assert _read(InputParser(), pieces(chance, data)) == expected, f"cut otherwise: {data!r}"
    _check_bytes(chance, data + PASTE_END)
    _send(chance, InputParser().receive_data(data))


def _read(parser: InputParser, parts: list[bytes]) -> list[InputEvent]:
    events: list[InputEvent] = []
    for part in parts:
        for event in parser.receive_data(part):
            last = events[-1] if events else None
            if isinstance(event, Pasted) and isinstance(last, Pasted) and not last.is_last:
                events[-1] = Pasted(last.data + event.data, event.is_last)
            else:
                events.append(event)
        assert parser.retained_bytes <= STRING_BYTES_MAX + 1, "memory grows"
    return events + parser.flush()


def _check_bytes(chance: random.Random, data: bytes) -> None:
    """Every byte is in one event, but for what is too long."""
    rest, is_pasting = data, False
    parser = InputParser()
    events: list[InputEvent] = []
    for piece in pieces(chance, data):
        events += parser.receive_data(piece)
        if chance.random() < 0.3:
            events += parser.flush(is_reply_outstanding=chance.random() < 0.3)
    for event in events + parser.flush():
        match event:
            case Pasted():
                raw = (b"" if is_pasting else PASTE_BEGIN) + event.data
                is_pasting = not event.is_last
                raw += b"" if is_pasting else PASTE_END
            case Focus():
                raw = b"\x1b[I" if event.is_in else b"\x1b[O"
            case Reply(kind="oversized"):
                assert rest.startswith(event.raw), f"not what came: {data!r}"
                return
            case _:
                raw = event.raw
        assert rest.startswith(raw), f"not what came: {event} of {data!r}"
        rest = rest[len(raw) :]
    # The end of the paste that was added may still be taken for one.
    assert PASTE_END.endswith(rest) or rest.startswith(b"\x1b"), f"lost: {rest!r} of {data!r}"


def _send(chance: random.Random, events: list[InputEvent]) -> None:
    encoder = PasteEncoder()
    for event in events:
        match event:
            case Key():
                assert not any(c < " " or "\x7f" <= c <= "\x9f" for c in event.text), event
                encode_key(
                    event,
                    application_cursor=chance.random() < 0.5,
                    application_keypad=chance.random() < 0.5,
                )
                is_written = event.name.isprintable()
                if is_written and not event.name.startswith(("byte-", "control-", "text")):
                    name = read_binding(describe_key(event.name))
                    assert name == event.name, f"{event.name} is read as {name}"
            case Mouse():
                encode_mouse(event, sgr=chance.random() < 0.5)
            case Pasted():
                sent = encoder.encode(event.data, is_last=event.is_last, bracketed=False)
                assert not any(c in sent for c in (b"\x1b", b"\x03", b"\x7f")), f"acts: {sent!r}"
                assert not any("\x80" <= c <= "\x9f" for c in sent.decode()), f"acts: {sent!r}"
            case _:
                pass


def bindings(chance: random.Random) -> None:
    """What is read as a key is written for people, and read again as the same."""
    parts = (
        "ctrl",
        "C",
        "alt",
        "shift",
        "S",
        "super",
        "-",
        "+",
        "^",
        "x",
        "Up",
        "pgup",
        "f1",
        "tab",
    )
    written = "".join(chance.choices((*parts, text(chance, 2)), k=chance.randint(1, 6)))
    try:
        name = read_binding(written)
    except LocalProtocolError:
        return
    assert read_binding(describe_key(name)) == name, f"{written!r}: {name}"
