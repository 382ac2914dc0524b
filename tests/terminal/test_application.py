"""What a program does with Blocks is what the terminal shows in the end."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.terminal import (
    ApplicationLimits,
    BlockAppend,
    BlockExtend,
    BlockFailed,
    BlockHandle,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    Closed,
    ContextClose,
    ContextCloseResponse,
    ContextEnded,
    ContextHandle,
    ContextLost,
    ContextOpen,
    ContextOpenResponse,
    ContextReady,
    ContextRefused,
    ControlFailure,
    ErrorBody,
    Failed,
    Negotiated,
    Opened,
    ProtocolError,
    WireMessage,
    encode_frames,
    encode_message,
)
from blockwire.terminal.applicationlimits import REQUEST_S
from blockwire.terminal.blocks import BLOCK_ID_CHARS_MAX
from blockwire.terminal.content import Line, Span, Style
from blockwire.terminal.outgoing import JOINED_BYTES_MAX
from blockwire.terminal.roster import CONTEXT_ID_CHARS_MAX
from blockwire.terminal.vocabulary import LINES, STYLED, ControlErrorCode, OperationErrorCode
from tests.support.counting import calls_in
from tests.terminal.plays import PROCESS_ID, Play, messages_of, others

RED = Style(foreground="red")


@pytest.fixture
def play() -> Play:
    return Play()


@pytest.fixture
def context(play: Play) -> ContextHandle:
    opened = play.begin()
    play.written = b""
    return opened


def operations(play: Play) -> list[tuple[str, str]]:
    """Return what was sent as pairs of kind and operation id."""
    return [
        (str(it.__struct_config__.tag), it.operation_id)
        for it in play.sent
        if isinstance(it, BlockAppend | BlockUpdate | BlockExtend | BlockReplaceSuffix | BlockSeal)
    ]


def told(message: WireMessage) -> bytes:
    return encode_frames(encode_message(message), 1)


def rejection(operation_id: str, code: OperationErrorCode, context_id: str = "c1") -> bytes:
    return told(
        ProtocolError(
            version=1, operation_id=operation_id, context_id=context_id, body=ErrorBody(code=code)
        )
    )


# what is written --------------------------------------------------------------------------
def test_a_context_is_opened_and_closed(play: Play) -> None:
    context = play.begin()
    block = context.append("a")
    context.close()

    news = play.exchange()

    assert [type(it) for it in play.news] == [Negotiated, ContextReady, ContextEnded]
    assert news == [ContextEnded(context)]
    assert (context.context_id, context.state, block.lifecycle) == ("c1", "closed", "sealed")
    assert block.content is None
    assert not play.application.is_reply_expected
    assert play.session.contexts["c1"].state == "closed"


def test_every_operation_reaches_the_terminal(play: Play, context: ContextHandle) -> None:
    plain = context.append("Hel")
    play.exchange()
    plain.extend("lo")
    play.exchange()
    plain.replace_suffix(4, "p")
    play.exchange()
    plain.update([Span(text="x", style=RED)], type=STYLED)
    play.exchange()
    plain.seal()
    play.exchange()

    assert operations(play) == [
        ("block.append", "1.1"),
        ("block.extend", "1.2"),
        ("block.replace_suffix", "1.3"),
        ("block.update", "1.4"),
        ("block.seal", "1.5"),
    ]
    shown = play.shown(context)[0]
    assert (shown.content_type, shown.lifecycle, play.texts(context)) == (STYLED, "sealed", ["x"])
    assert (plain.type, plain.block_id, plain.context) == (STYLED, "b1", context)
    assert plain.content is None
    assert play.news == play.news[:2], "success is silent"


@pytest.mark.requirement("terminal:application:joined")
def test_small_extends_that_wait_become_one(play: Play, context: ContextHandle) -> None:
    block = context.append("")
    for _ in range(1_000):
        block.extend("word ")
    data = play.write()
    for _ in range(1_000):
        block.extend("word ")
    data += play.write()

    assert operations(play) == [("block.append", "1.1"), ("block.extend", "1.2")]
    assert play.receive(play.answers_to(data)) == []
    assert play.texts(context) == ["word " * 2_000]


@pytest.mark.requirement("terminal:application:order")
def test_nothing_is_joined_across_something_else(play: Play, context: ContextHandle) -> None:
    one, two = context.append("1"), context.append("2")
    play.exchange()
    play.written = b""
    one.extend("a")
    two.extend("b")
    one.extend("c")
    play.application.write(b"prompt")
    one.extend("d")
    one.seal()
    data = play.write()

    assert [it for it, _ in operations(play)] == ["block.extend"] * 4 + ["block.seal"]
    assert b"prompt" in data
    play.receive(play.answers_to(data))
    assert play.texts(context) == ["1acd", "2b"]


JOINS: list[tuple[str, list[str]]] = [
    ("extend extend", ["block.extend"]),
    ("replace extend", ["block.replace_suffix"]),
    ("extend replace", ["block.extend", "block.replace_suffix"]),
    ("extend update", ["block.update"]),
    ("update update extend", ["block.update"]),
    ("replace update", ["block.update"]),
    ("update replace", ["block.update", "block.replace_suffix"]),
    ("update seal", ["block.update", "block.seal"]),
]


@pytest.mark.parametrize(("steps", "kinds"), JOINS)
def test_what_is_pointless_is_not_written(
    play: Play, context: ContextHandle, steps: str, kinds: list[str]
) -> None:
    block = context.append("start")
    play.exchange()
    play.written = b""
    for number, step in enumerate(steps.split()):
        {
            "extend": lambda: block.extend(f"e{number}"),  # noqa: B023 - called at once
            "replace": lambda: block.replace_suffix(1, f"r{number}"),  # noqa: B023 - called at once
            "update": lambda: block.update(f"u{number}"),  # noqa: B023 - called at once
            "seal": block.seal,
        }[step]()
    assert block.content is not None
    text = block.content.text()

    news = play.exchange()

    assert [it for it, _ in operations(play)] == kinds
    assert (news, play.texts(context)) == ([], [text])


def test_an_update_of_what_was_never_written_is_an_append(
    play: Play, context: ContextHandle
) -> None:
    context.append("old").update([Line(spans=(Span(text="new"),))], type=LINES)
    play.exchange()

    assert [it for it, _ in operations(play)] == ["block.append"]
    assert (play.texts(context), play.shown(context)[0].content_type) == (["new"], LINES)


def test_large_fragments_are_not_joined_without_end(play: Play, context: ContextHandle) -> None:
    block = context.append("")
    for _ in range(4):
        block.extend("x" * (JOINED_BYTES_MAX // 2 - 10))
    play.exchange()

    assert [it for it, _ in operations(play)] == ["block.append", "block.extend"]


@pytest.mark.parametrize("lifecycle", ["mutable", "sealed"])
@pytest.mark.requirement("terminal:application:long")
def test_long_content_takes_several_messages(
    play: Play, context: ContextHandle, lifecycle: str
) -> None:
    text = "\x1b" * 300_000
    block = context.append(text, lifecycle=lifecycle)  # type: ignore[arg-type]  # a row
    expected = ["block.append"] + ["block.extend"] * 2
    if lifecycle == "sealed":
        expected.append("block.seal")
    else:
        block.update(text + "u")
        block.replace_suffix(1, text)
        block.extend(text)
        expected += ["block.update"] + ["block.extend"] * 2
        expected += ["block.replace_suffix"] + ["block.extend"] * 5
    news = play.exchange()

    assert Counter(it for it, _ in operations(play)) == Counter(expected)
    assert news == []
    assert [len(it) for it in play.texts(context)] == [
        600_001 if lifecycle == "mutable" else 300_000
    ]
    assert play.shown(context)[0].lifecycle == lifecycle


def test_nothing_is_added_by_an_empty_fragment(play: Play, context: ContextHandle) -> None:
    block = context.append("a")
    play.exchange()
    block.extend("")

    assert play.write() == b""


def test_an_id_may_be_the_programs_own(play: Play, context: ContextHandle) -> None:
    assert context.append("x", block_id="b2").block_id == "b2"
    with pytest.raises(LocalProtocolError, match="block_id_reused"):
        context.append("x")
    for wrong in ("", "x" * (BLOCK_ID_CHARS_MAX + 1), "\ud800"):
        with pytest.raises(LocalProtocolError, match="invalid_message"):
            context.append("x", block_id=wrong)
    play.exchange()
    assert play.texts(context) == ["x"]


# what is refused at once ------------------------------------------------------------------
def test_what_no_terminal_would_do_is_refused_and_changes_nothing(
    play: Play, context: ContextHandle
) -> None:
    block = context.append("ab")
    sealed = context.append("s", lifecycle="sealed")
    play.exchange()
    refusals: list[tuple[str, Callable[[], object]]] = [
        ("invalid_content_boundary", lambda: block.replace_suffix(2, "x")),
        ("invalid_content_boundary", lambda: block.replace_suffix(-1, "x")),
        ("invalid_content", lambda: block.extend([Span(text="x")])),
        ("invalid_message", lambda: block.extend("\ud800")),
        ("unsupported_content_type", lambda: block.update("x", type="a/b")),
        ("unsupported_content_type", lambda: context.append("x", type="a/b")),
        ("block_sealed", lambda: sealed.extend("x")),
        ("block_sealed", sealed.seal),
    ]

    for code, refused in refusals:
        with pytest.raises(LocalProtocolError) as refusal:
            refused()
        assert refusal.value.code == code
    assert play.write() == b""
    assert block.content is not None
    assert block.content.text() == "ab"


@pytest.mark.requirement("terminal:application:bounded")
def test_only_so_much_may_wait() -> None:
    play = Play(limits=ApplicationLimits(waiting_bytes_max=10_000))
    context = play.begin()
    block = context.append("x" * 20_000)
    refused: list[Callable[[], object]] = [
        lambda: block.extend("x"),
        lambda: block.replace_suffix(0, ""),
        lambda: block.update(""),
        block.seal,
        lambda: context.append(""),
        lambda: play.application.write(b"x"),
    ]

    for refuse in refused:
        with pytest.raises(LocalProtocolError, match="too_much_waiting") as refusal:
            refuse()
        assert refusal.value.retryable
    assert play.application.waiting_bytes > 20_000
    play.exchange()
    assert play.application.waiting_bytes == 0
    block.extend("y")
    play.application.write(b"")
    play.exchange()
    assert play.texts(context) == ["x" * 20_000 + "y"]


# healing ----------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:application:heal")
def test_a_mismatch_is_healed_by_one_update(play: Play, context: ContextHandle) -> None:
    play.refuse["1.2"] = "resource_exhausted"
    block = context.append("a")
    other = context.append("o")
    answers = b""
    for letter in "bcdef":
        # The first error arrives after all has been sent.
        block.extend(letter)
        answers += play.answers_to(play.write())
    other.extend("p")
    news = play.receive(answers)
    block.extend("g")
    block.replace_suffix(1, "B")
    play.written = b""
    news += play.exchange()

    assert news == []
    assert operations(play) == [("block.extend", "2.2"), ("block.update", "1.7")]
    assert play.texts(context) == ["aB", "op"]
    assert block.failure is None


@pytest.mark.requirement("terminal:application:heal")
def test_errors_of_what_was_written_before_the_update_are_ignored(
    play: Play, context: ContextHandle
) -> None:
    block = context.append("a")
    for letter in "bcd":
        play.exchange()
        block.extend(letter)
    play.exchange()
    errors = [rejection(f"1.{number}", "content_state_mismatch") for number in (2, 3, 4)]

    play.receive(errors[0])
    play.written = b""
    play.exchange()
    news = play.receive(*errors[1:])

    assert operations(play) == [("block.update", "1.5")]
    assert (news, play.write()) == ([], b"")


def test_what_waits_when_the_error_comes_is_not_written_but_healed(
    play: Play, context: ContextHandle
) -> None:
    play.refuse["1.2"] = "internal_error"
    block = context.append("a")
    play.exchange()
    block.extend("b")
    answers = play.answers_to(play.write())
    block.extend("c")
    play.application.write(b"x")
    block.replace_suffix(2, "d")
    play.receive(answers)
    play.written = b""
    play.exchange()

    assert operations(play) == [("block.update", "1.3")]
    assert play.texts(context) == ["abd"]


def test_a_block_goes_on_after_it_was_healed(play: Play, context: ContextHandle) -> None:
    play.refuse["1.2"] = "internal_error"
    block = context.append("a")
    play.exchange()
    block.extend("b")
    play.exchange()
    block.extend("c")
    play.exchange()

    assert play.texts(context) == ["abc"]
    assert [it for it, _ in operations(play)] == [
        "block.append",
        "block.extend",
        "block.update",
        "block.extend",
    ]


@pytest.mark.requirement("terminal:application:ids")
def test_it_is_healed_as_often_as_it_parts_and_no_id_comes_twice(
    play: Play, context: ContextHandle
) -> None:
    block = context.append("a")
    for number in (2, 4, 6):
        play.refuse[f"1.{number}"] = "internal_error"
    for letter in "bcd":
        play.exchange()
        block.extend(letter)
    play.exchange()

    ids = [it for _, it in operations(play)]
    assert play.texts(context) == ["abcd"]
    assert len(ids) == len(set(ids)) == 7


@pytest.mark.requirement("terminal:application:failed")
@pytest.mark.parametrize("code", ["resource_exhausted", "invalid_content", "block_not_found"])
def test_a_block_that_cannot_be_healed_has_failed(
    play: Play, context: ContextHandle, code: OperationErrorCode
) -> None:
    play.refuse |= {"1.2": "content_state_mismatch", "1.3": code}
    block = context.append("a")
    play.exchange()
    block.extend("b")

    news = play.exchange()

    assert news == [BlockFailed(block, code)]
    assert block.failure == code
    with pytest.raises(LocalProtocolError, match="block_failed"):
        block.extend("c")
    assert play.receive(rejection("1.3", "internal_error")) == []
    context.append("goes on")
    assert play.exchange() == []


def test_an_append_that_is_rejected_has_failed(play: Play, context: ContextHandle) -> None:
    play.refuse["1.1"] = "resource_exhausted"
    block = context.append("a")
    data = play.write()
    block.extend("b")

    assert play.receive(play.answers_to(data)) == [BlockFailed(block, "resource_exhausted")]
    assert play.write() == b""


def test_a_sealed_block_that_differs_has_failed(play: Play, context: ContextHandle) -> None:
    play.refuse["1.2"] = "resource_exhausted"
    block = context.append("a")
    play.exchange()
    block.extend("b")
    block.seal()

    assert play.exchange() == [BlockFailed(block, "resource_exhausted")]


def test_a_seal_that_waits_is_written_behind_the_update_that_heals(
    play: Play, context: ContextHandle
) -> None:
    play.refuse["1.2"] = "resource_exhausted"
    block = context.append("a")
    play.exchange()
    block.extend("b")
    answers = play.answers_to(play.write())
    play.application.write(b"x")
    block.seal()
    context.close()
    play.written = b""

    assert play.receive(answers) + play.exchange() == [ContextEnded(context)]
    assert [it for it, _ in operations(play)] == ["block.update", "block.seal"]
    assert play.texts(context) == ["ab"]


def test_what_waits_to_be_healed_is_written_before_the_end(
    play: Play, context: ContextHandle
) -> None:
    play.refuse["1.2"] = "resource_exhausted"
    block = context.append("a")
    play.exchange()
    block.extend("b")
    answers = play.answers_to(play.write())
    context.close()

    assert play.receive(answers) + play.exchange() == [ContextEnded(context)]
    assert play.texts(context) == ["ab"]


def test_what_differs_when_the_end_is_on_its_way_has_failed(
    play: Play, context: ContextHandle
) -> None:
    play.refuse["1.2"] = "resource_exhausted"
    block = context.append("a")
    play.exchange()
    block.extend("b")
    context.close()

    assert play.exchange() == [BlockFailed(block, "resource_exhausted"), ContextEnded(context)]


def test_long_content_that_heals_and_is_rejected_in_part_has_failed(
    play: Play, context: ContextHandle
) -> None:
    play.refuse |= {"1.4": "internal_error", "1.6": "resource_exhausted"}
    block = context.append("\x1b" * 300_000)
    play.exchange()
    block.extend("b")

    assert play.exchange() == [BlockFailed(block, "resource_exhausted")]


def test_changes_while_it_is_healed_are_part_of_it(play: Play, context: ContextHandle) -> None:
    play.refuse["1.2"] = "internal_error"
    block = context.append("a")
    play.exchange()
    block.extend("b")
    play.receive(play.answers_to(play.write()))
    block.update("new")
    block.extend("er")
    assert play.receive(rejection("1.2", "content_state_mismatch")) == []
    play.written = b""
    play.exchange()

    assert [it for it, _ in operations(play)] == ["block.update"]
    assert play.texts(context) == ["newer"]


@pytest.mark.requirement("terminal:application:bounded")
def test_what_grows_while_it_waits_to_be_healed_is_bounded_too() -> None:
    play = Play(limits=ApplicationLimits(waiting_bytes_max=10_000))
    context = play.begin()
    block = context.append("a")
    play.exchange()
    block.extend("b")
    play.write()
    play.receive(rejection("1.2", "resource_exhausted"))
    waiting_bytes = play.application.waiting_bytes

    block.extend("c" * 5_000)
    block.replace_suffix(3, "d" * 4_000)
    assert play.application.waiting_bytes == waiting_bytes + 1 + 4_000
    with pytest.raises(LocalProtocolError, match="too_much_waiting"):
        block.extend("e" * 6_000)
    block.update("f")
    assert play.application.waiting_bytes == waiting_bytes - 1
    play.exchange()
    assert (play.texts(context), play.application.waiting_bytes) == (["f"], 0)


def test_a_storm_of_errors_takes_work_for_each_once() -> None:
    few, many = (calls_in_a_storm(count) for count in (200, 800))

    assert many <= 4.2 * few


def calls_in_a_storm(count: int) -> int:
    """Return the functions that are called when so many Blocks part from the terminal's at once."""
    play = Play()
    context = play.begin()
    play.written = b""
    blocks = [context.append("a") for _ in range(count)]
    play.exchange()
    for block in blocks:
        block.extend("b")
    play.write()
    for block in blocks:
        block.extend("c")
    storm = b"".join(rejection(f"{it + 1}.2", "resource_exhausted") for it in range(count))
    news: list[object] = []

    calls = calls_in(lambda: news.extend(play.receive(storm, storm)))

    assert news == []
    play.exchange()
    assert play.texts(context) == ["abc"] * count
    return calls


