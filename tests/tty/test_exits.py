"""However a program ends or stops, its terminal is as it was found."""

from __future__ import annotations

import os
import signal
import termios
from typing import Final

import pytest

from tests.tty.terminals import DA1_ANSWER, DA1_REQUEST, ProgramTerminal, left_over

ENTER: Final = b"\x1b[?2004h"
LEAVE: Final = b"\x1b[?2004l"

PROGRAM: Final = r"""
import asyncio, atexit, os, sys, termios
from blockwire.tty import TerminalOptions, open_terminal

def resumed():
    terminal.write(b"resumed;")

async def main():
    global terminal
    options = TerminalOptions(
        on_enter=b"\x1b[?2004h", on_leave=b"\x1b[?2004l", on_resume=resumed, keys=os.environ.get("KEYS", "signals")
    )
    async with open_terminal(options) as terminal:
        context = await terminal.open_context()
        block = context.append("begun")
        await terminal.flush()
        terminal.write(b"%d;ready;" % os.getpid())
        await terminal.flush()
        match sys.argv[1]:
            case "busy":
                while True:
                    pass
            case "raise":
                raise ValueError("it failed")
            case "exit":
                sys.exit(3)
            case "leak":
                asyncio.get_running_loop().stop()
                await asyncio.Event().wait()
            case "normal":
                return
            case "fork":
                if not (child := os.fork()):
                    atexit._run_exitfuncs()
                    os._exit(0)
                os.waitpid(child, 0)
                terminal.write(b"cooked;" if termios.tcgetattr(0)[3] & termios.ICANON else b"raw;")
                return
        while data := await terminal.read():
            block.extend(data.decode())
            if b"q" in data:
                return

if sys.argv[1] == "leak":
    # The loop stops for good, and nothing of the program is ever ended. What was registered first is
    # called last, and before anything is collected.
    found = termios.tcgetattr(0)
    atexit.register(lambda: os.write(1, b"sane;" if termios.tcgetattr(0) == found else b"odd;"))
    loop = asyncio.new_event_loop()
    task = loop.create_task(main())
    loop.run_forever()
    sys.exit(4)
asyncio.run(main())
"""


def program_on(loop: str) -> str:
    return PROGRAM.replace("asyncio.run", f"{loop}.run").replace(
        "import asyncio,", "import asyncio, uvloop,"
    )


def begun(how: str, *, loop: str = "asyncio", **environment: str) -> ProgramTerminal:
    terminal = ProgramTerminal(program_on(loop), how, environment=environment)
    terminal.read(lambda: b"ready;" in terminal.brain.screen)
    return terminal


def pid_of(terminal: ProgramTerminal) -> int:
    return int(terminal.brain.screen.partition(b";")[0].rpartition(b"h")[2])


def check_left(terminal: ProgramTerminal) -> None:
    assert terminal.is_restored()
    screen = terminal.brain.screen
    assert 0 < screen.count(ENTER) <= screen.count(LEAVE)
    assert screen.rindex(LEAVE) > screen.rindex(ENTER)
    assert terminal.brain.texts() == ["begun"]


@pytest.mark.requirement("terminal:application:restore")
@pytest.mark.parametrize(("how", "status"), [("normal", 0), ("raise", 1), ("exit", 3), ("leak", 4)])
def test_every_end_of_a_program_gives_the_terminal_back(how: str, status: int) -> None:
    with ProgramTerminal(PROGRAM, how) as terminal:
        assert terminal.read_to_end() == status
        check_left(terminal)
        assert (b"sane;" in terminal.brain.screen) == (how == "leak")


