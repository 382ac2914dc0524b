"""Watchdog, host and program: whatever happens to one of them, the terminal is as it was found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Final

import pytest

from tests.host.driver.echo import HANG_KEY, HANGS
from tests.host.driver.outers import ENTER, LEAVE, Outer, is_alive
from tests.suites import PROJECT

CAT: Final = ("sh", "-c", "echo ready; exec cat")


def host(*program: str, options: tuple[str, ...] = ()) -> list[str]:
    return [sys.executable, "-m", "tests.host.driver.echo", *options, "--", *program]


def check_left(outer: Outer) -> None:
    """The terminal has what it had, and all is off that was on."""
    output = outer.output
    assert outer.settings == outer.found
    assert not outer.screen.is_alternate
    assert output.rindex(LEAVE) > output.rindex(ENTER)
    for mode in (b"1000", b"1002", b"1006", b"1004", b"2004"):
        on, off = b"\x1b[?" + mode + b"h", b"\x1b[?" + mode + b"l"
        assert output.rindex(off) > output.rindex(on)
    assert output.rindex(b"\x1b[?25h") > output.rindex(LEAVE)
    assert output.count(b"\x1b[22;2t") <= output.count(b"\x1b[23;2t")


EXITS: Final = [
    # what the program does, what the shell sees
    ("exit 0", 0),
    ("exit 3", 3),
    ("exit 255", 255),
    ("kill -TERM $$", -signal.SIGTERM),
    ("kill -INT $$", -signal.SIGINT),
    ("kill -KILL $$", -signal.SIGKILL),
    ("ulimit -c 0; kill -SEGV $$", -signal.SIGSEGV),
]


@pytest.mark.requirement("host:process:status")
@pytest.mark.parametrize(("script", "status"), EXITS)
def test_the_end_of_the_program_is_the_end_of_the_command(script: str, status: int) -> None:
    with Outer(host("sh", "-c", f"echo begun; {script}")) as outer:
        assert outer.read_to_end() == status
        assert outer.screen.main.lines()[1] == "begun"
        check_left(outer)


@pytest.mark.parametrize(("name", "status"), [("no-such-program", 127), ("/etc/passwd", 126)])
def test_a_program_that_cannot_be_started_has_the_status_of_a_shell(name: str, status: int) -> None:
    with Outer(host(name)) as outer:
        assert outer.read_to_end() == status
        assert f"cannot start {name}" in "\n".join(outer.screen.main.lines())
        check_left(outer)


@pytest.mark.requirement("host:leaving:killed")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_the_watchdog_restores_the_terminal_of_a_host_that_was_killed(
    number: signal.Signals,
) -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        program, killed = outer.program, outer.host
        os.kill(killed, number)

        assert outer.read_to_end() == 128 + number
        assert number.name in "\n".join(outer.screen.main.lines())
        check_left(outer)
        # It was hung up on.
        outer.until(lambda: not is_alive(program))


@pytest.mark.requirement("host:leaving:signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
@pytest.mark.parametrize("whom", ["watchdog", "host", "all"])
def test_a_signal_ends_everything_and_leaves_the_transcript(
    number: signal.Signals, whom: str
) -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        program = outer.program
        if whom == "all":
            os.killpg(outer.job, number)
        else:
            os.kill(outer.job if whom == "watchdog" else outer.host, number)

        assert outer.read_to_end() == -number
        assert outer.screen.main.lines()[1:-1] == ["ready"]
        check_left(outer)
        outer.until(lambda: not is_alive(program))


def test_a_host_that_hangs_is_ended_all_the_same() -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        outer.press(HANG_KEY)
        outer.until(lambda: HANGS in outer.output)
        os.kill(outer.job, signal.SIGTERM)

        assert outer.read_to_end() == 128 + signal.SIGALRM
        check_left(outer)


def test_a_host_whose_watchdog_is_killed_gives_the_terminal_back() -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        program, orphan = outer.program, outer.host
        os.kill(outer.job, signal.SIGKILL)
        outer.until(lambda: not (is_alive(orphan) or is_alive(program)))
        outer.until(lambda: LEAVE in outer.output)

        assert not outer.screen.is_alternate


def test_a_window_that_is_closed_ends_everything() -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        processes = [outer.job, outer.host, outer.program]
        os.close(outer.far)
        outer.far = -1
        outer.hang_up()

        assert outer.process.wait(timeout=20) in {-signal.SIGHUP, 1}
        while any(is_alive(pid) for pid in processes):
            pass


@pytest.mark.requirement("host:leaving:failure")
def test_a_host_that_fails_tells_so_after_it_has_left() -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        outer.press(b"\x0e")

        assert outer.read_to_end() == 1
        lines = outer.screen.main.lines()
        assert lines[1] == "ready"
        assert "RuntimeError: the session has failed" in lines
        check_left(outer)


@pytest.mark.requirement("host:process:stop")
@pytest.mark.parametrize("how", ["key", "watchdog", "host", "all"])
def test_a_stop_gives_the_terminal_back_until_it_goes_on(how: str) -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        for count in (1, 2, 3):
            match how:
                case "key":
                    outer.press(b"\x1c")
                case "all":
                    os.killpg(outer.job, signal.SIGTSTP)
                case _:
                    os.kill(outer.job if how == "watchdog" else outer.host, signal.SIGTSTP)
            outer.until(lambda: outer.output.count(b"stopped 19 sane;") == count)  # noqa: B023 - called at once
            check_left(outer)
            outer.press(b"\n")
            outer.until(lambda: outer.is_raw and outer.screen.is_alternate)
            outer.until_shown("ready")
        outer.press(b"more\n")
        outer.until_shown("more")
        outer.press(b"\x04")

        assert outer.read_to_end() == 0
        # A stop that was asked for in two ways was one stop.
        assert outer.output.count(b"stopped") == 3
        check_left(outer)


@pytest.mark.requirement("host:process:stopped-for-good")
def test_a_stop_that_nobody_can_catch_is_put_right_by_the_watchdog() -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        os.kill(outer.host, signal.SIGSTOP)
        outer.until(lambda: b"stopped 19 sane;" in outer.output)
        check_left(outer)
        outer.press(b"\n")
        outer.until(lambda: outer.is_raw and outer.screen.is_alternate)
        outer.until_shown("ready")
        outer.press(b"\x04")

        assert outer.read_to_end() == 0
        check_left(outer)


def test_ctrl_c_and_its_like_are_keys_of_the_program() -> None:
    script = "trap 'echo interrupted' INT; echo ready; while :; do read -r line && exit 0; done"
    with Outer(host("sh", "-c", script)) as outer:
        outer.until_shown("ready")
        outer.press(b"\x03")
        outer.until_shown("interrupted")
        outer.press(b"x\n")

        assert outer.read_to_end() == 0


def test_the_program_that_is_asked_to_quit_is_hung_up_on() -> None:
    with Outer(
        host("sh", "-c", "trap 'echo bye; exit 7' HUP; echo ready; while :; do sleep 0.05; done")
    ) as outer:
        outer.until_shown("ready")
        outer.press(b"\x1d")

        assert outer.read_to_end() == 7
        assert outer.screen.main.lines()[-2] == "bye"


def test_a_program_that_ignores_that_its_window_is_closed_does_not_hold_it() -> None:
    with Outer(host("sh", "-c", "trap '' HUP; echo ready; exec sleep 30")) as outer:
        outer.until_shown("ready")
        program = outer.program
        outer.press(b"\x1d")

        assert outer.read_to_end() == -signal.SIGHUP
        os.kill(program, signal.SIGKILL)


WANTED: Final = [
    # key,    what the terminal gets
    (b"\x1e", b"\x1b]52;c;Y29waWVk\x1b\\"),
    (b"\x1f", b"\x1b]2;a title\x1b\\"),
    (b"\x02", b"\x07"),
    (b"\x0f", b"\x1b]7;file:///tmp\x1b\\"),
]


@pytest.mark.requirement("host:process:passed-on")
def test_what_the_session_passes_on_reaches_the_terminal() -> None:
    with Outer(host(*CAT)) as outer:
        outer.until_shown("ready")
        for key, wanted in WANTED:
            before = len(outer.output)
            outer.press(key)
            outer.until(lambda: wanted in outer.output[before:])  # noqa: B023 - called at once
        outer.press(b"\x04")

        assert outer.read_to_end() == 0


def test_the_watchdog_is_small() -> None:
    source = (
        "import sys, blockwire.host.watchdog\n"
        "print(sorted({'asyncio', 'click', 'blockwire.tty', 'blockwire.screen', 'subprocess'} & {*sys.modules}))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        cwd=PROJECT / "src",
        check=True,
        encoding="utf-8",
    )

    assert ended.stdout == "[]\n"
