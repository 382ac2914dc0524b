"""Programs that somebody else wrote from the published pages, and what is said of them."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from blockwire.conform import (
    REQUIREMENTS,
    Verdict,
    connection,
    judge_application,
    judge_terminal,
    load_cases,
)
from blockwire.conform.child import Silent
from tests.conform.second.terminal import Limits, Terminal

pytestmark = pytest.mark.timeout(180)

SECOND: Final = Path(__file__).with_name("second")
APPLICATION: Final = [sys.executable, str(SECOND / "application.py")]
TERMINAL: Final = [sys.executable, str(SECOND / "terminal.py")]
ENV: Final = {
    name: os.environ[name] for name in ("PATH", "COVERAGE_PROCESS_START") if name in os.environ
}
CASES: Final = load_cases()
FEW: Final = ("supported", "attributes, then supported", "both too late", "a state does not match")


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


def test_a_part_of_the_scripts_says_the_same_of_it() -> None:
    verdicts = judge_application(APPLICATION, env=ENV, scripts=FEW)

    assert failures(verdicts) == {}
    assert "terminal:application:late" in passed(verdicts)
