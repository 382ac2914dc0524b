"""An application judged by a terminal that follows scripts.

Spec: docs/spec/terminal/tools.md, "How an application is judged".
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from blockwire.conform.child import Child, Silent
from blockwire.conform.replies import LONGER_WINDOWS, WINDOWS, Windows
from blockwire.conform.runs import Heard, judge_runs
from blockwire.conform.scenarios import REQUIREMENTS, Look, Played, Scenario, looks, scenarios
from blockwire.conform.scripted import ScriptedTerminal
from blockwire.conform.surroundings import clean_environment
from blockwire.conform.verdicts import Finding, Verdict, collect
from blockwire.errors import LocalProtocolError

__all__ = ["RUN_S", "judge_application"]

RUN_S: Final = 20.0
"""How long one run of the program may take."""
PIPED: Final = "output is a pipe"
LOOKS_MAX: Final = 3
"""How often a script is played before something fails that a slow machine may look like."""


def judge_application(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    scripts: Collection[str] = (),
    run_s: float = RUN_S,
    on_scenario: Callable[[str], None] = lambda _name: None,
) -> tuple[Verdict, ...]:
    """Return a verdict for each requirement that a run of the application shows.

    Args:
        command: A program that appends, extends, replaces and seals some Blocks, and ends.
        env: Its environment; see :func:`clean_environment`. TERM is set for each run.
        scripts: Play only these of :data:`SCENARIOS`; nothing for all.
        run_s: How long one run may take; what needs its end is not judged after that.
        on_scenario: Called before each run.

    Raises:
        LocalProtocolError: ``program_not_started``.
    """
    chosen = [scene for scene in scenarios() if not scripts or scene.name in scripts]
    return collect(_findings(command, clean_environment(env), chosen, run_s, on_scenario))


def _findings(
    command: Sequence[str],
    env: Mapping[str, str],
    chosen: Sequence[Scenario],
    run_s: float,
    on_scenario: Callable[[str], None],
) -> Iterator[Finding]:
    runs: list[Heard] = []
    for scenario in chosen:
        on_scenario(scenario.name)
        played, found = _look(command, env, scenario, run_s)
        runs.append(Heard(scenario.name, played.terminal))
        for check, outcome, detail in found:
            yield Finding(REQUIREMENTS[check], scenario.name, outcome, detail)
    yield from judge_runs(runs)
    if not chosen or any(not scenario.is_asked for scenario in chosen):
        on_scenario(PIPED)
        yield _judge_pipe(command, env, run_s)


def _look(
    command: Sequence[str], env: Mapping[str, str], scenario: Scenario, run_s: float
) -> tuple[Played, list[Look]]:
    played = _play(command, env, scenario, run_s, WINDOWS)
    found = list(looks(scenario, played))
    longer = LONGER_WINDOWS._replace(settle_s=LONGER_WINDOWS.settle_s * max(1.0, run_s / RUN_S))
    for _look_again in range(LOOKS_MAX - 1):
        failed = {check for check, outcome, _detail in found if outcome == "fail"}
        if not failed & _timed(scenario):
            break
        # Where others take the time, a program or the runner may be late, and right.
        again = next(it for it in scenarios(longer) if it.name == scenario.name)
        played = _play(command, env, again, run_s, longer)
        found = list(looks(again, played))
    return played, found


def _timed(scenario: Scenario) -> frozenset[str]:
    """Return what is looked at once more, with more time, before it fails."""
    is_answered_by_the_clock = scenario.script.answers_after_s is not None
    return frozenset({"cap", "healing", "late"} if is_answered_by_the_clock else {"healing"})


def _play(
    command: Sequence[str],
    env: Mapping[str, str],
    scenario: Scenario,
    run_s: float,
    windows: Windows,
) -> Played:
    with Child(command, env={**env, **scenario.env}, is_raw=False, shows_errors=False) as child:
        terminal = ScriptedTerminal(child, scenario.script, windows)
        end_s = time.monotonic() + run_s
        has_ended = terminal.run(end_s)
        modes = child.modes
        if has_ended:
            try:
                child.wait(end_s)
            except Silent:
                has_ended = False
        return Played(terminal, has_ended, modes == child.modes_before)


def _judge_pipe(command: Sequence[str], env: Mapping[str, str], run_s: float) -> Finding:
    requirement = REQUIREMENTS["no query"]
    try:
        ended = subprocess.run(  # noqa: S603 - the program that is to be judged
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=env,
            timeout=run_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Finding(requirement, PIPED, "not judged", "the program did not end")
    except OSError as error:
        detail = f"cannot start {command[0]}: {error.strerror}"
        raise LocalProtocolError("program_not_started", detail) from None
    if b"\x1b]9002;" in ended.stdout or b"\x1b[c" in ended.stdout:
        return Finding(requirement, PIPED, "fail", "it asked though its output is no terminal")
    return Finding(requirement, PIPED, "pass")
