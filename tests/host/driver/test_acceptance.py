"""``blockwire term`` as people use it: real programs in a real terminal, read by an emulator."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from blockwire import __version__
from tests.host.driver.outers import ANSWER, ASK, ENTER, LEAVE, Outer, is_alive
from tests.host.driver.test_processes import check_left

pytestmark = pytest.mark.timeout(120)

CAT: Final = ("sh", "-c", "echo ready; exec cat")
# What would clear or erase what is not ours.
ERASING: Final = re.compile(rb"\x1b\[[123]J|\x1bc")
SHELL_LINES: Final = "".join(f"shell line {number}\r\n" for number in range(100)).encode()


def term(*program: str, options: tuple[str, ...] = ()) -> list[str]:
    return [sys.executable, "-m", "blockwire", "term", *options, "--", *program]


def transcript_of(outer: Outer) -> list[str]:
    """What stands on the main screen between the lines of the shell."""
    lines = outer.screen.main.lines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("job ")) + 1
    return lines[begin:-1]


# environment ------------------------------------------------------------------------------------
OUTER_ENVIRONMENT: Final = {
    "TERM": "xterm-kitty",
    "COLORTERM": "24bit",
    "TERM_PROGRAM": "WezTerm",
    "TERM_PROGRAM_VERSION": "1",
    "TERM_SESSION_ID": "1",
    "LC_TERMINAL": "iTerm2",
    "TMUX": "/tmp/tmux,1,0",
    "TMUX_PANE": "%0",
    "STY": "1.pts",
    "ZELLIJ": "0",
    "KITTY_WINDOW_ID": "1",
    "WEZTERM_PANE": "0",
    "VTE_VERSION": "7000",
    "WINDOWID": "1",
    "TERMINFO": "/nowhere",
    "LINES": "7",
    "COLUMNS": "9",
    "BLOCKWIRE_TERMINAL": "0",
    "SHELL": "/bin/bash",
    "NO_COLOR": "1",
    "SSH_CONNECTION": "1 2 3 4",
    "MINE": "kept",
}


@pytest.mark.requirement("host:process:environment")
def test_the_program_finds_our_terminal_and_nothing_of_the_outer_one() -> None:
    script = "import json, os; print(json.dumps(dict(os.environ), indent=0))"
    with Outer(term(sys.executable, "-c", script), env=OUTER_ENVIRONMENT, columns=200) as outer:
        assert outer.read_to_end() == 0
        pairs = (re.fullmatch(r'"(\w+)": "(.*)",?', line) for line in transcript_of(outer))
        found = {pair[1]: pair[2] for pair in pairs if pair}

    assert {
        name: found.get(name) for name in (*OUTER_ENVIRONMENT, "BLOCKWIRE_AMBIGUOUS_WIDTH")
    } == {
        **dict.fromkeys(OUTER_ENVIRONMENT),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TERM_PROGRAM": "blockwire",
        "TERM_PROGRAM_VERSION": __version__,
        "BLOCKWIRE_AMBIGUOUS_WIDTH": "1",
        "SHELL": "/bin/bash",
        "NO_COLOR": "1",
        "SSH_CONNECTION": "1 2 3 4",
        "MINE": "kept",
    }


def test_without_a_command_the_shell_runs(tmp_path: Path) -> None:
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\necho the shell, $# arguments\n", encoding="utf-8")
    shell.chmod(0o755)

    with Outer([*term()[:-1]], env={"SHELL": str(shell)}) as outer:
        assert outer.read_to_end() == 0
        assert transcript_of(outer) == ["the shell, 0 arguments"]


def test_options_of_the_program_are_its_own() -> None:
    with Outer([*term()[:-1], "sh", "-c", "echo $0 $1", "--theme", "-x"]) as outer:
        assert outer.read_to_end() == 0
        assert transcript_of(outer) == ["--theme -x"]


# signals of the program ---------------------------------------------------------------------------
@pytest.mark.requirement("host:process:signals-default")
def test_the_program_has_the_signals_of_a_program_in_a_window() -> None:
    script = (
        "import signal, os\n"
        "ours = {signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}\n"
        "print([it.name for it in signal.Signals if it not in ours and signal.getsignal(it) == signal.SIG_IGN])\n"
        "print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n"
        "print(os.getsid(0) == os.getpid() == os.tcgetpgrp(0))"
    )
    with Outer(term(sys.executable, "-c", script)) as outer:
        assert outer.read_to_end() == 0
        assert transcript_of(outer) == ["[]", "set()", "True"]


@pytest.mark.requirement("host:process:keys")
@pytest.mark.parametrize(("key", "number"), [("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)])
def test_ctrl_c_and_ctrl_backslash_end_the_program(key: str, number: signal.Signals) -> None:
    with Outer(term("sh", "-c", "ulimit -c 0; echo ready; exec sleep 30")) as outer:
        outer.until_shown("ready")
        outer.press(key)

        assert outer.read_to_end() == -number
        check_left(outer)


# what stays ---------------------------------------------------------------------------------------
@pytest.mark.situation("T28")
@pytest.mark.requirement("host:leaving:main-screen")
def test_what_the_shell_had_shown_is_still_there() -> None:
    with Outer(term("seq", "1", "50"), before=SHELL_LINES) as outer:
        assert outer.read_to_end() == 0

        assert outer.screen.main.lines()[:100] == [f"shell line {number}" for number in range(100)]
        assert transcript_of(outer) == [*map(str, range(1, 51))]
        assert not ERASING.search(outer.output)


@pytest.mark.situation("T14")
@pytest.mark.requirement("host:leaving:transcript")
@pytest.mark.parametrize(
    ("option", "kept"),
    [
        ((), 500),
        (("--transcript", "all"), 500),
        (("--transcript", "2"), 48),
        (("--transcript", "none"), 0),
        (("--no-transcript",), 0),
    ],
)
def test_as_much_stays_as_was_asked_for(option: tuple[str, ...], kept: int) -> None:
    with Outer(term("seq", "1", "500", options=option)) as outer:
        assert outer.read_to_end() == 0

        assert transcript_of(outer) == [str(number) for number in range(501 - kept, 501)]
        check_left(outer)
        # Plain rows: nothing scrolls or moves what is there (T17).
        rest = outer.output[outer.output.rindex(b"\x1b[?25h") + 6 :]
        assert b"\x1b" not in rest


@pytest.mark.situation("T65")
def test_a_slow_terminal_misses_frames_and_no_line() -> None:
    with Outer(term("sh", "-c", "echo ready; read -r x; seq 1 20000")) as outer:
        outer.until_shown("ready")
        program = outer.program
        outer.press(b"\n")
        end_s = time.monotonic() + 30
        # It takes nothing at all, and the program is not held up.
        while is_alive(program):
            assert time.monotonic() < end_s
        outer.until(lambda: LEAVE in outer.output, pause_s=0.001, bytes_max=1_024)
        drawn_bytes = outer.output.index(LEAVE) - outer.output.index(ENTER)
        assert outer.read_to_end() == 0

        numbers = [line for line in transcript_of(outer) if line.isdecimal()]
        assert numbers == [str(number) for number in range(1, 20_001)]
        assert drawn_bytes < 60_000, "frames were left out"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_host_that_is_killed_leaves_a_sane_terminal(number: signal.Signals) -> None:
    with Outer(term(*CAT)) as outer:
        outer.until_shown("ready")
        program = outer.program
        os.kill(outer.host, number)

        assert outer.read_to_end() == 128 + number
        assert f"the host was ended by {number.name}" in "\n".join(outer.screen.main.lines())
        check_left(outer)
        outer.until(lambda: not is_alive(program))


@pytest.mark.situation("T13")
def test_it_stops_goes_on_and_draws_everything_again() -> None:
    with Outer(term(*CAT)) as outer:
        outer.until_shown("ready")
        for count in (1, 2):
            # Its own key, and a signal to the job.
            if count == 1:
                outer.press("\x1dd")
            else:
                os.killpg(outer.job, signal.SIGTSTP)
            outer.until(lambda: outer.output.count(b"stopped 19 sane;") == count)  # noqa: B023 - called at once
            check_left(outer)
            outer.press("\n")
            outer.until(lambda: outer.is_raw and outer.screen.is_alternate)
            outer.until_shown("ready")
        outer.press("\x04")

        assert outer.read_to_end() == 0
        check_left(outer)


def test_started_in_the_background_it_waits_to_be_brought_back() -> None:
    with Outer(term("echo", "shown"), in_background=True) as outer:
        outer.until(lambda: b"stopped 22 sane;" in outer.output)
        assert b"\x1b" not in outer.output
        outer.press("\n")

        assert outer.read_to_end() == 0
        assert transcript_of(outer)[-1] == "shown"
        check_left(outer)


# size ---------------------------------------------------------------------------------------------
@pytest.mark.requirement("host:process:size")
def test_the_program_is_told_of_each_size_that_stays() -> None:
    script = "trap 'stty size' WINCH; echo ready; while :; do read -r x && exit 0; done"
    with Outer(term("sh", "-c", script)) as outer:
        outer.until_shown("ready")
        for columns in range(40, 140):
            outer.set_size(columns, 10 + columns % 20)
        outer.set_size(100, 30)
        outer.until_shown("29 100")
        outer.press("x\n")

        assert outer.read_to_end() == 0
        # A storm of a hundred sizes was a few.
        sizes = [line for line in transcript_of(outer) if re.fullmatch(r"\d+ \d+", line)]
        assert sizes[-1] == "29 100"
        assert len(sizes) < 100


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 1), (1, 50), (80, 3), (500, 2)])
def test_any_window_is_large_enough(columns: int, rows: int) -> None:
    with Outer(term("sh", "-c", "stty size; read -r x; seq 1 100; exit 4")) as outer:
        outer.until_shown("23 80")
        outer.set_size(columns, rows)
        outer.press("\n")
        outer.until(lambda: LEAVE in outer.output)
        outer.set_size(80, 24)

        assert outer.read_to_end() == 4


# programs that fill the screen --------------------------------------------------------------------
def test_a_pager_has_the_whole_screen_and_leaves_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("".join(f"row {it}\n" for it in range(200)), encoding="utf-8")
    command = f"echo before; less {tmp_path}/text; echo after; read -r x"
    with Outer(term("sh", "-c", command), env={"LESS": ""}) as outer:
        outer.until_shown("row 21")
        assert outer.screen.rows[0] == "row 0"
        outer.press("G")
        outer.until_shown("row 199")
        outer.press("q")
        outer.until_shown("after")
        assert "before" in outer.screen.text
        assert "row " not in outer.screen.text
        outer.press("\n")

        assert outer.read_to_end() == 0
        assert transcript_of(outer)[:2] == ["before", "after"]


def test_an_editor_edits(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with Outer(term("vim", "-u", "NONE", "-N", "-n", str(file))) as outer:
        outer.until_shown("~")
        outer.press("ihello world\x1b")
        outer.until_shown("hello world")
        outer.set_size(60, 12)
        outer.until(lambda: outer.screen.rows[0] == "hello world")
        outer.press(":wq\r")

        assert outer.read_to_end() == 0
    assert file.read_text(encoding="utf-8") == "hello world\n"


# input --------------------------------------------------------------------------------------------
@pytest.mark.requirement("host:process:input")
def test_a_megabyte_that_is_pasted_comes_whole() -> None:
    script = (
        "import hashlib, os, sys, tty\n"
        "tty.setraw(0)\n"
        "os.write(1, b'ready')\n"
        "data = b''\n"
        "while not data.endswith(b'END'):\n"
        "    data += os.read(0, 65536)\n"
        "tty.setcbreak(0)\n"
        "print(len(data), hashlib.sha256(data).hexdigest()[:16], flush=True)\n"
        "os.read(0, 1)\n"  # the host shows it, and leaves its screen only afterwards
    )
    text = "".join(f"line {number}\r" for number in range(90_000)) + "END"
    with Outer(term(sys.executable, "-c", script), columns=100) as outer:
        outer.until_shown("ready")
        outer.press(f"\x1b[200~{text}\x1b[201~")
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        outer.until_shown(f"{len(text)} {digest}")
        outer.press("x")

        assert outer.read_to_end() == 0


@pytest.mark.situation("T67")
@pytest.mark.parametrize("delay_s", [0.0, 0.15, 0.9])
def test_colours_are_asked_for_and_answers_are_never_typed(delay_s: float) -> None:
    with Outer(term(*CAT), answer=b"") as outer:
        outer.until(lambda: ASK in outer.output)
        end_s = time.monotonic() + delay_s
        outer.until(lambda: time.monotonic() >= end_s)
        outer.press(ANSWER)
        outer.until_shown("ready")
        outer.press("typed\n")
        outer.until(lambda: outer.screen.text.count("typed") == 2)
        outer.press("\x04")

        assert outer.read_to_end() == 0
        assert transcript_of(outer) == ["ready", "typed", "typed"]


def test_a_program_that_asks_for_colours_hears_those_of_the_outer_terminal() -> None:
    script = (
        "import os, tty\n"
        "tty.setraw(0)\n"
        "os.write(1, b'\\x1b]11;?\\x1b\\\\')\n"
        "data = os.read(0, 100)\n"
        "tty.setcbreak(0)\n"
        "print(ascii(data.decode()))\n"
    )
    with Outer(term(sys.executable, "-c", script)) as outer:
        assert outer.read_to_end() == 0
        assert transcript_of(outer) == [r"'\x1b]11;rgb:0000/1010/2020\x1b\\'"]


def test_the_mouse_is_left_alone_if_nobody_wants_it() -> None:
    with Outer(term("true", options=("--no-mouse",))) as outer:
        assert outer.read_to_end() == 0
        assert not re.search(rb"\x1b\[\?100[0236]h", outer.output)


# in other terminals -------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["linux", "xterm", "screen-256color", "vt100"])
def test_it_runs_in_terminals_of_other_names(name: str) -> None:
    with Outer(
        term("sh", "-c", "printf '\\033[31mred\\033[m'; read -r x"), env={"TERM": name}
    ) as outer:
        outer.until_shown("red")
        outer.press("\n")

        assert outer.read_to_end() == 0
        assert b"38;2;" not in outer.output


@pytest.mark.parametrize("value", ["1", ""])
def test_no_color_is_no_colour_if_it_is_not_empty(value: str) -> None:
    environment = {"NO_COLOR": value, "COLORTERM": "truecolor"}
    with Outer(term("sh", "-c", "printf '\\033[31;44mred\\033[m'"), env=environment) as outer:
        assert outer.read_to_end() == 0
        has_colour = bool(re.search(rb"\x1b\[[0-9;]*[34][0-9][0-9;]*m", outer.output))
        assert has_colour == (value == "")


def test_it_runs_in_itself() -> None:
    inner = " ".join(term("sh", "-c", "'echo inner; read -r x; exit 9'"))
    with Outer(term("sh", "-c", f"echo outer; {inner}; echo status $?")) as outer:
        outer.until_shown("inner")
        outer.press("\n")

        assert outer.read_to_end() == 0
        assert transcript_of(outer)[:1] == ["outer"]
        assert transcript_of(outer)[-1] == "status 9"
        assert "inner" in transcript_of(outer)
        check_left(outer)


def test_a_window_that_is_idle_is_left_alone() -> None:
    with Outer(term(*CAT)) as outer:
        outer.until_shown("ready")
        settled = time.monotonic() + 1.0
        outer.until(lambda: time.monotonic() > settled)
        written = len(outer.output)
        later = time.monotonic() + 1.0
        outer.until(lambda: time.monotonic() > later)

        assert len(outer.output) == written