@pytest.mark.parametrize(
    ("how", "loop"), [("wait", "asyncio"), ("busy", "asyncio"), ("wait", "uvloop")]
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_program_and_gives_the_terminal_back(
    how: str, loop: str, number: signal.Signals
) -> None:
    with begun(how, loop=loop) as terminal:
        terminal.process.send_signal(number)

        assert terminal.read_to_end() == -number
        check_left(terminal)


@pytest.mark.parametrize("how", ["wait", "busy"])
def test_ctrl_c_ends_the_program_and_gives_the_terminal_back(how: str) -> None:
    with begun(how) as terminal:
        terminal.press(b"\x03")
        if how == "busy":
            # It cancels a task, which one that never waits does not notice; so people press on.
            terminal.read(lambda: terminal.process.poll() is not None or terminal.press(b"\x03"))

        # Python itself may be interrupted while it ends by that signal.
        assert terminal.read_to_end() in {-signal.SIGINT, 128 + signal.SIGINT}
        check_left(terminal)


@pytest.mark.requirement("terminal:application:next-reader")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_what_is_answered_to_a_program_that_a_signal_ends_is_not_left_over(
    number: signal.Signals,
) -> None:
    with ProgramTerminal(PROGRAM, "wait", answers="nothing") as terminal:
        terminal.read(lambda: DA1_REQUEST in terminal.brain.output)
        terminal.process.send_signal(number)
        terminal.read(lambda: LEAVE in terminal.brain.output)
        terminal.press(DA1_ANSWER)

        assert terminal.read_to_end() == -number
        assert terminal.is_restored()
        assert left_over(terminal.far) == b""


def test_ctrl_c_may_be_a_key() -> None:
    with begun("wait", KEYS="bytes") as terminal:
        terminal.press(b"\x03")
        terminal.read(lambda: terminal.brain.texts() == ["begun\x03"])
        terminal.press(b"q")

        assert terminal.read_to_end() == 0
        assert terminal.is_restored()


def test_a_child_that_ends_does_not_give_the_terminal_back() -> None:
    with ProgramTerminal(PROGRAM, "fork") as terminal:
        assert terminal.read_to_end() == 0
        assert b"raw;" in terminal.brain.screen
        check_left(terminal)


# A shell as small as can be: it starts a program in a group of its own, and sees it stop.
SHELL: Final = r"""
import os, signal, sys, termios
program = sys.argv[1:]
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
ours = termios.tcgetattr(0)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(program[0], program)
try:
    os.setpgid(child, child)
except OSError:
    pass
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        os.write(1, b"ended %d;" % os.waitstatus_to_exitcode(status))
        break
    same = b"sane" if termios.tcgetattr(0) == ours else b"odd"
    os.write(1, b"stopped %d %b;" % (os.WSTOPSIG(status), same))
    line = os.read(0, 100)
    os.tcsetpgrp(0, child)
    os.killpg(child, signal.SIGCONT)
"""


@pytest.mark.requirement("terminal:application:stop")
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("how", ["key", "signal"])
def test_a_stop_gives_the_terminal_back_until_the_program_goes_on(how: str, loop: str) -> None:
    with ProgramTerminal(
        SHELL.replace("sys.argv[1:]", "[sys.executable, '-c', sys.argv[1], 'wait']"),
        program_on(loop),
    ) as terminal:
        brain = terminal.brain
        terminal.read(lambda: b"ready;" in brain.screen)
        for count in (1, 2):
            if how == "key":
                terminal.press(b"\x1a")
            else:
                os.kill(pid_of(terminal), signal.SIGTSTP)
            terminal.read(lambda: brain.screen.count(b"stopped 20 sane;") == count)  # noqa: B023 - called at once
            assert brain.screen.count(ENTER) == brain.screen.count(LEAVE) == count
            assert terminal.is_restored()
            terminal.press(b"fg\n")
            terminal.read(lambda: brain.screen.count(b"resumed;") == count)  # noqa: B023 - called at once
            assert not terminal.settings[3] & termios.ICANON
            assert brain.screen.count(ENTER) == count + 1
        terminal.press(b"xq")
        terminal.read(lambda: b"ended 0;" in brain.screen)

        assert terminal.read_to_end() == 0
        assert terminal.is_restored()
        assert brain.texts() == ["begunxq"]


def test_a_stop_from_outside_that_nobody_could_see_is_put_right_as_well() -> None:
    with ProgramTerminal(
        SHELL.replace("sys.argv[1:]", "[sys.executable, '-c', sys.argv[1], 'wait']").replace(
            "    line = os.read(0, 100)\n", "    termios.tcsetattr(0, termios.TCSANOW, ours)\n"
        ),
        PROGRAM,
    ) as terminal:
        brain = terminal.brain
        terminal.read(lambda: b"ready;" in brain.screen)
        os.kill(pid_of(terminal), signal.SIGSTOP)
        terminal.read(lambda: b"resumed;" in brain.screen)
        assert b"stopped 19 odd;" in brain.screen
        assert not terminal.settings[3] & termios.ICANON
        terminal.press(b"q")
        assert terminal.read_to_end() == 0
        assert terminal.is_restored()


@pytest.mark.requirement("terminal:application:no-query")
def test_a_program_in_the_background_asks_nothing_that_the_shell_would_read() -> None:
    shell = SHELL.replace("sys.argv[1:]", "[sys.executable, '-c', sys.argv[1], 'normal']").replace(
        "    os.tcsetpgrp(0, os.getpgrp())\n    signal", "    signal"
    )
    with ProgramTerminal(shell, PROGRAM) as terminal:
        terminal.read(lambda: b"ended 0;" in terminal.brain.screen)

        assert b"\x1b" not in terminal.brain.output
        assert terminal.brain.screen.endswith(b"begun\r\nended 0;")
        assert terminal.read_to_end() == 0
        assert terminal.is_restored()
