"""What other programs write and are sent, and what a terminal answers too late."""

from __future__ import annotations

import re
import sys
import time

import pytest

from tests.acceptance.terminals.blocksprogram import blocks_program, table
from tests.acceptance.terminals.conftest import Place
from tests.acceptance.terminals.oracle import SCROLLING, check_chat, check_host, check_transcript
from tests.acceptance.terminals.outer import Outer, term
from tests.host.core.windows import Window
from tests.host.driver.outers import ANSWER, ASK, LEAVE
from tests.tui.drawing.shows import compact

pytestmark = pytest.mark.timeout(60)


def redrawing_log(turns: int, rows: int) -> list[bytes]:
    """Return what an agent writes that draws its last rows again and again, frame by frame.

    In the words of those that are built on Ink, as reports show them: rows are erased one by one from
    below; and once what is drawn is as high as the window, the screen and its scrollback are erased
    and everything is written again.
    """
    frames: list[bytes] = []
    said: list[str] = []
    drawn_rows = 0
    for turn in range(turns):
        said.append(f"> question {turn}")
        for step in range(12):
            said.append(f"  {turn}.{step}: 日本 says the model")
            box = [f"✻ Thinking… ({step}s · esc to interrupt)", "╭────╮", "│ >  │", "╰────╯"]
            shown = [*said, *box]
            frame = ["\x1b[?2026h"]
            if len(shown) < rows:
                frame += ["\x1b[2K\x1b[1A"] * (drawn_rows - 1) + ["\x1b[2K\x1b[G"] * (
                    drawn_rows > 0
                )
            else:
                frame += ["\x1b[2J\x1b[3J\x1b[H"]
            frame += ["\r\n".join(shown), "\x1b[?25l\x1b[?2026l"]
            drawn_rows = len(shown)
            frames.append("".join(frame).encode())
    return frames


@pytest.mark.situation("T58")
@pytest.mark.parametrize("bytes_max", [100, 4_096])
def test_t58_whoever_follows_a_program_that_redraws_everything_stays_at_its_end(
    bytes_max: int,
) -> None:
    """waveterm#2384, #2790: the view went to the top after an agent's output."""
    window = Window(80, 24).open().append("block", "kept").output("\n")
    stream = b"".join(redrawing_log(4, 23))

    for start in range(0, len(stream), bytes_max):
        window.output(stream[start : start + bytes_max]).look()
        assert window.core.screen.viewport.is_following
        assert "reading:" not in window.status

    assert window.text()[-4:] == [
        "✻ Thinking… (11s · esc to interrupt)",
        "╭────╮",
        "│ >  │",
        "╰────╯",
    ]
    lines = window.transcript()
    assert lines[0] == "kept", "no program erases a Block"
    assert [line for line in lines if line.startswith(">")] == [f"> question {n}" for n in range(4)]


_REDRAWING = """
import sys, time
for frame in {frames!r}:
    sys.stdout.buffer.write(frame)
    sys.stdout.flush()
    time.sleep(0.005)
sys.stdin.read(1)
"""


@pytest.mark.situation("T58")
def test_t58_nothing_of_what_such_a_program_erases_reaches_the_terminal() -> None:
    """The same in a real terminal, whose own scrollback is nobody's business."""
    frames = redrawing_log(2, 23)
    script = _REDRAWING.format(frames=frames)
    shell = [f"shell {number}" for number in range(40)]
    with Outer(term(sys.executable, "-c", script), before="\r\n".join(shell).encode()) as outer:
        outer.until_shown("1.11: 日本", "│ >  │")
        assert outer.rows[-2] == "╰────╯"
        outer.keys("\n")

        assert outer.exit_status() == 0
        assert outer.main_lines()[:39] == shell[:39]
        check_host(outer.output)


@pytest.mark.situation("T67")
@pytest.mark.parametrize("delay_s", [0.0, 0.15, 0.9, 3.0])
def test_t67_an_answer_is_never_typed_into_a_program_and_never_into_the_next(
    delay_s: float,
) -> None:
    """zellij#5138, qwen-code#2718, hermes-agent#82163: late answers were typed into the shell."""
    inner = " ".join(term("cat", "-v"))
    script = f"{inner}; echo next; exec cat -v"
    with Outer(["sh", "-c", script], answers=False) as outer:
        outer.until(lambda: ASK in outer.output)
        begin_s = time.monotonic()
        if delay_s < 1:
            outer.rest(delay_s)
            outer.press(ANSWER)
        outer.press("typed\r")
        outer.until(lambda: outer.screen_text().count("typed") == 2)
        if delay_s >= 1:
            outer.rest(begin_s + delay_s - time.monotonic())
            outer.press(ANSWER)
        outer.press("\x04")
        outer.until(lambda: re.search(rb"\nnext", outer.output))
        outer.press("end\n")
        outer.until(lambda: outer.output.count(b"end\r\n") == 2)
        outer.press("\x04")

        assert outer.exit_status() == 0
        assert outer.transcript() == ["typed", "typed", "next", "end", "end"]
        assert b"rgb:" not in outer.output


@pytest.mark.situation("T68")
def test_t68_what_stays_is_written_row_by_row_and_scrolled_by_nothing_but_its_ends() -> None:
    """notcurses#2114: what was printed after the end lost its rows in the scrollback."""
    program = blocks_program(
        ["print", "first\n"],
        *table(),
        ["repeat", 200, [["block", "b{n}", "Block {n}"], ["print", "row {n}\n"]]],
        ["print", "\x1b[5;20r\x1b[5S\x1b[3T\x1b[r"],
        ["print", "\x1b[31mlast\x1b[m\n"],
        ["key"],
    )
    with Outer(term(*program)) as outer:
        outer.until_shown("last")
        outer.keys("x")

        assert outer.exit_status() == 0
        rest = outer.output[outer.output.rindex(LEAVE) :]
        assert not SCROLLING.search(rest)
        check_transcript(outer.output)
        check_host(outer.output)
        lines = outer.transcript()
        assert lines[0] == "first"
        assert [it for it in lines if it.startswith("Block")] == [f"Block {n}" for n in range(200)]
        assert any(line.startswith("last") for line in lines)


