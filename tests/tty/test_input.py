"""The reader of a terminal's input: what is held, what is a reply, and what is too long."""

from __future__ import annotations

from typing import Final

import pytest

from blockwire.tty import Focus, InputEvent, InputParser, Key, Pasted, Reply
from blockwire.tty.input import CSI_BYTES_MAX, PASTE_PIECE_BYTES_MAX, STRING_BYTES_MAX
from blockwire.tty.inputevents import MOUSE_KINDS, REPLY_KINDS
from tests.tty.inputs import assert_reads, joined, names, read, single

ESCAPE: Final = Key("escape", "", b"\x1b")


def key(name: str, raw: bytes, text: str = "") -> Key:
    return Key(name, text, raw)


REPLIES: Final[list[tuple[bytes, str, tuple[str, ...]]]] = [
    (b"\x1b[?62;22c", "da1", ("62", "22")),
    (b"\x1b[>0;10;1c", "da2", ("0", "10", "1")),
    (b"\x1b[0n", "dsr", ("0",)),
    (b"\x1b[?997;1n", "dsr", ("997", "1")),
    (b"\x1b[12;40R", "cpr", ("12", "40")),
    (b"\x1b[1;1R", "cpr", ("1", "1")),
    (b"\x1b[1;17R", "cpr", ("1", "17")),
    (b"\x1b[?1;2R", "cpr", ("1", "2")),
    (b"\x1b[?2026;2$y", "decrqm", ("2026", "2")),
    (b"\x1b[4;2$y", "decrqm", ("4", "2")),
    (b"\x1b[8;24;80t", "window-size", ("8", "24", "80")),
    (b"\x1b[?5u", "kitty-flags", ("5",)),
    (b"\x1b]11;rgb:0000/0000/0000\x07", "osc", ("11", "rgb:0000/0000/0000")),
    (b"\x1b]4;1;rgb:ff/00/00\x1b\\", "osc", ("4", "1", "rgb:ff/00/00")),
    (b"\x1b]52;c;aGk=\x1b\\", "osc", ("52", "c", "aGk=")),
    (b"\x1b]l\xe6\xbc\xa2\xff\x1b\\", "osc", ("l漢\ufffd",)),
    (b"\x1bP>|XTerm(390)\x1b\\", "dcs", (">|XTerm(390)",)),
    (b"\x1b_Gi=31;OK\x1b\\", "apc", ("Gi=31", "OK")),
    (b"\x1b[97;1:3u", "key-state", ("97", "1:3")),
    (b"\x1b[1;5:3A", "key-state", ("1", "5:3")),
    (b"\x1b[3;1:3~", "key-state", ("3", "1:3")),
    (b"\x1b[57441;2u", "key-state", ("57441", "2")),
    (b"\x1b[201~", "unknown", ()),
    (b"\x1b[99~", "unknown", ()),
    (b"\x1b[3;1;1~", "unknown", ()),
    (b"\x1b[3;999~", "unknown", ()),
    (b"\x1b[12345678~", "unknown", ()),
    (b"\x1b[1;2;3A", "unknown", ()),
    (b"\x1b[2;5A", "unknown", ()),
    (b"\x1b[12345678A", "unknown", ()),
    (b"\x1b[1a", "unknown", ()),
    (b"\x1b[1I", "unknown", ()),
    (b"\x1b[1;2;3;4u", "unknown", ()),
    (b"\x1b[12345678u", "unknown", ()),
    (b"\x1b[7u", "unknown", ()),
    (b"\x1b[133u", "unknown", ()),
    (b"\x1b[55296u", "unknown", ()),
    (b"\x1b[1114112u", "unknown", ()),
    (b"\x1b[63000u", "unknown", ()),
    (b"\x1b[97;257u", "unknown", ()),
    (b"\x1b[97;1;55296u", "unknown", ()),
    (b"\x1b[<0;1M", "unknown", ()),
    (b"\x1b[0;1M", "unknown", ()),
    (b"\x1b[M\x20\x20!", "unknown", ()),
    (b"\x1b[220z", "unknown", ()),
    (b"\x1b[1?2h", "unknown", ()),
    (b"\x1bOz", "unknown", ()),
    (b"\x1bO12345678A", "unknown", ()),
    (b"\x1bO999A", "unknown", ()),
]