def test_a_block_that_fails_while_its_healing_waits_writes_nothing_more(
    play: Play, context: ContextHandle
) -> None:
    block, other = context.append("a"), context.append("o")
    play.exchange()
    block.extend("b")
    play.write()
    play.receive(rejection("1.2", "resource_exhausted"))
    block.extend("c")
    other.extend("p")
    play.written = b""

    assert play.receive(rejection("1.1", "resource_exhausted")) == [
        BlockFailed(block, "resource_exhausted")
    ]
    play.exchange()
    assert operations(play) == [("block.extend", "2.2")]


def test_output_that_was_lost_is_healed(play: Play, context: ContextHandle) -> None:
    block, sealed = context.append("a"), context.append("s", lifecycle="sealed")
    play.exchange()
    block.extend("b")
    play.application.data_to_send(play.now_s)
    fresh = context.append("f")

    play.application.output_lost()

    assert play.exchange() == []
    assert play.texts(context) == ["ab", "s", "f"]
    assert fresh.failure is sealed.failure is None
    context.close()
    play.application.output_lost()
    assert play.exchange() == [ContextEnded(context)]


@pytest.mark.parametrize(
    "operation_id",
    ["2.1", "1.9", "01.1", "1.01", "1", "1.", ".1", "x.y", "\u0661.1", "1.1.1", "0.1"],
)
def test_an_error_of_somebody_else_is_nobodys(
    play: Play, context: ContextHandle, operation_id: str
) -> None:
    context.append("a")
    play.exchange()

    assert play.receive(rejection(operation_id, "content_state_mismatch")) == []
    assert play.receive(rejection("1.1", "content_state_mismatch", "c9")) == []
    assert play.write() == b""


