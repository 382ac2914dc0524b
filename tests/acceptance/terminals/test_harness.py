"""The harness itself: what it would not see, no situation would prove."""

from __future__ import annotations

import pytest

from blockwire.host.leaving import LEAVE, enter_sequence
from tests.acceptance.terminals.blocksprogram import blocks_program, table
from tests.acceptance.terminals.oracle import check_chat, check_host, check_transcript, told
from tests.acceptance.terminals.outer import Outer, term

pytestmark = pytest.mark.timeout(120)

ENTER = enter_sequence(has_mouse=True)
FRAME = (
    b"\x1b[?2026h\x1b[?25l\x1b[?7l\x1b[1Hone\x1b[K\x1b[2H\x1b[31mtwo\x1b[m\x1b[K\x1b[?7h\x1b[?2026l"
)


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[2J",
        b"\x1b[J",
        b"\x1b[3J",
        b"\x1b[2S",
        b"\x1b[T",
        b"\x1b[2;4r",
        b"text",
        b"\r\n",
        b"\x1bc",
        b"\x1b[?2026h\x1b[?2026h",
        b"\x1b[?2026l",
        b"\x1b[?7l\x1b[1Hone\x1b[2Htwo\x1b[?7h",
        b"\x1b[?7l\x1b[1H\x1b[31mred\x1b[?7h",
        b"\x1b[?7l\x1b[1H\x1b[31m\x1b[K\x1b[m\x1b[?7h",
        b"\x1b[?7l\x1b[2;4r\x1b[2H\x1b[1M\x1b[?7h",
        b"\x1b[?7l\x1b[1H\x1b]8;;https://a.b/\x1b\\a\x1b[?7h",
        b"\x1b[?7l\x1b[1Ha\x1b]52;c;?\x1b\\\x1b[?7h",
        b"\x1b]0;title\x07",
        b"\x9b2J",
        b"\xc2\x9b2J",
        b"\x1bP+q\x1b\\",
        b"\x1b[>1u",
        b"\x1b[6n",
    ],
)
def test_the_oracle_refuses_what_no_host_may_write(data: bytes) -> None:
    check_host(b"$ job 1;\r\n" + ENTER + FRAME + LEAVE + b"text\n")

    with pytest.raises((AssertionError, UnicodeDecodeError)):
        check_host(ENTER + FRAME + data + FRAME + LEAVE)


@pytest.mark.parametrize(
    "data", [b"\x1b[2J", b"\x1b[1S", b"\x1b[2;4r", b"\x1b[5;1H", b"\x1b[?1049h", b"\x1b[2A\x00"]
)
def test_the_oracle_refuses_what_no_chat_may_write(data: bytes) -> None:
    check_chat(b"\x1b[?2004h\x1b[?2026h\r\x1b[2A\x1b[K text\r\n\x1b[0J\x1b[?2026l")

    with pytest.raises(AssertionError):
        check_chat(data)


def test_a_transcript_is_rows_of_text() -> None:
    check_transcript(ENTER + LEAVE + b"one\n\x1b[1mtwo\x1b[m\n")

    with pytest.raises(AssertionError):
        check_transcript(ENTER + LEAVE + b"one\x1b[K\n")


def test_a_program_does_what_it_is_told_and_a_person_sees_it() -> None:
    program = blocks_program(
        ["print", "begun\n"],
        *table(),
        ["block", "one", "text"],
        ["key"],
        ["repeat", 2, [["extend", "one", " {n}"]]],
        ["every", 1, 2, [["print", "row {n}\n"]]],
        ["title", "come so far"],
        ["key"],
        ["update", "one", "other"],
        ["seal", "one"],
        ["exit", 3],
    )
    with Outer(term(*program)) as outer:
        outer.until_shown("begun", "│ name 2", "text")
        outer.keys("x")
        outer.until_written(b"\x1b]2;come so far\x1b\\")
        outer.until_shown("text 0 1", "row 1")
        outer.keys("prefix", "[", "k", "V", "y")
        outer.until(outer.copied)
        outer.resize(40, 10)
        outer.keys("x")

        assert outer.exit_status() == 3
        assert outer.transcript()[-3:] == ["other", "row 0", "row 1"]
        check_host(outer.output)
        check_transcript(outer.output)
        assert {"painting", "update", "left", "clipboard"} <= {it.kind for it in told(outer.output)}
