"""What is taken out of a program's output, and what is left for its emulator."""

from __future__ import annotations

from base64 import b64encode
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.host.programoutput import (
    CLIPBOARD_BYTES_MAX,
    SEQUENCE_BYTES_MAX,
    TITLE_CHARS_MAX,
    Bell,
    ClipboardWritten,
    Notified,
    ProgramEvent,
    ProgramOutput,
    ProgramReply,
    Progress,
    PromptMark,
    SavedLinesErased,
    TerminalColours,
    Text,
    Title,
    WorkingDirectory,
)
from blockwire.host.programoutput_strings import CLIPBOARD_STRING_BYTES_MAX, STRING_BYTES_MAX

COLOURS: Final = TerminalColours("#112233", "#000000", None, {1: "#cd0000"})


def joined(events: list[ProgramEvent]) -> list[ProgramEvent]:
    """Return ``events`` with neighbouring pieces of text as one."""
    result: list[ProgramEvent] = []
    for event in events:
        if isinstance(event, Text) and result and isinstance(last := result[-1], Text):
            result[-1] = Text(last.data + event.data)
        else:
            result.append(event)
    return result


def read(*pieces: bytes) -> list[ProgramEvent]:
    output = ProgramOutput(COLOURS)
    return joined([event for piece in pieces for event in output.receive_data(piece)])


def assert_reads(data: bytes, *expected: ProgramEvent) -> None:
    """Whole, byte by byte, and between other text."""
    assert read(data) == list(expected)
    assert read(*(data[at : at + 1] for at in range(len(data)))) == list(expected)
    around = joined([Text(b"a"), *expected, Text(b"\x1b[mb")])
    assert read(b"a", data, b"\x1b[mb") == around


PASSED: Final = [
    b"plain text\r\n\ttab\x08",
    "naïve 中文 👩\u200d👩 © Â".encode(),
    b"\x1b[1;38;5;200m\x1b[0K\x1b[2J\x1b[J\x1b[?25l\x1b[?25h\x1b[?1049h\x1b[4h\x1b[?2004h\x1b[?7;25h",
    b"\x1b7\x1b8\x1bM\x1b=\x1b>\x1bc\x1b(0\x1b#8\x1b%G\x1bZ",
    b"\x1b[ q\x1b[2 q\x1b[!p\x1b[?1$p\x1b[>c\x1b[?u\x1b[4:3m\x1b[?30h\x1b[?400l\x1b[?33l\x1b[?340h",
    b"\xff\xfe\x80\x9b\xe4\xb8",
    b"\x1b[" + b"1;" * 120 + b"1m",
]


@pytest.mark.parametrize("data", PASSED)
def test_text_and_sequences_are_passed_as_they_are(data: bytes) -> None:
    assert_reads(data, Text(data))


DROPPED: Final = [
    # C1 controls in UTF-8
    ("a\x9b31mb\x85\x9dc".encode(), b"a31mbc"),
    # and what would become one where something is taken out
    (b"a\xc2\x1b\x9bb\xc2\x7f\x9bc", "a\ufffd".encode() + b"\x9bb" + "\ufffd".encode() + b"\x9bc"),
    # strings of other kinds, whole and endless
    (b"a\x1bPq#0;2\x07more\x1b\\b\x1b_Gi=1;AA\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", b"abcde"),
    (b"a\x1b]1;icon\x07b\x1b]1337;x\x1b\\c\x1b]66;x\x07d\x1b];x\x07e\x1b]\x07f", b"abcdef"),
    (b"a\x1b]104\x07b\x1b]11;#ffffff\x07c\x1b]4;1;red\x07d\x1b]04;1;?\x07e", b"abcde"),
    # sequences that are damaged, aborted or too long
    (b"a\x1b[3\xc3\xa9b", "aéb".encode()),
    (b"a\x1b[3\x18b\x1b[\x1ac\x1b\x18d", b"abcd"),
    (b"a\x1b[1\x1b[2mb\x1b\x1b7", b"a\x1b[2mb\x1b7"),
    (b"a\x1b[" + b"1;" * 200 + b"mb", b"ab"),
    (b"a\x1b" + b" " * 300 + b"Fb", b"ab"),
    # DEL is nothing
    (b"a\x7fb", b"ab"),
    (b"a\x1b[\x7f3\x7f1mb", b"a\x1b[31mb"),
    # the size and side margins
    (b"a\x1b[?3hb\x1b[?40lc\x1b[?69hd\x1b[?03he", b"abcde"),
    (b"\x1b[?1;3;25;40;69h", b"\x1b[?1;25h"),
]


@pytest.mark.requirement("host:emulation:well-formed")
@pytest.mark.parametrize(("data", "left"), DROPPED)
def test_what_no_emulator_should_see_is_dropped(data: bytes, left: bytes) -> None:
    assert_reads(data, Text(left))