_WANTS_PASTE = """
import os, sys, tty
tty.setraw(0)
os.write(1, b"\\x1b[?2004hready")
data = b""
while not data.endswith(b"END\\x1b[201~"):
    data += os.read(0, 65536)
os.write(1, b"\\x1b[?2004l\\r\\n" + ascii(data).encode() + b"\\r\\n")
tty.setcbreak(0)
sys.stdin.read(1)
"""


@pytest.mark.situation("T70")
@pytest.mark.parametrize(
    ("pasted", "left"),
    [
        ("\x9b201~".encode(), b"201~"),
        # By itself it is no character.
        (b"\x9b201~", "\ufffd201~".encode()),
        (b"\x1b[20\x001~", b"[201~"),
        (b"\x1b\xc2\x9b\x1b[201\x1b~", b"[201~"),
    ],
)
def test_t70_nothing_that_is_pasted_ends_its_paste(pasted: bytes, left: bytes) -> None:
    """nodeterm#198: a pasted text left its brackets and was typed as commands."""
    with Outer(term(sys.executable, "-c", _WANTS_PASTE), columns=100) as outer:
        outer.until_shown("ready")
        outer.press(b"\x1b[200~before " + pasted + b" rm -rf END\x1b[201~")
        outer.until_shown("rm -rf END")
        (shown,) = [row for row in outer.rows if row.startswith("b'")]
        outer.keys("\n")

        assert outer.exit_status() == 0
        assert shown == ascii(b"\x1b[200~before " + left + b" rm -rf END\x1b[201~")
        check_host(outer.output)


@pytest.mark.situation("T55")
@pytest.mark.parametrize("emulator", ["ghostty", "pyte"])
def test_t55_saved_lines_that_a_program_erases_leave_blocks_and_a_reader_somewhere(
    emulator: str,
) -> None:
    """xterm.js#6046: after CSI 3 J a view stayed pinned to the top, whatever came."""
    program = blocks_program(
        ["repeat", 60, [["print", "old {n}\n"]]],
        ["block", "kept", "a Block is kept"],
        ["repeat", 60, [["print", "older {n}\n"]]],
        ["key"],
        ["every", 5, 100, [["print", "\x1b[3J"], ["print", "new {n}\n"]]],
        ["title", "done"],
        ["key"],
    )
    with Outer(term(*program, options=("--emulator", emulator))) as outer:
        outer.until_shown("older 59")
        outer.keys("x", "shift-home")
        outer.until_shown("reading:")
        outer.until_written(b"\x1b]2;done\x1b\\")
        outer.until_shown("a Block is kept")
        outer.keys("shift-end")
        outer.until_shown("new 99")
        outer.until_gone("reading:")
        outer.keys("x")

        assert outer.exit_status() == 0
        lines = outer.transcript()
        assert lines[0] == "a Block is kept"
        assert lines[-1] == "new 99"
        assert not [line for line in lines if line.startswith("old ")]
        check_host(outer.output)


@pytest.mark.situation("T56")
@pytest.mark.parametrize("emulator", ["ghostty", "pyte"])
@pytest.mark.parametrize(("region", "kept"), [("1;20", True), ("2;20", False)])
def test_t56_rows_that_a_region_scrolls_away_at_the_top_are_kept(
    region: str, kept: bool, emulator: str
) -> None:
    """xterm.js#6011, kitty#3114: whether a line survived depended on what had scrolled it."""
    rows = "".join(f"\x1b[{row};1Hrow {row}" for row in range(1, 23))
    script = (
        f"printf '{rows}\x1b[{region}r\x1b[20;1H\\nby LF\x1b[2Sby SU\x1b[r\x1b[22;1H'; read -r x"
    )
    with Outer(term("sh", "-c", script, options=("--emulator", emulator))) as outer:
        outer.until_shown("by SU")
        outer.keys("\n")

        assert outer.exit_status() == 0
        lines = outer.transcript()
        gone = [f"row {row}" for row in ((1, 2, 3) if kept else (2, 3, 4))]
        assert [line for line in lines if line in gone] == (gone if kept else [])
        assert lines.count("row 21") == 1
        check_host(outer.output)


@pytest.mark.situation("T52")
@pytest.mark.parametrize("where", ["in a terminal", "in the host"])
def test_t52_emoji_and_wide_characters_that_stream_leave_no_stale_rows(
    place: Place, where: str
) -> None:
    """mcp-client-for-ollama#251: rows with emoji were counted wrongly, and stale ones left."""
    lines = [
        f"- line {n} 👨‍👩‍👧 漢字 " + "漢字❤️ 🇩🇪 👍🏽 " * (n % 9) + f"end {n}" for n in range(60)
    ]
    place.say("wide", "\n".join(lines) + "\n")
    command = place.chat()
    if where == "in the host":
        command = term(*command)
    with Outer(command, env=place.env, columns=50, rows=16) as outer:
        outer.until_shown("Ask something")
        outer.keys("say wide\r")
        outer.until_shown("end 59")
        outer.until(lambda: outer.rest(0.3) == 0)
        outer.keys("ctrl-d")

        assert outer.exit_status() == 0
        said = compact(outer.transcript())
        assert compact(lines).replace("-line", "•line") in said, "each row once, in order, whole"
        assert said.count("line") == 60
        (check_host if where == "in the host" else check_chat)(outer.output)