# Contexts ---------------------------------------------------------------------------------
def test_a_context_that_is_not_open_any_more_is_lost(play: Play, context: ContextHandle) -> None:
    block = context.append("a")
    play.exchange()
    play.endpoint.invalidate("c1")
    block.extend("b")

    data = play.write()
    block.extend("c")
    assert play.receive(play.answers_to(data)) == [ContextLost(context, "context_not_open")]
    assert play.write() == b"", "what waited is not written"
    assert play.receive(rejection("1.2", "context_not_open")) == []
    with pytest.raises(LocalProtocolError, match="context_not_open"):
        block.extend("c")
    with pytest.raises(LocalProtocolError, match="context_not_open"):
        context.close()


def test_a_close_that_fails_loses_the_context(play: Play, context: ContextHandle) -> None:
    context.append("a")
    play.exchange()
    play.endpoint.invalidate("c1")
    context.close()

    assert play.exchange() == [ContextLost(context, "context_not_open")]


def opening(play: Play) -> tuple[ContextHandle, str]:
    play.application.negotiate()
    play.exchange()
    play.written = b""
    handle = play.application.open_context()
    play.write()
    [request] = play.sent
    assert isinstance(request, ContextOpen)
    return handle, request.request_id


def opened(request_id: str, context_id: str = "c1") -> bytes:
    return told(
        ContextOpenResponse(version=1, request_id=request_id, context_id=context_id, body=Opened())
    )