EVENTS: Final[list[tuple[bytes, list[ProgramEvent]]]] = [
    (b"\x07\x07", [Bell(), Bell()]),
    (b"a\x07b", [Text(b"a"), Bell(), Text(b"b")]),
    (b"\x1b[3J", [SavedLinesErased()]),
    (b"\x1b[03;1J\x1b[?3J", [SavedLinesErased(), SavedLinesErased()]),
    (b"\x1b[H\x1b[2J\x1b[3Jx", [Text(b"\x1b[H\x1b[2J"), SavedLinesErased(), Text(b"x")]),
    # a control within a sequence acts before it
    (b"\x1b[3\x07\nJ", [Bell(), Text(b"\n"), SavedLinesErased()]),
    (b"\x1b]0;title\x07", [Title("title")]),
    (b"\x1b]2;a;b\x1b\\", [Title("a;b")]),
    (b"\x1b]2;\x07", [Title("")]),
    (b"\x1b]2;a\nb\x00\xc2\x9b\xe2\x80\xaec\xff\x07", [Title("abc\ufffd")]),
    (b"\x1b]7;file://host/a%20b\x07", [WorkingDirectory("file://host/a%20b")]),
    (b"\x1b]7;file:///a b/\xc3\xa9\x1b\\", [WorkingDirectory("file:///a%20b/%C3%A9")]),
    (b"\x1b]7;http://x/\x07", []),
    (b"\x1b]133;A\x07", [PromptMark("A")]),
    (b"\x1b]133;D;0\x1b\\", [PromptMark("D;0")]),
    (b"\x1b]133;\x07\x1b]133;a\x07\x1b]133;A;\xc3\xa9\x07", []),
    (b"\x1b]9;4;1;50\x07", [Progress("1;50")]),
    (b"\x1b]9;4;0\x07\x1b]9;4;3;\x07\x1b]9;4;1;100\x07", [Progress("0"), Progress("3;"), Progress("1;100")]),
    (b"\x1b]9;4;5\x07\x1b]9;4;1;101\x07\x1b]9;9;c:/\x07\x1b]9;4\x07", []),
    (b"\x1b]9;Build is done\x07", [Notified("Build is done")]),
    (b"\x1b]9;\x07", []),
    (b"\x1b]777;notify;Title;Body; more\x07", [Notified("Title: Body; more")]),
    (b"\x1b]777;notify;Title\x07\x1b]777;other;x\x07", [Notified("Title")]),
    (b"\x1b]52;c;aGk=\x07", [ClipboardWritten("c", b"hi")]),
    (b"\x1b]52;;aGk=\x1b\\", [ClipboardWritten("s0", b"hi")]),
    (b"\x1b]52;pc;\x07", [ClipboardWritten("pc", b"")]),
    (b"\x1b]52;c;?\x07\x1b]52;c\x07\x1b]52;x;aGk=\x07", []),
    (b"\x1b]52;c;aGk\x07\x1b]52;c;a*k=\x07\x1b]52;c;\xc3\xa9\x07", []),
    (b"\x1b]8;;https://a.example/\x07x\x1b]8;;\x07", [Text(b"\x1b]8;;https://a.example/\x1b\\x\x1b]8;;\x1b\\")]),
    (b"\x1b]8;id=1;javascript:x\x07\x1b]8;\x07\x1b]8;\xc3\xa9;https://a.example/\x07", [Text(b"\x1b]8;;\x1b\\")]),
    (b"\x1b]10;?\x07", [ProgramReply(b"\x1b]10;rgb:1111/2222/3333\x07")]),
    (b"\x1b]11;?\x1b\\", [ProgramReply(b"\x1b]11;rgb:0000/0000/0000\x1b\\")]),
    (b"\x1b]12;?\x07\x1b]12;?;?\x07", []),
    (b"\x1b]10;red;?;?\x07", [ProgramReply(b"\x1b]11;rgb:0000/0000/0000\x07")]),
    (b"\x1b]4;1;?;2;?;16;red;231;?;256;?;x;?;9999;?;3\x07",
     [ProgramReply(b"\x1b]4;1;rgb:cdcd/0000/0000\x07"), ProgramReply(b"\x1b]4;231;rgb:ffff/ffff/ffff\x07")]),
]  # fmt: skip


@pytest.mark.requirement("host:emulation:saved-lines")
@pytest.mark.requirement("host:emulation:bell")
@pytest.mark.requirement("host:emulation:clean-titles")
@pytest.mark.requirement("host:emulation:clipboard-unread")
@pytest.mark.requirement("host:emulation:any-cut")
@pytest.mark.parametrize(("data", "events"), EVENTS)
def test_what_is_meant_for_the_host_is_an_event(data: bytes, events: list[ProgramEvent]) -> None:
    assert_reads(data, *events)


