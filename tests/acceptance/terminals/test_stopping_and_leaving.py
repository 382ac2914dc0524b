"""Stops, and what stays when it is over: situations 13, 14 and 16."""

from __future__ import annotations

import os
import re
import signal
from typing import Final

import pytest

from tests.acceptance.terminals.blocksprogram import blocks_program, streamer
from tests.acceptance.terminals.conftest import Place, until_answered
from tests.acceptance.terminals.oracle import check_chat, check_host, check_transcript, told
from tests.acceptance.terminals.outer import Outer, Whom, term

pytestmark = pytest.mark.timeout(120)

MODES: Final = re.compile(rb"\x1b\[\?(1049|1000|1002|1003|1006|1004|2004|2026)([hl])")
PASTE: Final = "\x1b[200~pasted\x1b[201~\n"


def modes_on(output: bytes) -> set[bytes]:
    """Return the modes that were switched on and not off again."""
    last = {found[1]: found[2] for found in MODES.finditer(output)}
    return {name for name, how in last.items() if how == b"h"}


def told_count(output: bytes, kind: str) -> int:
    return sum(it.kind == kind for it in told(output))


@pytest.mark.situation("T13")
def test_t13_a_paste_into_a_stopped_host_goes_to_the_shell() -> None:
    """anthropics/claude-code #78690 and #88249."""
    program = blocks_program(["block", "one", "a block"], ["key"], ["exit", 5])
    with Outer(term(*program), columns=60, rows=12) as outer:
        outer.until_shown("a block")
        for count in (1, 2):
            outer.keys("prefix", "ctrl-z")
            outer.until(lambda: outer.output.count(b"stopped 19 sane;") == count)  # noqa: B023 - called at once
            assert modes_on(outer.output) == set()
            assert not outer.screen.is_alternate
            # The shell reads it, and lets the program go on.
            outer.press(PASTE)
            outer.until(lambda: outer.is_raw and outer.screen.is_alternate)
            outer.until_shown("a block")
            assert modes_on(outer.output) == {b"1049", b"1000", b"1002", b"1006", b"1004", b"2004"}
        outer.keys("x")

        assert outer.exit_status() == 5
        assert modes_on(outer.output) == set()
        assert outer.main_lines().count("a block") == 1
    check_host(outer.output)


@pytest.mark.situation("T13")
def test_t13_a_chat_that_is_stopped_and_goes_on_is_raw_and_painted_again(place: Place) -> None:
    """anthropics/claude-code #78690 and #88249."""
    place.say("one", "the answer")
    with Outer(place.chat(), env=place.env) as outer:
        outer.until_shown("Ask something")
        outer.keys("a draft of one")
        outer.until_shown("> a draft of one")
        for count in (1, 2):
            outer.keys("ctrl-z")
            outer.until(lambda: len(re.findall(rb"stopped \d+ sane;", outer.output)) == count)  # noqa: B023 - called at once
            assert modes_on(outer.output) == set()
            stopped_at = len(outer.output)
            outer.press(PASTE)
            outer.until(lambda: b"\x1b[?2004h" in outer.output[stopped_at:])  # noqa: B023 - called at once
            outer.until_shown("> a draft of one")
            assert b"a draft of one" in outer.output[stopped_at:]
        outer.keys("enter")
        until_answered(outer, "the answer")
        outer.keys("ctrl-d")

        assert outer.exit_status() == 0
        assert modes_on(outer.output) == set()
        assert [it for it in outer.main_lines() if it == "the answer"] == ["the answer"]
    check_chat(outer.output)


@pytest.mark.situation("T14")
def test_t14_the_transcript_stands_on_the_main_screen_once_and_as_it_was_last() -> None:
    """anthropics/claude-code #89754."""
    program = blocks_program(
        ["block", "state", "state: running"],
        *streamer(100, every_ms=1),
        ["print", "\x1b[?1049h\x1b[Hon the alternate screen\x1b[?1049l"],
        ["update", "state", "state: done"],
        ["print", "bye\n"],
        ["key"],
    )
    with Outer(term(*program), before=b"$ blockwire term\r\n") as outer:
        outer.until_shown("bye")
        outer.keys("shift-home")
        outer.until_shown("state: done")
        outer.resize(70, 20)
        outer.until(lambda: len(outer.rows[-1]) == 69)
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.main_lines()[0] == "$ blockwire term"
        tokens = [f"token {it}" for it in range(100)]
        assert outer.transcript() == ["state: done", *tokens, "bye"]
    check_host(outer.output)
    check_transcript(outer.output)