@pytest.mark.requirement("host:input:never-typed")
@pytest.mark.parametrize(("raw", "kind", "fields"), REPLIES)
def test_answers_and_unknown_sequences_are_replies(
    raw: bytes, kind: str, fields: tuple[str, ...]
) -> None:
    [event] = read(raw)

    assert isinstance(event, Reply)
    assert (event.kind, event.raw, event.fields) == (kind, raw, fields)
    assert_reads(raw, event)


def test_the_vocabularies_are_closed() -> None:
    assert {kind for _raw, kind, _fields in REPLIES} | {"oversized"} == set(REPLY_KINDS)
    assert len(MOUSE_KINDS) == 8


def test_the_window_tells_of_its_focus() -> None:
    assert_reads(b"\x1b[I", Focus(is_in=True))
    assert_reads(b"\x1b[O", Focus(is_in=False))


@pytest.mark.requirement("host:input:escape")
def test_an_escape_is_a_key_when_nothing_follows() -> None:
    parser = InputParser()

    assert parser.receive_data(b"\x1b") == []
    assert parser.flush() == [ESCAPE]
    assert parser.flush() == []
    assert parser.receive_data(b"[A") == [key("[", b"[", "["), key("A", b"A", "A")]


HELD: Final[list[tuple[bytes, list[str], list[str]]]] = [
    # held,           flushed,                with an answer outstanding
    (b"\x1b",         ["escape"],             ["escape"]),
    (b"\x1b\x1b",     ["escape", "escape"],   ["escape", "escape"]),
    (b"\x1b[",        ["alt-["],              []),
    (b"\x1bO",        ["alt-O"],              []),
    (b"\x1b]",        ["alt-]"],              []),
    (b"\x1bP",        ["alt-P"],              []),
    (b"\x1b_",        ["alt-_"],              []),
    (b"\x1b]\x1b",    ["alt-]", "escape"],    []),
    (b"\x1b\x1b[",    ["escape", "alt-["],    []),
    (b"\x1b\x1bO",    ["escape", "alt-O"],    []),
    (b"\x1b[1",       [],                     []),
    (b"\x1b[[",       [],                     []),
    (b"\x1b[M !",     [],                     []),
    (b"\x1b\x1b[1",   [],                     []),
    (b"\x1b]11;",     [],                     []),
    (b"\x1b]11;\x1b", [],                     []),
    (b"\x1b\xc3",     [],                     []),
    (b"\xe6\xbc",     [],                     []),
]  # fmt: skip


@pytest.mark.requirement("host:input:escape")
@pytest.mark.parametrize(("data", "flushed", "meanwhile"), HELD)
def test_what_may_be_keys_is_given_out_after_a_while(
    data: bytes, flushed: list[str], meanwhile: list[str]
) -> None:
    for is_outstanding, expected in [(False, flushed), (True, meanwhile)]:
        parser = InputParser()

        assert parser.receive_data(data) == []
        assert parser.is_holding == bool(flushed)
        assert parser.retained_bytes == len(data)
        assert names(parser.flush(is_reply_outstanding=is_outstanding)) == expected
        assert parser.retained_bytes == (0 if expected else len(data))