CUT: Final[list[tuple[bytes, list[ProgramEvent]]]] = [
    # cut off by,                what that does
    (b"\x18", [Text(b"x")]),
    (b"\x1a", [Text(b"x")]),
    (b"\x1b[m", [Text(b"\x1b[mx")]),
    (b"\x1b7", [Text(b"\x1b7x")]),
    (b"\x1b]0;other\x07", [Title("other"), Text(b"x")]),
]


@pytest.mark.requirement("host:emulation:cut-off")
@pytest.mark.parametrize(("by", "events"), CUT)
@pytest.mark.parametrize(
    "begun", [b"\x1b]0;a title", b"\x1b]52;c;aGk=", b"\x1bP1$r", b"\x1b]9", b"\x1b]"]
)
def test_a_string_that_is_cut_off_does_nothing(
    begun: bytes, by: bytes, events: list[ProgramEvent]
) -> None:
    assert_reads(begun + by + b"x", *events)


@pytest.mark.requirement("host:emulation:bell")
def test_bel_within_another_string_is_no_bell() -> None:
    assert_reads(b"\x1bPa\x07b\x1b\\\x1b_\x07\x1b\\")


@pytest.mark.requirement("host:emulation:bounded")
@pytest.mark.requirement("host:emulation:clipboard-whole")
def test_strings_without_end_take_no_more_room_than_they_may() -> None:
    for begun, bound in (
        (b"\x1b]0;", STRING_BYTES_MAX),
        (b"\x1bP", 0),
        (b"\x1b]52;c;", CLIPBOARD_STRING_BYTES_MAX),
    ):
        output = ProgramOutput()
        output.receive_data(begun)
        for _ in range(40):
            assert output.receive_data(b"QUJD" * 10_000) == []
            assert output.retained_bytes <= bound
        assert output.retained_bytes == bound
        assert output.receive_data(b"\x18") == []
        assert output.retained_bytes == 0


@pytest.mark.requirement("host:emulation:clipboard-whole")
def test_what_is_copied_is_whole_or_not_at_all() -> None:
    for size in (CLIPBOARD_BYTES_MAX, CLIPBOARD_BYTES_MAX + 1, CLIPBOARD_BYTES_MAX + 100):
        data = bytes(size)
        events = read(b"\x1b]52;c;" + b64encode(data) + b"\x07")

        assert events == ([ClipboardWritten("c", data)] if size <= CLIPBOARD_BYTES_MAX else [])


def test_a_long_title_is_cut_and_other_long_strings_are_dropped() -> None:
    long = b"x" * (STRING_BYTES_MAX + 1)

    assert read(b"\x1b]2;" + long + b"\x07") == [Title("x" * TITLE_CHARS_MAX)]
    assert read(b"\x1b]7;file:///" + long + b"\x07") == []
    assert read(b"\x1b]8;;https://a.example/" + long + b"\x07") == []


@pytest.mark.requirement("host:emulation:bounded")
def test_a_sequence_without_end_takes_little_room() -> None:
    output = ProgramOutput()

    for _ in range(10):
        assert output.receive_data(b"\x1b[" + b"1;" * 5_000) == []
        assert output.retained_bytes <= SEQUENCE_BYTES_MAX + 1


def test_colours_that_become_known_later_are_told_then() -> None:
    output = ProgramOutput()
    assert output.receive_data(b"\x1b]11;?\x07") == []

    output.colours = COLOURS

    assert output.receive_data(b"\x1b]11;?\x07") == [
        ProgramReply(b"\x1b]11;rgb:0000/0000/0000\x07")
    ]


PARTS: Final = st.lists(
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from([data for data, _ in EVENTS] + [data for data, _ in DROPPED] + PASSED),
        st.sampled_from([b"\x1b", b"\x1b]", b"\x1b\\", b"\x07", b"\x18", b"\xc2", b"\x1b[", b"3", b"J", b"?", b"h", b";"]),
    ),
    max_size=12,
)  # fmt: skip


@pytest.mark.requirement("host:emulation:any-cut")
@given(parts=PARTS, cuts=st.lists(st.integers(0, 300), max_size=6))
@example(parts=[b"\xc2", b"\x9b"], cuts=[1])
@example(parts=[b"\x1b[?40h"], cuts=[3])
@example(parts=[b"\xc2\x1b\x9b"], cuts=[1, 2])
@example(parts=[b"\xc2\x07\x9b"], cuts=[1])
def test_it_does_not_matter_how_the_output_is_cut(parts: list[bytes], cuts: list[int]) -> None:
    data = b"".join(parts)
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[start:end] for start, end in pairwise(ends)]

    whole = read(data)

    assert read(*pieces) == whole
    assert read(*(data[at : at + 1] for at in range(len(data)))) == whole
    # Reading once more changes nothing: what is left is well formed.
    text = b"".join(event.data for event in whole if isinstance(event, Text))
    assert read(text + b"x") == [Text(text + b"x")]