def test_a_context_may_be_refused(play: Play) -> None:
    context, request_id = opening(play)
    body = Failed(error=ControlFailure(code="resource_exhausted"))

    assert request_id == f"{PROCESS_ID}.2"
    assert play.receive(told(ContextOpenResponse(version=1, request_id=request_id, body=body))) == [
        ContextRefused(context, "resource_exhausted")
    ]
    assert context.state == "refused"


@pytest.mark.parametrize("context_id", ["c1", "x" * (CONTEXT_ID_CHARS_MAX + 1)])
def test_a_context_id_that_cannot_be_is_refused(play: Play, context_id: str) -> None:
    first = play.begin()
    second = play.application.open_context()
    play.written = b""
    play.write()
    [request] = play.sent
    assert isinstance(request, ContextOpen)

    news = play.receive(opened(request.request_id, context_id))

    assert news == [ContextRefused(second, "invalid_message")]
    assert first.state == "open"


@pytest.mark.requirement("terminal:application:ids")
def test_a_context_id_that_was_used_is_refused(play: Play, context: ContextHandle) -> None:
    context.append("a")
    context.close()
    play.exchange()
    second = play.application.open_context()
    play.written = b""
    play.write()
    [request] = play.sent
    assert isinstance(request, ContextOpen)

    assert play.receive(opened(request.request_id, "c1")) == [
        ContextRefused(second, "invalid_message")
    ]


