"""A program's terminal in asyncio, on a pty whose other end is a terminal with Blocks."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from blockwire.errors import LocalProtocolError
from blockwire.terminal import AppendOnlyFallback, ApplicationLimits, BlockFailed, ContextLost
from blockwire.tty import (
    OpenContext,
    Terminal,
    TerminalError,
    TerminalOptions,
    driver,
    open_terminal,
    streams,
)
from blockwire.tty.driver import INPUT_BYTES_MAX
from tests.tty.terminals import ENVIRONMENT, Answers, LoopTerminal

pytestmark = pytest.mark.anyio


def options(terminal: LoopTerminal, **changes: object) -> TerminalOptions:
    given = {
        "input_fd": terminal.fd,
        "output_fd": terminal.fd,
        "environment": ENVIRONMENT,
        **changes,
    }
    return TerminalOptions(**given)  # type: ignore[arg-type]  # a test passes what it means


@asynccontextmanager
async def opened(
    answers: Answers = "all", *, split: bool = False, **changes: object
) -> AsyncIterator[tuple[LoopTerminal, Terminal]]:
    with LoopTerminal(answers, split=split) as outer:
        async with open_terminal(options(outer, **changes)) as terminal:
            yield outer, terminal


@pytest.mark.parametrize("split", [False, True])
async def test_blocks_reach_the_terminal_and_nothing_reaches_the_next_reader(
    *, split: bool
) -> None:
    async with opened(split=split) as (outer, terminal):
        assert terminal.negotiated.is_supported
        assert terminal.content_types == {"text/plain", "text/styled", "text/lines"}
        async with await terminal.open_context() as context:
            question = context.append("Why?", lifecycle="sealed")
            answer = context.append("", block_id="answer")
            for word in ("Be", "cause", "."):
                answer.extend(word)
                await terminal.drain()
            answer.seal()
        assert outer.brain.texts() == ["Why?", "Because."]
        assert (question.failure, answer.failure) == (None, None)
        assert context.handle.state == "closed"
        kept = outer
        assert termios.tcgetattr(outer.fd) != outer.found
    assert kept.brain.screen == b""


async def test_the_terminal_is_given_back_as_it_was_found() -> None:
    with LoopTerminal() as outer:
        async with open_terminal(options(outer, on_enter=b"\x1b[?2004h", on_leave=b"\x1b[?2004l")):
            raw = termios.tcgetattr(outer.fd)
            assert not raw[3] & (termios.ECHO | termios.ICANON)
            assert raw[3] & termios.ISIG
            assert raw[1] == outer.found[1], "LF still begins a line"
        await outer.until(lambda: outer.brain.screen.endswith(b"l"))

        assert termios.tcgetattr(outer.fd) == outer.found
        assert outer.brain.screen == b"\x1b[?2004h\x1b[?2004l"
        assert outer.left_over() == b""


async def test_keys_may_come_as_bytes() -> None:
    async with opened(keys="bytes") as (outer, terminal):
        outer.press(b"\x03\x1a")
        typed = b""
        while len(typed) < 2:
            typed += await terminal.read()
        assert typed == b"\x03\x1a"


@pytest.mark.requirement("terminal:application:restore")
async def test_an_exception_gives_the_terminal_back() -> None:
    with LoopTerminal() as outer:
        with pytest.raises(KeyError):
            await _begin_and_fail(outer, "begun")

        assert termios.tcgetattr(outer.fd) == outer.found
        assert outer.brain.texts() == ["begun"]
        assert outer.left_over() == b""


async def _begin_and_fail(outer: LoopTerminal, text: str) -> None:
    async with open_terminal(options(outer)) as terminal:
        (await terminal.open_context()).append(text)
        raise KeyError


async def test_an_error_inside_a_context_is_not_hidden_by_its_end() -> None:
    async with opened() as (_outer, terminal):
        with pytest.raises(KeyError):
            async with await terminal.open_context():
                raise KeyError


async def test_what_is_typed_meanwhile_is_read_in_order() -> None:
    with LoopTerminal() as outer:
        outer.is_holding = True
        opening = asyncio.ensure_future(_read_all(outer, 5))
        await outer.until(lambda: b"\x1b[c" in outer.brain.output)
        outer.press(b"ls" + outer.held[:30])
        outer.press(outer.held[30:] + b"\n\xe2")
        outer.press(b"x")

        assert await opening == b"ls\n\xe2x"


@pytest.mark.requirement("terminal:application:typed-before")
async def test_enter_that_was_pressed_before_the_program_had_the_terminal_is_enter() -> None:
    with LoopTerminal() as outer:
        outer.press(b"one\rtwo\rbeg")
        typed = b""
        async with open_terminal(options(outer)) as terminal:
            outer.press(b"un\r\n")
            while len(typed) < 15:
                typed += await terminal.read()

    assert typed == b"one\rtwo\rbegun\r\n"


async def _read_all(outer: LoopTerminal, count: int) -> bytes:
    typed = b""
    async with open_terminal(options(outer)) as terminal:
        while len(typed) < count:
            typed += await terminal.read()
    return typed


@pytest.mark.parametrize(
    ("answers", "reason"), [("device", "device_answered"), ("nothing", "no_answer")]
)
async def test_without_blocks_finished_text_is_printed(answers: Answers, reason: str) -> None:
    async with opened(answers, answer_s=0.05) as (outer, terminal):
        assert terminal.negotiated.reason == reason
        async with await terminal.open_context() as context:
            context.append("Why?\x1b[2J", lifecycle="sealed")
            answer = context.append("Be")
            answer.extend("cause")
            terminal.write(b"$ ")
        await terminal.flush()
        await outer.until(lambda: outer.brain.screen.endswith(b"cause\r\n"))

        assert outer.brain.screen == "Why?\u241b[2J\r\n$ Because\r\n".encode()
        assert outer.brain.texts() == []


async def test_text_that_was_held_back_is_printed_when_the_program_fails() -> None:
    with LoopTerminal("device") as outer:
        with pytest.raises(KeyError):
            await _begin_and_fail(outer, "half")
        await outer.until(lambda: b"half" in outer.brain.screen)


@pytest.mark.requirement("terminal:application:next-reader")
async def test_an_answer_that_comes_while_the_program_leaves_is_not_left_over() -> None:
    with LoopTerminal() as outer:
        outer.is_holding = True
        leaving = asyncio.ensure_future(_open_and_leave(outer))
        await outer.until(lambda: b"\x1b[c" in outer.brain.output)
        assert outer.held
        # The answer comes after the program has given up, and before it is gone.
        await outer.until(lambda: b"gave up" in outer.brain.screen)
        outer.press(outer.held)
        assert await leaving == "no_answer"

        assert outer.left_over() == b""


async def _open_and_leave(outer: LoopTerminal) -> str:
    async with open_terminal(options(outer, answer_s=0.3)) as terminal:
        terminal.write(b"gave up")
        return terminal.negotiated.reason


async def test_a_terminal_that_dies_takes_the_context_along() -> None:
    failures: list[BlockFailed | ContextLost] = []
    async with opened(on_failure=failures.append) as (outer, terminal):
        context = await terminal.open_context()
        outer.die()
        assert await terminal.read() == b""
        with pytest.raises(LocalProtocolError, match="context_not_open"):
            context.append("x")
        with pytest.raises(LocalProtocolError, match="not_negotiated"):
            await terminal.open_context()
        terminal.write(b"x")
        with pytest.raises(OSError, match="Input/output"):
            await terminal.flush()
        assert failures == [ContextLost(context.handle, "end_of_input")]


async def test_a_terminal_that_refuses_a_context_is_an_error() -> None:
    with LoopTerminal() as outer:
        async with open_terminal(options(outer)) as terminal:
            outer.is_holding = True
            opening = asyncio.ensure_future(terminal.open_context())
            await outer.until(lambda: len(outer.brain.session.contexts) == 1)
            outer.die()
            with pytest.raises(TerminalError) as refusal:
                await opening
            assert refusal.value.code == "end_of_input"


async def test_a_context_that_nobody_waits_for_any_more_is_closed() -> None:
    with LoopTerminal() as outer:
        async with open_terminal(options(outer)) as terminal:
            outer.is_holding = True
            opening = asyncio.ensure_future(terminal.open_context())
            await outer.until(lambda: len(outer.brain.session.contexts) == 1)
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
            outer.is_holding = False
            outer.press(outer.held)

        assert outer.brain.session.contexts["c1"].state == "closed"
        assert outer.left_over() == b""


@pytest.mark.requirement("terminal:application:next-reader")
async def test_what_was_asked_is_read_before_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as (outer, terminal):
        outer.is_holding = True
        opening = asyncio.ensure_future(terminal.open_context())
        await outer.until(lambda: len(outer.brain.session.contexts) == 1)
        outer.press(b"k" + outer.held)

        terminal.finish_writing()
        assert outer.left_over() == b""
        assert (await opening).handle.state == "open"
        assert await terminal.read() == b"k"

        outer.held = b""
        closing = asyncio.ensure_future((await _opened_late(outer, terminal)).close())
        await outer.until(lambda: bool(outer.held))
        monkeypatch.setattr(driver, "REPLY_S_MAX", 0.05)
        terminal.finish_writing()
        assert not closing.done(), "it waits for so long, and no longer"
        outer.is_holding = False
        outer.press(outer.held)
        await closing


async def _opened_late(outer: LoopTerminal, terminal: Terminal) -> OpenContext:
    outer.is_holding = False
    context = await terminal.open_context()
    outer.is_holding = True
    return context


async def test_a_block_that_failed_is_told() -> None:
    failures: list[BlockFailed | ContextLost] = []
    async with opened(on_failure=failures.append) as (outer, terminal):
        context = await terminal.open_context()
        block = context.append("a")
        await terminal.flush()
        await outer.until(lambda: outer.brain.texts() == ["a"])
        outer.brain.endpoint.evict("c1", block.block_id)
        block.extend("b")
        await context.close()
        assert failures == [BlockFailed(block, "resource_exhausted")]


async def test_a_failure_that_nobody_is_told_of_is_raised_at_the_end() -> None:
    async with opened() as (outer, terminal):
        context = await terminal.open_context()
        block = context.append("a")
        await terminal.flush()
        await outer.until(lambda: outer.brain.texts() == ["a"])
        outer.brain.endpoint.evict("c1", block.block_id)
        block.extend("b")
        with pytest.raises(TerminalError, match="resource_exhausted: b1 "):
            await context.close()


async def test_a_context_that_was_lost_is_an_error_at_its_end() -> None:
    async with opened() as (outer, terminal):
        context = await terminal.open_context()
        outer.brain.endpoint.invalidate("c1")
        context.append("a")
        await terminal._until(lambda: context.handle.state == "lost")
        with pytest.raises(TerminalError, match="context_not_open"):
            await context.__aexit__(None, None, None)


async def test_a_context_that_was_invalidated_is_told_and_cannot_be_closed() -> None:
    failures: list[BlockFailed | ContextLost] = []
    async with opened(on_failure=failures.append) as (outer, terminal):
        context = await terminal.open_context()
        outer.brain.endpoint.invalidate("c1")
        with pytest.raises(TerminalError) as refusal:
            await context.close()
        assert refusal.value.code == "context_not_open"
        assert failures == [ContextLost(context.handle, "context_not_open")]


@pytest.mark.requirement("terminal:application:back-pressure")
async def test_a_terminal_that_is_slow_gets_all_in_few_operations() -> None:
    words = [f"{number} " for number in range(20_000)]
    async with opened() as (outer, terminal):
        context = await terminal.open_context()
        block = context.append("")
        await terminal.flush()
        outer.be_deaf()
        drained = 0
        for word in words[:-10]:
            block.extend(word)
        waiting = asyncio.ensure_future(terminal.drain())
        for word in words[-10:]:
            block.extend(word)
        await asyncio.sleep(0)
        assert not waiting.done(), "nobody has read anything"
        outer.listen()
        await waiting
        drained += 1
        await context.close()
        assert outer.brain.texts() == ["".join(words)]
        assert outer.brain.output.count(b"\x1b]9002;1;") < 300


@pytest.mark.slow
@pytest.mark.requirement("terminal:application:from-the-last-byte")
async def test_a_program_that_ends_waits_for_a_slow_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # More than the cap, and than a request has, in all. Nothing is taken for that long only where
    # the machine stands still.
    monkeypatch.setattr(driver, "ApplicationLimits", partial(ApplicationLimits, request_s=3.0))
    text = "x" * 1_500_000
    with LoopTerminal(pause_s=0.008) as outer:
        async with open_terminal(options(outer, answer_s=3.0)) as terminal:
            (await terminal.open_context()).append(text, lifecycle="sealed")

        assert outer.brain.texts() == [text]
        assert outer.left_over() == b""


async def test_a_program_that_ends_does_not_wait_for_a_deaf_terminal() -> None:
    with LoopTerminal() as outer:
        async with open_terminal(options(outer, answer_s=0.1)) as terminal:
            context = await terminal.open_context()
            outer.be_deaf()
            context.append("x" * 1_000_000)

        assert termios.tcgetattr(outer.fd) == outer.found
        assert context.handle.state == "closing"


@pytest.mark.requirement("terminal:application:cut")
async def test_a_frame_that_a_stop_has_cut_is_given_up_and_healed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams, "FINISH_S_MAX", 0.05)
    async with opened() as (outer, terminal):
        context = await terminal.open_context()
        block = context.append("a")
        await terminal.flush()
        await outer.until(lambda: outer.brain.texts() == ["a"])
        outer.be_deaf()
        block.extend("x" * 500_000)
        await asyncio.sleep(
            0
        )  # one turn of the loop, in which as much is written as there is room for
        assert terminal._output.is_cut

        terminal.finish_writing()
        assert terminal._modes is not None
        assert terminal._modes.is_cut()
        outer.listen()
        terminal.resumed()
        await context.close()

        assert outer.brain.texts() == ["a" + "x" * 500_000]
        assert block.failure is None


async def test_a_write_that_was_begun_is_ended_before_a_stop() -> None:
    near_in, far_in = os.pipe()
    near_out, far_out = os.pipe()
    chosen = TerminalOptions(input_fd=near_in, output_fd=far_out, environment=ENVIRONMENT)
    async with open_terminal(chosen) as terminal:
        terminal.write(b"x" * 70_000)
        await asyncio.sleep(
            0
        )  # one turn of the loop, in which as much is written as there is room for
        assert terminal._output.is_cut
        assert len(os.read(near_out, 65_536)) > 0
        terminal.finish_writing()
        assert terminal._output.rest_bytes == 0
        os.read(near_out, 70_000)
    for fd in (near_in, far_in, near_out, far_out):
        os.close(fd)


async def test_a_terminal_that_is_gone_is_none() -> None:
    with LoopTerminal() as outer:
        outer.die()
        async with open_terminal(options(outer)) as terminal:
            assert terminal.negotiated.reason == "not_a_terminal"
            terminal.write(b"x")
            with pytest.raises(OSError, match="Input/output"):
                await terminal.flush()


async def test_a_paste_that_nobody_reads_waits_in_the_terminal() -> None:
    async with opened() as (outer, terminal):
        os.set_blocking(outer._near or 0, False)
        sent = 0
        chunk = b"x" * 4_000
        typed = 0
        while sent < INPUT_BYTES_MAX * 2:
            try:
                sent += os.write(outer._near or 0, chunk)
            except BlockingIOError:
                if len(terminal._typed) >= INPUT_BYTES_MAX:
                    break
            await asyncio.sleep(0)
        assert len(terminal._typed) < INPUT_BYTES_MAX + 100_000
        while typed < sent:
            typed += len(await terminal.read())
        assert typed == sent


async def test_pipes_are_written_without_controls_and_read_to_their_end() -> None:
    near_in, far_in = os.pipe()
    near_out, far_out = os.pipe()
    os.write(far_in, b"question")
    os.close(far_in)
    chosen = TerminalOptions(input_fd=near_in, output_fd=far_out, environment=ENVIRONMENT)

    async with open_terminal(chosen, fallback=AppendOnlyFallback()) as terminal:
        assert terminal.negotiated.reason == "not_a_terminal"
        assert [await terminal.read(), await terminal.read()] == [b"question", b""]
        async with await terminal.open_context() as context:
            context.append("x" * 30_000, lifecycle="sealed")
    os.close(far_out)

    with os.fdopen(near_out, "rb") as pipe:
        assert pipe.read() == b"x" * 30_000 + b"\n"
    os.close(near_in)


async def test_a_pipe_that_is_closed_at_the_other_end_is_an_error() -> None:
    near_in, far_in = os.pipe()
    near_out, far_out = os.pipe()
    os.close(near_out)
    chosen = TerminalOptions(input_fd=near_in, output_fd=far_out, environment=ENVIRONMENT)

    async with open_terminal(chosen) as terminal:
        terminal.write(b"x")
        with pytest.raises(BrokenPipeError):
            await terminal.flush()
        with pytest.raises(BrokenPipeError):
            await terminal.drain()
    for fd in (near_in, far_in, far_out):
        os.close(fd)


async def test_files_are_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"i" * 100_000)
    read = b""
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        chosen = TerminalOptions(
            input_fd=source.fileno(), output_fd=target.fileno(), environment=ENVIRONMENT
        )
        async with open_terminal(chosen) as terminal:
            while data := await terminal.read():
                read += data
            terminal.write(b"o" * 100_000)
            await terminal.flush()

    assert read == b"i" * 100_000
    assert (tmp_path / "out").read_bytes() == b"o" * 100_000


async def test_signals_are_as_they_were_afterwards() -> None:
    watched = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, signal.SIGCONT)
    before = [signal.getsignal(it) for it in watched]
    async with opened() as (_outer, _terminal):
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert [signal.getsignal(it) for it in watched] == before


async def test_signals_that_the_program_does_something_about_are_left_to_it() -> None:
    loop = asyncio.get_running_loop()
    with LoopTerminal() as outer:
        signal.signal(signal.SIGCONT, signal.SIG_IGN)
        async with open_terminal(options(outer)):
            assert signal.getsignal(signal.SIGCONT) is signal.SIG_IGN
            loop.add_signal_handler(signal.SIGTERM, outer.close)
            chosen = signal.getsignal(signal.SIGTERM)

        assert signal.getsignal(signal.SIGTERM) == chosen
        assert signal.getsignal(signal.SIGCONT) is signal.SIG_IGN
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGCONT, signal.SIG_DFL)


async def test_two_terminals_one_after_the_other_are_both_given_back() -> None:
    with LoopTerminal() as outer:
        for text in ("one", "two"):
            async with (
                open_terminal(options(outer)) as terminal,
                await terminal.open_context() as context,
            ):
                context.append(text, lifecycle="sealed")
            assert termios.tcgetattr(outer.fd) == outer.found
        assert outer.brain.texts() == ["one", "two"]
        assert outer.left_over() == b""


@pytest.mark.parametrize("term", ["dumb", "linux"])
async def test_a_terminal_without_answers_is_not_asked(term: str) -> None:
    changes = {
        "environment": {"TERM": term},
        "on_enter": b"\x1b[?2004h",
        "on_leave": b"\x1b[?2004l",
    }
    with LoopTerminal() as outer:
        async with open_terminal(options(outer, **changes)) as terminal:
            async with await terminal.open_context() as context:
                context.append("text", lifecycle="sealed")
            await terminal.flush()
        await outer.until(lambda: b"text" in outer.brain.screen)

        controls = outer.brain.output.count(b"\x1b")
        assert (terminal.negotiated.reason, controls > 0) == (
            "terminal_without_answers",
            term == "linux",
        )
