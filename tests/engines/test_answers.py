"""Programs that ask a person, and what the guard does while they wait."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnSuspended,
)
from blockwire.engines import CommandEngine, CommandSettings, TurnLimits, child_environment, guard
from blockwire.gateway.turns.answers import AnswerBox
from blockwire.jsontext import Json
from blockwire.ports import Answer
from tests.engines.tools import TURN, CountingIds, ManualTime, ends, fold, last_error, request
from tests.suites import PROJECT

pytestmark = pytest.mark.anyio

EXAMPLE = PROJECT / "docs" / "examples" / "_asking_agent.py"


def program(script: str, *, answers: bool = True) -> CommandEngine:
    command = [sys.executable, "-u", "-c", script]
    return engine_of(command, answers=answers)


def engine_of(command: list[str], *, answers: bool = True) -> CommandEngine:
    settings = CommandSettings(
        command=command,
        env=child_environment(os.environ, env={}),
        output="ndjson",
        kill_grace_s=0.3,
        answers=answers,
    )
    return CommandEngine(settings, ids=CountingIds(), redact=str)


class Person:
    """Runs a turn behind the guard and answers what it asks."""

    def __init__(self, *answers: Json, limits: TurnLimits | None = None) -> None:
        self.time = ManualTime()
        self.limits = limits or TurnLimits()
        self.box = AnswerBox()
        self._answers = list(answers)
        self.asked: list[Any] = []

    async def run(self, runner: Any) -> list[StreamEvent]:
        asking = request(answers=self.box)
        events = guard(
            runner.run(asking),
            asking,
            ids=CountingIds("guard"),
            clock=self.time,
            limits=self.limits,
            redact=str,
            timer=self.time.move_on_after,
        )
        seen: list[StreamEvent] = []
        with anyio.fail_after(10):
            async for event in events:
                seen.append(event)
                if isinstance(event, TurnSuspended):
                    self.asked.append(event.request["prompt"])
                    if self._answers:
                        # What the gateway logs before the engine hears of it.
                        seen.append(TurnResumed(TURN))
                        self.box.give(Answer(str(event.request["id"]), self._answers.pop(0)))
        return seen


@pytest.mark.parametrize(
    ("approval", "text"), [(True, "Deleted a.txt, or so I say."), (False, "Then I leave it alone.")]
)
@pytest.mark.requirement("engines:command:answers")
async def test_a_program_asks_twice_and_goes_on_with_each_answer(
    approval: bool,
    text: str,
) -> None:
    person = Person("a.txt", approval)

    seen = await person.run(engine_of([sys.executable, str(EXAMPLE)]))

    assert person.asked == ["What is the file called?", "Delete a.txt?"]
    message = fold(seen)
    assert (message["status"], message["content"][0]["markdown"]) == ("completed", text)


PRINTS_ANSWER = """
import json, sys
sys.stdin.readline()
print(json.dumps({"type": "turn.suspended", "request": {"id": "r", "kind": "question", "prompt": "?"}}))
line = sys.stdin.readline()
block = {"type": "code", "text": line}
print(json.dumps({"type": "content.block.started", "block": block}))
print(json.dumps({"type": "turn.completed"}))
"""


@pytest.mark.requirement("engines:command:answers")
async def test_an_answer_is_one_line_whatever_it_holds() -> None:
    seen = await Person({"a": ["line\nbreak", 2**70]}).run(program(PRINTS_ANSWER))

    assert fold(seen)["content"][0]["text"] == (
        '{"type":"turn.resumed","turn_id":"turn_1","request_id":"r",'
        '"answer":{"a":["line\\nbreak",1180591620717411303424]}}\n'
    )


async def test_a_program_that_takes_no_answers_sees_the_end_of_its_input() -> None:
    script = """