def test_a_context_that_opens_too_late_by_the_name_of_another_closes_nothing(play: Play) -> None:
    late = play.begin(), play.application.open_context()
    play.written = b""
    play.write()
    [request] = play.sent
    assert isinstance(request, ContextOpen)
    play.wait(play.now_s + REQUEST_S)

    assert play.receive(opened(request.request_id, "c1")) == []
    assert play.write() == b""
    assert [it.state for it in late] == ["open", "refused"]


def test_a_context_that_opens_too_late_is_closed_again(play: Play) -> None:
    context, request_id = opening(play)
    play.written = b""

    assert play.wait(play.now_s + REQUEST_S) == [ContextRefused(context, "no_answer")]
    assert play.receive(opened(request_id, "late")) == []
    play.write()
    [close] = play.sent
    assert isinstance(close, ContextClose)
    assert close.context_id == "late"
    answer = ContextCloseResponse(
        version=1, request_id=close.request_id, context_id="late", body=Closed()
    )
    assert play.receive(told(answer), opened(request_id, "late"), opened("q", "foreign")) == []
    assert play.write() == b""
    assert not play.application.is_reply_expected


@pytest.mark.requirement("terminal:application:refused-close")
@pytest.mark.parametrize("code", ["internal_error", "resource_exhausted", "request_id_conflict"])
def test_an_end_that_is_refused_loses_the_context(
    play: Play, context: ContextHandle, code: ControlErrorCode
) -> None:
    block = context.append("a")
    context.close()
    play.write()
    close = play.sent[-1]
    assert isinstance(close, ContextClose)
    refusal = ContextCloseResponse(
        version=1,
        request_id=close.request_id,
        context_id="c1",
        body=Failed(error=ControlFailure(code=code)),
    )

    assert play.receive(told(refusal)) == [ContextLost(context, code)]
    assert play.receive(told(refusal), rejection("1.1", "internal_error")) == []
    with pytest.raises(LocalProtocolError, match="context_not_open"):
        block.extend("b")
    assert play.write() == b""


