"""Programs that somebody else wrote from the published pages, and what is said of them."""

import contextlib
import os
import select
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from blockwire.conform import (
    REQUIREMENTS,
    Verdict,
    connection,
    judge_application,
    judge_terminal,
    load_cases,
)
from blockwire.conform import application as runner
from blockwire.conform.child import Child, Silent
from tests.conform.second import application
from tests.conform.second.terminal import Limits, Terminal

pytestmark = pytest.mark.timeout(180)

SECOND: Final = Path(__file__).with_name("second")
APPLICATION: Final = [sys.executable, str(SECOND / "application.py")]
TERMINAL: Final = [sys.executable, str(SECOND / "terminal.py")]
ENV: Final = {"PATH": os.environ.get("PATH", "")}
CASES: Final = load_cases()
FEW: Final = (
    "supported", "supported, byte by byte", "attributes, then supported", "both too late",
    "in time over ssh", "no Context", "a state does not match", "TERM is dumb",
)  # fmt: skip


class InThisProcess:
    """The second terminal where the runner has a program in a terminal of its own."""

    limits = Limits()

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str]) -> None:
        assert command
        assert "TERM" in env
        self.terminal, self.answers, self.is_open = Terminal(), b"", True
        self.terminal.session.limits = self.limits

    def write(self, data: bytes) -> None:
        self.answers += b"".join(self.terminal.receive(data))

    def read(self, _end_s: float) -> bytes:
        if not self.answers:
            raise Silent
        answers, self.answers = self.answers, b""
        return answers

    def end(self) -> None:
        self.is_open = False


class Small(InThisProcess):
    """The same, with no more room than docs/spec/terminal/limits.md demands, and less in places."""

    limits = Limits(
        id_chars_max=255,
        requests_max=4_096,
        request_id_chars_max=1_048_576,
        contexts_open_max=8,
        operation_ids_max=16_384,
        context_id_chars_max=1_048_576,
        connection_operation_ids_max=16_384,
        blocks_max=1_024,
        connection_blocks_max=1_024,
        block_bytes_max=1_048_576,
        context_bytes_max=4_194_304,
        connection_bytes_max=4_194_304,
    )


class Tiny(InThisProcess):
    """The same, without room for any id."""

    limits = Limits(id_chars_max=1)


class Names:
    """A module in which some names mean something else."""

    def __init__(self, module: ModuleType, **others: Any) -> None:
        self.module = module
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class InAThread(Child):
    """The second application at a terminal of its own, in this process, where it can be counted."""

    def _start(
        self, command: Sequence[str], env: Mapping[str, str], far: int, *, shows_errors: bool
    ) -> int:
        assert command
        assert not shows_errors
        end = os.dup(far)
        names: dict[str, Any] = {
            "os": Names(
                os,
                environ=env,
                isatty=lambda _number: True,
                read=lambda _number, size: os.read(end, size),
                write=lambda _number, data: os.write(end, data),
            ),
            "select": Names(
                select, select=lambda _in, _out, _else, s: select.select([end], [], [], s)
            ),
            "termios": Names(
                termios,
                tcgetattr=lambda _number: termios.tcgetattr(end),
                tcsetattr=lambda _number, when, modes: termios.tcsetattr(end, when, modes),
            ),
            "tty": Names(tty, setraw=lambda _number, when: tty.setraw(end, when)),
            "signal": Names(signal, signal=lambda _number, _call: None),
            "ANSWER_S": 2.0 if "SSH_CONNECTION" in env else 1.0,
        }
        vars(application).update(names)
        self.thread = threading.Thread(target=self.run, args=(end,))
        self.thread.start()
        return 0

    def run(self, end: int) -> None:
        # It may end with an error, as a program does.
        try:
            with contextlib.suppress(OSError, termios.error, application.NotShownError):
                application.main()
        finally:
            os.close(end)

    def wait(self, end_s: float) -> int:
        self.thread.join(max(end_s - time.monotonic(), 0))
        if self.thread.is_alive():
            raise Silent
        self.status = 0
        return 0

    def end(self) -> None:
        self.hang_up()
        self.thread.join()


def failures(verdicts: Iterable[Verdict]) -> dict[str, str]:
    return {
        verdict.requirement: next(it.detail for it in verdict.findings if it.outcome == "fail")
        for verdict in verdicts
        if verdict.outcome == "fail"
    }


def passed(verdicts: Sequence[Verdict]) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome == "pass"}


def test_the_second_terminal_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "Child", InThisProcess)

    verdicts = judge_terminal(["second"], env={}, cases=CASES)

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 90


def test_a_terminal_with_as_little_room_as_may_be_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "Child", Small)
    few = [case for case in CASES if "codec" not in case.file]

    verdicts = judge_terminal(["second"], env={}, cases=few)

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 50


def test_what_a_terminal_without_room_answers_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "Child", Tiny)

    verdicts = judge_terminal(["second"], env={}, cases=CASES[:40])

    assert {verdict.outcome for verdict in verdicts} == {"not judged"}
    details = {finding.detail for verdict in verdicts for finding in verdict.findings}
    assert "the terminal answers resource_exhausted" in details


@pytest.mark.slow
def test_the_second_terminal_passes_as_a_program_too() -> None:
    verdicts = judge_terminal(TERMINAL, env=ENV, cases=CASES)

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 90


@pytest.mark.slow
def test_the_second_application_passes_everything() -> None:
    verdicts = judge_application(APPLICATION, env=ENV)

    assert failures(verdicts) == {}
    assert passed(verdicts) == set(REQUIREMENTS.values())


def test_a_part_of_the_scripts_says_the_same_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("os", "select", "termios", "tty", "signal", "ANSWER_S"):
        monkeypatch.setattr(application, name, getattr(application, name))
    monkeypatch.setattr(runner, "Child", InAThread)

    verdicts = judge_application(APPLICATION, env=ENV, scripts=FEW)

    assert failures(verdicts) == {}
    assert "terminal:application:late" in passed(verdicts)
