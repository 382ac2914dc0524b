"""An application judged by a terminal that follows scripts.

Spec: docs/spec/terminal/tools.md, "How an application is judged".
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from blockwire.conform.child import Child, Silent
from blockwire.conform.scenarios import REQUIREMENTS, Played, Scenario, looks, scenarios
from blockwire.conform.scripted import ScriptedTerminal
from blockwire.conform.verdicts import Finding, Verdict, collect
from blockwire.errors import LocalProtocolError

__all__ = ["RUN_S", "judge_application"]

RUN_S: Final = 20.0
"""How long one run of the program may take."""
PIPED: Final = "output is a pipe"


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
        env: Its environment; TERM is set for each run.
        scripts: Play only these of :data:`SCENARIOS`; nothing for all.
        run_s: How long one run may take; what needs its end is not judged after that.
        on_scenario: Called before each run.

    Raises:
        LocalProtocolError: ``program_not_started``.
    """
    chosen = [scene for scene in scenarios() if not scripts or scene.name in scripts]
    return collect(_findings(command, env, chosen, run_s, on_scenario))


def _findings(
    command: Sequence[str],
    env: Mapping[str, str],
    chosen: Sequence[Scenario],
    run_s: float,
    on_scenario: Callable[[str], None],
) -> Iterator[Finding]:
    query_ids: list[str] = []
    for scenario in chosen:
        on_scenario(scenario.name)
        played = _play(command, env, scenario, run_s)
        query = played.terminal.query
        if query is not None:
            query_ids.append(str(query.message.get("request_id")))
        for check, outcome, detail in looks(scenario, played):
            yield Finding(REQUIREMENTS[check], scenario.name, outcome, detail)
    yield _judge_ids(query_ids)
    if not chosen or any(not scenario.is_asked for scenario in chosen):
        on_scenario(PIPED)
        yield _judge_pipe(command, env, run_s)


def _play(
    command: Sequence[str], env: Mapping[str, str], scenario: Scenario, run_s: float
) -> Played:
    environment = {**env, "TERM": "xterm-256color", **scenario.env}
    with Child(command, env=environment, is_raw=False, shows_errors=False) as child:
        terminal = ScriptedTerminal(child, scenario.script)
        end_s = time.monotonic() + run_s
        has_ended = terminal.run(end_s)
        modes = child.modes
        if has_ended:
            try:
                child.wait(end_s)
            except Silent:
                has_ended = False
        return Played(terminal, has_ended, modes == child.modes_before)


def _judge_ids(query_ids: Sequence[str]) -> Finding:
    requirement, case = REQUIREMENTS["ids"], "ids of queries, over all runs"
    if len(query_ids) < 2:
        return Finding(requirement, case, "not judged", "there were no two queries")
    if len(set(query_ids)) < len(query_ids):
        return Finding(requirement, case, "fail", "two runs asked with the same request id")
    return Finding(requirement, case, "pass")


def _judge_pipe(command: Sequence[str], env: Mapping[str, str], run_s: float) -> Finding:
    requirement = REQUIREMENTS["no query"]
    try:
        ended = subprocess.run(  # noqa: S603 - the program that is to be judged
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**env, "TERM": "xterm-256color"},
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