def test_an_end_that_is_not_answered_loses_the_context(play: Play, context: ContextHandle) -> None:
    context.close()
    play.write()

    assert play.wait(play.now_s + REQUEST_S) == [ContextLost(context, "no_answer")]


def test_nobody_is_told_twice_of_a_context_whose_end_is_not_answered(
    play: Play, context: ContextHandle
) -> None:
    context.append("a")
    context.close()
    play.write()
    lost = ContextLost(context, "context_not_open")

    assert play.receive(rejection("1.1", "context_not_open")) == [lost]
    assert play.wait(play.now_s + REQUEST_S) == []


@pytest.mark.requirement("terminal:application:from-the-last-byte")
def test_a_terminal_that_takes_bytes_slowly_has_its_time_from_the_last_one(
    play: Play, context: ContextHandle
) -> None:
    first = play.application.open_context()
    play.write()
    play.now_s += 1.0
    context.close()
    data = play.write()
    for _ in range(8):
        play.now_s += 1.0
        play.application.note_writing(play.now_s)

    assert play.wait(play.now_s + 1.0) == [ContextRefused(first, "no_answer")]
    assert play.wait(play.now_s + REQUEST_S - 1.5) == []
    assert play.receive(play.answers_to(data)) == [ContextEnded(context)]


def test_what_is_written_later_does_not_extend_the_wait_for_an_answer(
    play: Play, context: ContextHandle
) -> None:
    waiting = play.application.open_context()
    play.write()
    play.now_s += 1.0
    context.append("a")
    play.write()

    assert play.application.next_tick_at_s == play.now_s - 1.0 + REQUEST_S
    assert play.wait(play.now_s - 1.0 + REQUEST_S) == [ContextRefused(waiting, "no_answer")]