@pytest.mark.situation("T16")
def test_t16_the_history_can_be_reached_in_every_way(place: Place) -> None:
    """anthropics/claude-code #42670 and github/copilot-cli #2334."""
    lines = [f"line {it:03}" for it in range(1, 101)]
    place.say("lines", "\n\n".join(lines))
    with Outer(term(*place.chat()), env=place.env) as outer:
        outer.until_shown("Ask something")
        outer.keys("all lines", "enter")
        until_answered(outer, "line 100")
        # The wheel.
        for _ in range(8):
            outer.mouse("up", 10, 5)
        outer.until_shown("line 088")
        outer.until_gone("line 100")
        # Pages, and back to the end.
        outer.keys("shift-page-up", "shift-page-up")
        outer.until_shown("line 060")
        outer.keys("end")
        outer.until_shown("line 100")
        # Find.
        outer.keys("prefix", "/", "line 007")
        outer.until_shown("1 of 1: line 007")
        outer.keys("enter")
        # Select by keys from what was found, two rows on.
        outer.keys("prefix", "[", "V", "j", "j", "y")
        outer.until(outer.copied)
        assert outer.copied() == ["line 007\n\nline 008"]
        # The whole answer, wherever its end is.
        outer.keys("prefix", "c")
        outer.until(lambda: len(outer.copied()) == 2)
        assert outer.copied()[1] == "\n\n".join(lines)
        # Export.
        target = place.folder / "out.md"
        outer.keys(f"/export markdown {target}", "enter")
        outer.until_shown("written to")
        assert re.findall(r"line \d+", target.read_text(encoding="utf-8")) == lines
        outer.keys("ctrl-d")

        # And what stays.
        assert outer.exit_status() == 0
        assert re.findall(r"^line \d+$", "\n".join(outer.transcript()), re.MULTILINE) == lines
    check_host(outer.output)


@pytest.mark.situation("T13")
def test_t13_a_stop_in_a_flood_cuts_no_frame_and_another_size_is_seen_after_it() -> None:
    """anthropics/claude-code #78690 and #88249."""
    flood = "n=0; while :; do n=$((n+1)); echo flood $n; done"
    with Outer(term("sh", "-c", flood)) as outer:
        for count, (columns, rows) in enumerate([(60, 15), (100, 30)], 1):
            outer.until_shown("flood")
            # By its key, then from outside.
            if count == 1:
                outer.keys("prefix", "d")
            else:
                os.killpg(outer.job, signal.SIGTSTP)
            outer.until(lambda: outer.output.count(b"stopped 19 sane;") == count)  # noqa: B023 - called at once
            assert modes_on(outer.output) == set()
            outer.resize(columns, rows)
            outer.press("\n")
            outer.until(lambda: outer.screen.is_alternate and len(outer.rows[-1]) == columns - 1)  # noqa: B023 - called at once
            assert outer.is_raw
        outer.keys("ctrl-c")

        assert outer.exit_status() == -signal.SIGINT
        lines = [
            int(it)
            for it in re.findall(r"^flood (\d+)$", "\n".join(outer.transcript()), re.MULTILINE)
        ]
        assert lines == [*range(lines[0], lines[-1] + 1)]
    check_host(outer.output)
    assert told_count(outer.output, "left") == told_count(outer.output, "entered") == 3


@pytest.mark.situation("T14")
@pytest.mark.parametrize("whom", ["watchdog", "host"])
def test_t14_the_transcript_stands_there_too_if_the_window_is_told_to_end(whom: Whom) -> None:
    """anthropics/claude-code #89754."""
    program = blocks_program(*streamer(50, every_ms=0), ["print", "half a row"], ["key"])
    with Outer(term(*program)) as outer:
        outer.until_shown("half a row")
        outer.kill(signal.SIGTERM, whom)

        assert outer.exit_status() == -signal.SIGTERM
        assert outer.transcript() == [*(f"token {it}" for it in range(50)), "half a row"]
        assert modes_on(outer.output) == set()
    check_host(outer.output)
    check_transcript(outer.output)
