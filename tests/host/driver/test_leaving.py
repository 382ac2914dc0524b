"""What stays on the terminal: what was there before, and the transcript, once."""

from __future__ import annotations

import re
import time

import pytest

from tests.host.driver.outers import ANSWER, ASK, ENTER, LEAVE, Outer, is_alive
from tests.host.driver.test_processes import CAT, check_left, host

SHELL_LINES = "".join(f"shell line {number}\r\n" for number in range(100)).encode()


@pytest.mark.situation("T28")
@pytest.mark.requirement("host:leaving:main-screen")
def test_what_the_shell_had_shown_is_still_there() -> None:
    with Outer(host("seq", "1", "50"), before=SHELL_LINES) as outer:
        assert outer.read_to_end() == 0

        lines = outer.screen.main.lines()
        assert lines[:100] == [f"shell line {number}" for number in range(100)]
        assert re.fullmatch(r"job \d+;", lines[100])
        assert lines[101:] == [*map(str, range(1, 51)), "ended 0 sane;"]
        # Nothing clears what is not ours.
        assert not re.search(rb"\x1b\[[123]J", outer.output)


@pytest.mark.requirement("host:leaving:transcript")
@pytest.mark.parametrize(
    ("option", "kept"), [((), 500), (("--screens=2",), 48), (("--screens=0",), 0)]
)
def test_as_much_stays_as_was_asked_for(option: tuple[str, ...], kept: int) -> None:
    with Outer(host("seq", "1", "500", options=option)) as outer:
        assert outer.read_to_end() == 0

        lines = outer.screen.main.lines()
        assert lines[1:-1] == [str(number) for number in range(501 - kept, 501)]
        check_left(outer)


@pytest.mark.situation("T65")
@pytest.mark.requirement("host:process:slow-terminal")
def test_a_slow_terminal_misses_frames_and_no_line() -> None:
    script = "echo ready; read -r x; seq 1 20000; printf '\\e]2;t\\a'"
    with Outer(host("sh", "-c", script)) as outer:
        outer.until_shown("ready")
        program = outer.program
        outer.press(b"\n")
        end_s = time.monotonic() + 15
        # It takes nothing at all, and the program is not held up.
        while is_alive(program):
            assert time.monotonic() < end_s
        outer.until(lambda: LEAVE in outer.output, pause_s=0.001, bytes_max=1_024)
        drawn_bytes = outer.output.index(LEAVE) - outer.output.index(ENTER)
        assert outer.read_to_end() == 0

        numbers = [line for line in outer.screen.main.lines() if line.isdecimal()]
        assert numbers == [str(number) for number in range(1, 20_001)]
        assert drawn_bytes < 40_000, "frames were left out"


def test_a_long_transcript_can_be_cut_with_ctrl_c() -> None:
    with Outer(host("sh", "-c", "seq 1 30000; exit 5")) as outer:
        outer.until(
            lambda: (
                outer.output.find(b"2000\r\n", outer.output.find(LEAVE)) > 0
                and LEAVE in outer.output
            )
        )
        # Whoever leans on it stops nothing but the printing.
        outer.press(b"\x03" * 20)

        assert outer.read_to_end() == 5
        assert len(outer.screen.main.lines()) < 20_000
        check_left(outer)


@pytest.mark.situation("T67")
@pytest.mark.parametrize("when", ["before", "late", "after"])
@pytest.mark.requirement("host:process:colours")
def test_what_is_answered_is_never_typed_nor_left_over(when: str) -> None:
    with Outer(host(*CAT), answer=ANSWER if when == "before" else b"") as outer:
        outer.until(lambda: ASK in outer.output)
        if when == "before":
            outer.until_shown("#001020")
        outer.until_shown("ready")
        if when == "late":
            outer.press(ANSWER)
        outer.press(b"typed\n\x04")
        if when == "after":
            outer.until(lambda: LEAVE in outer.output)
            outer.press(ANSWER)

        assert outer.read_to_end() == 0
        assert outer.screen.main.lines()[1:-1] == ["ready", "typed", "typed"]
        assert b"rgb:" not in outer.output


def test_what_is_typed_ahead_reaches_the_program_in_order() -> None:
    with Outer(host(*CAT), answer=b"") as outer:
        outer.until(lambda: ASK in outer.output)
        outer.press(b"one " + ANSWER + b"two\n")
        outer.until_shown("one two")
        outer.press(b"\x04")

        assert outer.read_to_end() == 0
