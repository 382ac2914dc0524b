"""``blockwire conform``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from blockwire.cli.main import EXIT_FAILED
from blockwire.cli.output import draw_transient, erase_transient, one_line, write_utf8
from blockwire.conform import (
    ANSWER_S,
    RUN_S,
    Verdict,
    choose_cases,
    judge_application,
    judge_terminal,
    junit_xml,
    load_cases,
    report_lines,
)
from blockwire.errors import LocalProtocolError

_PROGRESS_CHARS_MAX: Final = 70
_OPTIONS: Final = (
    click.option("--junit", metavar="FILE", help="Write the verdicts as JUnit XML too."),
    click.option(
        "--requirement",
        "requirements",
        metavar="ID",
        multiple=True,
        help="Judge only this; again for more.",
    ),
    click.argument("program", metavar="CMD...", nargs=-1, required=True, type=click.UNPROCESSED),
)


def _with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group("conform")
def command() -> None:
    """Judge a terminal or an application against the specification.

    \b
      blockwire conform terminal -- ./my-terminal-side
      blockwire conform application -- ./my-program

    The program runs in a terminal of its own, and nothing but its bytes is looked at. Prints a
    verdict for each requirement of docs/spec/terminal; status 1 if one failed. What the wire does
    not show is not judged.
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are


@command.command("terminal")
@_with_options
@click.option("--vectors", metavar="FOLDER", help="Other vectors than those of this release.")
@click.option(
    "--timeout", "answer_s", type=click.FloatRange(min=0.1), default=ANSWER_S, show_default=True,
    help="Seconds that a query may wait for its answer.",
)  # fmt: skip
def terminal(
    program: Sequence[str],
    requirements: Sequence[str],
    junit: str | None,
    vectors: str | None,
    answer_s: float,
) -> int:
    """Judge CMD, which reads what an application writes on its terminal, and writes replies."""
    cases = choose_cases(load_cases(None if vectors is None else Path(vectors)), requirements)
    with_progress = _Progress()
    verdicts = judge_terminal(
        program,
        env=os.environ,
        cases=cases,
        answer_s=answer_s,
        on_case=lambda case: with_progress(f"{case.file}: {case.name}"),
    )
    return _tell("blockwire.conform.terminal", verdicts, requirements, junit)


@command.command("application")
@_with_options
@click.option(
    "--timeout", "run_s", type=click.FloatRange(min=1), default=RUN_S, show_default=True,
    help="Seconds that one run of CMD may take.",
)  # fmt: skip
def application(
    program: Sequence[str], requirements: Sequence[str], junit: str | None, run_s: float
) -> int:
    """Judge CMD, which appends, extends, replaces and seals some Blocks, and ends.

    It is run again for each thing that a terminal may answer.
    """
    verdicts = judge_application(program, env=os.environ, run_s=run_s, on_scenario=_Progress())
    if requirements:
        verdicts = tuple(it for it in verdicts if it.requirement in requirements)
    return _tell("blockwire.conform.application", verdicts, requirements, junit)


class _Progress:
    """Shows on a terminal what is being tried."""

    def __init__(self) -> None:
        import sys

        self._is_shown = sys.stderr.isatty()

    def __call__(self, name: str) -> None:
        if self._is_shown:
            draw_transient(one_line(name)[:_PROGRESS_CHARS_MAX])


def _tell(
    suite: str, verdicts: Sequence[Verdict], requirements: Sequence[str], junit: str | None
) -> int:
    erase_transient()
    known = {verdict.requirement for verdict in verdicts}
    unknown = sorted(set(requirements) - known)
    if unknown:
        raise LocalProtocolError("requirement_not_found", f"nothing tries {', '.join(unknown)}")
    if junit is not None:
        _write_junit(junit, junit_xml(suite, verdicts))
    write_utf8("".join(f"{line}\n" for line in report_lines(verdicts)))
    counts: Mapping[str, int] = {
        outcome: sum(verdict.outcome == outcome for verdict in verdicts)
        for outcome in ("pass", "fail")
    }
    # Where nothing was judged, nothing is right.
    return EXIT_FAILED if counts["fail"] or not counts["pass"] else 0


def _write_junit(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        detail = f"cannot write {name}: {error.strerror}"
        raise LocalProtocolError("file_unwritable", detail) from None
