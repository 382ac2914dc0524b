"""Any program is an agent: real ones, in shell and Python."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from blockwire.content import StreamEvent
from blockwire.engines import (
    CommandEngine,
    CommandSettings,
    TurnLimits,
    child_environment,
)
from blockwire.engines.child import (
    STDERR_BYTES_MAX,
    STDOUT_BYTES_MAX,
    ChildProcess,
    StderrTail,
    kill_every_group,
)
from blockwire.engines.output import OutputFormat
from blockwire.jsontext import decode_json
from blockwire.ports.tracing import CURRENT_TRACEPARENT
from tests.engines.tools import (
    TURN,
    CountingIds,
    ManualTime,
    collect,
    ends,
    fold,
    guarded,
    last_error,
    request,
    text_of,
    user,
)
from tests.suites import PROJECT

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """Both loops: their processes and pipes behave differently, and the server runs on uvloop."""
    return "asyncio", {"use_uvloop": request.param}


# Long enough that a process of ours which is still there was not going to end by itself.
FOREVER = "sleep 600"


def engine(
    *command: str,
    output: OutputFormat = "auto",
    env: dict[str, str] | None = None,
    cwd: str | None = None,
    redact: Callable[[str], str] = str,
) -> CommandEngine:
    settings = CommandSettings(
        command=command,
        env=child_environment(os.environ, env=env or {}),
        output=output,
        cwd=cwd,
        kill_grace_s=0.3,
    )
    return CommandEngine(settings, ids=CountingIds(), redact=redact)


def shell(script: str, **settings: Any) -> CommandEngine:
    return engine("/bin/sh", "-c", script, **settings)


async def answer(runner: CommandEngine, **members: Any) -> list[StreamEvent]:
    return await collect(guarded(runner.run(request(**members))))


async def test_a_shell_script_of_two_lines_is_an_agent() -> None:
    seen = await answer(shell("cat >/dev/null\necho 'Hello **world**'"))

    message = fold(seen)
    assert message["status"] == "completed"
    assert message["content"][0]["markdown"] == "Hello **world**\n"


async def test_the_request_is_one_line_of_json_and_then_the_end() -> None:
    seen = await answer(
        shell("cat", output="text"),
        messages=[user("Why?\n")],
        system="Be brief.",
        options={"depth": 2},
    )

    line = text_of(seen)
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    value = decode_json(line.encode())
    assert isinstance(value, dict)
    assert value["protocol"] == 1
    assert value["turn_id"] == TURN
    assert value["system"] == "Be brief."
    assert value["options"] == {"depth": 2}
    assert value["messages"] == [user("Why?\n")]
    assert "model" not in value


async def test_a_program_that_does_not_read_a_large_request_still_answers() -> None:
    seen = await answer(shell("echo hi"), messages=[user("x" * 3_000_000)])

    assert text_of(seen) == "hi\n"


async def test_ndjson_is_recognised_and_streamed() -> None:
    script = """
    printf '{"type": "content.block.started", "block": {"type": "prose"}}\\n'
    printf '{"type": "content.block.delta", "text": "Hi"}\\n'
    printf '{"type": "content.block.started", "block": {"type": "tool", "tool": "ls", "status": "running"}}\\n'
    """

    message = fold(await answer(shell(script)))

    assert message["status"] == "completed"
    assert message["content"][0]["markdown"] == "Hi"
    assert message["content"][1]["status"] == "failed"


async def test_the_first_words_are_there_while_the_program_still_works() -> None:
    runner = shell(f"echo first; {FOREVER}")
    events = runner.run(request())

    with anyio.fail_after(15):
        await anext(events)
        first: Any = await anext(events)
    await events.aclose()

    assert first.text == "first\n"


async def test_nothing_at_all_is_said_to_be_nothing() -> None:
    message = fold(await answer(shell("true")))

    assert message["status"] == "completed"
    assert message["content"][0]["code"] == "no_output"


async def test_binary_output_is_shown_as_replacement_characters() -> None:
    assert text_of(await answer(shell("printf 'a\\377\\376b'"))) == "a\ufffd\ufffdb"


async def test_a_flood_is_stopped_at_the_size_cap() -> None:
    runner = shell("yes 0123456789")

    seen = await collect(guarded(runner.run(request()), limits=TurnLimits(bytes_max=1_000_000)))

    assert last_error(seen)["code"] == "answer_too_large"
    assert len(text_of(seen)) <= 1_000_000


@pytest.mark.requirement("engines:command:backpressure")
async def test_a_reader_that_waits_makes_the_program_wait() -> None:
    """The child holds at most what it may read ahead, and what one turn of the loop reads."""
    child = ChildProcess()
    await child.start(["/bin/sh", "-c", "yes"], env={}, cwd=None, stdin=b"")
    try:
        with anyio.fail_after(15):
            while not child._is_paused:
                await child._changed.wait()
        held = len(child._chunks)
        assert held <= STDOUT_BYTES_MAX + 32 * 64 * 1024
        await anyio.lowlevel.checkpoint()
        assert len(child._chunks) == held
        with anyio.fail_after(15):
            assert await child.read()
            assert await child.read()
    finally:
        await child.stop(patience_s=0, kill_grace_s=0)


STATUSES: list[tuple[str, str, str]] = [
    ("exit 3", "engine_failed", "status 3"),
    ("kill -SEGV $$", "engine_failed", f"signal {int(signal.SIGSEGV)}"),
    ("no-such-command-of-anybody", "engine_unavailable", "PATH"),
    ("/dev/null", "engine_unavailable", "executable"),
]


@pytest.mark.requirement("engines:command:status")
@pytest.mark.parametrize(("script", "code", "word"), STATUSES)
async def test_the_exit_status_decides_and_the_text_is_kept(
    script: str, code: str, word: str
) -> None:
    seen = await answer(shell(f"echo partly; {script}"))

    message = fold(seen)
    assert message["status"] == "failed"
    assert message["content"][0]["markdown"] == "partly\n"
    error = last_error(seen)
    assert (error["code"], error["retryable"]) == (code, False)
    assert word in error["message"]


async def test_an_error_that_the_program_reported_itself_is_the_only_one() -> None:
    block = '{"type": "error", "code": "no_tea", "message": "No tea."}'
    seen = await answer(
        shell(f'echo \'{{"type": "content.block.started", "block": {block}}}\'; exit 1')
    )

    assert [block["code"] for block in fold(seen)["content"]] == ["no_tea"]
    assert ends(seen)[0].error_code == "no_tea"


async def test_a_bad_line_is_named_and_the_program_is_stopped() -> None:
    seen = await answer(shell(f'echo \'{{"type": "x.y"}}\'; echo oops; {FOREVER}'))

    error = last_error(seen)
    assert error["code"] == "engine_protocol_error"
    assert "Line 2" in error["message"]


UNAVAILABLE: list[tuple[str, list[str], str | None, str]] = [
    ("not there", ["/no/such/program-of-mine"], None, "program-of-mine"),
    ("not on the path", ["no-such-program"], None, "no-such-program"),
    ("not executable", ["/etc/passwd"], None, "executable"),
    ("no folder", ["/bin/sh"], "/no/such/folder", "cwd"),
    ("an impossible name", ["/bin/sh", "a\0b"], None, "NUL"),
    ("too long an argument", ["/bin/sh", "x" * 3_000_000], None, "long"),
]


@pytest.mark.parametrize(
    ("command", "cwd", "word"), [row[1:] for row in UNAVAILABLE], ids=[r[0] for r in UNAVAILABLE]
)
async def test_a_program_that_cannot_be_started_says_what_to_do(
    command: list[str], cwd: str | None, word: str
) -> None:
    error = last_error(await answer(engine(*command, cwd=cwd)))

    assert error["code"] == "engine_unavailable"
    assert word in error["message"]
    assert "/no/such" not in error["message"]


@pytest.mark.requirement("engines:command:stderr")
async def test_standard_error_goes_to_the_log_without_secrets_and_not_to_readers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def redact(text: str) -> str:
        return text.replace("hunter2hunter2", "[redacted]")

    with caplog.at_level(logging.DEBUG, logger="blockwire.engines"):
        seen = await answer(
            shell(
                'echo "key $KEY" >&2; echo fine; exit 1',
                env={"KEY": "hunter2hunter2"},
                redact=redact,
            )
        )

    assert "key [redacted]" in caplog.text
    assert "hunter2" not in caplog.text
    assert "key" not in str(fold(seen))


async def test_a_program_that_floods_standard_error_is_read_to_its_end() -> None:
    seen = await answer(shell("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo done"))

    assert text_of(seen) == "done\n"


@pytest.mark.requirement("engines:command:stderr")
def test_of_standard_error_the_last_whole_lines_are_kept() -> None:
    tail = StderrTail()
    tail.receive_data(b"secret-" * 20_000)
    tail.receive_data(b"half\nlast \x1b[1m\n")

    assert tail.text == "(140005 bytes left out)\nlast \\x1b[1m"


def test_one_endless_line_of_standard_error_is_left_out() -> None:
    tail = StderrTail()
    tail.receive_data(b"x" * (STDERR_BYTES_MAX + 1))

    assert tail.text == f"({STDERR_BYTES_MAX + 1} bytes left out)"


@pytest.mark.requirement("engines:command:environment")
async def test_a_program_sees_a_small_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_TOKEN", "t0ken")
    monkeypatch.setenv("WANTED", "yes")
    env = child_environment(os.environ, names=["WANTED", "ABSENT"], env={"MINE": "1"})
    runner = CommandEngine(
        CommandSettings(command=["/usr/bin/env"], env=env), ids=CountingIds(), redact=str
    )

    text = text_of(await answer(runner))

    assert "SOMEBODYS_TOKEN" not in text
    assert {"WANTED=yes", "MINE=1", f"BLOCKWIRE_TURN_ID={TURN}"} <= set(text.splitlines())


# Ending ---------------------------------------------------------------------------------------


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that is over and only waits for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def all_gone(pids: list[int]) -> bool:
    """Wait until none of them runs: a signal that nobody can refuse still takes its time."""
    with anyio.move_on_after(5):
        while any(map(is_alive, pids)):  # noqa: ASYNC110 - nothing tells of other people's children
            await anyio.sleep(0.005)
    return not any(map(is_alive, pids))


async def first_pids(events: AsyncGenerator[StreamEvent, None]) -> list[int]:
    """The process ids on the first line of text."""
    text = ""
    while "\n" not in text:
        event: Any = await anext(events)
        text += getattr(event, "text", "")
    return [int(word) for word in text.split()]


STUBBORN = f"""trap '' TERM
sh -c 'trap "" TERM; {FOREVER}' &
echo $$ $!
wait; {FOREVER}"""
POLITE = f"{FOREVER} & echo $$ $!; wait"


@pytest.mark.requirement("engines:command:group")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("script", [POLITE, STUBBORN], ids=["polite", "stubborn"])
async def test_closing_ends_the_program_and_its_children(script: str) -> None:
    events = shell(script).run(request())
    with anyio.fail_after(10):
        pids = await first_pids(events)
        assert all(map(is_alive, pids))

        await events.aclose()

    assert len(pids) == 2
    assert await all_gone(pids)


@pytest.mark.requirement("engines:command:group")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_cancelling_ends_the_program_and_its_children() -> None:
    pids: list[int] = []

    async def run() -> None:
        events = shell(POLITE).run(request())
        pids.extend(await first_pids(events))
        tasks.cancel_scope.cancel()
        await anext(events)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)

    assert len(pids) == 2
    assert await all_gone(pids)


@pytest.mark.requirement("engines:command:group")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_the_deadline_ends_the_program_and_its_children() -> None:
    time = ManualTime()
    limits = TurnLimits(deadline_s=60)
    events = guarded(shell(POLITE).run(request()), time=time, limits=limits)
    with anyio.fail_after(10):
        pids = await first_pids(events)
        time.now_s += 61

        rest = [event async for event in events]

    assert ends(rest)[0].error_code == "turn_deadline_exceeded"
    assert await all_gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_letting_go_of_the_engine_ends_all_its_programs() -> None:
    runner = shell(POLITE)
    turns = [runner.run(request()), runner.run(request())]
    with anyio.fail_after(10):
        pids = [pid for events in turns for pid in await first_pids(events)]

        await runner.aclose()

        assert await all_gone(pids)
        for events in turns:
            await events.aclose()


@pytest.mark.requirement("engines:command:group")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_what_a_finished_program_left_behind_is_ended_and_not_waited_for() -> None:
    seen = await answer(shell(f"{FOREVER} & echo $!"))

    assert fold(seen)["status"] == "completed"
    assert await all_gone([int(text_of(seen))])


async def test_after_its_terminal_event_a_program_may_clean_up(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script = f'echo \'{{"type": "turn.completed"}}\'; read line; seq 100000; echo clean > {mark}'

    seen = await answer(shell(script))

    assert fold(seen)["status"] == "completed"
    assert mark.read_text(encoding="utf-8") == "clean\n"


async def test_stopping_a_child_that_never_started_is_harmless() -> None:
    await ChildProcess().stop(patience_s=0, kill_grace_s=0)


async def test_a_stop_that_is_cancelled_kills_and_leaves_no_pipe_open() -> None:
    child = ChildProcess()
    script = "trap '' TERM; echo ready; while :; do sleep 0.1; done"
    await child.start(["sh", "-c", script], env={"PATH": os.environ["PATH"]}, cwd=None, stdin=b"")
    assert await child.read() == b"ready\n"

    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(child.stop, patience_s=60, kill_grace_s=60))
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

        assert await child.wait() == -signal.SIGKILL
    assert child._transport is not None
    assert child._transport.is_closing()


# The agents of the documentation --------------------------------------------------------------

EXAMPLES = PROJECT / "docs" / "examples"


async def test_the_shell_script_of_the_guide_answers() -> None:
    runner = engine("sh", str(EXAMPLES / "_echo_agent.sh"))

    seen = await answer(runner, messages=[user("Hello there?")])

    assert text_of(seen).startswith("You asked: **Hello there?**\n\nThat is a good")
    assert fold(seen)["status"] == "completed"


async def test_the_program_of_the_guide_thinks_calls_a_tool_and_answers() -> None:
    runner = engine(sys.executable, str(EXAMPLES / "_event_agent.py"))

    seen = await answer(runner, messages=[user("How many words?")])

    reasoning, tool, prose = fold(seen)["content"]
    assert reasoning["type"] == "reasoning"
    assert (tool["status"], tool["output"]) == ("completed", 3)
    assert prose["markdown"] == "That was **3** words."
    assert fold(seen)["status"] == "completed"


@pytest.mark.requirement("gateway:operations:trace-command")
@pytest.mark.parametrize("traceparent", [None, "00-" + "a" * 32 + "-" + "b" * 16 + "-01"])
async def test_a_program_can_join_the_trace_of_its_turn(traceparent: str | None) -> None:
    CURRENT_TRACEPARENT.set(traceparent)

    seen = await answer(shell('echo "trace ${TRACEPARENT-none}"'))

    assert fold(seen)["content"] == [
        {**fold(seen)["content"][0], "markdown": f"trace {traceparent or 'none'}\n"}
    ]


async def test_a_process_that_leaves_at_once_takes_its_programs_along() -> None:
    child = ChildProcess()
    await child.start(["sleep", "600"], env={"PATH": "/bin:/usr/bin"}, cwd=None, stdin=b"")

    kill_every_group()

    assert await child.wait() == -9
    await child.stop(patience_s=0, kill_grace_s=0)
    kill_every_group()
