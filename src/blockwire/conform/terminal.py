"""A terminal judged by the vectors: cases played one after the other, a verdict each.

Spec: docs/spec/terminal/tools.md, "How a terminal is judged".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from blockwire.conform.connection import Connection, Mismatch
from blockwire.conform.plays import NOT_ON_THE_WIRE, NotShown, needs_fresh, play, why_not_shown
from blockwire.conform.surroundings import clean_environment
from blockwire.conform.vectors import Case, load_cases
from blockwire.conform.verdicts import Finding, Outcome, Verdict, collect

__all__ = ["ANSWER_S", "judge_terminal"]

ANSWER_S: Final = 5.0
"""How long a terminal has to answer a query."""
ASKED_MAX: Final = 1_000
"""Queries after which the next case gets a new program: a terminal stores a number of outcomes."""
STARTS_MAX: Final = 2
"""Starts in a row that fail, after which the rest is not tried: the program is not there."""


def judge_terminal(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cases: Iterable[Case] | None = None,
    answer_s: float = ANSWER_S,
    on_case: Callable[[Case], None] = lambda _case: None,
) -> tuple[Verdict, ...]:
    """Return a verdict for each requirement of the vectors on the terminal that ``command`` is.

    Args:
        command: A program that reads the application's bytes on its terminal and writes replies.
        env: Its environment; see :func:`clean_environment`.
        cases: What to try; else the vectors that come with blockwire.
        answer_s: How long it has for an answer.
        on_case: Called before each case.

    Raises:
        LocalProtocolError: ``program_not_started``, ``file_unreadable``.
    """
    judge = _Judge(command, env, answer_s)
    try:
        return collect(_findings(judge, load_cases() if cases is None else cases, on_case))
    finally:
        judge.close()


def _findings(
    judge: _Judge, cases: Iterable[Case], on_case: Callable[[Case], None]
) -> Iterator[Finding]:
    for case in cases:
        on_case(case)
        outcome, detail = judge.judge(case)
        for requirement in case.requirements:
            # The case may pass or fail on the wire, and yet say nothing of this requirement.
            is_shown = requirement not in NOT_ON_THE_WIRE
            said = (outcome, detail) if is_shown else ("not judged", "the wire does not show it")
            yield Finding(requirement, f"{case.file}: {case.name}", *said)


class _Judge:
    """Plays cases; a program is used again as long as it has done nothing wrong."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], answer_s: float) -> None:
        self._command = command
        self._env = env
        self._answer_s = answer_s
        self._connection: Connection | None = None
        self._count = 0
        self._is_used = False
        self._failures_to_start = 0

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._is_used = False

    def judge(self, case: Case) -> tuple[Outcome, str]:
        try:
            connection = self._connect()
            reason = why_not_shown(case, connection)
            if reason is not None:
                return "not judged", reason
            if self._is_used and needs_fresh(case, connection):
                self.close()
                connection = self._connect()
            self._count += 1
            self._is_used = True
            play(case, connection, f"c{self._count}")
            self._tidy(connection)
            if connection.asked_count >= ASKED_MAX or needs_fresh(case, connection):
                # Its ids were used as they are: nobody else can have them on this connection.
                self.close()
        except NotShown as not_shown:
            self.close()
            return "not judged", not_shown.reason
        except Mismatch as mismatch:
            # What it does after a mistake says nothing.
            self.close()
            return "fail", mismatch.detail
        return "pass", ""

    def _tidy(self, connection: Connection) -> None:
        """Close what the case opened; where that fails, the next case begins anew."""
        try:
            connection.close_contexts()
        except Mismatch:
            self.close()

    def _connect(self) -> Connection:
        if self._connection is None:
            if self._failures_to_start >= STARTS_MAX:
                raise Mismatch("not tried: the program does not answer")
            self._failures_to_start += 1
            env = clean_environment(self._env)
            self._connection = Connection(self._command, env=env, answer_s=self._answer_s)
            self._failures_to_start = 0
        return self._connection