import json, sys
count = len(sys.stdin.read().splitlines())
block = {"type": "prose", "markdown": str(count)}
print(json.dumps({"type": "content.block.started", "block": block}))
"""

    seen = await Person().run(program(script, answers=False))

    assert fold(seen)["content"][0]["markdown"] == "1"


async def test_a_program_that_leaves_while_it_waits_does_not_end_well() -> None:
    script = (
        "import json; print(json.dumps("
        '{"type": "turn.suspended", "request": {"id": "r", "kind": "question", "prompt": "?"}}))'
    )

    seen = await Person().run(program(script))

    assert last_error(seen)["code"] == "engine_protocol_error"
    assert ends(seen)[0].status == "failed"


READS_REQUEST = """
while os.read(0, 1) != b"\\n":
    pass
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("os.close(0)", "", id="before the answer"),
        # An answer is longer than what a pipe holds.
        pytest.param(READS_REQUEST, "os.read(0, 1); os.close(0)", id="while it is being written"),
    ],
)
async def test_an_answer_to_a_program_that_is_gone_is_lost_quietly(before: str, after: str) -> None:
    script = f"""
import json, os
{before}
request = {{"id": "r", "kind": "question", "prompt": "?"}}
print(json.dumps({{"type": "turn.suspended", "request": request}}), flush=True)
{after}
print(json.dumps({{"type": "turn.completed"}}))
"""

    seen = await Person("x" * 200_000).run(program(script))

    assert fold(seen)["status"] == "completed"


# time -------------------------------------------------------------------------------------
SUSPENDED = TurnSuspended(TURN, {"id": "r", "kind": "question", "prompt": "?"})


class Waiting:
    """An engine that asks, then goes on when a gate opens, answered or not."""

    def __init__(self, *after: StreamEvent) -> None:
        self.gate = anyio.Event()
        self._after = after

    async def run(self, _request: Any) -> AsyncGenerator[StreamEvent, None]:
        yield SUSPENDED
        await self.gate.wait()
        for event in self._after:
            yield event


@pytest.mark.requirement("engines:guard:suspended")
@pytest.mark.parametrize(
    ("deadline_s", "idle_s", "code"),
    [(0.05, 1000.0, "turn_deadline_exceeded"), (1000.0, 0.05, "engine_idle")],
)
async def test_from_the_answer_on_time_counts_again(
    deadline_s: float, idle_s: float, code: str
) -> None:
    limits = TurnLimits(deadline_s=deadline_s, idle_s=idle_s)
    person = Person(limits=limits)
    asking = request(answers=person.box)
    engine = Waiting()
    # The real timer: the scope that waits for a person gets its limit when the answer comes.
    events = guard(
        engine.run(asking), asking, ids=CountingIds(), clock=person.time, limits=limits, redact=str
    )
    with anyio.fail_after(15):
        assert await anext(events) == SUSPENDED
        seen: list[StreamEvent] = []

        async def rest() -> None:
            seen.extend([event async for event in events])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rest)
            await anyio.wait_all_tasks_blocked()
            # A long wait for the person does not count, however short the limit is.
            person.time.now_s += 5_000
            person.box.give(Answer("r", True))

    assert [e.error_code for e in ends(seen)] == [code]


@pytest.mark.requirement("engines:guard:suspended")
async def test_while_a_person_is_waited_for_nothing_is_too_late() -> None:
    limits = TurnLimits(deadline_s=10, idle_s=1)
    person = Person(limits=limits)
    engine = Waiting(
        TurnResumed(TURN),
        BlockStarted(TURN, {"id": "b", "type": "prose", "markdown": ""}),
        BlockDelta(TURN, "b", "markdown", "x"),
        BlockCompleted(TURN, "b"),
        TurnEnded(TURN, "completed"),
    )

    async with anyio.create_task_group() as tasks:
        seen: list[StreamEvent] = []

        async def run() -> None:
            seen.extend(await person.run(engine))

        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        await person.time.advance(100_000)
        engine.gate.set()

    assert fold(seen)["status"] == "completed"


async def test_an_engine_repeats_that_it_goes_on_or_not() -> None:
    for repeats in (True, False):
        after = [TurnResumed(TURN)] if repeats else []
        engine = Waiting(*after, TurnEnded(TURN, "completed"))
        engine.gate.set()

        seen = await Person(1).run(engine)

        assert [type(event) for event in seen] == [TurnSuspended, TurnResumed, TurnEnded]
