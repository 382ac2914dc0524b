"""A program on its pty, in the event loop of a test."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from blockwire.host import program as module
from blockwire.host.program import Program
from blockwire.host.programenv import (
    STATUS_NOT_EXECUTABLE,
    STATUS_NOT_FOUND,
    ProgramError,
    find_program,
    program_environment,
    shell_of,
)
from blockwire.host.watchdog import Outcome
from tests.host.driver.outers import is_alive

pytestmark = pytest.mark.anyio


class Watched:
    """A program, and what it has done."""

    def __init__(self, *command: str) -> None:
        self.output = b""
        self.ends: list[Outcome] = []
        self.rooms = 0
        self._news = asyncio.Event()
        self.program = Program(
            command,
            env={"PATH": os.environ["PATH"]},
            columns=80,
            rows=24,
            on_output=self._take,
            on_end=self._end,
            on_room=self._room,
        )

    def _take(self, data: bytes) -> None:
        self.output += data
        self._news.set()

    def _end(self, outcome: Outcome) -> None:
        self.ends.append(outcome)
        self._news.set()

    def _room(self) -> None:
        self.rooms += 1
        self._news.set()

    async def until(self, is_so: Callable[[], object]) -> None:
        async with asyncio.timeout(15):
            while not is_so():
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def running(*command: str) -> AsyncIterator[Watched]:
    watched = Watched(*command)
    try:
        yield watched
    finally:
        watched.program.close()
        if not watched.ends:
            os.kill(watched.program.pid, signal.SIGKILL)
            os.waitpid(watched.program.pid, 0)  # noqa: ASYNC222 - it was killed just now


@pytest.mark.requirement("host:process:last-words")
@pytest.mark.parametrize("count", [1, 5_000])
async def test_all_that_was_written_before_the_end_is_read_before_it_is_told(count: int) -> None:
    async with running("sh", "-c", f"seq 1 {count}; exit 7") as watched:
        await watched.until(lambda: watched.ends)

        assert watched.output.split() == [str(it).encode() for it in range(1, count + 1)]
        assert watched.ends == [Outcome(7)]


async def test_an_end_is_told_though_others_hold_the_terminal() -> None:
    script = "trap '' HUP; (trap '' HUP; exec sleep 20) & echo $!; exit 3"
    async with running("sh", "-c", script) as watched:
        await watched.until(lambda: watched.ends)

        assert watched.ends == [Outcome(3)]
        os.kill(int(watched.output.split()[0]), signal.SIGKILL)


async def test_a_program_that_closes_its_terminal_and_opens_it_again_is_read_on() -> None:
    script = (
        "import os, time\n"
        "name = os.ttyname(0)\n"
        "for fd in (0, 1, 2): os.close(fd)\n"
        # Longer than it takes to notice.
        "time.sleep(0.3)\n"
        "os.open(name, os.O_RDWR)\n"
        "os.write(0, b'again')\n"
        "time.sleep(0.3)\n"
    )
    async with running(sys.executable, "-c", script) as watched:
        await watched.until(lambda: watched.ends)

        assert watched.output == b"again"


async def test_what_it_does_not_read_waits_and_says_when_it_is_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "INPUT_BYTES_MAX", 100_000)
    script = "stty raw -echo; echo ready; read -r x < /dev/stdin; exec head -c 200000 | wc -c"
    async with running("sh", "-c", script) as watched:
        await watched.until(lambda: b"ready" in watched.output)
        watched.program.write(b"x" * 150_000)
        assert watched.program.is_full
        assert watched.program.waiting_bytes >= 100_000
        watched.program.write(b"\n" + b"y" * 200_000)
        await watched.until(lambda: watched.rooms)

        assert not watched.program.is_full


@pytest.mark.requirement("host:process:never-listens")
async def test_a_program_that_asks_and_never_listens_is_not_read_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REPLY_BYTES_MAX", 50_000)
    async with running("sh", "-c", "stty raw -echo; echo ready; exec yes") as watched:
        await watched.until(lambda: b"ready" in watched.output)
        watched.program.write(b"x" * 100_000)
        read_bytes = len(watched.output)
        for _ in range(20):
            await asyncio.sleep(0)

        assert len(watched.output) == read_bytes


async def test_its_window_has_the_size_that_it_was_told() -> None:
    async with running("sh", "-c", "stty size; read -r x; stty size") as watched:
        await watched.until(lambda: b"24 80" in watched.output)
        watched.program.resize(100, 30)
        watched.program.write(b"\n")
        await watched.until(lambda: b"30 100" in watched.output)
        watched.program.resize(0, 0)
        await watched.until(lambda: watched.ends)


async def test_what_is_closed_takes_nothing_and_is_closed_once() -> None:
    async with running("cat") as watched:
        pid = watched.program.pid
        watched.program.close()
        watched.program.close()
        watched.program.write(b"x")
        watched.program.resize(1, 1)

        assert watched.program.waiting_bytes == 0
        os.waitpid(pid, 0)  # noqa: ASYNC222 - it was hung up on
        assert not is_alive(pid)
        watched.ends.append(Outcome())


async def test_a_file_that_is_no_program_is_told(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "text")  # noqa: PTH118 - a name for a program
    with open(path, "wb") as file:  # noqa: ASYNC230, PTH123 - a file of a few bytes
        file.write(b"\x00\x01")
    os.chmod(path, 0o755)  # noqa: PTH101 - likewise

    with pytest.raises(ProgramError) as caught:
        Watched(path)

    assert caught.value.status == STATUS_NOT_EXECUTABLE


def test_programs_are_found_as_in_a_shell() -> None:
    env = {"PATH": "/bin:/usr/bin"}

    assert find_program("sh", env).endswith("/sh")
    for name, status in [
        ("no-such", STATUS_NOT_FOUND),
        ("/no/such", STATUS_NOT_FOUND),
        ("/etc/passwd", STATUS_NOT_EXECUTABLE),
    ]:
        with pytest.raises(ProgramError) as caught:
            find_program(name, env)
        assert caught.value.status == status
        assert caught.value.code == "program_not_started"


def test_the_shell_is_that_of_the_environment() -> None:
    assert shell_of({"SHELL": "/bin/zsh"}) == ("/bin/zsh",)
    assert shell_of({"SHELL": ""}) == ("/bin/sh",)
    assert shell_of({}) == ("/bin/sh",)


def test_the_width_that_the_host_draws_with_is_told() -> None:
    found = program_environment({"BLOCKWIRE_AMBIGUOUS_WIDTH": "1", "A": "b"}, ambiguous_width=2)

    assert found["BLOCKWIRE_AMBIGUOUS_WIDTH"] == "2"
    assert found["A"] == "b"