def test_the_answer_to_an_end_has_to_name_the_context(play: Play, context: ContextHandle) -> None:
    context.close()
    play.write()
    [close] = play.sent
    assert isinstance(close, ContextClose)
    wrong = ContextCloseResponse(
        version=1, request_id=close.request_id, context_id="c2", body=Closed()
    )

    assert play.receive(told(wrong)) == []
    assert context.state == "closing"


def test_nobody_is_told_twice_of_a_context_that_got_lost_while_it_closed(
    play: Play, context: ContextHandle
) -> None:
    context.append("a")
    play.write()
    context.close()
    data = play.write()
    assert play.receive(rejection("1.1", "context_not_open")) == [
        ContextLost(context, "context_not_open")
    ]
    [close] = messages_of(data)
    assert isinstance(close, ContextClose)
    answer = ContextCloseResponse(
        version=1, request_id=close.request_id, context_id="c1", body=Closed()
    )

    assert play.receive(told(answer)) == []
    assert not play.application.is_reply_expected


# in the long run --------------------------------------------------------------------------
STEPS = st.tuples(
    st.sampled_from(["append", "extend", "extend", "extend", "replace", "update", "seal", "flush", "read", "write"]),
    st.integers(0, 3).map(lambda it: it % 3),
    st.text("ab\n", max_size=3),
)  # fmt: skip


@given(
    steps=st.lists(STEPS, min_size=8, max_size=60),
    refused=st.dictionaries(
        st.tuples(st.integers(1, 3), st.integers(2, 9)).map(lambda it: f"{it[0]}.{it[1]}"),
        st.sampled_from(["resource_exhausted", "internal_error", "content_state_mismatch"]),
        max_size=4,
    ),
)
@pytest.mark.requirement("terminal:application:converges")
def test_whatever_is_rejected_in_the_end_all_that_has_not_failed_is_shown(
    steps: list[tuple[str, int, str]], refused: dict[str, OperationErrorCode]
) -> None:
    play = Play()
    context = play.begin()
    play.refuse |= refused
    models = ["one", "two"]
    blocks = [context.append(it) for it in models]
    in_flight = b""
    for step, index, text in steps:
        match step:
            case "append" if len(blocks) < 4:
                blocks.append(context.append(text))
                models.append(text)
            case "flush":
                in_flight += play.answers_to(play.write())
            case "read":
                play.receive(in_flight)
                in_flight = b""
            case "write":
                play.application.write(b"ls\r\n")
            case _ if index < len(blocks) and blocks[index].lifecycle == "mutable":
                block = blocks[index]
                if block.failure is None:
                    models[index] = changed(block, models[index], step, text)
    play.receive(in_flight)
    play.exchange()

    failed = {it.block for it in others(play.news) if isinstance(it, BlockFailed)}
    shown = dict(zip(blocks, play.texts(context), strict=True))
    assert {it: shown[it] for it in blocks if it not in failed} == {
        it: text for it, text in zip(blocks, models, strict=True) if it not in failed
    }
    assert failed == {it for it in blocks if it.failure}
    ids = [it for _, it in operations(play)]
    assert len(ids) == len(set(ids))
    assert refused or not failed


def changed(block: BlockHandle, text: str, step: str, word: str) -> str:
    match step:
        case "extend":
            block.extend(word)
            return text + word
        case "replace" if text:
            block.replace_suffix(len(text) // 2, word)
            return text[: len(text) // 2] + word
        case "update":
            block.update(word)
            return word
        case "seal":
            block.seal()
    return text