BROKEN: Final[list[tuple[bytes, list[InputEvent]]]] = [
    (b"\x1b[1;\x03", [Reply("unknown", b"\x1b[1;", ()), key("ctrl-c", b"\x03")]),
    (b"\x1b[\r", [key("alt-[", b"\x1b["), key("enter", b"\r")]),
    (b"\x1b[\xc3\xa9", [key("alt-[", b"\x1b["), key("é", b"\xc3\xa9", "é")]),
    (b"\x1b[[x", [Reply("unknown", b"\x1b[[", ()), key("x", b"x", "x")]),
    (b"\x1b[M \x1b[A", [Reply("unknown", b"\x1b[M ", ()), key("up", b"\x1b[A")]),
    (b"\x1bO1\x1bOP", [Reply("unknown", b"\x1bO1", ()), key("f1", b"\x1bOP")]),
    (b"\x1b]11;rgb\r", [Reply("unknown", b"\x1b]11;rgb", ()), key("enter", b"\r")]),
    (b"\x1b]11;\x7f", [Reply("unknown", b"\x1b]11;", ()), key("backspace", b"\x7f")]),
    (b"\x1b]11;\x1b[A", [Reply("unknown", b"\x1b]11;", ()), key("up", b"\x1b[A")]),
    (b"\x1b]\x1b[A", [key("alt-]", b"\x1b]"), key("up", b"\x1b[A")]),
    (b"\x1b\x1b[1;\r", [ESCAPE, Reply("unknown", b"\x1b[1;", ()), key("enter", b"\r")]),
    (b"\x1b\x1bx", [ESCAPE, key("alt-x", b"\x1bx")]),
    (b"\x1b\x1b\x1b[B", [ESCAPE, key("alt-down", b"\x1b\x1b[B")]),
    (b"\x1b\x1b[I", [ESCAPE, Focus(is_in=True)]),
    (b"\x1b\x1b[0n", [ESCAPE, Reply("dsr", b"\x1b[0n", ("0",))]),
    (b"\x1b\x1b[200~a\x1b[201~", [ESCAPE, Pasted(b"a", is_last=True)]),
    (
        b"\x1b\x1b[0;;20320:22909u",
        [ESCAPE, key("text", b"\x1b[0;;20320:22909u", "你好")],
    ),
    (b"\x1b\xff", [ESCAPE, key("byte-ff", b"\xff", "\ufffd")]),
    (b"\x1b\xc2\x9b", [ESCAPE, key("control-9b", b"\xc2\x9b")]),
]


@pytest.mark.parametrize(("data", "expected"), BROKEN)
def test_what_breaks_a_sequence_counts_itself(data: bytes, expected: list[InputEvent]) -> None:
    assert_reads(data, *expected)


@pytest.mark.requirement("host:input:utf-8")
def test_bytes_that_are_no_characters_are_seen_one_by_one() -> None:
    assert_reads(
        b"\xc3x\xed\xa0\x80\xf5",
        key("byte-c3", b"\xc3", "\ufffd"),
        key("x", b"x", "x"),
        *(key(f"byte-{byte:02x}", bytes([byte]), "\ufffd") for byte in b"\xed\xa0\x80\xf5"),
    )


@pytest.mark.requirement("host:input:utf-8")
@pytest.mark.parametrize("character", ["é", "漢", "😀"])
def test_a_character_waits_for_its_rest(character: str) -> None:
    data = character.encode()
    for cut in range(1, len(data)):
        parser = InputParser()

        assert parser.receive_data(data[:cut]) + parser.flush() == []
        assert parser.receive_data(data[cut:]) == [key(character, data, character)]


@pytest.mark.requirement("host:input:position")
def test_a_position_that_is_expected_is_no_key() -> None:
    parser = InputParser()

    assert names(parser.receive_data(b"\x1b[1;2R")) == ["shift-f3"]
    parser.expect_position()
    assert parser.receive_data(b"a\x1b[1;2R")[1:] == [Reply("cpr", b"\x1b[1;2R", ("1", "2"))]
    assert names(parser.receive_data(b"\x1b[1;2R")) == ["shift-f3"]
    parser.expect_position()
    assert parser.receive_data(b"\x1b[9;2R") == [Reply("cpr", b"\x1b[9;2R", ("9", "2"))]
    assert names(parser.receive_data(b"\x1b[1;2R")) == ["shift-f3"]


STRING_HEAD: Final = b"\x1b]52;c;"


@pytest.mark.requirement("host:input:never-typed")
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
@pytest.mark.parametrize("extra", [-2, -1, 0, 1, 2, 3, 70_000])
def test_a_long_string_is_consumed_to_its_end(end: bytes, extra: int) -> None:
    raw = STRING_HEAD + b"x" * (STRING_BYTES_MAX - len(STRING_HEAD) + extra) + end
    is_short = len(raw) <= STRING_BYTES_MAX

    events = read(raw, b"k")

    assert read(raw[:100], *single(raw[100:1000]), raw[1000:], b"k") == events
    assert read(raw[:-3], *single(raw[-3:]), b"k") == events
    [reply, typed] = events
    assert names([typed]) == ["k"]
    assert isinstance(reply, Reply)
    assert reply.kind == ("osc" if is_short else "oversized")
    assert raw.startswith(reply.raw)
    assert len(reply.raw) <= STRING_BYTES_MAX


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"", []),
        (b"5;7 #A", []),
        (b"5\x03", ["ctrl-c"]),
        (b"5\x1b[A", ["up"]),
        (b"Ax", ["x"]),
    ],
)
def test_a_long_sequence_is_consumed_to_its_end(tail: bytes, expected: list[str]) -> None:
    data = b"\x1b[" + b"1" * CSI_BYTES_MAX + tail

    [reply, *keys] = read(data)

    assert reply == Reply("oversized", data[:CSI_BYTES_MAX], ())
    assert names(keys) == expected
    assert read(*single(data)) == [reply, *keys]
    assert read(b"\x1b" + data) == [ESCAPE, reply, *keys]


def test_a_long_string_ends_where_another_begins_or_a_key_is_struck() -> None:
    data = STRING_HEAD + b"x" * STRING_BYTES_MAX
    for tail, expected in [(b"\x1b[A", "up"), (b"\r", "enter"), (b"\x1bx", "alt-x")]:
        assert names(read(data + tail)[1:]) == [expected]
        assert names(read(data, *single(tail))[1:]) == [expected]


@pytest.mark.requirement("host:input:bounded")
def test_little_is_retained_of_what_never_ends() -> None:
    for head in (b"\x1b]", b"\x1bP", b"\x1b_", b"\x1b[", b"\x1b\x1b[", b"\x1bO", b"\x1b[200~"):
        parser = InputParser()
        parser.receive_data(head)
        for _ in range(20):
            parser.receive_data(b"1" * 1000)
            assert parser.retained_bytes <= STRING_BYTES_MAX + 1


@pytest.mark.requirement("host:input:paste")
@pytest.mark.parametrize("size", [1, 3, 7, 4096, 1_100_000])
def test_a_megabyte_is_pasted_without_loss(size: int) -> None:
    text = ("line é漢 \x1b[A \x1b[201 \x1b[20\x1b[200~ \n" * 40_000).encode()
    text = text[: 1_048_576 if size > 7 else 40_000]
    data = text + b"\x1b[201~k"
    parser = InputParser()
    events = parser.receive_data(b"\x1b[200~")

    for start in range(0, len(data), size):
        events += parser.receive_data(data[start : start + size])
        assert not parser.is_holding

    pieces = [event for event in events if isinstance(event, Pasted)]
    assert max(len(piece.data) for piece in pieces) <= PASTE_PIECE_BYTES_MAX
    assert [piece.is_last for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    assert joined(events) == [Pasted(text, is_last=True), key("k", b"k", "k")]


def test_an_empty_paste_is_one_empty_piece() -> None:
    assert_reads(b"\x1b[200~\x1b[201~", Pasted(b"", is_last=True))


def test_a_paste_is_given_out_as_it_comes() -> None:
    parser = InputParser()

    assert parser.receive_data(b"\x1b[200~ab\x1b[2") == [Pasted(b"ab", is_last=False)]
    assert parser.receive_data(b"0") == []
    assert parser.receive_data(b"2~") == [Pasted(b"\x1b[202~", is_last=False)]
    assert parser.receive_data(b"\x1b[201~") == [Pasted(b"", is_last=True)]
